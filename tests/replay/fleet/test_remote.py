"""Sources and reports by URL; those of other machines need fsspec: `make fleet` runs them."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from hookwright.cli import main
from hookwright.errors import ConfigError, MissingExtra
from hookwright.replay.fleet.remote import is_url, read_url, write_url
from hookwright.replay.past import Coverage, Past
from hookwright.replay.sources import past_events
from hookwright.replay.transcripts.files import NoSource
from replay.fleet.reports import timeless
from replay.isolated import needs_isolation
from support import hooks_for

HISTORY = Path(__file__).parent.parent.parent.parent / "examples" / "history"
needs_fsspec = pytest.mark.skipif(importlib.util.find_spec("fsspec") is None, reason="needs fsspec: make fleet")


def test_urls_are_told_from_paths() -> None:
    for url in ("s3://bucket/x", "memory://x", "file:///tmp/x", "simplecache::s3://bucket/x"):
        assert is_url(url)
    for path in ("/tmp/x", "x.jsonl", "-", "C:\\x", "a:b", "history/**/*.jsonl"):
        assert not is_url(path)


def _events(name: str) -> tuple[list[Past], Coverage]:
    coverage = Coverage()
    return list(past_events([name], coverage=coverage)), coverage


def test_a_file_url_is_the_path_it_names() -> None:
    assert _events(f"file://{HISTORY}") == _events(str(HISTORY))


def test_without_fsspec_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(MissingExtra, match=r"Reading s3:// addresses needs .*hookwright\[remote\]"):
        _events("s3://bucket/history")


def _without_place(found: tuple[list[Past], Coverage]) -> Any:
    pasts, coverage = found
    facts = [(one.event.event_name, one.call, one.place.line, one.time, one.fate, one.provenance) for one in pasts]
    return facts, coverage


def _upload(url: str) -> None:
    for path in HISTORY.rglob("*.json*"):
        write_url(f"{url}/{path.relative_to(HISTORY)}", path.read_bytes())


@needs_fsspec
def test_events_from_a_store_are_those_of_the_files() -> None:
    _upload("memory://store/history")
    found = _without_place(_events("memory://store/history"))
    assert found == _without_place(_events(str(HISTORY)))
    assert len(found[0]) > 40
    assert _without_place(_events("memory://store/history/**/*.jsonl")) == found
    first = min(HISTORY.glob("*.jsonl"))
    url = f"memory://store/history/{first.name}"
    assert _without_place(_events(url)) == _without_place(_events(str(first)))


@needs_fsspec
def test_what_is_not_there_and_what_is_not_known_are_said() -> None:
    with pytest.raises(NoSource, match="nothing is there"):
        _events("memory://nothing/here")
    with pytest.raises(ConfigError, match="nowhere"):
        _events("nowhere://x/y")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_url("memory://nothing/here.tar")


@needs_fsspec
@needs_isolation
@pytest.mark.parametrize("kind", ["json", "jsonl"])
def test_a_replay_reads_from_a_store_and_writes_to_it(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HOOKWRIGHT_MANAGED_SETTINGS", str(tmp_path / "none"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    guard = {"type": "command", "command": "if grep -q 'rm -rf'; then echo no >&2; exit 2; fi"}
    candidate = json.dumps(hooks_for("PreToolUse", guard, matcher="Bash"))
    _upload("memory://store/history")
    words = ["--candidate", candidate, "--baseline", "none", "--format", kind]
    assert main(["replay", "memory://store/history", *words, "-o", f"memory://store/report.{kind}"]) == 0
    assert main(["replay", str(HISTORY), *words, "-o", str(tmp_path / "report")]) == 0
    assert "memory://store/report" in capsys.readouterr().err
    here, there = ((tmp_path / "report").read_bytes(), read_url(f"memory://store/report.{kind}"))
    assert _parsed(there.replace(b"memory:///store/history", os.fsencode(HISTORY))) == _parsed(here)


def _parsed(data: bytes) -> list[Any]:
    return [timeless(json.loads(line)) for line in data.splitlines()]
