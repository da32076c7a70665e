"""The parser of every command, and the look of its help page."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterable
from types import ModuleType

from hookwright.cli import COMMANDS, sentence
from hookwright.cli.terminal import columns

#: The width of a page that no terminal shows.
_COLUMNS = 80
_HEADINGS = {"positional arguments": "Arguments", "options": "Options"}


class HelpPage(argparse.HelpFormatter):
    """A help page whose headings and texts begin with a capital."""

    def __init__(self, prog: str) -> None:
        # argparse makes one for every option that is added, and would import shutil for its width.
        super().__init__(prog, width=(columns(sys.stdout) or _COLUMNS) - 2)

    def start_section(self, heading: str | None) -> None:
        """Begin a section under our name for it."""
        super().start_section(_HEADINGS.get(heading or "", heading))

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None = None,
    ) -> None:
        """Add the usage line."""
        super().add_usage(usage, actions, groups, prefix or "Usage: ")

    def _expand_help(self, action: argparse.Action) -> str:
        return sentence(super()._expand_help(action))


#: Commands whose module is not in `cli/commands`.
_ELSEWHERE = {
    "hook": "hookwright.cli.bridges.hook",
    "export": "hookwright.cli.bridges.export",
    "demo": "hookwright.demo.command",
    "adapters": "hookwright.cli.bridges.adapters",
    "mcp": "hookwright.cli.bridges.mcp",
    "replay": "hookwright.cli.history.replay",
    "daemon": "hookwright.cli.fast.daemon",
    "worker": "hookwright.cli.fast.worker",
    "web": "hookwright.web.command",
    "observe": "hookwright.cli.bridges.observe",
}


def module_of(name: str) -> ModuleType:
    """Import the module of a command."""
    return importlib.import_module(_ELSEWHERE.get(name, f"hookwright.cli.commands.{name.replace('-', '_')}"))


def parser_of(name: str, kind: type[argparse.ArgumentParser] = argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Build the parser of a command."""
    parser = kind(prog=f"hookwright {name}", description=sentence(COMMANDS[name]) + ".", formatter_class=HelpPage)
    module_of(name).configure(parser)
    parser.usage = " ".join([parser.prog, "[OPTIONS]", *map(_shape, parser._get_positional_actions())])
    return parser


def _shape(action: argparse.Action) -> str:
    """Return a positional argument as the usage line shows it."""
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    match action.nargs:
        case "?":
            return f"[{name}]"
        case "*":
            return f"[{name}]..."
        case _:
            return name
