import builtins
import contextlib
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.config.frontmatter import (
    ComponentFile,
    InvalidYaml,
    component_groups,
    find_components,
    parse_yaml,
    read_frontmatter,
)
from hookwright.config.jsonfile import Tree, parse_json
from hookwright.config.parse import parse_hooks
from hookwright.protocol.sources import Component, Plugin, Scope, Source
from worlds import World

SKILL = """---
name: careful
description: "Use with care: always"
allowed-tools: Read, Grep
disable-model-invocation: true
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: ./scripts/check.sh
          once: true
          timeout: 5
  Stop:
    - hooks:
        - type: prompt
          prompt: Done?
---
# Careful

Body with --- in it.
"""


def test_head_and_body(world: World) -> None:
    path = world.write("SKILL.md", SKILL)
    head = read_frontmatter(str(path))
    assert head.data["name"] == "careful"
    assert head.data["description"] == "Use with care: always"
    assert head.data["disable-model-invocation"] is True
    assert head.body == "# Careful\n\nBody with --- in it.\n"
    assert head.diagnostics == ()


@pytest.mark.parametrize(
    ("text", "data", "body", "reported"),
    [
        ("no head\n", {}, "no head\n", None),
        ("", {}, "", None),
        ("---\n---\nbody", {}, "body", None),
        ("---\nname: x\n---", {"name": "x"}, "", None),
        ("\ufeff---\r\nname: x\r\n---\r\nbody\r\n", {"name": "x"}, "body\r\n", None),
        ("---\nname: x\nnever closed\n", {}, "---\nname: x\nnever closed\n", None),
        ("---\nname: [x\n---\nbody", {}, "body", (3, "not valid YAML")),
        ("---\na: 1\nb: 2\na: 3\n---\nbody", {}, "body", (4, "the key a appears twice")),
        ("---\n- a\n- b\n---\nbody", {}, "body", (2, "not a set of")),
    ],
)
def test_forms_of_a_head(
    world: World, text: str, data: dict[str, Any], body: str, reported: tuple[int, str] | None
) -> None:
    path = world.root / "file.md"
    path.write_bytes(text.encode())
    head = read_frontmatter(str(path))
    assert (head.data, head.body) == (data, body)
    assert [report.code for report in head.diagnostics] == (["frontmatter"] if reported else [])
    if reported:
        source = head.diagnostics[0].source
        assert source is not None
        assert source.line == reported[0]
        assert reported[1] in head.diagnostics[0].message


def test_a_missing_file_is_reported(world: World) -> None:
    assert [report.code for report in read_frontmatter(str(world.root / "gone.md")).diagnostics] == ["frontmatter"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on: yes\noff: no", {"on": "yes", "off": "no"}),
        ("a: true\nb: null\nc: 0x1f\nd: 1.5\ne: ~", {"a": True, "b": None, "c": 31, "d": 1.5, "e": None}),
        ("when: 2024-01-01", {"when": "2024-01-01"}),
        ("1: one", {"1": "one"}),
        ("a: !!python/object/apply:os.system [x]", {"a": ["x"]}),
        ("a: !tag text", {"a": "text"}),
        ("a: !!int no", {"a": "no"}),
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("", None),
    ],
)
def test_yaml_becomes_what_json_could_say(text: str, value: Any) -> None:
    assert parse_yaml(text).value == value


def test_half_of_a_surrogate_pair_is_read_as_in_json_and_named(tmp_path: Path) -> None:
    path = tmp_path / "SKILL.md"
    path.write_text('---\nname: "n\\ud800"\nhooks:\n  "Pre\\udfffToolUse": []\n---\n')
    head = read_frontmatter(str(path))
    assert head.data == {"name": "n\ufffd", "hooks": {"Pre\ufffdToolUse": []}}
    assert [(note.code, note.source and note.source.line) for note in head.diagnostics] == [
        ("lone-surrogate", 2),
        ("lone-surrogate", 4),
    ]
    found = component_groups(ComponentFile(str(path), "skill"))
    assert "unknown-event" in {note.code for note in found.diagnostics}


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize("text", [LAUGHS, "a: &a [*a]", "a: " + "[" * 3000, "? [a, b]\n: c", "a: *nobody"])
def test_hostile_yaml_is_refused(text: str) -> None:
    with pytest.raises(InvalidYaml):
        parse_yaml(text)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidYaml):
        assert isinstance(parse_yaml(text), Tree)


@pytest.mark.req("R-352")
def test_hooks_from_yaml_equal_hooks_from_json(world: World) -> None:
    path = world.write("skills/careful/SKILL.md", SKILL)
    told = component_groups(ComponentFile(str(path), "skill"))
    tree = parse_json(
        """{"hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "command", "command": "./scripts/check.sh", "once": true, "timeout": 5}]}],
        "Stop": [{"hooks": [{"type": "prompt", "prompt": "Done?"}]}]}}"""
    )
    assert isinstance(tree, Tree)
    twin = parse_hooks(tree, Source(Scope.COMPONENT, component=Component("skill", "careful")))
    assert told.diagnostics == twin.diagnostics == ()

    def plain(groups: Any) -> Any:
        return [(g.event, g.matcher, [(type(h), h.identity, h.once, h.timeout) for h in g.handlers]) for g in groups]

    assert plain(told.groups) == plain(twin.groups)
    source = told.groups[0].handlers[0].source
    assert (source.scope, source.line, source.component) == (Scope.COMPONENT, 10, Component("skill", "careful"))


AGENT = """---
description: reviews
hooks:
  Stop:
    - matcher: ignored
      hooks:
        - type: command
          command: ./done.sh
  PreToolUse:
    - hooks:
        - type: command
          command: ./pre.sh
          onFailure: block
---
You review.
"""


def test_stop_of_an_agent_means_its_own_end(world: World) -> None:
    path = world.write("agents/reviewer.md", AGENT)
    told = component_groups(ComponentFile(str(path), "agent"))
    assert [(group.event, group.matcher) for group in told.groups] == [("SubagentStop", None), ("PreToolUse", None)]
    assert told.groups[0].handlers[0].source.component == Component("agent", "reviewer")
    assert told.groups[0].handlers[0].source.pointer == "hooks.Stop[0].hooks[0]"


def test_stop_of_a_skill_stays_stop(world: World) -> None:
    path = world.write("skills/s/SKILL.md", SKILL)
    assert [group.event for group in component_groups(ComponentFile(str(path), "skill")).groups] == [
        "PreToolUse",
        "Stop",
    ]


def test_bad_entries_are_told_with_their_line(world: World) -> None:
    text = SKILL.replace("timeout: 5", "timeout: soon").replace("type: prompt", "type: promt")
    path = world.write("skills/s/SKILL.md", text)
    told = component_groups(ComponentFile(str(path), "skill"), "skills/s/SKILL.md")
    assert [str(report).split(":")[1].split()[0] for report in told.diagnostics] == ["13", "16"]
    assert [len(group.handlers) for group in told.groups] == [0, 0]


def test_agents_of_a_plugin_bring_no_hooks(world: World) -> None:
    path = world.write("agents/reviewer.md", AGENT)
    plugin = Plugin("tools", str(world.root), "")
    told = component_groups(ComponentFile(str(path), "agent", plugin=plugin))
    assert told.groups == ()
    assert [report.code for report in told.diagnostics] == ["setting-ignored"]


def test_skills_of_a_plugin_do(world: World) -> None:
    path = world.write("skills/s/SKILL.md", SKILL)
    plugin = Plugin("tools", str(world.root), "")
    told = component_groups(ComponentFile(str(path), "skill", plugin=plugin))
    assert told.groups[0].handlers[0].source.plugin == plugin


def test_without_the_extra_the_way_out_is_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.startswith("ruamel"):
            raise ImportError(name)
        return real(name, *rest)

    path = world.write("skills/s/SKILL.md", SKILL)
    monkeypatch.setattr(builtins, "__import__", refuse)
    told = component_groups(ComponentFile(str(path), "skill"))
    assert told.groups == ()
    assert "pip install 'hookwright[yaml]'" in told.diagnostics[0].message


def test_components_of_project_user_and_plugins_are_found(world: World) -> None:
    plugin = world.root / "plugin"
    for folder in (world.project / ".claude", world.home / ".claude", plugin):
        world.write(folder / "skills" / "one" / "SKILL.md", SKILL)
        world.write(folder / "agents" / "two.md", AGENT)
        world.write(folder / "agents" / "notes.txt", "no agent")
    loaded = world.load(plugin_dirs=[str(plugin)])
    found = [(file.kind, file.name, file.from_project, file.plugin is not None) for file in loaded.components()]
    assert found == [
        ("skill", "one", True, False),
        ("agent", "two", True, False),
        ("skill", "one", False, False),
        ("agent", "two", False, False),
        ("skill", "one", False, True),
        ("agent", "two", False, True),
    ]
    # They are activated while they run; the base set does not hold their hooks.
    assert len(loaded.hooks) == 0


def test_a_folder_without_components_has_none(world: World) -> None:
    assert find_components(str(world.root / "nowhere")) == ()


@pytest.mark.parametrize(
    ("head", "problem"),
    [
        ("a: " + "[" * 1000, "nested too deeply."),
        ("a: " + "{b: " * 1000, "nested too deeply."),
        ("".join(f"k{number}: v\n" for number in range(10_000)), "characters; the limit is"),
    ],
)
def test_a_head_that_would_take_long_is_refused_at_once(world: World, head: str, problem: str) -> None:
    path = world.write("project/.claude/skills/slow/SKILL.md", f"---\n{head}\n---\nbody")
    started = time.process_time()
    read = read_frontmatter(str(path))
    assert time.process_time() - started < 0.5
    assert [problem in note.message for note in read.diagnostics] == [True]
    assert (read.data, read.body) == ({}, "body")


def test_a_doubtful_head_warns_nobody(world: World) -> None:
    path = world.write("project/.claude/skills/odd/SKILL.md", "---\na: &x 1\nb: &x 2\nc: *x\n---\n")
    assert read_frontmatter(str(path)).data == {"a": 1, "b": 2, "c": 2}
