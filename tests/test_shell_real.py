"""What Bash itself runs, a rule sees: random scripts, read by us and run by Bash with a program that notes its call."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bash_scripts import Kitchen, judged, tally

SCRIPTS = 20_000
needs_timeout = pytest.mark.skipif(shutil.which("timeout") is None, reason="needs timeout, which ends what loops")


@pytest.fixture
def kitchen(tmp_path: Path) -> Kitchen:
    return Kitchen(tmp_path)


def passes(script: str, kitchen: Kitchen) -> bool:
    """Return whether some guard of `zm` would not be asked about a script."""
    return judged(script, str(kitchen.room)).unseen


@needs_timeout
@pytest.mark.parametrize("part", range(4))
def test_no_script_that_runs_a_program_gets_past_a_guard_or_a_table(part: int) -> None:
    size = SCRIPTS // 4
    found = tally(range(part * size, (part + 1) * size))
    assert found.fallen == []
    assert found.tried == size
    assert found.ran > size // 50


@needs_timeout
def test_bash_runs_the_program_in_most_scripts(kitchen: Kitchen) -> None:
    from bash_scripts import made

    scripts = [made(number) for number in range(300)]
    assert len(kitchen.ran(scripts)) > 100


@pytest.mark.parametrize(
    "script",
    [
        "echo ==\nzm x",
        "true =~ \n\nzm x",
        "git status\n\\zm -rf x",
        "a=1 \n\\zm x",
        "unset\n\\\nzm x",
        "declare\n\\\n zm x",
        ">\r zm x",
        "<<<\r\nzm x",
        "coproc a=1 zm x",
        "time a= zm x",
        "a+=\\\n zm x",
        "a=\\\n\nzm x",
        "&> != &> == zm x 2>&1",
        'echo a; $\n"zm" x',
        "sh -c + zm x",
        "eval -- zm x",
        "==a ==a\nEOF\n\\\n >&2 zm x ",
        "x=; command${x} zm x",
        "a=$(echo 1)\\\n b[1]=2 zm x",
        "cat <<-E\n\t$\\\n(zm x)\n\tE\n",
    ],
)
def test_what_the_parser_misreads_is_not_passed(script: str, kitchen: Kitchen) -> None:
    tries = 5 if "coproc" in script else 1  # a coprocess may be ended before it starts its program
    assert any(kitchen.ran([script]) for _ in range(tries))
    assert not passes(script, kitchen)


def test_words_of_other_programs_pass(kitchen: Kitchen) -> None:
    for script in (
        "echo zm x",
        "echo 'a\nzm x'",
        "git log \\\n  zm x",
        "a=(1\nzm)\nls",
        "cat <<'A'\nzm x\nA\necho \"b\nzm\"",
    ):
        assert passes(script, kitchen), script
        assert not kitchen.ran([script])
