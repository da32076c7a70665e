"""What an export writes into the file of an agent."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence

import msgspec

from hookwright.config.locations import Surroundings
from hookwright.dialects.export import block, groups, plugin
from hookwright.dialects.model import Dialect, FileScope, Layout, Moment
from hookwright.errors import ConfigError
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json

#: The file that an export writes, by agent and scope; a relative path is of the project.
TARGETS: dict[tuple[str, FileScope], str] = {
    ("codex", FileScope.USER): "~/.codex/hooks.json",
    ("codex", FileScope.PROJECT): ".codex/hooks.json",
    ("gemini", FileScope.USER): "~/.gemini/settings.json",
    ("gemini", FileScope.PROJECT): ".gemini/settings.json",
    ("qwen", FileScope.USER): "~/.qwen/settings.json",
    ("qwen", FileScope.PROJECT): ".qwen/settings.json",
    ("kimi", FileScope.USER): "~/.kimi-code/config.toml",
    ("copilot", FileScope.USER): "~/.copilot/hooks/hookwright.json",
    ("copilot", FileScope.PROJECT): ".github/hooks/hookwright.json",
    ("opencode", FileScope.USER): "~/.config/opencode/plugins/hookwright.js",
    ("opencode", FileScope.PROJECT): ".opencode/plugins/hookwright.js",
}
#: Layouts of files that hold nothing but our entries.
_OWN = (Layout.FLAT, Layout.CODE)


class Target(msgspec.Struct, frozen=True):
    """A file of an agent, and how our entries look in it."""

    dialect: Dialect
    path: str
    layout: Layout
    #: The command that answers events, as words.
    program: tuple[str, ...]

    def added(self, text: str | None) -> str:
        """Return the file with our entries, whatever of them was there before."""
        kept = self.removed(text)
        match self.layout:
            case Layout.GROUPS:
                return groups.with_entries(kept, {each.name: self._group(each) for each in self._moments()})
            case Layout.TOML_TABLES:
                return block.with_block(kept, {each.name: self._table(each) for each in self._moments()})
            case Layout.FLAT:
                hooks = {each.name: [self._flat(each)] for each in self._moments()}
                return json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n"
            case Layout.CODE:
                return plugin.plugin(list(self.program))

    def removed(self, text: str | None) -> str | None:
        """Return the file without our entries; None if there is no file then."""
        if text is None:
            return None
        if self.layout in _OWN:
            if not self.present(text):
                raise ConfigError(f"{self.path} was not written by `hookwright export`; it stays as it is.")
            return None
        if self.layout is Layout.TOML_TABLES:
            return block.without_block(text)
        return groups.without_entries(text, groups.caller(self.dialect.name))

    def present(self, text: str | None) -> bool:
        """Return whether a file has entries of ours."""
        if text is None:
            return False
        match self.layout:
            case Layout.CODE:
                return plugin.is_plugin(text)
            case Layout.TOML_TABLES:
                return block.has_block(text)
            case _:
                return groups.is_ours(text, groups.caller(self.dialect.name))

    def current(self, text: str | None) -> bool:
        """Return whether a file has exactly the entries that an export would write, however it is formatted."""
        if not self.present(text):
            return False
        new = self.added(text)
        if self.layout is not Layout.GROUPS or text is None:
            return new == text
        mark = groups.caller(self.dialect.name)
        return groups.entries_in(new, mark) == groups.entries_in(text, mark)

    def _moments(self) -> Sequence[Moment]:
        return [moment for moment in self.dialect.moments if moment.exported and moment.claude]

    def _group(self, moment: Moment) -> dict[str, Json]:
        handler: dict[str, Json] = {"type": "command", "command": self.command(moment)}
        if "name" in self.dialect.handler_keys:
            handler["name"] = "hookwright"
        return {"hooks": [{**handler, self.dialect.clock.key: self.dialect.clock.exported}]}

    def _table(self, moment: Moment) -> dict[str, Json]:
        return {"command": self.command(moment), self.dialect.clock.key: self.dialect.clock.exported}

    def _flat(self, moment: Moment) -> dict[str, Json]:
        clock = self.dialect.clock
        return {"type": "command", "bash": self.command(moment), clock.key: clock.exported}

    def command(self, moment: Moment) -> str:
        """Return the line of shell that answers an event.

        Law: where the agent can be refused, a program that is missing, is killed or crashes refuses with a text. At
        the end of a turn it does not, since the agent would never stop.
        """
        call = shlex.join(self.program)
        if not moment.refused_by or CATALOGUE[moment.claude].rules.ends_turn:
            return call
        way_out = f"hookwright export --to {self.dialect.name} --remove"
        script = (
            f'{call} || {{ s=$?; [ $s -eq 2 ] || echo "Hookwright could not run your hooks (status $s). '
            f'To switch them off, run: {way_out}" >&2; exit 2; }}'
        )
        return f"sh -c {shlex.quote(script)}"


def target(dialect: Dialect, scope: FileScope, program: Sequence[str], around: Surroundings, project: str) -> Target:
    """Return the file that an export writes; raise ConfigError if the agent has none of this scope."""
    place = TARGETS.get((dialect.name, scope))
    if place is None:
        raise ConfigError(f"{dialect.title} has no hooks of a {scope.value}; remove --scope {scope.value}.")
    known = next((file for file in dialect.files if file.path == place), None)
    own = Layout.CODE if dialect.answers.vocabulary.name == "PLUGIN" else Layout.FLAT
    return Target(dialect, resolved(dialect, place, around, project), known.layout if known else own, tuple(program))


def resolved(dialect: Dialect, place: str, around: Surroundings, project: str) -> str:
    """Return the absolute path of a file in the table."""
    variable = next((file.folder_variable for file in dialect.files if file.path == place), "")
    if variable and around.env.get(variable):
        return os.path.join(around.cwd, around.env[variable], os.path.basename(place))
    if place.startswith("~/"):
        return os.path.join(around.home, place[2:])
    return os.path.join(project, place)
