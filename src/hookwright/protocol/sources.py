"""Where a handler was declared, and the one total order over all such places."""

from __future__ import annotations

import enum
import os

import msgspec

from hookwright.text import harmless, short_path


class Scope(enum.Enum):
    """A place that may declare hooks; the order of the members is the configuration order (R-013)."""

    MANAGED = "managed"
    USER = "user"
    PROJECT = "project"
    PLUGIN = "plugin"
    LOCAL = "local"
    FLAG = "flag"
    COMPONENT = "component"
    PROGRAM = "program"

    @property
    def rank(self) -> int:
        """The position in configuration order."""
        return _RANK[self]


_RANK = {scope: position for position, scope in enumerate(Scope)}

#: Handlers of these scopes are compared with each other for duplicates; those of a plugin among themselves (R-015).
SETTINGS_SCOPES = frozenset({Scope.MANAGED, Scope.USER, Scope.PROJECT, Scope.LOCAL, Scope.FLAG})


class Plugin(msgspec.Struct, frozen=True):
    """The plugin a handler belongs to."""

    name: str
    root: str
    data: str
    options: tuple[tuple[str, str], ...] = ()


class Component(msgspec.Struct, frozen=True):
    """The skill or agent whose frontmatter declared a handler."""

    kind: str  # "skill" or "agent"
    name: str


class Source(msgspec.Struct, frozen=True):
    """The place of one declaration: scope, file, JSON pointer and line."""

    scope: Scope
    path: str = ""
    pointer: str = ""
    line: int = 0
    #: Supplied by the workspace itself, so it has no effect until the user trusts it.
    from_project: bool = False
    #: The absolute directory that a leading slash means in a rule of this source; empty for the working directory.
    anchor: str = ""
    plugin: Plugin | None = None
    component: Component | None = None
    #: The project directory of a settings file above the session's own project; empty for the session's.
    project: str = ""
    #: Not the project's own, but it would run files of the project.
    reaches_project: bool = False

    def __str__(self) -> str:
        place = self.path or self.scope.value
        if self.line:
            place += f":{self.line}"
        return f"{place} {self.pointer}" if self.pointer else place

    @property
    def gated(self) -> bool:
        """Whether trust decides before each run: it came with the project, or may run files of the project."""
        return self.from_project or self.reaches_project or self.component is not None

    @property
    def root(self) -> str | None:
        """The directory that `CLAUDE_PLUGIN_ROOT` names: the plugin's, or the folder of the skill; else None."""
        if self.plugin is not None:
            return self.plugin.root
        is_skill = self.component is not None and self.component.kind == "skill"
        return os.path.dirname(self.path) if is_skill else None

    @property
    def label(self) -> str:
        """The kind of source as the permission prompt shows it."""
        if self.plugin is not None:
            return f"[plugin:{self.plugin.name}]"
        if self.component is not None and self.component.kind == "skill":
            return "[skill]"
        return "[settings]"


def place(source: Source | None) -> str:
    """Return the place of a source as its user would type it."""
    if source is None:
        return ""
    where = short_path(source.path, os.getcwd(), os.path.expanduser("~")) or source.scope.value
    return harmless(f"{where}:{source.line} {source.pointer}" if source.line else f"{where} {source.pointer}").strip()
