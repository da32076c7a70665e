"""The journal: complete, private, rotated, without secrets, harmless when it cannot be written."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
import time
from pathlib import Path
from typing import Any

import pytest

import hookwright.observers.journal
from hookwright.observers.journal import Journal, short
from hookwright.protocol.diagnostics import Diagnostic
from hookwright.protocol.secrets import redact
from support import command
from test_engine import at, engine, group


def fire(folder: Path, journal: Journal, *handlers: Any, times: int = 1) -> list[dict[str, Any]]:
    made = engine(
        folder, group("PreToolUse", *handlers), group("PreToolUse", command("x"), matcher="Write"), observers=[journal]
    )

    async def main() -> None:
        for _ in range(times):
            await made.fire(at("PreToolUse", folder))

    asyncio.run(main())
    path = Path(journal.path)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_every_run_skip_and_event_is_a_line(tmp_path: Path) -> None:
    lines = fire(tmp_path, Journal(str(tmp_path / "state")), command("echo no >&2; exit 2"), command("echo hello"))
    by_kind = {kind: [line for line in lines if line["kind"] == kind] for kind in ("run", "skip", "event")}
    assert {line["handler"]: (line["decision"], line["exit"], line["outcome"]) for line in by_kind["run"]} == {
        "echo no >&2; exit 2": ("deny", 2, "error"),
        "echo hello": (None, 0, "success"),
    }
    (skip,) = by_kind["skip"]
    assert (skip["skip"], skip["tool"]) == ("matcher", "Bash")
    (whole,) = by_kind["event"]
    assert (whole["decision"], whole["ran"], whole["skipped"], whole["blocked"]) == ("deny", 2, 1, True)
    assert all(line["ms"] >= 0 for line in by_kind["run"])
    assert {line["stdout"] for line in by_kind["run"]} == {0, 6}


@pytest.mark.req("R-371")
@pytest.mark.parametrize(
    "secret",
    [
        "Authorization: Bearer abcdef0123456789",
        "password=hunter2222",
        "sk-ant-0123456789abcdef",
        "ghp_0123456789abcdef0123456789",
        "AKIA0123456789ABCDEF",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    ],
)
def test_secrets_are_never_written(secret: str, tmp_path: Path) -> None:
    core = secret.split()[-1].split("=")[-1]
    fire(
        tmp_path, Journal(str(tmp_path / "state")), command(f"echo '{secret}' >&2; exit 2"), command(f"true '{secret}'")
    )
    written = (tmp_path / "state" / "journal.jsonl").read_text()
    assert core not in written
    assert "[redacted]" in written


def test_what_hooks_print_and_tools_get_is_not_written(tmp_path: Path) -> None:
    fire(tmp_path, Journal(str(tmp_path / "state")), command("printf '%s%s' PRI NTED; cat"))
    written = (tmp_path / "state" / "journal.jsonl").read_text()
    assert "PRINTED" not in written
    assert "tool_input" not in written


def test_redaction_leaves_ordinary_text_alone() -> None:
    for text in ("npm test failed", "edit src/token.py first", "rm -rf is not allowed"):
        assert redact(text) == text


def test_the_file_is_private(tmp_path: Path) -> None:
    fire(tmp_path, Journal(str(tmp_path / "deep" / "state")), command("true"))
    path = tmp_path / "deep" / "state" / "journal.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_full_file_is_set_aside_and_old_ones_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hookwright.observers.journal, "ROTATE_AT", 400)
    fire(tmp_path, Journal(str(tmp_path / "state")), command("true"), times=20)
    names = sorted(os.listdir(tmp_path / "state"))
    assert "journal.jsonl" in names
    assert len(names) == 1 + hookwright.observers.journal.KEEP


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_a_problem_and_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o500)
    journal = Journal(str(tmp_path / "state"))
    fire(tmp_path, journal, command("true"))
    assert journal.problem is not None


def test_a_folder_that_is_a_file_is_a_problem_and_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    journal = Journal(str(tmp_path / "state"))
    made = engine(tmp_path, group("PreToolUse", command("exit 2")), observers=[journal])
    assert asyncio.run(made.fire(at("PreToolUse", tmp_path))).blocked
    assert journal.problem is not None


def test_writers_at_once_never_interleave_a_line(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "state"))
    made = engine(
        tmp_path, group("PreToolUse", *(command(f"echo {i} {'x' * 200}") for i in range(5))), observers=[journal]
    )

    async def main() -> None:
        await asyncio.gather(*(made.fire(at("PreToolUse", tmp_path)) for _ in range(10)))

    asyncio.run(main())
    lines = (tmp_path / "state" / "journal.jsonl").read_text().splitlines()
    assert len([json.loads(line) for line in lines]) == 60


@pytest.mark.req("R-371")
@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "wJalrXUtnFEMI"),
        ("GITHUB_TOKEN=0123abcd failed", "0123abcd"),
        ("my-api-key: 'zzzzzz'", "zzzzzz"),
        ("curl https://user:hunter2@example.org/x", "hunter2"),
        ("deploy --password hunter2", "hunter2"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ('{"client_secret": "0123456789"}', "0123456789"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAAB\n-----END RSA PRIVATE KEY-----", "AAAB"),
        ("x" * 490 + " sk-ant-0123456789abcdef0123456789", "sk-ant-01"),
    ],
)
def test_credentials_in_any_dress_are_left_out(text: str, secret: str) -> None:
    assert secret not in short(text)


@pytest.mark.parametrize(
    "text",
    [
        "token" + " " * 1_000_000,
        "-eyJaaaaaaaaaaaa" * 60_000,
        "-----BEGIN " + "A" * 1_000_000,
        "-----BEGIN PRIVATE KEY-----" * 40_000,
        "://" * 300_000,
        "token_" * 150_000,
        "a-" * 500_000,
        "--" * 500_000,
    ],
)
def test_no_text_takes_long_to_redact(text: str) -> None:
    started = time.monotonic()
    assert len(short(text)) <= 500
    assert time.monotonic() - started < 2


def test_a_line_never_joins_what_was_torn_before_it(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "state"))
    fire(tmp_path, journal, command("true"))
    path = tmp_path / "state" / "journal.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    asyncio.run(
        engine(tmp_path, group("PreToolUse", command("true")), observers=[journal]).fire(at("PreToolUse", tmp_path))
    )
    torn, *rest = [line for line in path.read_bytes().split(b"\n") if not _is_json(line)]
    assert torn == whole[:-20].split(b"\n")[-1]
    assert rest == [b""]


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def test_a_journal_that_cannot_be_written_is_told_once_and_again_after_it_could(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    told: list[Diagnostic] = []
    journal = Journal(str(tmp_path / "state"), told.append)
    fire(tmp_path, journal, command("true"), times=3)
    assert [note.code for note in told] == ["journal"]
    (tmp_path / "state").unlink()
    fire(tmp_path, journal, command("true"))
    assert (tmp_path / "state" / "journal.jsonl").read_bytes().count(b'"kind":"event"') == 1
    shutil.rmtree(tmp_path / "state")
    (tmp_path / "state").write_text("a file")
    fire(tmp_path, journal, command("true"))
    assert [note.code for note in told] == ["journal", "journal"]


@pytest.mark.req("R-320")
def test_the_end_of_a_background_hook_is_a_record(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "state"))
    handler = command("echo token=abcdef123456 >&2; exit 7", is_async=True)
    made = engine(tmp_path, group("PreToolUse", handler), observers=[journal])

    async def main() -> None:
        await made.fire(at("PreToolUse", tmp_path))
        assert made.background is not None
        await made.background.wait()

    asyncio.run(main())
    lines = [json.loads(line) for line in Path(journal.path).read_text().splitlines()]
    run, late = (next(line for line in lines if line["kind"] == kind) for kind in ("run", "late"))
    assert (run["outcome"], run["ending"]) == ("async", None)
    assert (late["outcome"], late["ending"], late["exit"]) == ("error", "non-blocking error", 7)
    assert (late["run"], late["background"], late["id"]) == (run["run"], run["background"], run["id"])
    assert late["codes"] == ["exit-status"]
    assert late["reason"] == "Failed with non-blocking status code: token=[redacted]"
    assert late["ms"] > 0
