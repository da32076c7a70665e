"""Rules for untrusted input: file names, prompts, tool output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hookwright.lint.found import finding
from hookwright.lint.guards import answers, calls_of, decision, is_guard, questions
from hookwright.lint.model import Finding
from hookwright.lint.programs.blocks import Point
from hookwright.lint.programs.ir import Asks, Call, Language, Program, Say, Stdin, Stream, Test
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.protocol.diagnostics import Severity

_RESOLVES = (
    "realpath",
    "resolve(",
    "normpath",
    "abspath",
    "readlink -f",
    "path.resolve",
    "is_relative_to",
    "relative_to",
)
_CODE_RUNNERS = {
    "osascript": "-e",
    "sh": "-c",
    "bash": "-c",
    "zsh": "-c",
    "python": "-c",
    "python3": "-c",
    "node": "-e",
    "perl": "-e",
    "ruby": "-e",
    "ssh": "",
    "eval": "",
}


def check_hostile(subject: Subject) -> Iterator[Finding]:
    """Check what each program does with untrusted values."""
    for hook in subject.commands:
        for program in hook.programs:
            yield from _interpolated(hook, program)
            yield from _wide_allow(hook, program)
            if is_guard(hook):
                yield from _prefixes(hook, program)


def _interpolated(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK803: parts of the event inside code."""
    for point, call in calls_of(program):
        if call.name == "xargs":
            yield from _xargs(hook, program, point, call)
            continue
        risky = _code_word(call)
        origins = [o for hole in risky.holes if not hole.quoted for o in hole.origins] if risky is not None else []
        hostile = [origin for origin in origins if _hostile(origin)]
        if hostile:
            name = max(hostile, key=len).removeprefix("event").lstrip(".") or "the event"
            what = f"`{name}` becomes part of the code: a file called `a;rm -rf ~` or a message with a quote runs."
            yield finding("HK803", hook.position(program, call.place), what, _argument_way(program))


def _xargs(hook: CheckedHook, program: Program, point: Point, call: Call) -> Iterator[Finding]:
    """Check names passed through xargs: in code they are executed, as words they are split."""
    piped = [say for say in point.near if isinstance(say, Say) and say.stream is Stream.AWAY]
    if call.stdin is not Stdin.PIPE or not piped or not any(map(_hostile, piped[-1].text.origins)):
        return
    at = hook.position(program, call.place)
    arguments = call.arguments
    if "-c" in arguments and any("{}" in word and " " in word for word in arguments):
        what = "The name that replaces `{}` becomes part of the code: a file called `a;rm -rf ~` runs as a command."
        yield finding("HK803", at, what, "Write `xargs -I{} sh -c 'lint \"$1\"' _ {}`, or use no shell.")
    elif not any(re.match(r"-0|-d|-I|--null|--delimiter|--replace", word) for word in arguments):
        what = "xargs splits at spaces and reads quotes: a file called `my file.ts` becomes two."
        yield finding("HK803", at, what, "Write `xargs -d '\\n'` or `xargs -I{} … {}`.", severity=Severity.INFO)


def _code_word(call: Call) -> Any:
    if call.shell:
        return call.words[0] if call.words else None
    option = _CODE_RUNNERS.get(call.name)
    if option is None:
        return None
    for index, word in enumerate(call.words[1:], start=1):
        if option and word.constant == option:
            return call.words[index + 1] if index + 1 < len(call.words) else None
        if not option and word.holes:
            return word
    return None


def _hostile(origin: str) -> bool:
    return origin == "event" or origin.startswith(
        ("event.tool_input", "event.message", "event.prompt", "event.tool_response", "event.title")
    )


def _argument_way(program: Program) -> str:
    match program.language:
        case Language.PYTHON:
            return 'Call subprocess.run(["lint", path]) without a shell, or use shlex.quote.'
        case Language.JAVASCRIPT:
            return 'Call execFileSync("lint", [path]).'
        case Language.SHELL:
            return (
                'Pass the value as an argument: `lint -- "$FILE"`, `sh -c \'lint "$1"\' _ "$FILE"`, `osascript - '
                '"$MESSAGE"`.'
            )


def _prefixes(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK809: paths compared as text."""
    if any(program.mentions(word) for word in _RESOLVES):
        return
    for atom, _ in questions(program):
        if _is_prefix(atom) and any(origin.endswith(("file_path", "notebook_path")) for origin in atom.origins):
            what = f"`{atom.patterns[0]}` is compared with the path as text; `..` and symbolic links get past it."
            write = "Resolve both paths first (os.path.realpath, realpath)."
            yield finding("HK809", hook.position(program, atom.place), what, write)


def _is_prefix(test: Test) -> bool:
    for pattern in test.patterns:
        if test.kind is Asks.PREFIX and "/" in pattern:
            return True
        if test.kind is Asks.GLOB and re.fullmatch(r"/[^*?\[]+/\*", pattern):
            return True
        if test.kind is Asks.REGEX and re.match(r"\^/[\w./-]+/", pattern):
            return True
    return False


def _wide_allow(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK811: an approval by the start of a command."""
    for answer in answers(program):
        if decision(answer) not in ("allow", "approve") or not hook.rules.permission:
            continue
        tests = [
            atom for c in answer.point.under if c.arm is not None for atom, against in c.arm.test.atoms() if not against
        ]
        wide = next((atom for atom in tests if _begins(atom)), None)
        if wide is not None and not _looks_at_parts(program):
            shown = wide.patterns[0]
            first = re.sub(r"[\^*\\(].*", "", shown.lstrip("^")).split()
            command = first[0] if first else "git"
            what = f"`{shown}` also approves `{command} … && curl x | sh` and anything else such a command can start."
            write = "Test every part of the command, and approve only if all of them are harmless."
            yield finding("HK811", hook.position(program, wide.place), what, write)


def _begins(test: Test) -> bool:
    if not any(origin.endswith("tool_input.command") for origin in test.origins):
        return False
    for pattern in test.patterns:
        if test.kind is Asks.PREFIX:
            return True
        if test.kind is Asks.GLOB and re.fullmatch(r"[\w ./-]+\*", pattern):
            return True
        if test.kind is Asks.REGEX and pattern.startswith("^") and not pattern.endswith("$"):
            return True
    return False


def _looks_at_parts(program: Program) -> bool:
    """Return whether a program seems to split commands before it approves them."""
    for atom, _ in questions(program):
        about = any(origin.endswith("tool_input.command") for origin in atom.origins)
        if about and any(re.search(r"[;&|`]|\$\(|\$\\\(|\n", pattern) for pattern in atom.patterns):
            return True
    return any(program.mentions(word) for word in ("shlex", "bashlex", "analyse_bash", "tree_sitter", "shell-quote"))
