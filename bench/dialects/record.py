"""What one agent sends, reads and does, as the lines of a recording."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from dialects.answers import GUARD, MUST_STOP, OTHERS, PROTECTED, REASON, Given, command
from dialects.model import ModelCall
from dialects.rigs import HookEntry, Rig, printed_version
from dialects.trials import HOME, Trial, at, before_call, beside_claude, bridged, saying, saying_each, trial
from hookwright.dialects.model import AnswerForm, Dialect, Moment, Vocabulary
from hookwright.dialects.native import NativeAnswer
from hookwright.dialects.outgoing import Settled, speak
from hookwright.dialects.table import dialect

Line = dict[str, Any]

#: What the model asks for in a session, by Claude Code's names.
Asked = tuple[str, Mapping[str, Any]]
SESSION: tuple[Asked, ...] = (
    ("Bash", {"command": command(0)}),
    ("Bash", {"command": "exit 3"}),
    ("Write", {"file_path": f"{HOME}/project/new.txt", "content": "new"}),
    ("Read", {"file_path": f"{HOME}/project/old.txt"}),
    ("Edit", {"file_path": f"{HOME}/project/old.txt", "old_string": "old", "new_string": "newer"}),
    ("Glob", {"pattern": "*.txt"}),
    ("Grep", {"pattern": "newer"}),
    ("Write", {"file_path": "relative.txt", "content": "relative"}),
)


def recording(rig: Rig) -> Iterator[Line]:
    """Yield every line of a recording; each run of the agent is minutes apart from nothing else."""
    with tempfile.TemporaryDirectory() as home:
        yield {"kind": "agent", "agent": rig.name, "version": rig.version, "printed": printed_version(rig, Path(home))}
    yield from session(rig)
    yield from contexts(rig)
    yield from refusals(rig)
    yield from limits(rig)
    yield from claude_files(rig)
    yield from answers(rig)
    yield guard(rig)


def _shell(rig: Rig, number: int = 0) -> ModelCall:
    return rig.call("Bash", {"command": command(number)})


def _events(table: Dialect) -> list[str]:
    return [moment.name for moment in table.moments if moment.claude]


def session(rig: Rig) -> Iterator[Line]:
    """Record the payloads of a session with every kind of call, how often each event fired, and the environment."""
    asked = [(tool, given) for tool, given in SESSION if tool in rig.calls]
    calls = [rig.call(tool, given) for tool, given in asked]
    done = trial(rig, at(rig, "", ":"), calls, HookEntry("", _events(dialect(rig.name))))
    yield from _kept(rig, done, asked)
    fired = Counter(_event(payload.sent) for payload in done.payloads)
    yield from ({"kind": "fired", "event": event, "times": times} for event, times in fired.items())
    mine = {name for payload in done.payloads for name in payload.env}
    yield {"kind": "environment", "names": sorted(name for name in mine if _about(rig, name))}
    if done.transcript:
        yield {"kind": "transcript", "text": done.transcript}


def _about(rig: Rig, name: str) -> bool:
    return any(word in name for word in (rig.name.upper(), "CLAUDE", "GEMINI", "PROJECT")) and "API" not in name


def _event(sent: Any) -> str:
    return str(sent.get("hook_event_name", sent.get("hookName", "")))


def _kept(rig: Rig, done: Trial, asked: list[Asked]) -> Iterator[Line]:
    """Yield each payload before a call with what was asked for, and the first one of every other kind."""
    waiting = list(asked)
    seen = set()
    for sent, _ in done.payloads:
        event = _event(sent)
        kind = (event, sent.get("tool_name"), sent.get("prompt") == "")
        mine = next((each for each in waiting if _is_about(sent, each)), None) if event == before_call(rig) else None
        if mine is not None:
            waiting.remove(mine)
            yield {"kind": "payload", "event": event, "asked": list(mine), "payload": sent}
        elif kind not in seen:
            yield {"kind": "payload", "event": event, "payload": sent}
        seen.add(kind)
    yield from ({"kind": "no event", "asked": list(each)} for each in waiting)


def _is_about(sent: Any, asked: Asked) -> bool:
    """Return whether a payload is about a call: all that the model wrote is in it."""
    written = json.dumps(sent.get("tool_input"))
    return all(json.dumps(value)[1:-1] in written for value in asked[1].values())


def contexts(rig: Rig) -> Iterator[Line]:
    """Record at which events context reaches the model, in the form that the bridge writes."""
    table = dialect(rig.name)
    if table.answers.vocabulary is Vocabulary.PLUGIN:
        return
    events = [moment for moment in table.moments if moment.claude]
    texts = {moment.name: speak(table, moment, Settled(context=(f"context-at-{moment.name}",))) for moment in events}
    cases = "\n".join(f'"{name}")\n{saying(_given(said))}\n;;' for name, said in texts.items())
    text = f'case "$event" in\n{cases}\nesac'
    done = trial(rig, text, [rig.call("Bash", {"command": command(0)})], HookEntry("", list(texts)))
    for event in dict.fromkeys(_event(payload.sent) for payload in done.payloads):
        yield {"kind": "context", "event": event, "reached": done.model_read(f"context-at-{event}")}


def _given(said: NativeAnswer) -> Given:
    return Given("", said.status, said.stdout, said.stderr)


#: Events other than the one before a call, at which a refusal can be seen from outside.
_REFUSABLE = ("UserPromptSubmit", "PostToolUse", "Stop")


def refusals(rig: Rig) -> Iterator[Line]:
    """Record which forms of refusal are obeyed at the other events, in the words of the bridge."""
    table = dialect(rig.name)
    for moment in table.moments:
        if moment.claude in _REFUSABLE:
            for form in _forms(table, moment):
                yield {"kind": "refusal", "event": moment.name, "form": form.name, **_refused(rig, moment, form)}


def _forms(table: Dialect, moment: Moment) -> tuple[AnswerForm, ...]:
    if table.answers.vocabulary is Vocabulary.PLUGIN:
        return (AnswerForm.THROW,)
    return moment.refused_by or (AnswerForm.BLOCK, AnswerForm.EXIT_2)


def _refused(rig: Rig, moment: Moment, form: AnswerForm) -> Line:
    table = dialect(rig.name)
    said = speak(table, msgspec.structs.replace(moment, refused_by=(form,)), Settled(refusal=REASON))
    # A refusal at the end of a turn sends the agent back to work, so it is given once.
    text = f'if mkdir "$(dirname "$kept")/once" 2>/dev/null; then\n{saying(_given(said))}\nfi'
    done = trial(
        rig, at(rig, moment.name, text), [rig.call("Bash", {"command": command(0)})], HookEntry("", [moment.name])
    )
    if moment.claude == "UserPromptSubmit":
        return {"obeyed": "made-0.txt" not in done.files and bool(done.payloads)}
    if form is AnswerForm.END:
        return {"obeyed": done.results == 0 and bool(done.payloads)}
    return {"obeyed": done.model_read(REASON)}


def limits(rig: Rig) -> Iterator[Line]:
    """Record what a hook that takes too long leaves."""
    entry = HookEntry("", [before_call(rig)], limit=2)
    done = trial(rig, at(rig, before_call(rig), "exec sleep 12"), [rig.call("Bash", {"command": command(0)})], entry)
    if done.payloads:
        yield {"kind": "limit", "seconds": 2, "native": done.fate(0)}


def claude_files(rig: Rig) -> Iterator[Line]:
    """Record whether the agent runs the hooks of Claude Code's own files by itself."""
    done = beside_claude(rig, [rig.call("Bash", {"command": command(0)})])
    whose = {payload.env.get("WHOSE") for payload in done.payloads}
    yield {"kind": "claude file", "path": "~/.claude/settings.json", "loaded": "user" in whose}
    yield {"kind": "claude file", "path": ".claude/settings.json", "loaded": "project" in whose}


def answers(rig: Rig) -> Iterator[Line]:
    """Record what becomes of a call after each answer: by itself, and through the bridge."""
    every = (*MUST_STOP, *OTHERS)
    entry = HookEntry("", [before_call(rig)])
    alone: dict[str, Line] = {given.label: {"native": "unread"} for given in every}
    if dialect(rig.name).answers.vocabulary is not Vocabulary.PLUGIN:
        alone = _fates(every, lambda text, calls: trial(rig, text, calls, entry), rig, "native")
    through = _fates(every, lambda text, calls: bridged(rig, text, calls), rig, "bridged")
    for given in every:
        told = {"told": alone[given.label]["told"]} if "told" in alone[given.label] else {}
        cells = {"native": alone[given.label]["native"], **told, "bridged": through[given.label]["bridged"]}
        yield {"kind": "answer", **given._asdict(), **cells}


def _fates(
    every: Sequence[Given], run: Callable[[str, Sequence[ModelCall]], Trial], rig: Rig, cell: str
) -> dict[str, Line]:
    """Try all answers in one session; after one that ends it, begin another session with those that are left."""
    found: dict[str, Line] = {}
    left = list(every)
    while left:
        done = run(saying_each(left), [_shell(rig, number) for number in range(len(left))])
        tried = min(done.results, len(left) - 1) + 1
        for number, given in enumerate(left[:tried]):
            found[given.label] = {cell: done.fate(number), "told": done.model_read(f"{REASON}-{number}.")}
        left = left[tried:]
    return found


def guard(rig: Rig) -> Line:
    """Record what becomes of a protected file: the guard for `Write|Edit` by itself, and through the bridge."""
    calls = [rig.call("Write", {"file_path": f"{HOME}/project/{PROTECTED}", "content": "K=1"})]
    line: Line = {"kind": "guard", "native": "unread"}
    text = f"{GUARD} < $kept.json"
    if dialect(rig.name).answers.vocabulary is not Vocabulary.PLUGIN:
        alone = trial(rig, text, calls, HookEntry("", [before_call(rig)], matcher="Write|Edit"))
        line["native"] = _written(alone) if alone.payloads else f"{_written(alone)}, the hook did not fire"
    through = bridged(rig, text, calls, "Write|Edit")
    return line | {"bridged": _written(through) if through.payloads else "not fired"}


def _written(done: Trial) -> str:
    return "runs" if PROTECTED in done.files else "refused"
