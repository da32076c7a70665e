"""The YAML frontmatter of a skill or an agent: its fields, and the hooks that run while it is active."""

from __future__ import annotations

import os
import re
import warnings
from typing import Any

import msgspec

from hookwright.config.files import Unreadable, is_inside, read_bytes
from hookwright.config.items import AGENT_POWERS, Item, agent_item
from hookwright.config.jsonfile import JsonFault, Path, Tree
from hookwright.config.parse import Found, parse_hooks
from hookwright.errors import MissingExtra
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.jsontext import Json
from hookwright.protocol.plain import plain
from hookwright.protocol.sources import Component, Plugin, Scope, Source

_HEAD = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?\n|)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_MAX_BYTES = 1024 * 1024
#: YAML is slow to read: a project must not delay a session with an absurdly long frontmatter.
_MAX_HEAD = 32 * 1024
#: YAML aliases can make a short text huge; no real file has this many values.
_MAX_VALUES = 20_000
_MAX_DEPTH = 100
#: More skills or agents of one project are not read.
MAX_COMPONENTS = 1000
#: A line that every reader of YAML understands alike: a key and plain text.
_SIMPLE = re.compile(r"([A-Za-z][\w-]*): ([A-Za-z](?:[ -~]*[!-~])?)", re.ASCII)
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "inf", "nan"})


class Frontmatter(msgspec.Struct, frozen=True):
    """A Markdown file with YAML frontmatter."""

    data: dict[str, Json]
    body: str
    diagnostics: tuple[Diagnostic, ...] = ()
    #: The frontmatter with the file's line numbers; None without a usable one.
    tree: Tree | None = None


class ComponentFile(msgspec.Struct, frozen=True):
    """The file of a skill or an agent."""

    path: str
    kind: str  # "skill" or "agent"
    from_project: bool = False
    plugin: Plugin | None = None

    @property
    def name(self) -> str:
        """The name if the frontmatter has none: the skill's folder, the agent's file."""
        stem = os.path.dirname(self.path) if self.kind == "skill" else os.path.splitext(self.path)[0]
        return os.path.basename(stem)


def read_frontmatter(path: str, source: Source | None = None) -> Frontmatter:
    """Read the frontmatter and body of a file; bad frontmatter is reported, and the body is still used."""
    source = source if source is not None else Source(Scope.COMPONENT, path)
    try:
        text = read_bytes(path, _MAX_BYTES).decode("utf-8", errors="replace")
    except FileNotFoundError:
        return Frontmatter({}, "", (_finding(source, 0, "no such file."),))
    except Unreadable as error:
        return Frontmatter({}, "", (_finding(source, 0, f"cannot be read: {error}."),))
    head = _HEAD.match(text)
    if head is None:
        return Frontmatter({}, text)
    body = text[head.end() :]
    try:
        if len(head[1]) > _MAX_HEAD:
            raise InvalidYaml(1, f"the frontmatter has {len(head[1]):,} characters; the limit is {_MAX_HEAD:,}.")
        tree = parse_yaml(head[1], first_line=2)
    except MissingExtra as error:
        return Frontmatter({}, body, (_finding(source, 1, f"{error}. Until then its fields and hooks are ignored."),))
    except InvalidYaml as error:
        return Frontmatter({}, body, (_finding(source, error.line, f"{error} Its fields and hooks are ignored."),))
    if not isinstance(tree.value, dict):
        empty = tree.value is None
        report = () if empty else (_finding(source, 2, "the frontmatter is not a set of `key: value` lines."),)
        return Frontmatter({}, body, report)
    notes = tuple(Diagnostic(fault.code, fault.message, _at(source, fault.line)) for fault in tree.faults)
    return Frontmatter(tree.value, body, notes, tree)


def component_groups(file: ComponentFile, shown: str | None = None, head: Frontmatter | None = None) -> Found:
    """Read the hooks of a skill or agent; in an agent `Stop` means the agent's own end, SubagentStop (R-354).

    Hooks of a plugin's agents are reported and ignored. A `head` that was already read is not read again.
    """
    place = Source(Scope.COMPONENT, shown or file.path, from_project=file.from_project, plugin=file.plugin)
    head = read_frontmatter(file.path, place) if head is None else head
    if head.tree is None or "hooks" not in head.data:
        return Found((), head.diagnostics)
    if file.kind == "agent" and file.plugin is not None:
        line = head.tree.line(("hooks",))
        message = "`hooks` are ignored in an agent of a plugin. Move them to the plugin's hooks.json."
        note = Diagnostic("setting-ignored", message, _at(place, line, "hooks"), Severity.WARNING)
        return Found((), (*head.diagnostics, note))
    named = head.data.get("name")
    component = Component(file.kind, named if isinstance(named, str) else file.name)
    found = parse_hooks(head.tree, msgspec.structs.replace(place, component=component))
    return Found(found.groups, (*head.diagnostics, *found.diagnostics))


def agent_request(file: ComponentFile, head: Frontmatter) -> Item | None:
    """Return what an agent file of the project asks for that needs trust; None if it asks for nothing."""
    if file.kind != "agent" or not file.from_project or all(head.data.get(key) is None for key in AGENT_POWERS):
        return None
    named = head.data.get("name")
    name = named if isinstance(named, str) and named else file.name
    component = Component("agent", name)
    source = Source(Scope.COMPONENT, file.path, "agent", from_project=True, plugin=file.plugin, component=component)
    return agent_item(name, head.data, head.body, source)


def find_components(
    directory: str, *, from_project: bool = False, plugin: Plugin | None = None
) -> tuple[ComponentFile, ...]:
    """Return the skills and agents of one `.claude` directory or plugin root, by name.

    Law: of a project only files that really are in it, links resolved, and at most 1,000 of each kind.
    """
    skills = os.path.join(directory, "skills")
    agents = os.path.join(directory, "agents")
    inside = (directory if plugin is not None else os.path.dirname(directory)) if from_project else ""
    found = [(os.path.join(skills, name, "SKILL.md"), "skill") for name in _names(skills, inside)]
    found += [(os.path.join(agents, name), "agent") for name in _names(agents, inside) if name.endswith(".md")]
    return tuple(
        ComponentFile(path, kind, from_project, plugin)
        for path, kind in found
        if os.path.isfile(path) and (not inside or is_inside(path, inside))
    )


def _names(directory: str, inside: str) -> list[str]:
    """List a folder; nothing if it belongs to a project and leads out of it."""
    if inside and not is_inside(directory, inside):
        return []
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return []
    return names[:MAX_COMPONENTS] if inside else names


def _finding(source: Source, line: int, message: str) -> Diagnostic:
    return Diagnostic("frontmatter", message, _at(source, line))


def _at(source: Source, line: int, pointer: str = "") -> Source:
    return msgspec.structs.replace(source, line=line, pointer=pointer)


# ── YAML with positions ─────────────────────────────────────────────────────


class InvalidYaml(Exception):
    """Frontmatter that is not YAML, or has values JSON does not have."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def parse_yaml(text: str, first_line: int = 1) -> Tree:
    """Parse YAML 1.2 into the tree JSON would give; tags and dates stay strings."""
    try:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError
    except ImportError:
        raise MissingExtra("Reading the frontmatter of a skill or agent", "yaml") from None
    simple = _simple_tree(text, first_line)
    if simple is not None:
        return simple
    if _flow_depth(text) > _MAX_DEPTH:
        raise InvalidYaml(first_line, "nested too deeply.")
    yaml = YAML(typ="safe", pure=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning about a file's YAML is not for the program that reads it
            node = yaml.compose(text)
        if node is None:
            return Tree(None, (0,), 0)
        builder = _Builder(yaml.constructor, text, first_line)
        value, spots = builder.build(node, ())
        return builder.tree(value, spots)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).split("\n")[0]
        raise InvalidYaml((mark.line if mark else 0) + first_line, f"not valid YAML: {problem}.") from None
    except RecursionError:
        raise InvalidYaml(first_line, "nested too deeply.") from None


def _simple_tree(text: str, first_line: int) -> Tree | None:
    """Read lines of plain `key: text` without the YAML library, which is slow; None for anything else."""
    values: dict[str, Json] = {}
    spots: dict[str | int, Any] = {}
    for number, line in enumerate(text.rstrip("\n").split("\n"), first_line):
        found = _SIMPLE.fullmatch(line)
        if found is None or ":" in found[2] or "#" in found[2] or found[1] in values:
            return None
        if found[1].lower() in _WORDS or found[2].lower() in _WORDS:
            return None
        values[found[1]] = found[2]
        spots[found[1]] = (number, number)
    lines = text.count("\n") + first_line + 2
    return Tree(values, tuple(range(1, lines + 1)), (first_line, spots))


def _flow_depth(text: str) -> int:
    """Return whether brackets nest too deeply, quoted ones included; the library would take seconds to find out."""
    depth = deepest = 0
    for bracket in re.findall(r"[][{}]", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


class _Builder:
    """Turns YAML nodes into plain values and their lines."""

    def __init__(self, constructor: Any, text: str, first_line: int) -> None:
        self.constructor = constructor
        self.first_line = first_line
        self.lines = text.count("\n") + first_line + 2
        self.values = 0
        self.faults: list[JsonFault] = []

    def tree(self, value: Json, spots: Any) -> Tree:
        """Build a tree whose offsets are line numbers."""
        return Tree(value, tuple(range(1, self.lines + 1)), spots, tuple(self.faults))

    def build(self, node: Any, path: Path) -> tuple[Any, Any]:
        """Build one node; refuse what an alias bomb would grow into."""
        line = node.start_mark.line + self.first_line
        self.values += 1
        if self.values > _MAX_VALUES or len(path) > _MAX_DEPTH:
            raise InvalidYaml(line, "it expands to too many values; write it without aliases.")
        match node.id:
            case "mapping":
                return self._mapping(node, line, path)
            case "sequence":
                values, spots = [], {}
                for index, item in enumerate(node.value):
                    value, spot = self.build(item, (*path, index))
                    values.append(value)
                    spots[index] = (item.start_mark.line + self.first_line, spot)
                return values, (line, spots)
            case _:
                return self._scalar(node), line

    def _scalar(self, node: Any) -> Any:
        if str(node.tag).removeprefix("tag:yaml.org,2002:") not in ("bool", "int", "float", "null"):
            return self._text(node)
        try:
            return self.constructor.construct_object(node, deep=True)
        except ValueError:  # a number tag on a text that is not a number
            return self._text(node)

    def _text(self, node: Any) -> str:
        """Return a text as JSON files are read: half of a surrogate pair cannot be written."""
        given = str(node.value)
        text: str = plain(given)
        if text != given:
            mark = node.start_mark
            message = f'"{text}" has half of a surrogate pair; it is read as U+FFFD.'
            self.faults.append(JsonFault("lone-surrogate", message, mark.line + self.first_line, mark.column + 1))
        return text

    def _mapping(self, node: Any, line: int, path: Path) -> tuple[Any, Any]:
        values: dict[str, Json] = {}
        spots: dict[str, Json] = {}
        for key_node, item in node.value:
            key_line = key_node.start_mark.line + self.first_line
            if key_node.id != "scalar":
                raise InvalidYaml(key_line, "a key must be a plain string.")
            key = self._text(key_node)
            if key in values:
                raise InvalidYaml(key_line, f"the key {key} appears twice.")
            value, spot = self.build(item, (*path, key))
            values[key] = value
            spots[key] = (key_line, spot)
        return values, (line, spots)
