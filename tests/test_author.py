"""Hooks written with `hookwright.author`: right answers on every event, clean streams, right exit statuses."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from hookwright import author
from hookwright.author import (
    Answer,
    Event,
    Hook,
    allow,
    ask,
    block,
    context,
    defer,
    deny,
    fields,
    message,
    rewrite,
    rewrite_output,
    stop,
    to_wire,
)
from hookwright.author._tables import EVENTS
from hookwright.interpret import interpret
from hookwright.protocol.events import CATALOGUE, UNSENT
from hookwright.protocol.handlers import CallbackHandler
from hookwright.protocol.outcome import Allow, Ask, Block, Defer, Deny, Verdict
from hookwright.protocol.replies import Answered
from hookwright.protocol.sources import Scope, Source
from hookwright.protocol.wire import encode_event, payload
from support import event

# ── the tables are the catalogue ────────────────────────────────────────────


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_event_has_a_decorator(name: str) -> None:
    hook = Hook()
    decorate = getattr(hook, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    decorate()(lambda e: {"systemMessage": e.event_name})
    assert answered(hook, name) == {"systemMessage": name}
    target = CATALOGUE[name].rules.target
    if target is None:
        with pytest.raises(TypeError, match="cannot be narrowed"):
            decorate("x")
    else:
        decorate("x")


# ── answers mean what they say, on every event ──────────────────────────────

HANDLER = CallbackHandler(source=Source(Scope.USER), function=print)
ANSWERS = {
    "deny": (deny("why"), lambda v: isinstance(v.decision, Deny | Block) or v.stop is not None),
    "block": (block("why"), lambda v: isinstance(v.decision, Deny | Block) or v.stop is not None),
    "allow": (allow("why"), lambda v: isinstance(v.decision, Allow)),
    "ask": (ask("why"), lambda v: isinstance(v.decision, Ask)),
    "defer": (defer("why"), lambda v: isinstance(v.decision, Defer)),
    "context": (context("text"), lambda v: v.context == "text"),
    "message": (message("text"), lambda v: v.system_message == "text"),
    "stop": (stop("why"), lambda v: v.stop is not None and v.stop.reason == "why"),
    "rewrite": (allow() + rewrite({"command": "x"}), lambda v: "x" in str((v.updated_input, v.fields))),
    "rewrite_output": (rewrite_output("out"), lambda v: v.updated_output == "out"),
}


@pytest.mark.parametrize("name", CATALOGUE)
@pytest.mark.parametrize(("answer", "holds"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_has_its_effect_or_is_refused(answer: Answer, holds: Any, name: str) -> None:
    moment = event(name, teammate_name="x") if name == "TaskCompleted" else event(name)
    if not _accepts(answer, name):
        with pytest.raises(TypeError, match=name):
            to_wire(answer, name)
        return
    output = to_wire(answer, name)
    verdict: Verdict = interpret(Answered(output), HANDLER, moment)
    assert not verdict.diagnostics
    assert verdict.error is None
    assert holds(verdict), verdict


def test_nothing_that_an_event_reads_is_refused() -> None:
    accepted = {
        (name, word)
        for name in EVENTS
        for word, (answer, _) in ANSWERS.items()
        if word in ("deny", "context", "message", "stop") and _accepts(answer, name)
    }
    expected = {
        (name, {"block": "deny"}.get(word, word))
        for name, words in EVENTS.items()
        for word in words.split()[1:]
        if word in ("block", "context", "message", "stop")
    }
    assert accepted == expected


def _accepts(answer: Answer, name: str) -> bool:
    try:
        to_wire(answer, name)
    except TypeError:
        return False
    return True


def test_answers_add_up() -> None:
    both = deny("no") + context("a") + context("b") + fields(x_y=1) + fields(mcp_z=2)
    assert to_wire(both, "PreToolUse") == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "xY": 1,
            "mcpZ": 2,
            "additionalContext": "a\nb",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
        }
    }
    assert to_wire(fields(updated_mcp_tool_output=[1]), "PostToolUse")["hookSpecificOutput"][
        "updatedMCPToolOutput"
    ] == [1]


# ── events ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", CATALOGUE)
def test_an_event_has_the_fields_of_the_typed_one(name: str) -> None:
    typed = event(name)
    light = Event(payload(typed))
    for field in type(typed).__struct_fields__:
        if field not in UNSENT:
            value = getattr(typed, field)
            assert getattr(light, field) == (None if value is UNSET else value)
    assert light.event_name == light["hook_event_name"] == name
    assert "session_id" in light


def test_a_field_that_is_misspelt_is_an_error_that_helps() -> None:
    with pytest.raises(AttributeError, match=r"no field 'tool_nmae'; it has session_id, .*tool_name"):
        Event(payload(event("PreToolUse"))).tool_nmae  # noqa: B018


# ── handlers ────────────────────────────────────────────────────────────────


def answered(hook: Hook, name: str, **changes: Any) -> dict[str, Any]:
    return hook.answer(Event(payload(event(name, **changes))))


def test_handlers_are_chosen_by_event_and_value_and_the_first_answer_counts() -> None:
    hook = Hook()
    hook.pre_tool_use("Bash", "Write")(lambda e: None)
    hook.pre_tool_use("Bash")(lambda e: deny("bash"))
    hook.pre_tool_use()(lambda e: context("any tool"))
    hook.file_changed("a.py")(lambda e: message(e.file_path))
    hook.any_event(lambda e: {"systemMessage": e.event_name})
    assert answered(hook, "PreToolUse", tool_name="Bash")["hookSpecificOutput"]["permissionDecisionReason"] == "bash"
    assert answered(hook, "PreToolUse", tool_name="Read")["hookSpecificOutput"]["additionalContext"] == "any tool"
    assert answered(hook, "FileChanged", file_path="/x/a.py") == {"systemMessage": "/x/a.py"}
    assert answered(hook, "Stop") == {"systemMessage": "Stop"}


def test_mistakes_are_told_where_they_are_made() -> None:
    hook = Hook()
    with pytest.raises(AttributeError, match="not an event"):
        hook.pre_tool_usage("Bash")
    with pytest.raises(TypeError, match="with parentheses"):
        hook.pre_tool_use(lambda e: None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cannot be narrowed"):
        hook.__getattr__("stop")("x")
    hook.any_event(lambda e: "text")
    with pytest.raises(TypeError, match=r"returned str; return an answer"):
        answered(hook, "Stop")


# ── as a program ────────────────────────────────────────────────────────────


def run(source: str, folder: Path, data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    (folder / "hook.py").write_text(textwrap.dedent(source))
    moment = encode_event(event("PreToolUse", tool_input={"command": "git push --force"})) if data is None else data
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        [sys.executable, "hook.py"], input=moment, capture_output=True, cwd=folder, env=env, check=False
    )


def test_the_example_of_the_module_works(tmp_path: Path) -> None:
    assert author.__doc__ is not None
    lines = author.__doc__.splitlines()
    example = [line for line in lines[lines.index("") + 1 :] if line.startswith("    ") or not line][:9]
    assert len([line for line in example if line.strip()]) == 6
    ended = run("\n".join(example), tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_the_answer_is_alone_on_stdout(tmp_path: Path) -> None:
    ended = run(
        """
        import subprocess, sys
        from hookwright.author import message, run
        print("before")
        def handler(event):
            print("inside")
            subprocess.run(["echo", "from a process"])
            return message("é")
        run(handler)
        """,
        tmp_path,
    )
    assert json.loads(ended.stdout) == {"systemMessage": "é"}
    assert {"before", "inside", "from a process"} <= set(ended.stderr.decode().splitlines())


@pytest.mark.parametrize(
    ("body", "status", "stdout", "stderr"),
    [
        ("return None", 0, b"", b""),
        ("return {}", 0, b"", b""),
        ("return {'continue': False}", 0, b'{"continue": false}\n', b""),
        ("raise SystemExit", 0, b"", b""),
        ("raise SystemExit(2)", 2, b"", b""),
        ("raise SystemExit('text')", 1, b"", b"text\n"),
        ("1 / 0", 1, b"", b"ZeroDivisionError: division by zero\n"),
        ("return 5", 1, b"", b"return an answer, such as deny(\xe2\x80\xa6), a dict or None\n"),
        ("return ask", 1, b"", b"a dict or None\n"),
    ],
)
def test_statuses_and_streams_are_right(body: str, status: int, stdout: bytes, stderr: bytes, tmp_path: Path) -> None:
    ended = run(f"from hookwright.author import ask, run\ndef handler(event):\n    {body}\nrun(handler)\n", tmp_path)
    assert (ended.returncode, ended.stdout) == (status, stdout)
    assert ended.stderr.endswith(stderr)
    if status == 1 and b"text" not in stderr:
        assert b"Traceback" in ended.stderr


@pytest.mark.parametrize("data", [b"", b"not json", b"[]", b"{}"])
def test_an_event_that_cannot_be_read_is_an_error(data: bytes, tmp_path: Path) -> None:
    ended = run("from hookwright.author import run\nrun(lambda e: {'x': e.event_name})\n", tmp_path, data)
    assert (ended.returncode, ended.stdout) == (1, b"")
    assert b"Error" in ended.stderr


def test_a_hook_can_fail_closed(tmp_path: Path) -> None:
    ended = run("from hookwright.author import run\nrun(lambda e: 1 / 0, on_error='block')\n", tmp_path)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr == b"hook.py:2 ZeroDivisionError: division by zero\n"
