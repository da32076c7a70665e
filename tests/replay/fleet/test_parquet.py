"""The Parquet report says what the JSON report says; with pyarrow: `make fleet` runs these."""

from __future__ import annotations

import json
import os
import stat
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hookwright.cli import main
from replay.fleet.reports import timeless
from replay.isolated import needs_isolation
from support import hooks_for

HISTORY = Path(__file__).parent.parent.parent.parent / "examples" / "history"
GUARD = {"type": "command", "command": "if grep -q 'rm -rf'; then echo no >&2; exit 2; fi; date > /dev/null"}


@pytest.fixture
def candidate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HOOKWRIGHT_MANAGED_SETTINGS", str(tmp_path / "none"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return json.dumps(hooks_for("PreToolUse", GUARD, matcher="Bash"))


def test_without_pyarrow_the_extra_is_named_before_anything_runs(
    candidate: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for words in (["--format", "parquet"], ["-o", "x.parquet"]):
        assert main(["replay", str(HISTORY), "--candidate", candidate, *words]) == 2
        assert "pip install 'hookwright[parquet]'" in capsys.readouterr().err
    assert not os.path.exists("x.parquet")


@needs_isolation
def test_rows_are_the_changes_and_the_metadata_is_the_rest(candidate: str, tmp_path: Path) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    words = ["replay", str(HISTORY), "--candidate", candidate, "--baseline", "none"]
    assert main([*words, "--json", "-o", "report.json"]) == 0
    assert main([*words, "-o", "report.parquet"]) == 0
    assert stat.S_IMODE(os.stat("report.parquet").st_mode) == 0o600
    report = json.loads(Path("report.json").read_text())
    table = parquet.read_table("report.parquet")
    changes = report.pop("changes")
    assert timeless(json.loads(table.schema.metadata[b"hookwright"])) == timeless(report)
    assert report["coverage"]["calls"] == 43
    rows = table.to_pylist()
    assert len(rows) == len(changes) > 10
    for row, change in zip(rows, changes, strict=True):
        for name in (
            "call",
            "event",
            "tool",
            "session",
            "file",
            "line",
            "fate",
            "about",
            "bucket",
            "handlers",
            "after",
        ):
            assert row[name] == change[name]
        assert row["time"] == datetime.fromtimestamp(change["time"], UTC)
        assert row["now_decision"] == change["now"]["decision"]
        assert row["now_undecided"] is change["now"]["undecided"]
        assert row["now_doubts"] == [doubt["text"] for doubt in change["now"]["doubts"]]
    assert any(row["now_undecided"] and row["now_decision"] is None for row in rows)


def test_a_terminal_gets_no_parquet(candidate: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    assert main(["replay", str(HISTORY), "--candidate", candidate, "--format", "parquet"]) == 2
    assert "add --out report.parquet" in capsys.readouterr().err
