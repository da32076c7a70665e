"""The comparison of recorded sessions sees what differs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hookwright.protocol.wire import payload
from replay.histories import call, past, prompt, result, says, write
from replay.recordings import differences


def test_a_changed_field_an_invented_event_and_a_missing_one_are_seen(tmp_path: Path) -> None:
    lines = [prompt("go", 1), call("a", 2, effort="high"), result("a", 3), says("end", 4)]
    transcript = write(tmp_path / "projects" / "p" / "s1.jsonl", lines)
    inbox = tmp_path / "inbox"
    inbox.mkdir()

    def keep(events: list[dict[str, Any]]) -> list[str]:
        for path in inbox.iterdir():
            path.unlink()
        for number, event in enumerate(events):
            (inbox / f"{number}.json").write_text(json.dumps(event))
        return [text.partition(":")[0] for text in differences(tmp_path)]

    read = [payload(one.event) for one in past(transcript)]
    assert keep([{**one, "transcript_path": "/elsewhere"} for one in read]) == []
    assert keep([{**one, "cwd": "/other"} if one.get("tool_use_id") else one for one in read]) == [
        "('PreToolUse', 'a') cwd",
        "('PostToolUse', 'a') cwd",
    ]
    assert keep([*read, {**read[1], "tool_use_id": "b"}]) == ["not rebuilt"]
    assert keep([*read[:-1], {**read[-1], "last_assistant_message": "other"}])[0].startswith("no hook read ('Stop'")
