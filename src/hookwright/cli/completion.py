"""Completion scripts for shells, generated from the commands' parsers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence

import msgspec

from hookwright.cli import COMMANDS, sentence
from hookwright.cli.parsers import parser_of
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.samples import tool_names

_PATHS = ("DIR", "FILE", "FILE|JSON", "PATH", "TRANSCRIPT")


class Option(msgspec.Struct, frozen=True):
    """One option of a command."""

    names: tuple[str, ...]
    help: str
    #: The values it takes; empty if it takes any value, None if it takes none.
    values: tuple[str, ...] | None
    path: bool = False


class CommandSpec(msgspec.Struct, frozen=True):
    """One command and its arguments."""

    name: str
    help: str
    options: tuple[Option, ...]
    #: Known values of its positional arguments.
    words: tuple[str, ...]
    paths: bool


def commands() -> tuple[CommandSpec, ...]:
    """Read the options of every command from its parser."""
    return tuple(_command(name, text) for name, text in COMMANDS.items())


def _command(name: str, text: str) -> CommandSpec:
    options: list[Option] = []
    words: list[str] = []
    paths = False
    for action in parser_of(name)._actions:  # argparse has no public list of actions
        if action.help == argparse.SUPPRESS:
            continue
        if action.option_strings:
            options.append(_option(action))
        else:
            words += _words(action)
            paths = paths or str(action.metavar) in _PATHS
    return CommandSpec(name, sentence(text), tuple(options), tuple(words), paths)


def _option(action: argparse.Action) -> Option:
    text = sentence(" ".join((action.help or "").split()).replace("%%", "%"))
    values = None if action.nargs == 0 else tuple(_words(action))
    return Option(tuple(action.option_strings), text, values, str(action.metavar) in _PATHS)


def _words(action: argparse.Action) -> Sequence[str]:
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    if action.metavar == "EVENT" or action.dest == "event":
        return list(CATALOGUE)
    if action.dest in ("tool", "sample"):
        return list(tool_names())
    if action.metavar == "TEMPLATE":
        from hookwright.templates import template_names  # only this command lists a folder

        return template_names()
    return []


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def bash() -> Iterator[str]:
    """Yield the lines of the bash script."""
    found = commands()
    yield "# bash completion for hookwright; load it with: source <(hookwright completion bash)"
    yield "_hookwright() {"
    yield "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}"
    yield "  COMPREPLY=()"
    yield '  if [ "$COMP_CWORD" -eq 1 ]; then'
    names = " ".join([*(command.name for command in found), "--help", "--version"])
    yield f'    COMPREPLY=($(compgen -W {_quoted(names)} -- "$word"))'
    yield "    return"
    yield "  fi"
    yield '  case "$command:$before" in'
    for command in found:
        for option in command.options:
            if option.values is None:
                continue
            pattern = "|".join(f"{command.name}:{name}" for name in option.names)
            reply = f"-W {_quoted(' '.join(option.values))}" if option.values else "-f"
            if option.values or option.path:
                yield f'    {pattern}) COMPREPLY=($(compgen {reply} -- "$word")); return ;;'
            else:
                yield f"    {pattern}) return ;;"
    yield "  esac"
    yield '  case "$command" in'
    for command in found:
        names = " ".join(name for option in command.options for name in option.names)
        yield f"    {command.name})"
        yield f'      case "$word" in -*) COMPREPLY=($(compgen -W {_quoted(names)} -- "$word")); return ;; esac'
        yield f'      COMPREPLY=($(compgen -W {_quoted(" ".join(command.words))} -- "$word"))'
        if command.paths:
            yield '      COMPREPLY+=($(compgen -f -- "$word"))'
        yield "      ;;"
    yield "  esac"
    yield "}"
    yield "complete -o filenames -F _hookwright hookwright"


def zsh() -> Iterator[str]:
    """Yield the lines of the zsh script."""
    found = commands()
    yield "#compdef hookwright"
    yield "# zsh completion for hookwright; load it with: source <(hookwright completion zsh)"
    yield "_hookwright() {"
    yield "  if (( CURRENT == 2 )); then"
    yield "    local -a commands=("
    yield from (f"      {_quoted(f'{command.name}:{_colons(command.help)}')}" for command in found)
    yield "    )"
    yield "    _describe command commands"
    yield "    return"
    yield "  fi"
    yield "  local command=${words[2]}"
    yield "  shift words; (( CURRENT-- ))"
    yield '  case "$command" in'
    for command in found:
        yield f"    {command.name})"
        yield "      _arguments -s \\"
        for option in command.options:
            yield from (f"        {_quoted(spec)} \\" for spec in _zsh_specs(option))
        rest = f"({' '.join(command.words)})" if command.words else "_files" if command.paths else " "
        yield f"        {_quoted(f'*:argument:{rest}')}"
        yield "      ;;"
    yield "  esac"
    yield "}"
    yield 'if [ "$funcstack[1]" = _hookwright ]; then _hookwright "$@"; else compdef _hookwright hookwright; fi'


def _zsh_specs(option: Option) -> Iterator[str]:
    text = re.sub(r"([\[\]:])", r"\\\1", option.help)
    tail = ""
    if option.values is not None:
        words = f"({' '.join(option.values)})" if option.values else "_files" if option.path else " "
        tail = f":value:{words}"
    for name in option.names:
        yield f"*{name}[{text}]{tail}"


def _colons(text: str) -> str:
    return text.replace(":", "\\:")


def fish() -> Iterator[str]:
    """Yield the lines of the fish script."""
    found = commands()
    yield "# fish completion for hookwright; load it with: hookwright completion fish | source"
    yield "complete -c hookwright -f"
    for command in found:
        yield f"complete -c hookwright -n __fish_use_subcommand -a {command.name} -d {_quoted(command.help)}"
    for command in found:
        here = _quoted(f"__fish_seen_subcommand_from {command.name}")
        if command.words:
            yield f"complete -c hookwright -n {here} -a {_quoted(' '.join(command.words))}"
        if command.paths:
            yield f"complete -c hookwright -n {here} -F"
        for option in command.options:
            yield f"complete -c hookwright -n {here} {_fish_option(option)}"


def _fish_option(option: Option) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    takes = ""
    if option.values is not None:
        takes = f" -x -a {_quoted(' '.join(option.values))}" if option.values else " -r -F" if option.path else " -x"
    return f"{names}{takes} -d {_quoted(option.help)}"
