"""Rules for the exec form, the shell form and PowerShell."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from hookwright.lint.edits import replace_value
from hookwright.lint.found import finding
from hookwright.lint.guards import REFUSING
from hookwright.lint.launch import is_shell
from hookwright.lint.model import Finding
from hookwright.lint.placeholders import Misquoted, misquoted, quoted
from hookwright.lint.programs.ir import Program
from hookwright.lint.subject import CheckedHook, Subject

_SHIMS = frozenset(
    ["npx", "npm", "pnpm", "yarn", "eslint", "prettier", "tsc", "tsx", "biome", "vitest", "jest", "bunx"]
)
_POWERSHELL_BARE = re.compile(r"(?<!env:)(?<![{\w])\$(CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA))\b")
_EXEC_LITERAL = re.compile(r"^~/|\$HOME\b|\$\{HOME\}|\$CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)\b")


def check_forms(subject: Subject) -> Iterator[Finding]:
    """Check every command in its form: a program with arguments, a shell line, or PowerShell."""
    for hook in subject.commands:
        handler = hook.command
        assert handler is not None
        if handler.args is not None:
            yield from _exec_form(hook)
        elif handler.shell == "powershell":
            yield from _powershell(hook)
        else:
            yield from _shell_form(hook)


def _exec_form(hook: CheckedHook) -> Iterator[Finding]:
    """HK307, HK308 and HK311: a program with arguments, without a shell."""
    handler = hook.command
    assert handler is not None
    assert handler.args is not None
    first = handler.command
    by_shell = is_shell(os.path.basename(first)) and "-c" in handler.args
    words = [(first, ("command",)), *((word, ("args", index)) for index, word in enumerate(handler.args))]
    for word, steps in words:
        if _EXEC_LITERAL.search(word) and not (by_shell and steps[0] == "args"):
            what = (
                f"With `args` no shell runs, so `{word}` is used literally; only `${{CLAUDE_PROJECT_DIR}}` and similar "
                "placeholders are replaced."
            )
            write = "Write `${CLAUDE_PROJECT_DIR}` with braces, or an absolute path."
            yield finding("HK307", hook.place(*steps), what, write)
    if re.search(r"\s", first.strip()) and not os.path.exists(first) and "/" not in first.split()[0]:
        head, *rest = first.split()
        right = ", ".join(f'"{word}"' for word in (*rest, *handler.args))
        what = f"With `args`, `command` is the name of one program, and there is no program called `{first}`."
        fix = (*replace_value(hook.document, (*hook.at, "command"), head),)
        fix += (
            replace_value(hook.document, (*hook.at, "args"), [*rest, *handler.args])
            if not re.search("[\"']", first)
            else ()
        )
        yield finding("HK308", hook.place("command"), what, f'Write "command": "{head}", "args": [{right}].', fix=fix)
    if first in _SHIMS:
        what = f"On Windows `{first}` is a `.cmd` shim, which only a shell can start: the hook fails there."
        write = 'Write "command": "node" with the path of the script, or use the shell form.'
        yield finding("HK311", hook.place("command"), what, write)


def _powershell(hook: CheckedHook) -> Iterator[Finding]:
    """HK312: PowerShell's syntax for environment variables."""
    handler = hook.command
    assert handler is not None
    match = _POWERSHELL_BARE.search(handler.command)
    if match is not None:
        what = f"In PowerShell `${match[1]}` is a shell variable, not the environment variable; it is empty."
        right = _POWERSHELL_BARE.sub(r"$env:\1", handler.command)
        fix = replace_value(hook.document, (*hook.at, "command"), right)
        yield finding("HK312", hook.place("command"), what, f"Write `$env:{match[1]}` or `${{{match[1]}}}`.", fix=fix)


def _shell_form(hook: CheckedHook) -> Iterator[Finding]:
    """HK306 and HK310: quotes in a line for `sh -c`."""
    handler = hook.command
    assert handler is not None
    at = hook.place("command")
    bare = misquoted(handler.command) if hook.launch.inline is not None else Misquoted()
    if bare.unquoted:
        fix = replace_value(hook.document, (*hook.at, "command"), quoted(handler.command))
        what = f"`{bare.unquoted[0]}` is split at spaces: in a project path with a space the command is not found."
        yield finding("HK306", at, what, "Put the path in double quotes, or use the exec form with `args`.", fix=fix)
    for word in bare.single[:1]:
        what = f"Inside single quotes the shell does not replace `{word}`; the file is not found."
        right = re.sub(r"'([^']*\$\{?CLAUDE_[^']*)'", r'"\1"', handler.command)
        fix = replace_value(hook.document, (*hook.at, "command"), right)
        yield finding("HK310", at, what, "Use double quotes.", fix=fix)
    if hook.launch.inline is not None:
        yield from _bashisms(hook, hook.launch.inline, "The command runs in `/bin/sh -c`")
    for script in hook.launch.scripts:
        by_sh = script.interpreter == "sh" or (
            not script.interpreter and (script.shebang or "").split()[:1] == ["/bin/sh"]
        )
        if by_sh and script.program is not None:
            yield from _bashisms(hook, script.program, "This script runs in `sh`")


def _bashisms(hook: CheckedHook, program: Program, by: str) -> Iterator[Finding]:
    """HK309: bash syntax in a program for `sh`."""
    for place, what_is, effect in program.bashisms[:1]:
        blocks = ", and 2 means *block*" if "status 2" in effect and hook.rules.exit_2 in REFUSING else ""
        what = f"{by}, and `{what_is}` is bash syntax: in dash (Debian, Ubuntu) it means {effect}{blocks}."
        yield finding("HK309", hook.position(program, place), what, "Move it to a script with `#!/usr/bin/env bash`.")
