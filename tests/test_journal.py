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

import hookwright.observers.journal.writer
from hookwright.observers.journal import Journal, Retention, short
from hookwright.observers.journal.reader import Filter, follow, records, removed_up_to
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
    return read(folder / "state")


def read(folder: Path) -> list[dict[str, Any]]:
    return list(records(str(folder), Filter()))


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
    monkeypatch.setattr(hookwright.observers.journal.writer, "ROTATE_AT", 400)
    journal = Journal(str(tmp_path / "state"), retention=Retention(bytes=3000))
    found = fire(tmp_path, journal, command("true"), times=20)
    kept = [path.stat().st_size for path in (tmp_path / "state").iterdir()]
    assert "journal.jsonl" in os.listdir(tmp_path / "state")
    assert 2 < len(kept) < 20
    assert sum(kept) < 3000 + 2 * 1400
    assert 2 < len([record for record in found if record["kind"] == "event"]) < 20
    assert all(record["handler"] == "true" for record in found if record["kind"] == "run")
    assert removed_up_to(str(tmp_path / "state")) == pytest.approx(time.time(), abs=60)


def test_files_go_by_age_and_by_size_and_the_newest_stay() -> None:
    day = 86400.0
    files = [("a", 1 * day, 10), ("b", 5 * day, 10), ("c", 9 * day, 10)]
    assert Retention(days=7, bytes=100).removes(files, 10 * day) == [("a", day)]
    assert Retention(days=100, bytes=25).removes(files, 10 * day) == [("a", day)]
    assert Retention(days=100, bytes=10).removes(files, 10 * day) == [("b", 5 * day), ("a", day)]
    assert Retention(days=100, bytes=100).removes(files, 10 * day) == []


@pytest.mark.parametrize("wrong", ["", "-1", "0", "many", "inf", "nan"])
def test_a_limit_that_is_not_a_positive_number_leaves_the_default(wrong: str) -> None:
    assert Retention.of({"HOOKWRIGHT_JOURNAL_DAYS": wrong, "HOOKWRIGHT_JOURNAL_MB": wrong}) == Retention()
    assert Retention.of({"HOOKWRIGHT_JOURNAL_DAYS": "7", "HOOKWRIGHT_JOURNAL_MB": "1.5"}) == Retention(7.0, 1572864)


def test_records_of_one_firing_share_its_id_when_calls_overlap(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "state"), configuration=lambda: "c0ffee")
    made = engine(
        tmp_path,
        group("PreToolUse", command("sleep 0.1"), command("true")),
        group("PreToolUse", command("x"), matcher="Write"),
        observers=[journal],
    )

    async def main() -> None:
        calls = (at("PreToolUse", tmp_path, tool_use_id=f"toolu_{n}", agent_id="a1", prompt_id="p1") for n in range(3))
        await asyncio.gather(*map(made.fire, calls))

    asyncio.run(main())
    found = read(tmp_path / "state")
    firings = {record["fire"] for record in found}
    assert len(firings) == 3
    for firing in firings:
        mine = [record for record in found if record["fire"] == firing]
        assert sorted(record["kind"] for record in mine) == ["event", "run", "run", "skip"]
        assert len({record["call"] for record in mine}) == 1
        assert {record["agent"] for record in mine} == {"a1"}
        assert {record["prompt"] for record in mine} == {"p1"}
        assert [record["conf"] for record in mine if record["kind"] == "event"] == ["c0ffee"]


def test_handlers_are_written_once_per_file_and_skips_as_pairs(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "state"))
    made = engine(
        tmp_path, *(group("PreToolUse", command(f"hook {n}"), matcher="Write") for n in range(30)), observers=[journal]
    )

    async def main() -> None:
        for _ in range(10):
            await made.fire(at("PreToolUse", tmp_path))

    asyncio.run(main())
    lines = [json.loads(line) for line in (tmp_path / "state" / "journal.jsonl").read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["journal", *["handler"] * 30, *["event"] * 10]
    assert lines[0]["v"] == 2
    assert all(len(pair) == 2 for line in lines[31:] for pair in line["skips"])
    event = max(len(json.dumps(line, separators=(",", ":"))) for line in lines[31:])
    assert event < 1400  # a line per skipped hook took 13 KB


def test_a_journal_of_version_1_is_read_as_before(tmp_path: Path) -> None:
    old = [
        {
            "t": 1.0,
            "kind": "skip",
            "event": "PreToolUse",
            "handler": "a",
            "source": "s:1",
            "id": "user:0",
            "skip": "if",
        },
        {"t": 1.0, "kind": "run", "event": "PreToolUse", "handler": "b", "source": "s:2", "id": "user:1", "ms": 2.0},
        {"t": 1.0, "kind": "event", "event": "PreToolUse", "decision": None, "ran": 1, "skipped": 1},
    ]
    (tmp_path / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in old))
    assert read(tmp_path) == old
    assert removed_up_to(str(tmp_path)) is None


def test_a_handler_whose_line_was_lost_is_still_reported(tmp_path: Path) -> None:
    fire(tmp_path, Journal(str(tmp_path / "state")), command("exit 2"))
    path = tmp_path / "state" / "journal.jsonl"
    kept = [line for line in path.read_text().splitlines() if '"kind":"handler"' not in line]
    path.write_text("\n".join(kept) + "\n")
    (run,) = (record for record in read(tmp_path / "state") if record["kind"] == "run")
    assert (run["decision"], run["handler"].split(" ")[:2]) == ("deny", ["unknown", "handler"])


def test_a_follower_knows_the_handlers_of_lines_before_it_came(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "state"))
    made = engine(tmp_path, group("PreToolUse", command("true")), observers=[journal])

    async def main() -> None:
        await made.fire(at("PreToolUse", tmp_path))
        following = follow(str(tmp_path / "state"), Filter(kinds=frozenset({"run"})))
        first = asyncio.create_task(asyncio.to_thread(next, following))
        while not first.done():  # the follower reads from the end, whenever it gets there
            await made.fire(at("PreToolUse", tmp_path))
            await asyncio.sleep(0.1)
        assert first.result()["handler"] == "true"
        following.close()

    asyncio.run(main())


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
    assert len(read(tmp_path / "state")) == 60
    lines = (tmp_path / "state" / "journal.jsonl").read_text().splitlines()
    assert all(json.loads(line) for line in lines)


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
    lines = read(tmp_path / "state")
    run, late = (next(line for line in lines if line["kind"] == kind) for kind in ("run", "late"))
    assert (run["outcome"], run["ending"]) == ("async", None)
    assert (late["outcome"], late["ending"], late["exit"]) == ("error", "non-blocking error", 7)
    assert (late["run"], late["background"], late["id"]) == (run["run"], run["background"], run["id"])
    assert late["codes"] == ["exit-status"]
    assert late["reason"] == "Failed with non-blocking status code: token=[redacted]"
    assert late["ms"] > 0
