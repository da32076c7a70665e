"""No credential in the journal, and none in the environment of a scrubbed command."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from agent.runs import Place, bash
from hookwright.observers.journal import short
from hookwright.protocol.secrets import redact, scrubbed

AREA = "credentials: journal and environments"

_DATA = Path(__file__).parent.parent / "data"


def _lines(name: str) -> list[str]:
    texts = (_DATA / name).read_text().splitlines()
    return [text.replace("\\n", "\n") for text in texts if text and not text.startswith("# ")]


CREDENTIALS = _lines("credentials.txt")
ORDINARY = _lines("ordinary.txt")


def _survives(marked: str) -> bool:
    head, _, rest = marked.partition("«")
    secret, _, tail = rest.partition("»")
    return secret in redact(head + secret + tail)


@pytest.mark.parametrize("marked", CREDENTIALS)
def test_a_credential_is_redacted(marked: str) -> None:
    assert not _survives(marked)


def test_the_list_is_long_and_ordinary_text_stays() -> None:
    """At most 5 % of the credentials stay, and under 1 % of ordinary texts lose a word."""
    kept = [marked for marked in CREDENTIALS if _survives(marked)]
    changed = [text for text in ORDINARY if redact(text) != text]
    assert len(CREDENTIALS) >= 86
    assert len(ORDINARY) >= 300
    assert len(kept) <= 0.05 * len(CREDENTIALS), kept
    assert len(changed) < 0.01 * len(ORDINARY), changed


@pytest.mark.parametrize(
    "text", ["mysql " * 2000, "-u a" * 3000, "token=" * 2000, "eyJ" * 3000, "://a:" * 2000, "docker -p " * 1000]
)
def test_no_text_takes_long(text: str) -> None:
    started = time.monotonic()
    short(text)
    assert time.monotonic() - started < 1


SECRET_NAMES = _lines("secret_variables.txt")
PLAIN_NAMES = _lines("plain_variables.txt")


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_variable_with_the_name_of_a_credential_is_scrubbed(name: str) -> None:
    assert name not in scrubbed({name: "x", "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "1"})


@pytest.mark.parametrize("value", ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "postgres://u:pw12@db/app"])
def test_a_variable_with_the_value_of_a_credential_is_scrubbed(value: str) -> None:
    assert "X" not in scrubbed({"X": value, "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "1"})


def test_other_variables_stay_and_nothing_is_scrubbed_unasked() -> None:
    plain = dict.fromkeys(PLAIN_NAMES, "/x")
    assert scrubbed({**plain, "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "1"}).keys() >= set(PLAIN_NAMES)
    assert scrubbed({"GITHUB_TOKEN": "x"}) == {"GITHUB_TOKEN": "x"}


@pytest.mark.parametrize("background", [False, True])
def test_the_bash_tool_gets_a_scrubbed_environment(background: bool, tmp_path: Path) -> None:
    place = Place(tmp_path)
    names = ("PGPASSWORD", "DJANGO_SECRET_KEY", "DATABASE_URL", "my_token", "ANTHROPIC_API_KEY")
    call = bash("env > env.txt; touch done")
    call["input"]["run_in_background"] = background
    turns = {"turns": [[call], [bash("while ! test -e done; do sleep 0.05; done")], [{"text": "done"}]]}
    place.hook("PreToolUse", f"env > {tmp_path}/hook-env.txt")
    given = {**dict.fromkeys(names, "s3cr3t"), "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "1", "KEPT": "s3cr3t"}
    place.run(turns, "--allowedTools", "Bash", **given)
    for file in (place.project / "env.txt", tmp_path / "hook-env.txt"):
        assert [line for line in file.read_text().splitlines() if "s3cr3t" in line] == ["KEPT=s3cr3t"]
