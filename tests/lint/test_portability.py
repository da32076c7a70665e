"""Three invented projects with known traps in other agents, and their correct twins without a finding."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from hookwright.dialects.table import AGENTS
from hookwright.lint import RuleSelection, Sample
from lint.projects import check, write

PORTABLE = RuleSelection(select=("HK9",))
SETTINGS = ".claude/settings.json"
GUARD = ".claude/hooks/guard.sh"
RUN = f'"${{CLAUDE_PROJECT_DIR:-.}}"/{GUARD}'


def text(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def settings(**events: object) -> str:
    return text({"hooks": events})


def group(command: str = RUN, matcher: str | None = None, **keys: object) -> list[object]:
    handler = {"type": "command", "command": command, **keys}
    return [{"hooks": [handler]} if matcher is None else {"matcher": matcher, "hooks": [handler]}]


class Trap(msgspec.Struct, frozen=True):
    """A finding that must be there: agent, rule, file, and a text on its line."""

    agent: str
    rule: str
    file: str
    at: str


#: A shop: a guard of commands and files, loaded by editors as it is, and copied to one of them.
SHOP = {
    SETTINGS: settings(
        PreToolUse=group('"$CLAUDE_PROJECT_DIR"/' + GUARD, "Bash|Write|Edit"),
        Notification=group("notify-send waiting"),
        SessionEnd=group("./bye.sh", timeout=30),
    ),
    ".github/hooks/guard.json": settings(PreToolUse=group('"$CLAUDE_PROJECT_DIR"/' + GUARD)),
    GUARD: """#!/usr/bin/env bash
input=$(cat)
cmd=$(jq -r .tool_input.command <<<"$input")
case $cmd in *"git push"*) exit 2 ;; esac
file=$(jq -r .tool_input.file_path <<<"$input")
case $file in *.env) echo "not .env" >&2; exit 2 ;; esac
""",
}
SHOP_TRAPS = [
    Trap("vscode", "HK907", SETTINGS, '"command": '),  # both files are loaded: twice
    Trap("copilot", "HK907", SETTINGS, '"command": '),
    Trap("vscode", "HK908", SETTINGS, '"matcher"'),  # matchers are ignored
    Trap("vscode", "HK914", GUARD, "file_path"),  # filePath
    Trap("vscode", "HK904", SETTINGS, '"Notification"'),  # no such event
    Trap("vscode", "HK912", SETTINGS, '"command": '),  # 30 seconds instead of 600
    Trap("cursor", "HK913", SETTINGS, '"Notification"'),  # one unknown event voids the file
    Trap("cursor", "HK903", SETTINGS, '"matcher"'),  # Bash is Shell
    Trap("codex", "HK906", SETTINGS, '"hooks"'),  # the file is not read
    Trap("codex", "HK909", GUARD, "git push"),  # exit 2 without text
    Trap("qwen", "HK909", GUARD, "git push"),
    Trap("codex", "HK914", GUARD, "file_path"),  # a patch
    Trap("codex", "HK902", SETTINGS, '"command": '),  # the variable is not set
    Trap("codex", "HK912", SETTINGS, '"timeout"'),  # SessionEnd has 3 seconds
    Trap("kimi", "HK914", GUARD, "file_path"),  # path
]

#: A data project: answers in JSON, a question, a rewrite, context, conditions.
DATA = {
    SETTINGS: settings(
        PreToolUse=[
            *group("./deny.py", "Bash", timeout=10),
            *group("./ask.py", "Bash", timeout=10, **{"if": "Bash(git push *)"}),
            *group("./rewrite.py", "Bash", timeout=1200),
        ],
        PreCompact=group("./save.sh"),
        Stop=[{"hooks": [{"type": "prompt", "prompt": "Are the tests green?"}]}],
    ),
    "deny.py": """#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
if event["tool_name"] == "Bash" and event["permission_mode"] != "plan":
    out = {"hookEventName": "PreToolUse", "permissionDecision": "deny"}
    print(json.dumps({"hookSpecificOutput": out}))
""",
    "ask.py": """#!/usr/bin/env python3
import json
out = {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "push?"}
print(json.dumps({"hookSpecificOutput": out}))
""",
    "rewrite.py": """#!/usr/bin/env python3
import json
out = {"hookEventName": "PreToolUse", "updatedInput": {"command": "ls"}, "additionalContext": "listed instead"}
print(json.dumps({"hookSpecificOutput": out}))
""",
}
DATA_TRAPS = [
    Trap("codex", "HK909", "deny.py", "print("),  # deny without a reason
    Trap("gemini", "HK909", "deny.py", "print("),  # permissionDecision is not read
    Trap("gemini", "HK914", "deny.py", "tool_name"),  # run_shell_command
    Trap("gemini", "HK914", "deny.py", "permission_mode"),
    Trap("codex", "HK910", "ask.py", "print("),
    Trap("kimi", "HK910", "ask.py", "print("),
    Trap("codex", "HK901", SETTINGS, '"if"'),
    Trap("qwen", "HK911", "rewrite.py", "print("),
    Trap("kimi", "HK911", "rewrite.py", "print("),
    Trap("qwen", "HK916", "rewrite.py", "print("),
    Trap("qwen", "HK905", SETTINGS, '"timeout": 1200'),  # 1,200 is 1.2 seconds
    Trap("gemini", "HK905", SETTINGS, '"timeout"'),  # milliseconds
    Trap("gemini", "HK904", SETTINGS, '"PreToolUse"'),  # BeforeTool
    Trap("gemini", "HK915", SETTINGS, '"PreCompact"'),  # fires before every request
    Trap("codex", "HK901", SETTINGS, '"type": "prompt"'),
]

#: A service: guards of reading, a prompt filter and a stop.
SERVICE = {
    SETTINGS: settings(
        PreToolUse=group("./read.sh", "Read", timeout=10),
        PostToolUse=group("./edited.sh", "Edit", timeout=10),
        UserPromptSubmit=group("./prompt.sh", timeout=10),
        Stop=group("./stop.sh", timeout=10),
    ),
    "read.sh": "#!/bin/sh\necho 'read nothing' >&2\nexit 2\n",
    "edited.sh": "#!/bin/sh\njq -r .tool_response\n",
    "prompt.sh": "#!/bin/sh\necho 'no secrets' >&2\nexit 2\n",
    "stop.sh": '#!/bin/sh\necho \'{"decision": "block", "reason": "tests first"}\'\n',
}
SERVICE_TRAPS = [
    Trap("codex", "HK903", SETTINGS, '"matcher": "Read"'),  # no tool for reading, no event
    Trap("copilot", "HK909", "prompt.sh", "exit 2"),  # the answer is dropped
    Trap("copilot", "HK914", "edited.sh", "tool_response"),
    Trap("kimi", "HK909", "stop.sh", "decision"),
    Trap("cursor", "HK909", "stop.sh", "decision"),
    Trap("vscode", "HK909", "stop.sh", "decision"),
    Trap("gemini", "HK903", SETTINGS, '"matcher": "Read"'),
]

PROJECTS = {"shop": (SHOP, SHOP_TRAPS), "data": (DATA, DATA_TRAPS), "service": (SERVICE, SERVICE_TRAPS)}


@pytest.mark.parametrize("name", PROJECTS)
def test_every_known_trap_is_found_at_its_line(name: str, tmp_path: Path) -> None:
    files, traps = PROJECTS[name]
    root = write(Sample(files), tmp_path / "project")
    found = check(root, tmp_path / "home", ",".join(AGENTS), selection=PORTABLE)
    lines = {
        (item.agent, item.rule, path, (root / path).read_text().splitlines()[item.at.line - 1])
        for item in found
        for path in [Path(item.at.path).relative_to(root).as_posix()]
    }
    missed = [
        trap
        for trap in traps
        if not any((trap.agent, trap.rule, trap.file) == line[:3] and trap.at in line[3] for line in lines)
    ]
    assert missed == []


def test_a_finding_names_the_agent_its_versions_and_the_evidence(tmp_path: Path) -> None:
    root = write(Sample(SHOP), tmp_path / "project")
    found = check(root, tmp_path / "home", ",".join(AGENTS), selection=PORTABLE)
    ends = {item.agent: item.what.rsplit("[", 1)[1] for item in found if item.rule in ("HK909", "HK913", "HK908")}
    assert ends["codex"] == "Codex CLI 0.166.0, recorded]"
    assert ends["cursor"].endswith(", reported]")
    assert ends["vscode"].endswith(", documented]")
    assert {item.severity.value for item in found if item.rule == "HK909" and item.agent == "codex"} == {"error"}


def test_without_agents_nothing_of_it_is_found(tmp_path: Path) -> None:
    root = write(Sample(SHOP), tmp_path / "project")
    assert check(root, tmp_path / "home", selection=PORTABLE) == []


# ── the correct twins ───────────────────────────────────────────────────────

CAREFUL = """#!/usr/bin/env bash
input=$(cat)
tool=$(jq -r .tool_name <<<"$input")
case $tool in Bash | run_in_terminal | Write | create_file | Edit | replace_string_in_file) ;; *) exit 0 ;; esac
file=$(jq -r '.tool_input.file_path // .tool_input.filePath // .tool_input.path // ""' <<<"$input")
case $file in *.env) echo "not .env" >&2; exit 2 ;; esac
"""


def bridge(agent: str) -> dict[str, object]:
    return {"type": "command", "command": f"hookwright hook --from {agent}"}


def twin_of_the_shop() -> tuple[dict[str, str], str]:
    """No matcher, both spellings of every name, text with every refusal, one file."""
    return {SETTINGS: settings(PreToolUse=group(timeout=10)), GUARD: CAREFUL}, "vscode,copilot"


def twin_of_the_data() -> tuple[dict[str, str], str]:
    """The same hooks behind the bridge, which translates every answer."""
    codex = {event: [{"hooks": [bridge("codex")]}] for event in ("PreToolUse", "PreCompact", "Stop")}
    qwen = {event: [{"hooks": [bridge("qwen")]}] for event in ("PreToolUse", "PreCompact", "Stop")}
    gemini = {event: [{"hooks": [bridge("gemini")]}] for event in ("BeforeTool", "PreCompress", "AfterAgent")}
    own = {
        ".codex/hooks.json": text({"hooks": codex}),
        ".qwen/settings.json": text({"hooks": qwen}),
        ".gemini/settings.json": text({"hooks": gemini}),
    }
    return {**DATA, **own}, "codex,qwen,gemini"


def twin_of_the_service() -> tuple[dict[str, str], str]:
    """Copied to Codex, with what Codex obeys."""
    hooks = {
        "PreToolUse": group("./shell.sh", "Bash", timeout=10),
        "UserPromptSubmit": group("./prompt.sh", timeout=10),
        "Stop": group("./stop.sh", timeout=10),
    }
    shell = "#!/bin/sh\njq -r .tool_input.command | grep -q secret || exit 0\necho 'no secrets' >&2\nexit 2\n"
    files = {SETTINGS: settings(**hooks), ".codex/hooks.json": text({"hooks": hooks}), "shell.sh": shell}
    return {**files, "prompt.sh": SERVICE["prompt.sh"], "stop.sh": SERVICE["stop.sh"]}, "codex"


@pytest.mark.parametrize("twin", [twin_of_the_shop, twin_of_the_data, twin_of_the_service])
def test_the_correct_twin_has_no_finding(twin: object, tmp_path: Path) -> None:
    assert callable(twin)
    files, agents = twin()
    root = write(Sample(files), tmp_path / "project")
    assert [item.what for item in check(root, tmp_path / "home", agents, selection=PORTABLE)] == []


def test_a_bridge_in_an_agent_that_loads_the_file_runs_every_hook_twice(tmp_path: Path) -> None:
    files, _ = twin_of_the_shop()
    doubled = {".github/hooks/bridge.json": text({"version": 1, "hooks": {"PreToolUse": [bridge("copilot")]}})}
    root = write(Sample({**files, **doubled}), tmp_path / "project")
    found = check(root, tmp_path / "home", "copilot", selection=PORTABLE)
    assert [(item.rule, "through Hookwright" in item.what) for item in found] == [("HK907", True)]
