"""Compare recorded sessions with what is rebuilt from their transcripts, field by field.

    python tests/replay/recordings.py FOLDER …

Each folder has the transcripts of a session below `projects` and, below `inbox`, one file per event with what a hook
read, as `hookwright observe install --payloads` keeps them. A field that is rebuilt differently is a difference, unless
its provenance says that it is assumed; so is an event that no hook read, and a call that is not rebuilt.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hookwright.protocol.wire import payload
from hookwright.replay.past import Past, Provenance
from hookwright.replay.sources import past_events

#: What tells events without a call of a session apart.
_TELLING = ("prompt", "last_assistant_message", "agent_id", "source", "trigger")
#: Fields that name where a transcript is: a recording may have been moved.
_MOVED = ("transcript_path", "agent_transcript_path")
#: Events that always leave a line; a start, and the end of an agent that writes a summary, need not.
_REBUILT = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "PreCompact",
    "SubagentStart",
)


def key(event: dict[str, Any]) -> tuple[Any, ...]:
    """Return what tells an event from others of its session."""
    name, call = event["hook_event_name"], event.get("tool_use_id")
    return (name, call) if call else (name, *(event.get(one) for one in _TELLING))


def differences(folder: Path) -> Iterator[str]:
    """Yield what differs between the events of one recording and those of its transcripts."""
    read: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for path in sorted((folder / "inbox").glob("*.json")):
        event = json.loads(path.read_text())
        read.setdefault(key(event), []).append(event)
    names = {one[0] for one in read}
    taken: Counter[tuple[Any, ...]] = Counter()
    for past in past_events([str(folder / "projects")]):
        rebuilt = payload(past.event)
        one = key(rebuilt)
        if rebuilt["hook_event_name"] not in names:
            continue  # nothing was recorded for it
        if taken[one] < len(read.get(one, ())):
            yield from _fields(past, rebuilt, read[one][taken[one]])
        else:
            yield f"no hook read {one}"
        taken[one] += 1
    for one, events in read.items():
        if taken[one] < len(events) and one[0] in _REBUILT:
            yield f"not rebuilt: {one}"


def _fields(past: Past, rebuilt: dict[str, Any], read: dict[str, Any]) -> Iterator[str]:
    for name in sorted(set(read) | set(rebuilt)):
        sure = past.provenance.get(name, Provenance.RECORDED)
        expected = read.get(name, "missing") if name not in _MOVED else rebuilt.get(name)
        unsure = sure is Provenance.ASSUMED or (sure is Provenance.UNKNOWN and name not in rebuilt)
        if not unsure and rebuilt.get(name, "missing") != expected:
            yield f"{key(rebuilt)} {name}: rebuilt {rebuilt.get(name)!r} ({sure.value}), read {expected!r}"


if __name__ == "__main__":
    found = [f"{folder}: {text}" for folder in sys.argv[1:] for text in differences(Path(folder))]
    print("\n".join((*found, f"{len(sys.argv) - 1} recordings, {len(found)} differences")))
    sys.exit(bool(found))
