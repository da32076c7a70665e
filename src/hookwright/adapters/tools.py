"""The tools of a framework as hooks know them: Claude's names, inputs and outputs, and the way back."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import msgspec

from hookwright.dialects.patch import BrokenPatch, read_patch, touch_call
from hookwright.protocol.jsontext import Json
from hookwright.protocol.plain import plain

#: Makes the path of a tool's input absolute; a framework with its own file system gives another one.
Paths = Callable[[str], str]


class Tool(msgspec.Struct, frozen=True):
    """What a native tool is to hooks: `Tool("Bash", input={"query": "command"})`."""

    #: Claude's name of the tool.
    name: str
    #: Native field → Claude's field; fields that are not named keep their names.
    input: Mapping[str, str] = MappingProxyType({})
    #: Claude's field → what it is in the native tool: one of `UNITS`.
    units: Mapping[str, str] = MappingProxyType({})
    #: Native fields, of which the first that is there holds a patch in the form of `apply_patch`: hooks read each file
    #: of it as a call of Write or Edit.
    patch: tuple[str, ...] = ()


#: What a native field may be in comparison with Claude's.
UNITS = ("path", "seconds", "from zero", "literal")

_PATH = {"path": "file_path", "filename": "file_path", "filepath": "file_path", "file": "file_path"}
_WHERE = {"directory": "path", "dir": "path", "root": "path"}
_BASH = Tool("Bash", {"cmd": "command", "commands": "command", "script": "command"}, {"timeout": "seconds"})
_READ = Tool("Read", _PATH, {"file_path": "path", "offset": "from zero"})
_WRITE = Tool("Write", {**_PATH, "text": "content", "contents": "content"}, {"file_path": "path"})
_EDIT = Tool(
    "Edit",
    {**_PATH, "old_str": "old_string", "new_str": "new_string", "old": "old_string", "new": "new_string"},
    {"file_path": "path"},
)
_AGENT = Tool(
    "Agent",
    {"input": "prompt", "request": "prompt", "task": "prompt", "agent": "subagent_type", "name": "subagent_type"},
)
_PATCH = Tool("Edit", patch=("patch", "input", "patch_text", "patchText", "diff", "command"))

#: The built-in table, by exact native name.
TABLE: Mapping[str, Tool] = MappingProxyType(
    {
        **dict.fromkeys(
            ("shell", "bash", "execute", "terminal", "run_command", "execute_command", "run_shell_command"), _BASH
        ),
        **dict.fromkeys(("execute_bash", "local_shell", "exec_command", "run_shell"), _BASH),
        **dict.fromkeys(("read_file", "view_file", "read", "read_text_file"), _READ),
        **dict.fromkeys(("write_file", "create_file", "save_file"), _WRITE),
        **dict.fromkeys(("edit_file", "str_replace", "replace_in_file"), _EDIT),
        "apply_patch": _PATCH,
        **dict.fromkeys(("glob", "find_files"), Tool("Glob", _WHERE)),
        **dict.fromkeys(("grep", "search_files"), Tool("Grep", {**_WHERE, "query": "pattern"})),
        **dict.fromkeys(("ls", "list_directory", "list_files"), Tool("LS", _WHERE, {"path": "path"})),
        **dict.fromkeys(("task", "delegate"), _AGENT),
        "write_todos": Tool("TodoWrite"),
        **dict.fromkeys(("fetch_url", "web_fetch", "load_web_page"), Tool("WebFetch")),
        **dict.fromkeys(("web_search", "google_search", "tavily_search", "duckduckgo_search"), Tool("WebSearch")),
    }
)


class Shaped(msgspec.Struct, frozen=True):
    """A native call as hooks read it."""

    name: str
    input: dict[str, Json]
    #: The native name, if it differs: matchers match it as well.
    also: tuple[str, ...]
    #: Native key → Claude's key, one to one.
    keys: Mapping[str, str]
    units: Mapping[str, str]
    native: Mapping[str, Json]
    #: Why guards cannot judge the call, so that it must be refused; empty for an ordinary one.
    unclear: str = ""
    #: Whether it is a file of a patch: what hooks rewrite cannot be put back.
    touch: bool = False
    #: Why a patch cannot be read; hooks then read the native input, which does not name the files.
    unreadable: str = ""


class ToolTable:
    """The built-in table with the changes of one program; `None` leaves a native tool as it is."""

    def __init__(self, changes: Mapping[str, Tool | str | None] = MappingProxyType({}), paths: Paths | None = None):
        self._changes = {name: Tool(tool) if isinstance(tool, str) else tool for name, tool in changes.items()}
        self._tools: dict[str, Tool | None] = {**TABLE, **self._changes}
        self._paths = paths if paths is not None else os.path.abspath

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def tool(self, name: str) -> Tool:
        """Return what a native tool is to hooks; one that is not in the table is itself."""
        return self._tools.get(name) or Tool(name)

    def note_agent(self, name: str) -> None:
        """Note that a native tool is an agent, which only its framework knows; an entry in the table applies first."""
        self._tools.setdefault(name, _AGENT)

    def shaped(self, name: str, native: Mapping[str, Json], server: str = "") -> Shaped:
        """Return a call as hooks read it.

        Law: the program's own entry for the tool applies first. A tool of an MCP server is `mcp__server__tool`, even if
        the built-in table has a tool of its name. Any other tool is what the table says, or itself.
        """
        foreign = server and self._changes.get(name) is None
        tool = Tool(mcp_name(server, name)) if foreign else self.tool(name)
        return self._shaped(tool, name, native)

    def parts(self, name: str, native: Mapping[str, Json], server: str = "") -> tuple[Shaped, ...]:
        """Return a call as hooks read it, in one part or several.

        Law: a patch is one call of Write or Edit per path, in order, and matches its native name as well. A patch that
        cannot be read is one call with the native input that says why. Any other call is one part.
        """
        whole = self.shaped(name, native, server)
        tool = self.tool(name)
        if not tool.patch or whole.name != tool.name:
            return (whole,)
        given = [key for key in tool.patch if key in native]
        text = native[given[0]] if given else None
        if len(given) > 1:
            both = f"the call of `{name}` has both `{given[0]}` and `{given[1]}`, and only one can be its patch"
            return (msgspec.structs.replace(whole, unclear=f"{both}: hooks cannot judge it. Send one of them."),)
        touched = read_patch(text) if isinstance(text, str) else BrokenPatch("it has no text")
        if isinstance(touched, BrokenPatch):
            reason = f"the patch of `{name}` cannot be read ({touched.reason})"
            return (msgspec.structs.replace(whole, unreadable=reason),)
        calls = [touch_call(touch, self._paths(touch.path)) for touch in touched]
        return tuple(Shaped(claude, given, (name,), {}, {}, native, touch=True) for claude, given in calls)

    def _shaped(self, tool: Tool, name: str, native: Mapping[str, Json]) -> Shaped:
        keys = renamed(native, tool.input)
        shaped = {keys[key]: to_claude(value, tool.units.get(keys[key]), self._paths) for key, value in native.items()}
        also = (() if tool.name == name else (name,)) + (("Write",) if tool.patch else ())
        return Shaped(tool.name, plain(shaped), also, keys, tool.units, native, unclear(name, native, tool.input))


def mcp_name(server: str, tool: str) -> str:
    """Return Claude's name for a tool of an MCP server; characters that names cannot have become `_`."""
    return f"mcp__{_NOT_NAME.sub('_', server)}__{_NOT_NAME.sub('_', tool)}"


_NOT_NAME = re.compile(r"[^A-Za-z0-9_-]")


def renamed(native: Iterable[str], names: Mapping[str, str]) -> dict[str, str]:
    """Return Claude's key for each native key.

    Law: no two native keys get the same one. A key keeps its own name where Claude's is already taken, by a native key
    of that name or by an earlier one.
    """
    own = list(native)
    taken = set(own)
    found: dict[str, str] = {}
    for key in own:
        target = names.get(key, key)
        if target != key and target in taken:
            target = key
        taken.add(target)
        found[key] = target
    return found


#: Claude's fields that guards read to judge a call.
_JUDGED = frozenset({"command", "file_path", "notebook_path", "content", "old_string", "new_string", "url"})


def unclear(tool: str, native: Iterable[str], names: Mapping[str, str]) -> str:
    """Return why guards cannot judge a call; empty if they can.

    Law: no two native keys of a call mean the same field that guards read. Only the tool knows which of the two it
    obeys, so a model could show guards the one and the tool the other.
    """
    first: dict[str, str] = {}
    for key in native:
        field = names.get(key, key)
        if field in _JUDGED and first.setdefault(field, key) != key:
            return (
                f"the call of `{tool}` has both `{first[field]}` and `{key}`, which are the same field to hooks "
                f"(`{field}`), so that they cannot judge it. Send one of them."
            )
    return ""


def to_claude(value: Json, unit: str | None, paths: Paths) -> Json:
    """Return a native value as Claude's tools have it; one of an unexpected type stays as it is."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match unit:
        case "path" if isinstance(value, str) and value:
            return paths(value)
        case "seconds" if number:
            return round(value * 1000) if _finite(value) else value
        case "from zero" if number:
            return value + 1
        case "literal" if isinstance(value, str):
            return re.escape(value)
        case _:
            return value


def to_native(value: Json, unit: str | None) -> Json:
    """Return a value that a hook wrote as the native tool has it."""
    if unit in ("seconds", "from zero") and (not isinstance(value, int | float) or isinstance(value, bool)):
        return value
    match unit:
        case "seconds":
            return value // 1000 if isinstance(value, int) and value % 1000 == 0 else value / 1000
        case "from zero":
            return max(0, value - 1)
        case "literal" if isinstance(value, str):
            return re.sub(r"\\(.)", r"\1", value)
        case _:
            return value


def _finite(value: float) -> bool:
    return abs(value) < 1e15


def restored(shaped: Shaped, final: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the native input for what hooks made of a call.

    Law: an input that hooks did not change is the native one, the same object. A field that they did not change keeps
    its native value, so a relative path stays relative; a changed one is converted back, under its native name; a
    field that they removed is gone, and a new one gets the name the native tool has for it.
    """
    if final == shaped.input and list(final) == list(shaped.input):
        return shaped.native
    back = {claude: native for native, claude in shaped.keys.items()}
    out: dict[str, Json] = {}
    for key, value in final.items():
        native = back.get(key, key)
        same = key in shaped.input and native in shaped.native and _same(value, shaped.input[key])
        out[native] = shaped.native[native] if same else to_native(value, shaped.units.get(key))
    return out


def _same(one: Json, other: Json) -> bool:
    return type(one) is type(other) and bool(one == other)


# ── outputs ─────────────────────────────────────────────────────────────────


def response(tool: str, output: Json) -> Json:
    """Return a native result as hooks read it: the text of a command becomes Claude's object with stdout."""
    if tool == "Bash" and isinstance(output, str):
        return {"stdout": str(output), "stderr": "", "interrupted": False, "isImage": False}
    return output


def output_of(tool: str, native: Json, rewritten: Json) -> Json:
    """Return what a hook made of a result as the native tool would: the text of a command is its stdout and stderr."""
    if tool == "Bash" and isinstance(native, str) and isinstance(rewritten, Mapping) and "stdout" in rewritten:
        texts = [str(rewritten.get(key) or "") for key in ("stdout", "stderr")]
        return "\n".join(text for text in texts if text)
    return rewritten


# ── tools that are not mapped ───────────────────────────────────────────────

_COMMANDS = frozenset({"command", "cmd", "commands", "code", "script", "shell"})
_PATHS = frozenset({"path", "file_path", "filename", "filepath", "file"})
_CONTENTS = frozenset({"content", "contents", "text", "new_str", "new_string", "data", "patch", "diff"})
_PATCHES = frozenset({"patch", "diff"})


def resembles(name: str, fields: Iterable[str]) -> str | None:
    """Return Claude's tool that a tool looks like: one that takes a command is Bash, one that takes a path and content
    is Write, one that takes a patch is Edit; None for any other.
    """
    found = set(fields)
    if found & _COMMANDS:
        return "Bash"
    if found & _PATHS and found & _CONTENTS:
        return "Write"
    if found & _PATCHES or name == "apply_patch":
        return "Edit"
    return None


def unmapped(table: ToolTable, tools: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return the native tools, by name with their fields, that look like one of Claude's and are not in the table."""
    looks = {name: resembles(name, fields) for name, fields in tools.items() if name not in table}
    return {name: claude for name, claude in looks.items() if claude is not None and name != claude}


def warning(name: str, claude: str) -> str:
    """Return what to tell the developer about a tool that looks like one of Claude's."""
    return (
        f"the tool `{name}` looks like {claude} and is not mapped: hooks for {claude} do not see it. "
        f'Map it with tools={{"{name}": Tool("{claude}", input={{…}})}}, or leave it as it is with '
        f'tools={{"{name}": None}}.'
    )
