"""Permission rules: what one text covers as an `if`, and as an allow, ask or deny rule."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookwright.matching.conditions import (
    InvalidRule,
    Match,
    NoMatch,
    Reading,
    Undecided,
    Where,
    allowed_by,
    covers,
    parse_rule,
)
from hookwright.matching.matchers import compile_matcher
from hookwright.matching.shell import analyse_bash
from hookwright.matching.shell.bash import _language

WHERE = Where(cwd="/p", home="/home/u", anchor="/p/settings")


def as_if(rule: str, tool: str, **tool_input: Any) -> str:
    return type(parse_rule(rule).matches_any(tool, tool_input, WHERE)).__name__


def read(rule: str, reading: Reading, tool: str, **tool_input: Any) -> str:
    return type(parse_rule(rule).match(tool, tool_input, WHERE, reading)).__name__


KIT = Path(__file__).parent / "conformance" / "kit" / "engine"
VALUES = {
    **dict.fromkeys(["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"], "tool_name"),
    **dict.fromkeys(["PreCompact", "PostCompact", "Setup"], "trigger"),
    **dict.fromkeys(["SubagentStart", "SubagentStop"], "agent_type"),
    "SessionStart": "source",
    "SessionEnd": "reason",
    "InstructionsLoaded": "load_reason",
    "UserPromptExpansion": "command_name",
}
"""The field that a matcher is compared with; other events ignore their matcher."""

CASES = {
    path.stem: json.loads(path.read_text())
    for path in sorted(KIT.glob("*.json"))
    if path.stem.startswith(("matcher-", "if-")) or '"if"' in path.read_text()
}


def selected(settings_: dict[str, Any], event: dict[str, Any]) -> Iterator[str]:
    """Choose handlers by matcher and `if` alone."""
    name = event["hook_event_name"]
    for group in settings_["hooks"].get(name, []):
        matcher = group.get("matcher")
        if "matcher" in group and not isinstance(matcher, str):
            continue
        if name in VALUES and not compile_matcher(matcher).matches(event[VALUES[name]]):
            continue
        for handler in group["hooks"]:
            if "if" not in handler or fires(handler["if"], event):
                yield handler.get("command", handler.get("prompt"))


def fires(rule: str, event: dict[str, Any]) -> bool:
    if "tool_name" not in event:
        return False
    where = Where(cwd=event["cwd"], home="/nowhere/home", anchor=event["cwd"])
    answer = parse_rule(rule).matches_any(event["tool_name"], event["tool_input"], where)
    return not isinstance(answer, NoMatch)


@pytest.mark.req("R-036", "R-037", "R-038", "R-052")
@pytest.mark.parametrize("name", CASES)
def test_conformance(name: str) -> None:
    case = json.loads(json.dumps(CASES[name]).replace("{P}", "/nowhere/project"))
    for row in case.get("rows", [case]):
        ran = [handler for scope in case["settings"].values() for handler in selected(scope, row["event"])]
        assert sorted(ran) == sorted(row["expect"]["ran"]), row["event"]


def test_the_conformance_cases_are_there() -> None:
    assert len(CASES) >= 115


@pytest.mark.parametrize("text", ["Bash", "Bash()", "Bash(*)", " Bash "])
def test_a_bare_tool_means_every_call(text: str) -> None:
    assert as_if(text, "Bash", command="echo $(x") == "Match"
    assert as_if(text, "Bash") == "Match"
    assert as_if(text, "bash", command="ls") == "NoMatch"
    assert as_if(text, "BashOutput") == "NoMatch"


def test_an_empty_if_is_no_condition_and_no_permission() -> None:
    assert as_if("", "Anything", x=1) == "Match"
    for reading in (Reading.ALLOW, Reading.ASK, Reading.DENY):
        assert read("", reading, "Anything", x=1) == "NoMatch"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Bash(git *", "Write Bash(git *)."),
        ("git *", "Write Bash(git *) for a command."),
        ("(git *)", "a rule is a tool's name"),
        ("Bash (git *)", "a rule is a tool's name"),
        ("Bash(git *) and more", "Bash(git *) and more"),
        ("Bash(command:rm *)", "Write Bash(rm *)."),
        ("Read(file_path:x)", "Write Read(x)."),
        ("WebFetch(url:x.com)", "Write WebFetch(domain:host)."),
        ("WebFetch(x.com)", "Write WebFetch(domain:x.com)."),
    ],
)
def test_a_text_that_is_no_rule_says_what_to_write(text: str, hint: str) -> None:
    with pytest.raises(InvalidRule) as caught:
        parse_rule(text)
    assert hint in str(caught.value)


BASH_IF = {
    ("Bash(git *)", "git status"): "Match",
    ("Bash(git:*)", "git status"): "Match",
    ("Bash(git *)", "git"): "Match",
    ("Bash(git *)", "FOO=bar git push"): "Match",
    ("Bash(git *)", "npm test && git push"): "Match",
    ("Bash(git *)", "timeout 5 git push"): "Match",
    ("Bash(timeout *)", "timeout 5 git push"): "Match",
    ("Bash(git *)", "bash -c 'git status'"): "Match",
    ("Bash(git push *)", "bash -c 'git status'"): "NoMatch",
    ("Bash(* status)", "echo 'a status'"): "Match",
    ("Bash(git *)", "gitk"): "NoMatch",
    ("Bash(git *)", "echo git"): "NoMatch",
    ("Bash(git *)", "echo $X"): "NoMatch",
    ("Bash(git *)", "$CMD push"): "Undecided",
    ("Bash(git *)", "git push &&"): "Match",
    ("Bash(git *)", "npm test &&"): "Undecided",
    ("Bash(git *)", "ls " + "a" * 10_000): "Undecided",
    ("Bash(rm *)", "echo $(rm -rf /)"): "Match",
    ("Bash(rm *)", "echo `rm x`"): "Match",
    ("Bash(rm *)", "diff <(rm x) y"): "Match",
    ("Bash(rm *)", "f() { rm x; }"): "Match",
    ("Bash(rm *)", "if true; then rm x; fi"): "Match",
    ("Bash(rm *)", "(cd x && rm y)"): "Match",
    ("Bash(rm *)", "echo $(date)"): "NoMatch",
    ("Bash(git push *)", "echo $(date)"): "Undecided",
    ("Bash(git push *)", "echo `date`"): "Undecided",
    ("Bash(git push *)", "echo $HOME"): "Undecided",
    ("Bash(git push *)", "echo '$HOME'"): "NoMatch",
    ("Bash(git push *)", "git push"): "Match",
    ("Bash(git push *)", "git  push"): "Match",
    ("Bash(git push *)", "git \\\n push -f"): "Match",
    ("Bash(git push *)", "git pull"): "NoMatch",
    ("Bash(ls*)", "lsof"): "Match",
    ("Bash(* > *)", "ls > out"): "Match",
    ("Bash(* > *)", "ls"): "NoMatch",
    ("Bash(cd * && *)", "cd x && ls"): "Match",
    ("Bash(cd * && *)", "cd x; ls"): "NoMatch",
    ("Bash(git *)|Bash(ls *)", "git status"): "NoMatch",
    ("Bash(git *)|Bash(ls *)", "echo $(date)"): "Undecided",
    ("Bash(echo '(a)' *)", "echo '(a)' b"): "Match",
    ("bash(git *)", "git status"): "NoMatch",
    ("Bash(run_in_background:true)", "echo $HOME"): "NoMatch",
}


@pytest.mark.parametrize(("rule", "command"), BASH_IF)
def test_bash_as_if(rule: str, command: str) -> None:
    assert as_if(rule, "Bash", command=command) == BASH_IF[rule, command]


def test_a_call_without_the_field_is_undecided() -> None:
    assert as_if("Bash(git *)", "Bash") == "Undecided"
    assert as_if("Bash(git *)", "Bash", command=5) == "Undecided"
    assert as_if("Edit(x)", "Edit") == "Undecided"
    assert as_if("WebFetch(domain:x.com)", "WebFetch") == "Undecided"
    assert as_if("Agent(x)", "Agent") == "Undecided"


def test_without_the_parser_only_simple_commands_are_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    analyse_bash.cache_clear()
    _language.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_bash", None)
    try:
        assert as_if("Bash(git *)", "Bash", command="FOO=1 git status") == "Match"
        assert as_if("Bash(git *)", "Bash", command="ls -la") == "NoMatch"
        assert as_if("Bash", "Bash", command="ls | cat") == "Match"
        answer = parse_rule("Bash(git *)").matches_any("Bash", {"command": "ls | cat"}, WHERE)
        assert isinstance(answer, Undecided)
        assert "hookwright[rules]" in answer.reason
        assert read("Bash(ls *)", Reading.ALLOW, "Bash", command="ls | ls") == "Undecided"
    finally:
        monkeypatch.undo()
        analyse_bash.cache_clear()
        _language.cache_clear()


GUARD = {
    ("Bash(git push *)", "git push -f"): "Match",
    ("Bash(git push *)", "ls && FOO=1 git push"): "Match",
    ("Bash(git push *)", "echo $HOME"): "NoMatch",
    ("Bash(git push *)", "git $CMD"): "Undecided",
    ("Bash(git push *)", "$CMD"): "Undecided",
    ("Bash(git push *)", "npm test &&"): "Undecided",
    ("Bash(git push *)", "git push &&"): "Match",
}


@pytest.mark.parametrize("reading", [Reading.ASK, Reading.DENY])
@pytest.mark.parametrize(("rule", "command"), GUARD)
def test_bash_as_guard(rule: str, command: str, reading: Reading) -> None:
    assert read(rule, reading, "Bash", command=command) == GUARD[rule, command]


def test_allow_rules_need_every_sub_command_but_may_share_them() -> None:
    git, npm = parse_rule("Bash(git *)"), parse_rule("Bash(npm test)")
    both = {"command": "git pull && npm test"}
    assert git.match("Bash", both, WHERE, Reading.ALLOW) == NoMatch()
    assert git.match("Bash", {"command": "git pull && git push"}, WHERE, Reading.ALLOW) == Match()
    assert allowed_by([git, npm], "Bash", both, WHERE) == Match()
    assert allowed_by([git], "Bash", both, WHERE) == NoMatch()
    assert allowed_by([git, parse_rule("Bash")], "Bash", both, WHERE) == Match()
    assert allowed_by([git, npm, parse_rule("Edit")], "Edit", {"file_path": "/p/x"}, WHERE) == Match()
    assert allowed_by([git, npm, parse_rule("Edit")], "Write", {"file_path": "/p/x"}, WHERE) == NoMatch()
    assert allowed_by([git], "Read", {"file_path": "/p/x"}, WHERE) == NoMatch()
    assert isinstance(allowed_by([git, npm], "Bash", {"command": "git log > x; npm test"}, WHERE), Undecided)
    script = [parse_rule("PowerShell(gci *)"), parse_rule("PowerShell(git *)")]
    assert allowed_by(script, "PowerShell", {"command": "dir; GIT status"}, WHERE) == Match()


POWERSHELL = {
    ("PowerShell(Remove-Item *)", "rm x"): "Match",
    ("PowerShell(Remove-Item *)", "Get-Item x | DEL"): "Match",
    ("PowerShell(rm:*)", "remove-item x"): "Match",
    ("PowerShell(remove-item *)", "ls; foreach ($f in $g) { ri $f }"): "Match",
    ("PowerShell(git push)", "GIT PUSH"): "Match",
    ("PowerShell(git push)", "git pull"): "NoMatch",
    ("PowerShell(git push *)", "echo $x"): "Undecided",
    ("PowerShell(git *)", "echo 'a"): "Undecided",
    ("PowerShell", "anything"): "Match",
}


@pytest.mark.parametrize(("rule", "command"), POWERSHELL)
def test_powershell(rule: str, command: str) -> None:
    assert as_if(rule, "PowerShell", command=command) == POWERSHELL[rule, command]
    assert as_if(rule, "Bash", command=command) == "NoMatch"


DOMAINS = {
    "example.com": (
        ["https://example.com/x", "http://EXAMPLE.com.:80", "example.com/x"],
        ["https://a.example.com", "https://xexample.com"],
    ),
    "*.example.com": (
        ["https://a.example.com", "https://a.b.example.com/"],
        ["https://example.com", "https://example.com.evil.org"],
    ),
    "*": (["https://a.b", "http://[::1]/"], []),
    "example.*": (["https://example.org"], ["https://example.evil.com", "https://a.example.org"]),
    "a*.x.com.": (["https://abc.x.com"], ["https://a.b.x.com"]),
    "good.com": (["https://user:pw@good.com"], ["https://evil.com\\@good.com", "https://evil.com/@good.com"]),
}


@pytest.mark.parametrize("domain", DOMAINS)
def test_domains(domain: str) -> None:
    fitting, other = DOMAINS[domain]
    found = [url for url in (*fitting, *other) if as_if(f"WebFetch(domain:{domain})", "WebFetch", url=url) == "Match"]
    assert found == fitting


@pytest.mark.parametrize(
    "url", [None, 5, "", "https://", "https://%65xample.com", "http://[", "https://" + "a." * 200 + "com"]
)
def test_an_url_without_a_plain_host_is_undecided(url: object) -> None:
    assert as_if("WebFetch(domain:example.com)", "WebFetch", url=url) == "Undecided"


MCP = {
    "mcp__memory": {"mcp__memory__create", "mcp__memory__get_x"},
    "mcp__memory__*": {"mcp__memory__create", "mcp__memory__get_x"},
    "mcp__memory__get_*": {"mcp__memory__get_x"},
    "mcp__memory__create": {"mcp__memory__create"},
    "mcp__mem": set(),
}


@pytest.mark.parametrize("reading", Reading)
@pytest.mark.parametrize("rule", MCP)
def test_mcp_rules(rule: str, reading: Reading) -> None:
    tools = {"mcp__memory__create", "mcp__memory__get_x", "mcp__memory2__create", "Bash"}
    assert {tool for tool in tools if covers(parse_rule(rule), tool, reading)} == MCP[rule]


@pytest.mark.parametrize(
    ("rule", "readings"),
    [
        ("*", {Reading.ASK, Reading.DENY}),
        ("m*", {Reading.ASK, Reading.DENY}),
        ("mcp__*", {Reading.CONDITION, Reading.ASK, Reading.DENY}),
        ("mcp__m*__create", {Reading.CONDITION, Reading.ASK, Reading.DENY}),
        ("mcp__memory__*", set(Reading)),
        ("B*", set()),
    ],
)
def test_globs_in_tool_names_depend_on_the_reading(rule: str, readings: set[Reading]) -> None:
    assert {reading for reading in Reading if covers(parse_rule(rule), "mcp__memory__create", reading)} == readings


AGENTS = {
    ("Agent(Explore)", "Explore"): "Match",
    ("Task(Explore)", "Explore"): "Match",
    ("Agent(Explore)", "Plan"): "NoMatch",
    ("Agent(my-plugin:reviewer)", "my-plugin:reviewer"): "Match",
    ("Agent(my-plugin:*)", "my-plugin:reviewer"): "Match",
    ("Agent", "Plan"): "Match",
}


@pytest.mark.parametrize("tool", ["Agent", "Task"])
@pytest.mark.parametrize(("rule", "agent"), AGENTS)
def test_agents(rule: str, agent: str, tool: str) -> None:
    assert as_if(rule, tool, subagent_type=agent, prompt="x") == AGENTS[rule, agent]


PARAMETERS: dict[str, tuple[str, dict[str, Any], str]] = {
    "Agent(model:opus)": ("Agent", {"subagent_type": "x", "model": "opus"}, "Match"),
    "Agent(model: opus )": ("Agent", {"subagent_type": "x", "model": "opus"}, "Match"),
    "Agent(model:op*)": ("Agent", {"subagent_type": "x", "model": "opus"}, "Match"),
    "Agent(model:haiku)": ("Agent", {"subagent_type": "x", "model": "opus"}, "NoMatch"),
    "Agent(isolation:*)": ("Agent", {"subagent_type": "x"}, "NoMatch"),
    "Bash(run_in_background:true)": ("Bash", {"command": "ls", "run_in_background": True}, "Match"),
    "Bash(run_in_background:false)": ("Bash", {"command": "ls", "run_in_background": True}, "NoMatch"),
    "Bash(timeout:120000)": ("Bash", {"command": "ls", "timeout": 120000}, "Match"),
    "Edit(replace_all:true)": ("Edit", {"file_path": "/p/x", "replace_all": True}, "Match"),
    "Read(limit:5)": ("Read", {"file_path": "/p/x", "limit": 6}, "NoMatch"),
    "mcp__a__b(kind:x*)": ("mcp__a__b", {"kind": "xyz"}, "Match"),
    "mcp__a__b(kind:y*)": ("mcp__a__b", {"kind": "xyz"}, "NoMatch"),
    "mcp__a__b(other:y)": ("mcp__a__b", {"kind": "xyz"}, "NoMatch"),
    "mcp__a__b(kind:*)": ("mcp__a__b", {"kind": {"nested": 1}}, "NoMatch"),
    "Custom(ratio:0.5)": ("Custom", {"ratio": 0.5}, "Match"),
    "Custom(something)": ("Custom", {"ratio": 0.5}, "Undecided"),
    "WebFetch(prompt:*secret*)": ("WebFetch", {"url": "https://x", "prompt": "a secret b"}, "Match"),
}


@pytest.mark.parametrize("rule", PARAMETERS)
def test_parameters(rule: str) -> None:
    tool, call, answer = PARAMETERS[rule]
    assert as_if(rule, tool, **call) == answer
    assert read(rule, Reading.DENY, tool, **call) == answer
    assert read(rule, Reading.ALLOW, tool, **call) != "Match"


OTHER_RULES = ["PowerShell(git *)", "Edit(src/**)", "Read(~/x)", "WebFetch(domain:*.x.com)", "mcp__a", "Agent(x)"]
RULES = st.sampled_from([*sorted({rule for rule, _ in BASH_IF}), *OTHER_RULES])
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=20))
FIELDS = ["command", "file_path", "path", "url", "subagent_type", "run_in_background", "other"]
INPUTS = st.dictionaries(st.sampled_from(FIELDS), SCALARS, max_size=4)
TOOLS = st.sampled_from(["Bash", "PowerShell", "Edit", "Write", "Read", "Grep", "WebFetch", "Agent", "mcp__a__b", "X"])


@settings(deadline=None, max_examples=300)
@given(RULES, TOOLS, INPUTS, st.sampled_from(Reading))
def test_every_call_gets_an_answer(rule: str, tool: str, tool_input: dict[str, Any], reading: Reading) -> None:
    answer = parse_rule(rule).match(tool, tool_input, WHERE, reading)
    assert isinstance(answer, Match | NoMatch | Undecided)


@settings(deadline=None, max_examples=300)
@given(RULES, st.one_of(st.text(max_size=60), st.text("git push$(){}|&;<>'\"`\\\n", max_size=40)))
def test_any_command_gets_an_answer(rule: str, command: str) -> None:
    for tool in ("Bash", "PowerShell"):
        for reading in Reading:
            answer = parse_rule(rule).match(tool, {"command": command}, WHERE, reading)
            assert isinstance(answer, Match | NoMatch | Undecided)


@settings(deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_a_rule_or_says_why_not(tool: str, content: str) -> None:
    for text in (tool, f"{tool}({content})", f"Edit({content})", f"Bash({content})", f"WebFetch(domain:{content})"):
        try:
            rule = parse_rule(text)
        except InvalidRule:
            continue
        assert rule.text == text.strip()
        assert parse_rule(rule.text) == rule


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(["git push", "git log", "ls", "echo $X", "FOO=1 git push", "$C x"]), min_size=1, max_size=4
    )
)
def test_any_and_every_fit_the_single_commands(commands: list[str]) -> None:
    rule = parse_rule("Bash(git *)")
    whole = " && ".join(commands)
    alone = [rule.match("Bash", {"command": command}, WHERE, Reading.CONDITION) for command in commands]
    assert (rule.match("Bash", {"command": whole}, WHERE, Reading.CONDITION) == Match()) is (Match() in alone)
    allowed = [rule.match("Bash", {"command": command}, WHERE, Reading.ALLOW) == Match() for command in commands]
    assert (rule.match("Bash", {"command": whole}, WHERE, Reading.ALLOW) == Match()) is all(allowed)
