"""Long texts go to a private file."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookwright.protocol.outcome import Deny, Verdict
from hookwright.spill import LIMIT, fit
from support import command, event


def fitted(folder: Path, verdict: Verdict) -> Verdict:
    return fit(verdict, command("hook"), event("PreToolUse", transcript_path=str(folder / "s.jsonl")))


@pytest.mark.parametrize("field", ["context", "plain", "system_message"])
def test_the_limit_is_ten_thousand_characters(field: str, tmp_path: Path) -> None:
    fits = replace(Verdict(), **{field: "é" * LIMIT})
    assert fitted(tmp_path, fits) == fits
    text = "é" * (LIMIT + 1)
    short = fitted(tmp_path, replace(Verdict(), **{field: text}))
    said = getattr(short, field)
    found = re.search(r"saved to: (\S+)", said)
    assert found is not None
    path = Path(found[1])
    assert path.parent == tmp_path / "s" / "tool-results"
    assert path.read_text() == text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert said.count("é") == 2000
    assert [d.code for d in short.diagnostics] == ["spilled"]


def test_reasons_are_never_cut(tmp_path: Path) -> None:
    verdict = Verdict(decision=Deny("x" * 20_000))
    assert fitted(tmp_path, verdict) == verdict


def test_the_first_user_message_is_cut_too(tmp_path: Path) -> None:
    verdict = fitted(tmp_path, Verdict(fields={"initial_user_message": "x" * 20_000}))
    assert len(verdict.fields["initial_user_message"]) < 3000


def test_what_cannot_be_saved_is_a_preview_and_said(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("a file where the folder belongs")
    verdict = fitted(tmp_path, Verdict(context="x" * 20_000))
    assert [d.code for d in verdict.diagnostics] == ["spill-failed"]
    assert verdict.context is not None
    assert "Preview" in verdict.context
