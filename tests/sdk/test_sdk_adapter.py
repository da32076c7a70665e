"""`hooks=hooks(".")` and `cli_path=cli()`: the hooks of a project behind the callbacks of the real SDK."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hookwright.adapters.claude_agent_sdk import Callbacks, cli, hooks
from hookwright.config import Places
from hookwright.config.trust import TrustPolicy
from sdk.bench import PROGRAM, Bench, bash, text


def group(command: str, matcher: str = "") -> list[dict[str, Any]]:
    return [{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}]


def answer(event: str, **fields: Any) -> str:
    return f"printf '%s' '{json.dumps({'hookSpecificOutput': {'hookEventName': event, **fields}})}'"


HOOKS = {
    "SessionStart": group("echo start >> ends; echo SESSION-CONTEXT"),
    "SessionEnd": group("echo end >> ends"),
    "UserPromptSubmit": group("if grep -q FORBIDDEN; then echo NO-PROMPT >&2; exit 2; fi; echo PROMPT-CONTEXT"),
    "PreToolUse": group(
        "cat >> calls; case $(tail -c 2000 calls) in *denied*) echo NOT-THIS >&2; exit 2;; esac; "
        + answer("PreToolUse", permissionDecision="allow", updatedInput={"command": "touch new.txt"}),
        "Bash",
    ),
    "PostToolUse": group(answer("PostToolUse", additionalContext="AFTER"), "Bash"),
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    made.settings({"hooks": HOOKS})
    return made


def places(bench: Bench) -> Places:
    return Places(project=str(bench.project), home=str(bench.home), trust=TrustPolicy.EVERYTHING)


def test_the_hooks_of_a_project_work_through_the_sdk_and_run_once(bench: Bench) -> None:
    bench.play(
        [{"when": "SESSION-CONTEXT[^$]*PROMPT-CONTEXT"}, bash("touch old.txt")],
        [{"when": "AFTER"}, bash("touch denied.txt")],
        [{"when": "NOT-THIS"}, text("the end")],
    )
    made = hooks(places(bench))
    heard = bench.ask("go", hooks=made, setting_sources=[])
    assert [result.result for result in heard.results] == ["the end"]
    assert (bench.exists("old.txt"), bench.exists("new.txt"), bench.exists("denied.txt")) == (False, True, False)
    assert len((bench.project / "calls").read_text().splitlines()) == 2, "each hook ran once a call"
    callbacks = made["PreToolUse"][0].hooks[0].__self__  # type: ignore[attr-defined]
    assert isinstance(callbacks, Callbacks)
    callbacks.close()
    assert (bench.project / "ends").read_text().split() == ["start", "end"]
    assert "SessionEnd" not in made
    assert "WorktreeCreate" not in made, "a callback there would replace git"


def test_with_the_settings_of_the_project_hooks_run_twice(bench: Bench) -> None:
    """What the page warns of: the CLI reads the same settings."""
    bench.play([bash("touch denied.txt")], [text("the end")])
    bench.ask("go", hooks=hooks(places(bench)), setting_sources=["project"])
    assert len((bench.project / "calls").read_text().splitlines()) == 2


def test_a_blocked_prompt_never_reaches_the_model(bench: Bench) -> None:
    bench.play([text("ZEBRA")])
    heard = bench.ask("FORBIDDEN", hooks=hooks(places(bench)), setting_sources=[])
    assert "ZEBRA" not in str(heard.messages)


@pytest.mark.parametrize(
    ("event", "refuses"),
    [
        ("PreToolUse", {"hookSpecificOutput": {"permissionDecision": "deny"}}),
        ("PermissionRequest", {"hookSpecificOutput": {"decision": {"behavior": "deny"}}}),
        ("UserPromptSubmit", {"decision": "block"}),
        ("PostToolUse", {"continue": False, "decision": "block"}),
    ],
)
def test_an_event_that_cannot_be_read_is_refused(bench: Bench, event: str, refuses: dict[str, Any]) -> None:
    callback = hooks(places(bench))[event][0].hooks[0]
    given: Any = {"hook_event_name": event, "session_id": 5}
    found: Any = asyncio.run(callback(given, None, {"signal": None}))  # type: ignore[arg-type]
    assert "hookwright could not run the hooks of this event: InvalidEvent" in json.dumps(found)
    _includes(found, refuses)


def _includes(found: Any, wanted: Any) -> None:
    for name, value in wanted.items():
        if isinstance(value, dict):
            _includes(found[name], value)
        else:
            assert found[name] == value


def test_cli_is_the_installed_program() -> None:
    assert cli() == PROGRAM
