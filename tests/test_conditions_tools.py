"""Permission rules, tool by tool: which tools a rule covers, which field it reads, and the words of its doubts."""

from __future__ import annotations

from typing import Any

import pytest

from hookwright.matching.conditions import (
    BadRule,
    Match,
    NoMatch,
    Reading,
    Undecided,
    Where,
    allowed_by,
    compile_rule,
    covers,
    host_of,
    is_about_files,
    matches_only,
    parse_rule,
)

WHERE = Where(cwd="/p", home="/home/u", anchor="/p")
FILES = {
    "Edit": "file_path",
    "Glob": "path",
    "Grep": "path",
    "LS": "path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
    "NotebookRead": "notebook_path",
    "Read": "file_path",
    "Write": "file_path",
}
EDITING = ["Edit", "MultiEdit", "NotebookEdit", "Write"]
READING = ["Glob", "Grep", "LS", "NotebookRead", "Read"]


def answer(rule: str, tool: str, reading: Reading = Reading.CONDITION, where: Where = WHERE, **fields: Any) -> Any:
    return parse_rule(rule).match(tool, fields, where, reading)


def on(rule: str, tool: str, fields: dict[str, Any]) -> Any:
    return parse_rule(rule).match(tool, fields, WHERE, Reading.CONDITION)


# ── which tools ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("rule", "reading", "covered"),
    [
        ("Edit", Reading.CONDITION, ["Edit"]),
        ("Edit", Reading.ALLOW, ["Edit"]),
        ("Edit(src/**)", Reading.ASK, EDITING),
        ("Edit(src/**)", Reading.DENY, EDITING),
        ("Read", Reading.CONDITION, ["Read"]),
        ("Read", Reading.ALLOW, READING),
        ("Read(src/**)", Reading.ASK, READING),
        ("Read", Reading.DENY, READING),
        ("Read(src/**)", Reading.DENY, ["Edit", *READING[:3], "MultiEdit", *READING[3:], "Write"]),
        ("Write(src/**)", Reading.DENY, ["Write"]),
        ("Grep", Reading.DENY, ["Grep"]),
        ("Agent", Reading.ALLOW, ["Agent", "Task"]),
        ("Task", Reading.CONDITION, ["Agent", "Task"]),
        ("Bash", Reading.DENY, ["Bash"]),
        ("", Reading.CONDITION, [*sorted([*FILES, "Bash", "Agent", "Task"])]),
        ("", Reading.DENY, []),
    ],
)
def test_the_tools_a_rule_covers(rule: str, reading: Reading, covered: list[str]) -> None:
    tools = sorted([*FILES, "Bash", "Agent", "Task"])
    assert [tool for tool in tools if covers(parse_rule(rule), tool, reading)] == sorted(covered)


@pytest.mark.parametrize("tool", FILES)
def test_the_field_a_path_is_compared_with(tool: str) -> None:
    rule = f"{tool}(src/**)"
    assert on(rule, tool, {FILES[tool]: "/p/src/a"}) == Match()
    assert on(rule, tool, {FILES[tool]: "/p/other/a"}) == NoMatch()
    assert on(rule, tool, {FILES[tool]: 7}) == Undecided(f"the call has no {FILES[tool]}")
    searching = tool in ("Glob", "Grep", "LS")
    assert answer(rule, tool) == (NoMatch() if searching else Undecided(f"the call has no {FILES[tool]}"))
    assert compile_rule(f"{tool}({FILES[tool]}:x)") == BadRule(
        f"{tool}({FILES[tool]}:x): {tool} rules already match {FILES[tool]}. Write {tool}(x)."
    )


def test_a_search_without_a_path_starts_at_the_working_directory() -> None:
    here = Where(cwd="/p/src", home="/home/u", anchor="/p", start="/p")
    for tool in ("Glob", "Grep", "LS"):
        assert answer(f"{tool}(src/**)", tool, where=here) == Match()


def test_an_allow_rule_starts_where_the_session_did_and_a_guard_also_here() -> None:
    moved = Where(cwd="/p/deep", home="/home/u", anchor="/p", start="/p")
    path = "/p/deep/src/a"
    assert answer("Edit(./src/**)", "Edit", Reading.ALLOW, moved, file_path=path) == NoMatch()
    for reading in (Reading.CONDITION, Reading.ASK, Reading.DENY):
        assert answer("Edit(./src/**)", "Edit", reading, moved, file_path=path) == Match()
    assert answer("Edit(./src/**)", "Edit", Reading.ALLOW, moved, file_path="/p/src/a") == Match()


def test_rules_about_files_are_known() -> None:
    assert is_about_files(parse_rule("Read(src/**)"))
    assert not is_about_files(parse_rule("Read"))
    assert not is_about_files(parse_rule("Bash(ls)"))


# ── commands ────────────────────────────────────────────────────────────────


def test_a_rule_for_one_command_alone() -> None:
    assert matches_only(parse_rule("Bash(npm test)"), "npm test")
    assert not matches_only(parse_rule("Bash(npm test)"), "npm run")
    assert not matches_only(parse_rule("Bash(npm *)"), "npm *")
    assert not matches_only(parse_rule("Bash"), "npm test")
    assert not matches_only(parse_rule("PowerShell(npm test)"), "npm test")


@pytest.mark.parametrize("tool", ["Bash", "PowerShell"])
def test_a_call_without_a_command_cannot_be_decided(tool: str) -> None:
    assert answer(f"{tool}(ls)", tool) == Undecided("the call has no command")
    assert answer(f"{tool}(ls)", tool, command=["ls"]) == Undecided("the call has no command")
    assert compile_rule(f"{tool}(command:x)") == BadRule(
        f"{tool}(command:x): {tool} rules already match command. Write {tool}(x)."
    )


@pytest.mark.parametrize("tool", ["Bash", "PowerShell"])
@pytest.mark.parametrize("name", ["dangerouslyDisableSandbox", "description", "run_in_background", "timeout"])
def test_a_switch_of_a_command_is_a_parameter_even_where_it_is_missing(tool: str, name: str) -> None:
    rule = f"{tool}({name}:true)"
    assert answer(rule, tool, command=f"{name}:true") == NoMatch()
    assert on(rule, tool, {"command": "ls", name: True}) == Match()
    assert on(rule, tool, {"command": "ls", name: False}) == NoMatch()


def test_the_value_of_a_parameter_is_a_string_a_number_or_a_truth() -> None:
    for value, text in ((True, "true"), (7, "7"), (1.5, "1.5"), ("x", "x")):
        assert answer(f"Other(field:{text})", "Other", field=value) == Match()
        assert answer("Other(field:no)", "Other", field=value) == NoMatch()
    assert answer("Other(field:*)", "Other", field=None) == NoMatch()
    assert answer("Other(field:x)", "Other") == NoMatch()


def test_a_prefix_is_not_a_parameter() -> None:
    assert answer("Bash(npm:*)", "Bash", command="npm test", npm="x") == Match()
    assert answer("Bash(npm:*)", "Bash", command="ls", npm="x") == NoMatch()
    assert answer("PowerShell(npm:*)", "PowerShell", command="npm test", npm="x") == Match()
    assert answer("PowerShell(npm:*)", "PowerShell", command="ls", npm="x") == NoMatch()
    assert answer("Other(npm:*)", "Other", npm="x") == Match()


def test_allow_rules_cover_a_command_together() -> None:
    rules = [parse_rule("Bash(ls *)"), parse_rule("Bash(pwd)")]
    assert allowed_by(rules, "Bash", {"command": "ls a && pwd"}, WHERE) == Match()
    assert allowed_by(rules, "Bash", {"command": "ls a && rm b"}, WHERE) == NoMatch()
    assert isinstance(allowed_by(rules, "Bash", {"command": "ls a && $X"}, WHERE), Undecided | NoMatch)
    assert allowed_by([], "Bash", {"command": "ls"}, WHERE) == NoMatch()
    assert allowed_by(rules, "Bash", {}, WHERE) == Undecided("the call has no command")
    both = [parse_rule("Bash(ls)"), parse_rule("Bash")]
    assert allowed_by(both, "Bash", {"command": "$X"}, WHERE) == Match()
    assert allowed_by([parse_rule("Other(x)")], "Other", {"command": "ls"}, WHERE) == Undecided(
        "rules for Other have no specifier other than Tool(parameter:value)"
    )


# ── agents, hosts, texts ────────────────────────────────────────────────────


def test_an_agent_without_a_type_cannot_be_decided() -> None:
    assert answer("Agent(Explore)", "Agent") == Undecided("the call has no subagent_type")
    assert answer("Agent(Explore)", "Task", subagent_type="Explore") == Match()
    assert answer("Task(Explore)", "Agent", subagent_type="Plan") == NoMatch()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Bash(ls", "Bash(ls: the closing ) is missing. Write Bash(ls)."),
        (
            "git push",
            "git push: a rule is a tool's name, or a name and a specifier in brackets. "
            "Write Bash(git push) for a command.",
        ),
        (
            "my tool(x",
            "my tool(x: a rule is a tool's name, or a name and a specifier in brackets. "
            "Write Bash(my tool(x) for a command.",
        ),
        (
            "a)b(x)",
            "a)b(x): a rule is a tool's name, or a name and a specifier in brackets. Write Bash(a)b(x)) for a command.",
        ),
        ("WebFetch(x.org)", "WebFetch(x.org): WebFetch rules name a host. Write WebFetch(domain:x.org)."),
        ("WebFetch(url:x)", "WebFetch(url:x): WebFetch rules already match url. Write WebFetch(domain:host)."),
    ],
)
def test_the_words_about_a_text_that_is_not_a_rule(text: str, problem: str) -> None:
    assert compile_rule(text) == BadRule(problem)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Example.org./a", "example.org"),
        ("https:example.org", "example.org"),
        ("HTTP:///example.org/a", "example.org"),
        ("http:\\\\example.org\\a", "example.org"),
        ("wss:example.org", "example.org"),
        ("ws:/example.org", "example.org"),
        ("ftp:example.org", "example.org"),
        (" ht\ttps://exa\nmple.org ", "example.org"),
        ("example.org/path", "example.org"),
        ("https://[::1]/", "::1"),
        ("https://" + "a" * 253, "a" * 253),
        ("https://" + "a" * 254, None),
        ("https://exa%6dple.org", None),
        ("https://[", None),
        ("https://", None),
        ("", None),
        (7, None),
    ],
)
def test_the_host_of_a_url(url: object, host: str | None) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("pattern", "host", "matches"),
    [
        ("example.org", "example.org", True),
        ("Example.org.", "example.org", True),
        ("example.org", "sub.example.org", False),
        ("*.example.org", "a.b.example.org", True),
        ("*.example.org", "example.org", False),
        ("a*z.org", "aXXz.org", True),
        ("a*z.org", "a.z.org", False),
        ("a*z.org", "az.org", True),
        ("*", "anything.org", True),
    ],
)
def test_a_rule_about_hosts(pattern: str, host: str, matches: bool) -> None:
    found = answer(f"WebFetch(domain:{pattern})", "WebFetch", url=f"https://{host}/x")
    assert found == (Match() if matches else NoMatch())


def test_a_url_without_a_host_cannot_be_decided() -> None:
    doubt = Undecided("the call has no url with a plain host name")
    assert answer("WebFetch(domain:x.org)", "WebFetch", url="https://") == doubt
    assert answer("WebFetch(domain:x.org)", "WebFetch") == doubt
