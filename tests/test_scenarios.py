"""The 36 scenarios on which engines were compared: PreToolUse, tool Bash, one or two command hooks."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from hookwright.config import Places
from hookwright.protocol.outcome import Allow, Ask, Deny, NoOpinion, Outcome
from hookwright.session import open_session
from support import event, hooks_for

DENY = json.dumps(
    {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
        }
    }
)


def said(word: str, **more: Any) -> str:
    answer = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word, **more}}
    return f"printf '%s' '{json.dumps(answer)}'"


def printed(value: Any) -> str:
    return f"printf '%s' '{json.dumps(value)}'"


#: name → commands, expected decision, seconds allowed
SCENARIOS: dict[str, tuple[list[str], type, float]] = {
    "exit 2 and stderr": (["echo no >&2; exit 2"], Deny, 5),
    "exit 2, nothing printed": (["exit 2"], Deny, 5),
    "exit 2 and allow on stdout": ([said("allow") + "; exit 2"], Deny, 5),
    "exit 2 and JSON on stderr": (['echo \'{"decision":"approve"}\' >&2; exit 2'], Deny, 5),
    "exit 2 and invalid UTF-8 on stdout": (["printf '\\377\\376'; exit 2"], Deny, 5),
    "exit 2 and decision null": (["echo '{\"decision\": null}'; exit 2"], Deny, 5),
    "exit 2 and JSON that fails the schema": (["echo '{\"hookSpecificOutput\": 7}'; exit 2"], Deny, 5),
    "exit 1": (["exit 1"], NoOpinion, 5),
    "death by signal": (["kill -9 $$"], NoOpinion, 5),
    "exit 3 with text": (["echo text; exit 3"], NoOpinion, 5),
    "command not found": (["no-such-command-here"], NoOpinion, 5),
    "exit 1 and deny": ([f"printf '%s' '{DENY}'; exit 1"], Deny, 5),
    "deny": ([said("deny", permissionDecisionReason="r")], Deny, 5),
    "ask": ([said("ask")], Ask, 5),
    "allow": ([said("allow")], Allow, 5),
    "legacy block": ([printed({"decision": "block", "reason": "r"})], Deny, 5),
    "deny without reason": ([said("deny")], Deny, 5),
    "deny and unknown fields": ([said("deny", zz=1)], Deny, 5),
    "A denies, B allows": ([said("deny"), said("allow")], Deny, 5),
    "A allows, B denies": ([said("allow"), said("deny")], Deny, 5),
    "A exits 2, B allows": (["exit 2", said("allow")], Deny, 5),
    "A asks, B allows": ([said("ask"), said("allow")], Ask, 5),
    "deny beside a sibling that times out": ([said("deny"), "sleep 30"], Deny, 8),
    "deny beside a malformed sibling": ([said("deny"), printed({"hookSpecificOutput": "text"})], Deny, 5),
    "continue false": ([printed({"continue": False})], NoOpinion, 5),
    "updatedInput": (
        [printed({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "x"}}})],
        NoOpinion,
        5,
    ),
    "timeout, simple child": (["exec sleep 30"], NoOpinion, 8),
    "timeout, grandchild": (["sleep 30; true"], NoOpinion, 8),
    "timeout, TERM trapped": (["trap '' TERM; sleep 30; sleep 30"], NoOpinion, 8),
    "verdict printed, child keeps stdout": ([f"sleep 30 & printf '%s' '{DENY}'"], Deny, 5),
    "20 MB stdout then exit 2": (["head -c 20000000 /dev/zero; exit 2"], Deny, 8),
    "1 MB stdin not read": (["exec true"], NoOpinion, 5),
    "same command twice in one group": (["echo x >> count", "echo x >> count"], NoOpinion, 5),
    "log line before JSON": ([f"echo starting; printf '%s' '{DENY}'"], NoOpinion, 5),
    "banner after JSON": ([f"printf '%s' '{DENY}'; echo; echo done"], NoOpinion, 5),
    "stderr noise at exit 0": (["echo noise >&2"], NoOpinion, 5),
}


def test_there_are_36() -> None:
    assert len(SCENARIOS) == 36


async def fire(folder: Path, commands: list[str], **fields: Any) -> Outcome:
    handlers = [{"type": "command", "command": command, "timeout": 0.5} for command in commands]
    places = Places(
        project=str(folder),
        env={**os.environ, "HOME": str(folder), "HOOKWRIGHT_MANAGED_SETTINGS": str(folder / "none")},
        settings=(json.dumps(hooks_for("PreToolUse", *handlers, matcher="Bash")),),
    )
    async with open_session(places) as session:
        return await session.fire(event("PreToolUse", cwd=str(folder), **fields))


@pytest.mark.req("R-183", "R-184", "R-187", "R-117", "R-100", "R-195", "R-114", "R-299", "R-291")
@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name: str, tmp_path: Path) -> None:
    commands, wanted, allowed = SCENARIOS[name]
    fields: dict[str, Any] = {}
    if "1 MB stdin" in name:
        fields["tool_input"] = {"command": "x" * 1_000_000}
    started = time.monotonic()
    outcome = asyncio.run(fire(tmp_path, commands, **fields))
    assert type(outcome.decision) is wanted
    assert time.monotonic() - started < allowed
    if name == "continue false":
        assert outcome.stop is not None
    if name == "updatedInput":
        assert outcome.updated_input == {"command": "x"}
    if name == "same command twice in one group":
        assert (tmp_path / "count").read_text() == "x\n"
