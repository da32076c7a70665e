"""The command reference, from the same parsers that answer `--help`."""

from __future__ import annotations

import argparse
import io
from contextlib import redirect_stdout

from pages.markdown import code, page, table

from hookwright.cli import COMMANDS, main, sentence
from hookwright.cli.parsers import parser_of


def cli() -> str:
    """Return the page."""
    with redirect_stdout(io.StringIO()) as shown:
        main(["--help"])
    return page(
        "Command line",
        "`hookwright COMMAND --help` prints the same.",
        code(shown.getvalue(), "text"),
        *(_section(name) for name in COMMANDS),
    )


def _section(name: str) -> str:
    parser = parser_of(name)
    parts = [f"## hookwright {name}", sentence(COMMANDS[name]) + "."]
    parts += _tables(parser)
    if parser.epilog:
        parts.append(parser.epilog)
    return "\n\n".join(parts)


def _tables(parser: argparse.ArgumentParser) -> list[str]:
    found = []
    rows = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, inner in action.choices.items():
                found += [f"### {parser.prog.split(' ', 1)[-1]} {word}", inner.description or "", *_tables(inner)]
        elif action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction):
            rows.append((f"`{_shape(action)}`", _help(action)))
    return [*([table(("argument", "meaning"), rows)] if rows else []), *found]


def _shape(action: argparse.Action) -> str:
    """Return an argument as it is typed."""
    metavar = action.metavar if isinstance(action.metavar, str) else (action.dest.upper() if action.nargs != 0 else "")
    if action.choices is not None:
        metavar = action.metavar if isinstance(action.metavar, str) else "{" + ",".join(map(str, action.choices)) + "}"
    if not action.option_strings:
        return f"[{metavar}]" if action.nargs in ("?", "*") else metavar
    flags = ", ".join(action.option_strings)
    return flags if action.nargs == 0 else f"{flags} {metavar}"


def _help(action: argparse.Action) -> str:
    text = (action.help or "") % {**vars(action), "prog": "hookwright"} if action.help else ""
    again = " (may be repeated)" if isinstance(action, argparse._AppendAction) else ""
    return sentence(text) + again
