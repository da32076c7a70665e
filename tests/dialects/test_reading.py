"""Reading the files of other agents: odd texts, lines, events, trust notes and double runs."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.config.locations import Surroundings
from hookwright.dialects.model import FileScope
from hookwright.dialects.reading.doubles import other_run
from hookwright.dialects.reading.model import AgentHooks, Trouble
from hookwright.dialects.reading.read import read_agent
from hookwright.dialects.reading.selecting import selected, selects
from hookwright.dialects.reading.tomllines import toml_lines
from hookwright.dialects.reading.trust import read_trust
from hookwright.dialects.table import dialect, dialects

HOOK = {"type": "command", "command": "./guard.sh"}


class Machine:
    """A home and a project with files of agents."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.around = Surroundings({"PATH": os.environ["PATH"]}, str(self.home), str(self.project))

    def write(self, path: str, content: object) -> Path:
        file = self.home / path[2:] if path.startswith("~/") else self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            file.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
        return file

    def read(self, agent: str) -> AgentHooks:
        return read_agent(dialect(agent), self.around, str(self.project))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def groups(event: str, matcher: str | None = None) -> dict[str, object]:
    group = {"hooks": [HOOK]} if matcher is None else {"matcher": matcher, "hooks": [HOOK]}
    return {"hooks": {event: [group]}}


#: One ordinary file of each agent that reads files: (agent, path, content, event, Claude Code's event, line).
ORDINARY = [
    ("codex", ".codex/hooks.json", groups("PreToolUse", "Bash"), "PreToolUse", "PreToolUse", 7),
    (
        "codex",
        "~/.codex/config.toml",
        'model = "x"\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "./guard.sh"\n',
        "Stop",
        "Stop",
        3,
    ),
    ("gemini", ".gemini/settings.json", groups("BeforeTool"), "BeforeTool", "PreToolUse", 6),
    ("qwen", "~/.qwen/settings.json", groups("PreToolUse", "Bash"), "PreToolUse", "PreToolUse", 7),
    (
        "kimi",
        "~/.kimi-code/config.toml",
        '# mine\n\n[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash"\ncommand = "./guard.sh"\n',
        "PreToolUse",
        "PreToolUse",
        3,
    ),
    (
        "copilot",
        ".github/hooks/mine.json",
        {"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "./guard.sh", "timeoutSec": 5}]}},
        "preToolUse",
        "PreToolUse",
        5,
    ),
    (
        "cursor",
        ".cursor/hooks.json",
        {"version": 1, "hooks": {"preToolUse": [{"command": "./guard.sh", "matcher": "Shell"}]}},
        "preToolUse",
        "PreToolUse",
        5,
    ),
    (
        "vscode",
        ".github/hooks/mine.json",
        {"hooks": {"PreToolUse": [{"type": "command", "command": "./guard.sh"}]}},
        "PreToolUse",
        "PreToolUse",
        4,
    ),
]


@pytest.mark.parametrize(
    ("agent", "path", "content", "event", "claude", "line"), ORDINARY, ids=[f"{row[0]} {row[1]}" for row in ORDINARY]
)
def test_an_ordinary_file_gives_its_hook_with_event_and_line(
    machine: Machine, agent: str, path: str, content: object, event: str, claude: str, line: int
) -> None:
    machine.write(path, content)
    read = machine.read(agent)
    [hook] = read.hooks
    assert read.problems == ()
    assert hook.moment is not None
    assert (hook.event, hook.moment.claude, hook.command, hook.line) == (event, claude, "./guard.sh", line)


def test_every_agent_with_files_has_an_ordinary_row() -> None:
    assert {row[0] for row in ORDINARY} == {table.name for table in dialects()} - {"opencode"}


def test_plugins_are_named_as_files_and_not_read(machine: Machine) -> None:
    path = machine.write(".opencode/plugins/guard.js", "export default 1")
    assert machine.read("opencode") == AgentHooks(dialect=dialect("opencode"), files=(str(path),))


@pytest.mark.parametrize(
    ("agent", "path", "data", "line", "why"),
    [
        ("codex", ".codex/hooks.json", b'{"hooks": {\n', 2, "not JSON"),
        ("codex", ".codex/hooks.json", b'{"hooks": {} // mine\n}', 1, "not JSON"),
        ("codex", ".codex/hooks.json", '{"hooks": {}}'.encode("utf-16"), 1, "UTF-16"),
        ("codex", ".codex/config.toml", b"a = 1\n[[hooks.Stop]\n", 2, "not TOML"),
        ("kimi", "~/.kimi-code/config.toml", b"a = 1\nb = \xff\n", 2, "not UTF-8"),
        ("gemini", ".gemini/settings.json", b"", 1, "empty"),
    ],
)
def test_a_broken_file_is_named_with_its_line(
    machine: Machine, agent: str, path: str, data: bytes, line: int, why: str
) -> None:
    file = machine.write(path, data)
    read = machine.read(agent)
    [problem] = read.problems
    assert (read.hooks, read.files) == ((), (str(file),))
    assert (problem.trouble, problem.path, problem.line) == (Trouble.UNREADABLE, str(file), line)
    assert why in problem.what


def test_a_byte_order_mark_comments_and_links_are_read(machine: Machine) -> None:
    text = (
        '{\n  // mine, with a "quote" and // again\n  "hooks": {"BeforeTool": [{"hooks": [{"type": "command", /* x */\n'
    )
    text += '    "command": "echo // not a comment"}]}]}\n}\n'
    real = machine.write("elsewhere.json", b"\xef\xbb\xbf" + text.encode())
    link = machine.project / ".gemini" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(real)
    read = machine.read("gemini")
    [hook] = read.hooks
    assert (hook.command, hook.path, hook.spot("command")[0]) == ("echo // not a comment", str(link), 4)


def test_a_link_that_leads_nowhere_and_a_folder_are_named(machine: Machine) -> None:
    (machine.project / ".codex").mkdir()
    (machine.project / ".codex" / "hooks.json").symlink_to("gone.json")
    (machine.home / ".codex" / "hooks.json").mkdir(parents=True)
    troubles = [(problem.trouble, problem.what) for problem in machine.read("codex").problems]
    assert troubles == [
        (Trouble.UNREADABLE, "it cannot be read: it is not a regular file"),
        (Trouble.UNREADABLE, "it is a link that leads nowhere"),
    ]


def test_what_an_agent_does_with_an_unknown_event_is_said(machine: Machine) -> None:
    machine.write(".gemini/settings.json", groups("PreToolUse"))
    machine.write(".cursor/hooks.json", {"version": 1, "hooks": {"stop": [{"command": "x"}], "Stopp": []}})
    machine.write(".codex/hooks.json", {"hooks": {}, "model": "x"})
    [skipped] = machine.read("gemini").problems
    [void] = machine.read("cursor").problems
    [rejected] = machine.read("codex").problems
    assert "skips its hooks; there it is `BeforeTool`" in skipped.what
    assert (void.trouble, machine.read("cursor").hooks) == (Trouble.VOID, ())
    assert (rejected.trouble, rejected.line) == (Trouble.VOID, 3)


def test_another_folder_in_the_environment_is_used(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write("~/.codex/hooks.json", groups("Stop"))
    other = tmp_path / "codex"
    other.mkdir()
    around = Surroundings({"CODEX_HOME": str(other)}, str(machine.home), str(machine.project))
    assert read_agent(dialect("codex"), around, str(machine.project)).files == ()


def test_the_same_command_in_two_files_runs_twice_where_its_matchers_meet(machine: Machine) -> None:
    machine.write(".codex/hooks.json", groups("PreToolUse", "Bash"))
    machine.write("~/.codex/hooks.json", groups("PreToolUse", "Write|Edit"))
    machine.write(
        "~/.codex/config.toml", '[[hooks.PreToolUse]]\nhooks = [{type = "command", command = "./guard.sh"}]\n'
    )
    hooks = machine.read("codex").hooks
    others = [other_run(hook, hooks) for hook in hooks]
    assert [hook.matcher for hook in hooks] == ["Write|Edit", None, "Bash"]
    assert [other.matcher if other else "-" for other in others] == [None, "Write|Edit", None]


def test_a_bridge_doubles_every_hook_of_claudes_file_that_the_agent_loads(machine: Machine) -> None:
    machine.write(".claude/settings.json", groups("PreToolUse", "Bash"))
    bridge = {"type": "command", "command": "hookwright hook --from copilot"}
    machine.write(".github/hooks/bridge.json", {"version": 1, "hooks": {"PreToolUse": [bridge], "Stop": [bridge]}})
    hooks = machine.read("copilot").hooks
    doubled = {hook.declared.scope: other_run(hook, hooks) is not None for hook in hooks if hook.event == "PreToolUse"}
    assert doubled == {FileScope.PROJECT: True, FileScope.CLAUDE: True}
    assert [other_run(hook, hooks) for hook in hooks if hook.event == "Stop"] == [None]


def test_two_bridges_double_each_other_however_they_are_written(machine: Machine) -> None:
    for path, command in (("~", "/home/me/bin/hookwright hook --from gemini"), ("", "hookwright hook --from gemini")):
        handler = {"type": "command", "command": command}
        settings = {"hooks": {"BeforeTool": [{"hooks": [handler]}]}}
        machine.write(f"{path}/.gemini/settings.json".lstrip("/"), settings)
    hooks = machine.read("gemini").hooks
    assert len(hooks) == 2
    assert all(other_run(hook, hooks) is not None for hook in hooks)


def test_cursor_runs_an_equal_command_once(machine: Machine) -> None:
    machine.write(".claude/settings.json", groups("PreToolUse"))
    machine.write(".cursor/hooks.json", {"version": 1, "hooks": {"preToolUse": [{"command": "./guard.sh"}]}})
    hooks = machine.read("cursor").hooks
    assert [other_run(hook, hooks) for hook in hooks] == [None, None]


def test_trust_is_what_the_agent_itself_has_noted(machine: Machine) -> None:
    own = machine.write("~/.codex/hooks.json", groups("PreToolUse"))
    machine.write(".codex/hooks.json", groups("PreToolUse"))
    notes = f'[hooks.state."{own}:pre_tool_use:0:0"]\ntrusted_hash = "sha256:1"\n'
    machine.write("~/.codex/config.toml", notes)
    read = read_trust(dialect("codex"), machine.around)
    project = str(machine.project)
    said = [read.of(hook, project) for hook in machine.read("codex").hooks]
    assert said == [
        "approved in Codex (hash not compared)",
        "the project is not trusted in Codex: its file is not read",
    ]
    machine.write("~/.codex/config.toml", notes + f'[projects."{project}"]\ntrust_level = "trusted"\n')
    read = read_trust(dialect("codex"), machine.around)
    assert read.of(machine.read("codex").hooks[1], project) == "not approved in Codex: skipped without a word"


def test_a_trusted_parent_folder_trusts_and_broken_notes_are_named(machine: Machine) -> None:
    machine.write(".gemini/settings.json", groups("BeforeTool"))
    machine.write("~/.gemini/trustedFolders.json", {str(machine.project.parent): "TRUST_FOLDER"})
    [hook] = machine.read("gemini").hooks
    notes = read_trust(dialect("gemini"), machine.around)
    assert notes.of(hook, str(machine.project)) == "the folder is trusted in Gemini CLI"
    machine.write("~/.gemini/trustedFolders.json", "{")
    broken = read_trust(dialect("gemini"), machine.around)
    assert [problem.trouble for problem in broken.problems] == [Trouble.UNREADABLE]
    assert "not noted" in broken.of(hook, str(machine.project))


@pytest.mark.parametrize(
    ("agent", "matcher", "tools"),
    [
        ("codex", "Bash", {"Bash"}),
        ("codex", "Write", {"apply_patch"}),
        ("codex", "exec_command", set()),
        ("gemini", "shell", {"run_shell_command"}),
        ("gemini", "Bash", set()),
        ("qwen", "Bash|Read", {"run_shell_command", "read_file"}),
        ("vscode", "Bash", {tool.name for tool in dialect("vscode").tools}),
        ("copilot", "Ba.*", {"Bash"}),
        ("copilot", "as.", set()),
        ("kimi", "[", set()),
    ],
)
def test_a_matcher_selects_as_the_agent_does(agent: str, matcher: str, tools: set[str]) -> None:
    assert set(selected(dialect(agent), matcher)) == tools


@pytest.mark.parametrize("everything", [None, "", "*"])
def test_no_matcher_selects_every_tool_of_every_agent(everything: str | None) -> None:
    assert all(selects(table, everything, tool.name) for table in dialects() for tool in table.tools)


NAMES = st.text("abcXYZ_-", min_size=1, max_size=6)


@given(st.lists(st.tuples(NAMES, st.lists(NAMES, unique=True, min_size=1, max_size=3)), max_size=4))
def test_the_lines_of_toml_are_those_of_its_tables_and_keys(tables: list[tuple[str, list[str]]]) -> None:
    lines = [line for name, keys in tables for line in (f"[[{name}]]", *(f'{key} = "[[{key}]]"' for key in keys))]
    text = "\n".join(lines) + "\n"
    value = tomllib.loads(text)
    found = toml_lines(text)
    paths = {(name, index, key) for name, items in value.items() for index, item in enumerate(items) for key in item}
    assert {path for path in found if len(path) == 3} == paths
    assert all(lines[found[path] - 1].startswith(f"{path[2]} =") for path in paths)


def test_text_in_a_multi_line_string_declares_nothing() -> None:
    text = 'a = """\n[[hooks]]\nb = 1\n"""\n[[hooks]]\nc = 1\n'
    assert toml_lines(text) == {("a",): 1, ("hooks", 0): 5, ("hooks", 0, "c"): 6}
