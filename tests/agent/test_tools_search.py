"""Glob and Grep on real trees."""

from __future__ import annotations

import dataclasses
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.benches import call, make_bench
from hookwright.agent.tools import TOOLS, ToolContext
from hookwright.projects.files import Refused
from hookwright.projects.globs import glob_regex


@pytest.fixture
def bench(tmp_path: Path) -> ToolContext:
    made = make_bench(tmp_path)
    for age, (name, text) in enumerate(
        {
            "a.py": "import os\nprint('x')\n",
            "src/b.py": "import re\n",
            "src/deep/c.ts": "IMPORT\n",
            ".git/hooks/d.py": "import no\n",
            ".hidden/e.py": "import yes\n",
        }.items()
    ):
        path = Path(made.cwd, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (age, age))
    return made


GLOBS = [
    ("*.py", ["a.py"]),
    ("**/*.py", [".hidden/e.py", "src/b.py", "a.py"]),
    ("src/**", ["src/deep/c.ts", "src/b.py"]),
    ("**/*.{ts,js}", ["src/deep/c.ts"]),
    ("src/[ab].py", ["src/b.py"]),
    ("src/[!b].py", []),
    ("?.py", ["a.py"]),
    ("src/../a.py", ["a.py"]),
    ("*.{py", []),
]


@pytest.mark.parametrize(("pattern", "expected"), GLOBS)
def test_glob_lists_what_fits_latest_first(bench: ToolContext, pattern: str, expected: list[str]) -> None:
    done = call(bench, "Glob", pattern=pattern)
    assert done.response["filenames"] == expected
    assert list(done.response) == [
        *("filenames", "durationMs", "numFiles", "truncated", "totalMatches", "countIsComplete")
    ]
    assert (done.text == "No files found") == (not expected)


def test_glob_takes_a_folder_and_an_absolute_pattern(bench: ToolContext) -> None:
    assert call(bench, "Glob", pattern="*.py", path="src").response["filenames"] == ["src/b.py"]
    found = call(bench, "Glob", pattern=f"{bench.cwd}/src/*.py").response["filenames"]
    assert found == ["src/b.py"]
    assert call(bench, "Glob", pattern="*", path="absent").is_error


def test_glob_shows_a_hundred_and_counts_all(bench: ToolContext) -> None:
    for number in range(150):
        Path(bench.cwd, f"n{number}.txt").touch()
    done = call(bench, "Glob", pattern="*.txt")
    response = done.response
    assert (response["numFiles"], response["totalMatches"], response["truncated"]) == (100, 150, True)
    assert "truncated" in str(done.text).splitlines()[-1]


SETS = [("[]a]", "]", True), ("[!]a]", "b", True), ("[a-c]", "b", True), ("[--0]", ".", True), ("[!a]", "/", False)]


@pytest.mark.parametrize(
    ("pattern", "char", "fits"), [*SETS, ("[]", "[]", True), ("[!]", "!", True), ("[&&]", "&", True)]
)
def test_sets_of_characters(pattern: str, char: str, fits: bool) -> None:
    assert (glob_regex(pattern).fullmatch(char) is not None) == fits


@settings(max_examples=400)
@given(st.text(alphabet="ab*?[]{},/!^-\\", max_size=12), st.text(alphabet="ab/", max_size=8))
def test_law_every_text_is_a_pattern_or_is_refused(pattern: str, path: str) -> None:
    try:
        expression = glob_regex(pattern)
    except Refused:
        return
    expression.fullmatch(path)
    if not re.search(r"[*?\[\]{}]", pattern):
        assert (expression.fullmatch(path) is not None) == (pattern == path)


def test_a_pattern_that_stands_for_too_many_is_refused(bench: ToolContext) -> None:
    assert "more than 500" in str(call(bench, "Glob", pattern="{a,b}" * 20).text)


GREPS: list[tuple[dict[str, Any], str, list[str]]] = [
    ({}, "files_with_matches", ["a.py", ".hidden/e.py", "src/b.py"]),
    ({"glob": "*.py", "path": "src"}, "files_with_matches", ["src/b.py"]),
    ({"glob": "src/**/*.ts", "-i": True}, "files_with_matches", ["src/deep/c.ts"]),
    ({"path": "a.py"}, "files_with_matches", ["a.py"]),
    ({"output_mode": "content", "path": "a.py"}, "content", []),
    ({"output_mode": "count"}, "count", []),
]


FIELDS = {
    "files_with_matches": ["mode", "filenames", "numFiles", "totalFiles"],
    "content": ["mode", "numFiles", "filenames", "content", "numLines", "totalLines"],
    "count": ["mode", "numFiles", "filenames", "content", "numMatches"],
}


@pytest.mark.parametrize(("options", "mode", "files"), GREPS)
def test_grep_has_the_observed_shape(bench: ToolContext, options: dict[str, Any], mode: str, files: list[str]) -> None:
    response = call(bench, "Grep", pattern="^import", **options).response
    assert list(response) == FIELDS[mode]
    assert (response["mode"], sorted(response["filenames"])) == (mode, sorted(files))


def test_grep_shows_lines_with_their_surroundings(bench: ToolContext) -> None:
    path = Path(bench.cwd, "log")
    path.write_text("".join(f"{n} {'hit' if n in (3, 9) else 'no'}\n" for n in range(1, 12)))
    done = call(bench, "Grep", pattern="hit$", path="log", output_mode="content", **{"-B": 1, "-A": 1})
    shown = ["2-2 no", "3:3 hit", "4-4 no", "--", "8-8 no", "9:9 hit", "10-10 no"]
    assert str(done.text).splitlines() == shown
    bare = call(bench, "Grep", pattern="hit", path="log", output_mode="content", **{"-n": False}).text
    assert bare == "3 hit\n9 hit"
    among = call(bench, "Grep", pattern="hit", glob="log", output_mode="content").text
    assert among == "log:3:3 hit\nlog:9:9 hit"
    counted = call(bench, "Grep", pattern="hit", path="log", output_mode="count")
    assert counted.text == "log:2\n\nFound 2 total occurrences across 1 file."


def test_grep_limits_and_says_what_is_left(bench: ToolContext) -> None:
    Path(bench.cwd, "many").write_text("hit\n" * 400)
    done = call(bench, "Grep", pattern="hit", path="many", output_mode="content", head_limit=2)
    assert (done.response["numLines"], done.response["totalLines"]) == (2, 400)
    assert str(done.text).endswith("(398 more lines; raise head_limit to see them)")
    assert call(bench, "Grep", pattern="hit", output_mode="content").response["numLines"] == 250
    everything = call(bench, "Grep", pattern="hit", output_mode="content", head_limit=0).response
    assert everything["numLines"] == 400


def test_grep_can_span_lines(bench: ToolContext) -> None:
    response = call(bench, "Grep", pattern=r"os\nprint", path="a.py", multiline=True).response
    assert response["numFiles"] == 1
    assert call(bench, "Grep", pattern=r"os\nprint", path="a.py").text == "No files found"


def test_grep_says_what_is_wrong(bench: ToolContext) -> None:
    for options, said in (
        ({"pattern": "("}, "not a regular expression"),
        ({"pattern": "x", "path": "absent"}, "does not exist"),
        ({"pattern": "x", "glob": "[z-a]"}, "glob pattern"),
    ):
        done = call(bench, "Grep", **options)
        assert done.is_error
        assert said in str(done.text)


def test_a_pattern_that_takes_forever_is_ended(bench: ToolContext) -> None:
    hasty = dataclasses.replace(bench, search_limit=0.5)
    Path(bench.cwd, "trap").write_text("a" * 60 + "!\n")
    started = time.monotonic()
    done = call(hasty, "Grep", pattern="(a+)+$", path="trap")
    assert "Grep took over 0.5 seconds" in str(done.text)
    assert time.monotonic() - started < 15


def test_a_glob_that_takes_forever_is_ended(bench: ToolContext) -> None:
    hasty = dataclasses.replace(bench, search_limit=0.5)
    deep = Path(bench.cwd, *"a" * 40)
    deep.mkdir(parents=True)
    (deep / "b").touch()
    started = time.monotonic()
    done = call(hasty, "Glob", pattern="**/*/" * 20 + "c")
    assert "Glob took over 0.5 seconds" in str(done.text)
    assert time.monotonic() - started < 15


def test_folders_of_packages_and_caches_are_searched_only_by_name(bench: ToolContext) -> None:
    for folder in ("node_modules/left", "lib/__pycache__", ".venv/lib"):
        Path(bench.cwd, folder).mkdir(parents=True)
        Path(bench.cwd, folder, "found.js").write_text("needle\n")
    assert call(bench, "Glob", pattern="**/*.js").text == "No files found"
    assert call(bench, "Grep", pattern="needle").text == "No files found"
    named = call(bench, "Glob", pattern="**/{node_modules,.venv}/**/*.js").response["filenames"]
    assert sorted(named) == [".venv/lib/found.js", "node_modules/left/found.js"]
    assert call(bench, "Glob", pattern="node_modules/**/*.js").response["filenames"] == ["node_modules/left/found.js"]
    within = call(bench, "Grep", pattern="needle", path="lib/__pycache__").response["filenames"]
    assert within == ["lib/__pycache__/found.js"]


def test_a_name_that_is_not_utf_8_is_shown_with_a_question_mark(bench: ToolContext) -> None:
    Path(os.fsdecode(os.fsencode(bench.cwd) + b"/odd\xff.odd")).write_text("needle\n")
    assert call(bench, "Glob", pattern="*.odd").text == "odd?.odd"
    assert call(bench, "Grep", pattern="needle", glob="*.odd").response["filenames"] == ["odd?.odd"]


def test_binary_files_are_left_out(bench: ToolContext) -> None:
    Path(bench.cwd, "blob").write_bytes(b"import\0")
    assert "blob" not in str(call(bench, "Grep", pattern="import").text)


@pytest.mark.parametrize("tool", ["Glob", "Grep"])
def test_a_rewritten_answer_is_shown(tool: str) -> None:
    known = TOOLS[tool]
    response = {"mode": "files_with_matches", "numFiles": 1, "filenames": ["/only/this"]}
    assert known.fits(response) is None
    assert "/only/this" in str(known.render(response))
