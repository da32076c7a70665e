"""File rules: anchors, gitignore-style patterns, links, and which tools they cover."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.matching.conditions import Match, NoMatch, Reading, Where, parse_rule

WHERE = Where(cwd="/p", home="/home/u", anchor="/p/settings")


def as_if(rule: str, tool: str, **tool_input: Any) -> str:
    return type(parse_rule(rule).matches_any(tool, tool_input, WHERE)).__name__


def read(rule: str, reading: Reading, tool: str, **tool_input: Any) -> str:
    return type(parse_rule(rule).match(tool, tool_input, WHERE, reading)).__name__


PATHS = {
    "*.ts": (["/p/a.ts", "/p/src/deep/a.ts"], ["/p/a.js", "/q/a.ts", "/p/a.ts.bak"]),
    "**/*.ts": (["/p/a.ts", "/p/src/deep/a.ts"], ["/q/a.ts"]),
    "a.ts": (["/p/a.ts", "/p/src/a.ts"], ["/p/b.ts", "/a.ts"]),
    "./a.ts": (["/p/a.ts"], ["/p/src/a.ts"]),
    ".env": (["/p/.env", "/p/x/.env"], ["/.env", "/p/.envrc"]),
    "src/**": (["/p/src/a", "/p/src/deep/b", "/p/src"], ["/p/x/src/a", "/p/srcx/a", "/p/a"]),
    "src/*": (["/p/src/a", "/p/src/deep/b"], ["/p/src", "/p/x/src/a"]),
    "src": (["/p/src/a", "/p/x/src/deep/b"], ["/p/srcx"]),
    "src/": (["/p/src/a", "/p/x/src/deep/b"], ["/p/srcx"]),
    "src/*.ts": (["/p/src/a.ts"], ["/p/src/deep/a.ts", "/p/x/src/a.ts"]),
    "src/**/*.ts": (["/p/src/a.ts", "/p/src/x/y/a.ts"], ["/p/a.ts"]),
    "**/src/**": (["/p/src/a", "/p/x/src/a"], ["/q/src/a"]),
    "a/**/b": (["/p/a/b", "/p/a/x/y/b", "/p/a/b/c"], ["/p/a", "/p/b"]),
    "/src/**": (["/p/settings/src/a"], ["/p/src/a", "/src/a"]),
    "/x": (["/p/settings/x"], ["/p/settings/y/x", "/x"]),
    "//etc/*": (["/etc/passwd", "/etc/ssh/key"], ["/p/etc/x", "/etc"]),
    "///etc/**": (["/etc/passwd"], ["/p/etc/x"]),
    "//**/.env": (["/.env", "/q/.env", "/p/x/.env"], ["/q/env"]),
    "~/x": (["/home/u/x", "/home/u/x/y"], ["/p/x", "/home/u/y/x"]),
    "~": (["/home/u", "/home/u/x"], ["/home/ux", "/p/~"]),
    "~x": (["/p/~x"], ["/home/u/x"]),
    "../sibling/**": (["/sibling/x"], ["/p/sibling/x"]),
    "[ab].ts": (["/p/a.ts", "/p/b.ts"], ["/p/c.ts", "/p/ab.ts"]),
    "[!ab].ts": (["/p/c.ts"], ["/p/a.ts"]),
    "[a-c]?": (["/p/bx"], ["/p/b", "/p/dx", "/p/bxx"]),
    "[z-a]x": ([], ["/p/zx", "/p/ax"]),
    "[--a]": (["/p/-"], ["/p/b"]),
    "[x": (["/p/[x"], ["/p/x"]),
    "\\*.ts": (["/p/*.ts"], ["/p/a.ts"]),
    "!a": (["/p/!a"], ["/p/a", "/p/b"]),
    "Finance (2024)/**": (["/p/Finance (2024)/x"], ["/p/Finance/x"]),
    "a*a*a*a*a*a*a*a*b": (["/p/aaaaaaaaab"], ["/p/" + "a" * 5_000]),
    ".": (["/p", "/p/a"], ["/q"]),
    "//": (["/", "/anything"], []),
}


@pytest.mark.parametrize("pattern", PATHS)
def test_paths_as_if(pattern: str) -> None:
    fitting, other = PATHS[pattern]
    found = [path for path in (*fitting, *other) if as_if(f"Edit({pattern})", "Edit", file_path=path) == "Match"]
    assert found == fitting


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("src/a", "Match"),
        ("./src/../src/a", "Match"),
        ("/p/x/../src/a", "Match"),
        ("/p/src/../a", "NoMatch"),
        ("/q/../p/src/a", "Match"),
        ("//p/src/a", "Match"),
        ("~/src/a", "NoMatch"),
        ("", "NoMatch"),
        ("/p/src/\0", "Match"),
        ("/p/src/\ud83d", "Match"),
    ],
)
def test_paths_are_compared_absolute_and_normalised(path: str, answer: str) -> None:
    assert as_if("Edit(src/**)", "Edit", file_path=path) == answer


def test_windows_paths_are_compared_in_posix_form() -> None:
    assert as_if("Edit(//c/Users/**)", "Edit", file_path="C:\\Users\\me\\x") == "Match"


@pytest.mark.parametrize(
    ("rule", "tool", "field"),
    [
        ("Edit(src/**)", "Edit", "file_path"),
        ("Write(src/**)", "Write", "file_path"),
        ("Read(src/**)", "Read", "file_path"),
        ("MultiEdit(src/**)", "MultiEdit", "file_path"),
        ("NotebookEdit(src/**)", "NotebookEdit", "notebook_path"),
        ("Glob(src/**)", "Glob", "path"),
        ("Grep(src/**)", "Grep", "path"),
    ],
)
def test_an_if_covers_calls_of_its_own_tool(rule: str, tool: str, field: str) -> None:
    assert as_if(rule, tool, **{field: "/p/src/x"}) == "Match"
    assert as_if(rule, tool, **{field: "/p/x"}) == "NoMatch"
    others = {"Edit", "Write", "Read", "Glob", "Bash"} - {tool}
    assert {as_if(rule, other, file_path="/p/src/x", path="/p/src/x", command="x") for other in others} == {"NoMatch"}


def test_a_search_without_a_path_searches_the_working_directory() -> None:
    assert as_if("Grep(.)", "Grep", pattern="x") == "Match"
    assert as_if("Grep(src/**)", "Grep", pattern="x") == "NoMatch"


COVERAGE = {
    "Edit": {
        Reading.CONDITION: {"Edit"},
        Reading.ALLOW: {"Edit", "Write", "NotebookEdit"},
        Reading.ASK: {"Edit", "Write", "NotebookEdit"},
        Reading.DENY: {"Edit", "Write", "NotebookEdit"},
    },
    "Read": {
        Reading.CONDITION: {"Read"},
        Reading.ALLOW: {"Read", "Grep", "Glob"},
        Reading.ASK: {"Read", "Grep", "Glob"},
        Reading.DENY: {"Read", "Grep", "Glob", "Edit", "Write"},
    },
    "Write": {reading: {"Write"} for reading in Reading},
    "Grep": {reading: {"Grep"} for reading in Reading},
}


@pytest.mark.parametrize("reading", Reading)
@pytest.mark.parametrize("rule", COVERAGE)
def test_permission_rules_for_files_cover_further_tools(rule: str, reading: Reading) -> None:
    tools = ("Edit", "Write", "NotebookEdit", "Read", "Grep", "Glob", "Bash")
    calls = {"file_path": "/p/src/x", "notebook_path": "/p/src/x", "path": "/p/src/x"}
    assert {tool for tool in tools if read(f"{rule}(src/**)", reading, tool, **calls) == "Match"} == COVERAGE[rule][
        reading
    ]


def test_a_bare_read_does_not_forbid_editing() -> None:
    assert read("Read", Reading.DENY, "Edit", file_path="/p/x") == "NoMatch"
    assert read("Read", Reading.DENY, "Grep") == "Match"


@pytest.mark.parametrize(
    ("pattern", "allow", "deny"),
    [
        ("src/**", False, True),
        ("/src/**", False, False),
        ("./src/**", False, False),
        ("src/a/**", False, False),
        ("**/src/**", True, True),
    ],
)
def test_a_single_directory_is_meant_at_any_depth_by_deny_and_ask_alone(pattern: str, allow: bool, deny: bool) -> None:
    call = {"file_path": "/p/vendor/src/a/x"}
    assert (read(f"Edit({pattern})", Reading.CONDITION, "Edit", **call) == "Match") is allow
    assert (read(f"Edit({pattern})", Reading.ALLOW, "Edit", **call) == "Match") is allow
    assert (read(f"Edit({pattern})", Reading.ASK, "Edit", **call) == "Match") is deny
    assert (read(f"Edit({pattern})", Reading.DENY, "Edit", **call) == "Match") is deny


def test_links_count_either_way_except_for_allow(tmp_path: Path) -> None:
    for name in ("project/src", "secret"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "secret" / "key").touch()
    link = tmp_path / "project" / "src" / "link"
    link.symlink_to(tmp_path / "secret" / "key")
    where = Where(str(tmp_path / "project"), "/home/u", str(tmp_path / "project"))
    call = {"file_path": str(link)}
    inside, outside = parse_rule("Read(src/**)"), parse_rule(f"Read(/{tmp_path}/secret/**)")
    for rule in (inside, outside):
        assert rule.match("Read", call, where, Reading.CONDITION) == Match()
        assert rule.match("Read", call, where, Reading.DENY) == Match()
        assert rule.match("Read", call, where, Reading.ALLOW) == NoMatch()


def test_a_linked_working_directory_is_the_same_directory(tmp_path: Path) -> None:
    (tmp_path / "real" / "src").mkdir(parents=True)
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    where = Where(str(tmp_path / "alias"), "/home/u", str(tmp_path / "alias"))
    rule = parse_rule("Edit(src/**)")
    for spelling in ("alias", "real"):
        call = {"file_path": str(tmp_path / spelling / "src" / "x")}
        assert {rule.match("Edit", call, where, reading) for reading in Reading} == {Match()}


@given(st.sampled_from(sorted(PATHS)), st.lists(st.text("abcsr.", min_size=1, max_size=3), max_size=4))
def test_what_is_allowed_or_conditioned_is_also_guarded(pattern: str, names: list[str]) -> None:
    rule = parse_rule(f"Edit({pattern})")
    call = {"file_path": "/p/" + "/".join(names)}
    if rule.match("Edit", call, WHERE, Reading.ALLOW) == Match():
        assert rule.match("Edit", call, WHERE, Reading.CONDITION) == Match()
    if rule.match("Edit", call, WHERE, Reading.CONDITION) == Match():
        assert rule.match("Edit", call, WHERE, Reading.DENY) == Match()
