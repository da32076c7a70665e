"""What is secret stays out of every record, and what is private is for the user alone."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from agent.runs import Place, bash
from hookwright.config import Places
from hookwright.config.truststore import Record, TrustStore
from hookwright.protocol.outcome import Outcome
from hookwright.session import open_session
from http_server import Server, answer
from support import event, hooks_for

SECRET = "s3cr3t-value-0123456789"
ALLOW = ("--allowedTools", "Bash")


def written(folder: Path, but: str) -> str:
    """Join every file below a folder, except those whose path has a word."""
    parts = [path.read_bytes() for path in folder.rglob("*") if path.is_file() and but not in str(path)]
    return b"\n".join(parts).decode("utf-8", "replace")


@pytest.mark.req("R-371")
def test_secrets_of_the_env_file_are_in_no_transcript_journal_or_log(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.hook("SessionStart", f'echo "export TOKEN={SECRET}" >> "$CLAUDE_ENV_FILE"')
    place.hook("PreToolUse", "exit 0")
    debug = tmp_path / "logs" / "debug.log"
    play = {"turns": [[bash('test -n "$TOKEN" && echo it is set')], [{"text": "end"}]]}
    ran = place.run(play, *ALLOW, "--debug-file", str(debug))
    assert "it is set" in ran.stdout
    assert SECRET in written(place.home / ".claude" / "session-env", "nothing")
    elsewhere = written(place.home, "session-env") + debug.read_text() + ran.stdout + ran.stderr
    assert SECRET not in elsewhere


def test_a_header_with_a_token_is_in_no_record(tmp_path: Path) -> None:
    async def main() -> tuple[Outcome, str]:
        async with Server(answer(json.dumps({"systemMessage": "ok"}))) as server:
            headers = {"Authorization": "Bearer $MY_TOKEN"}
            handler = {"type": "http", "url": server.url, "headers": headers, "allowedEnvVars": ["MY_TOKEN"]}
            env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "MY_TOKEN": SECRET}
            chosen = (json.dumps(hooks_for("PreToolUse", handler)),)
            async with open_session(Places(project=str(tmp_path), env=env, settings=chosen), journal=True) as session:
                outcome = await session.fire(event("PreToolUse", cwd=str(tmp_path)))
                return outcome, server.requests[0].headers["authorization"]

    outcome, sent = asyncio.run(main())
    assert sent == f"Bearer {SECRET}"
    assert outcome.system_messages == ("ok",)
    assert SECRET not in written(tmp_path, "nothing") + repr(outcome)


def test_inputs_outputs_and_prompts_are_not_in_the_journal(tmp_path: Path) -> None:
    place = Place(tmp_path)
    for name in ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"):
        place.hook(name, f"echo {SECRET}-printed; echo {SECRET}-error >&2")
    ran = place.run(
        {"turns": [[bash(f"echo {SECRET}-input")], [{"text": f"{SECRET}-text"}]]}, *ALLOW, prompt=f"{SECRET}-prompt"
    )
    assert ran.code == 0
    journal = (place.home / ".local" / "state" / "hookwright" / "journal.jsonl").read_text()
    assert len(journal.splitlines()) > 4
    assert SECRET not in journal


@pytest.mark.parametrize("mask", [0o000, 0o022])
def test_everything_that_is_kept_is_private(mask: int, tmp_path: Path) -> None:
    """Transcripts, journal, env files, spill files and trust decisions, whatever the mask is."""
    before = os.umask(mask)
    try:
        place = Place(tmp_path)
        place.hook("SessionStart", 'echo "export A=1" >> "$CLAUDE_ENV_FILE"')
        place.answer("PreToolUse", {"systemMessage": "x" * 20_000})
        debug = tmp_path / "debug.log"
        place.run({"turns": [[bash("echo x")], [{"text": "end"}]]}, *ALLOW, "--debug-file", str(debug))
        state = place.home / ".local" / "state" / "hookwright"
        TrustStore(str(state / "trust.json")).record("/p", [Record("d", "e", "p")])
    finally:
        os.umask(before)
    kept = [path for path in (*(place.home / ".claude").rglob("*"), *state.rglob("*"), debug) if path.exists()]
    names = {path.name.rpartition(".")[2] for path in kept}
    assert {"jsonl", "sh", "txt", "json", "log"} <= names, names
    loose = {str(path): oct(path.stat().st_mode) for path in kept if stat.S_IMODE(path.stat().st_mode) & 0o077}
    assert loose == {}


def test_credentials_can_be_kept_from_hooks(tmp_path: Path) -> None:
    names = ("ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "OPENAI_API_KEY")
    env: dict[str, Any] = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **dict.fromkeys(names, SECRET)}
    chosen = (json.dumps(hooks_for("PreToolUse", {"type": "command", "command": "env > seen"})),)

    async def main(env: dict[str, str]) -> str:
        async with open_session(Places(project=str(tmp_path), env=env, settings=chosen)) as session:
            await session.fire(event("PreToolUse", cwd=str(tmp_path)))
        return (tmp_path / "seen").read_text()

    assert SECRET in asyncio.run(main(env))
    assert SECRET not in asyncio.run(main({**env, "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "1"}))
