"""Syntax errors in scripts: our parsers find them, and the interpreter's own check confirms them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping

from hookwright.lint.found import finding
from hookwright.lint.guards import REFUSING
from hookwright.lint.launch import HookScript
from hookwright.lint.model import Finding, Position
from hookwright.lint.programs.blocks import calls
from hookwright.lint.programs.ir import Language, Program
from hookwright.lint.programs.javascript.reader import parse_javascript
from hookwright.lint.programs.python.reader import parse_python
from hookwright.lint.programs.shell.children import inline_code
from hookwright.lint.programs.shell.reader import parse_shell
from hookwright.lint.subject import CheckedHook, Subject

_MARKER = re.compile(r"^(?:<{7} |={7}$|>{7} )", re.MULTILINE)
_SECONDS = 10
#: Words that begin or end a part of a statement; as the name of a command they are a syntax error.
RESERVED = frozenset(["then", "else", "elif", "fi", "do", "done", "esac", "in", "}"])
_PARSE_PYTHON = "import ast, sys; ast.parse(sys.stdin.buffer.read())"


def check_syntax(subject: Subject) -> Iterator[Finding]:
    """Check every script once."""
    seen: set[str] = set()
    for hook in subject.commands:
        yield from _inline(hook)
        for script in hook.launch.scripts:
            if script.program is not None and script.path not in seen:
                seen.add(script.path)
                yield from _script(hook, script, script.program)


def _inline(hook: CheckedHook) -> Iterator[Finding]:
    """Check the text of the command itself; bash must refuse it as well, since bash syntax is another finding."""
    program = hook.launch.inline
    if program is None:
        return
    yield from _inner_code(hook, program)
    names = {call.words[0].constant for call in calls(program.body) if call.words}
    if not parse_shell(program.text).has_error and not names & RESERVED:
        return
    problem = _refused("sh", program.text, hook.options.env)
    if problem is not None and _refused("bash", program.text, hook.options.env) is not None:
        effect = ", and 2 means *block*: every matching event is refused." if _refuses(hook) else "."
        what = f"{problem[1][:1].upper()}{problem[1][1:]}. A shell exits 2 on a syntax error{effect}"
        yield finding("HK304", hook.place("command"), what, "Fix it until `sh -n` accepts the command.")


def _inner_code(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """Check programs inside the command: `python3 -c '…'` and `node -e '…'`, where their whole text is known."""
    for call in calls(program.body):
        words = call.words
        if not words:
            continue
        found = inline_code(words[0].known.rsplit("/", 1)[-1], words)
        text = found[1].constant if found is not None else None
        if found is None or text is None:
            continue
        problem = _inner_problem(found[0], text, hook.options.env)
        if problem is not None:
            effect = "exits 1, a non-blocking error: the hook is silently off."
            what = f"{problem[:1].upper()}{problem[1:]} in the code of `{found[0]}`, which {effect}"
            yield finding("HK304", hook.place("command"), what, "Fix it, or move the code into a script of its own.")


def _inner_problem(name: str, text: str, env: Mapping[str, str]) -> str | None:
    if name.startswith("python"):
        try:
            parse_python(text)
        except SyntaxError as error:
            return None if _accepts(name, ["-I", "-c", _PARSE_PYTHON], text, env) else error.msg
        except (ValueError, RecursionError, MemoryError):
            return None
    path = shutil.which("node", path=env.get("PATH", os.defpath)) if name == "node" else None
    if path is None or not parse_javascript(text).has_error:
        return None
    problem = re.search(r"SyntaxError: .*", _run([path, "--check", "-"], text, env).stderr)
    return problem[0] if problem else None


def _script(hook: CheckedHook, script: HookScript, program: Program) -> Iterator[Finding]:
    """HK304: scripts the interpreter cannot parse."""
    marker = next((match for match in _MARKER.finditer(program.text) if match[0].startswith("<")), None)
    if marker is not None and ">>>>>>> " in program.text:
        line = program.text.count("\n", 0, marker.start()) + 1
        yield _found(hook, script, program, line, "unresolved merge conflict")
        return
    broken = _broken(program, script, hook.options.env)
    if broken is not None:
        yield _found(hook, script, program, *broken)


def _found(hook: CheckedHook, script: HookScript, program: Program, line: int, problem: str) -> Finding:
    if program.language is Language.SHELL:
        effect = "A shell exits 2 on a syntax error"
        effect += ", and 2 means *block*: every matching event is refused." if _refuses(hook) else "."
    else:
        effect = f"{program.language.value} exits 1, a non-blocking error: the hook is silently off."
    what = f"{problem[:1].upper()}{problem[1:]}. {effect}"
    return finding(
        "HK304",
        Position(script.path, line),
        what,
        f"Fix it until `{_checker(program)} {os.path.basename(script.path)}` passes.",
    )


def _refuses(hook: CheckedHook) -> bool:
    return hook.rules.exit_2 in REFUSING


def _checker(program: Program) -> str:
    return {Language.SHELL: "bash -n", Language.PYTHON: "python3 -m py_compile", Language.JAVASCRIPT: "node --check"}[
        program.language
    ]


def _broken(program: Program, script: HookScript, env: Mapping[str, str]) -> tuple[int, str] | None:
    """Return line and problem of a program that does not parse."""
    match program.language:
        case Language.PYTHON:
            return _python(program, script, env)
        case Language.SHELL:
            return _confirmed_shell(program, script, env) if parse_shell(program.text).has_error else None
        case Language.JAVASCRIPT:
            return _confirmed_node(script, env) if parse_javascript(program.text).has_error else None


def _python(program: Program, script: HookScript, env: Mapping[str, str]) -> tuple[int, str] | None:
    try:
        parse_python(program.text)
    except SyntaxError as error:
        # The hook's own interpreter may be newer than ours and accept more syntax.
        if _accepts(script.interpreter or "python3", ["-I", "-c", _PARSE_PYTHON], program.text, env):
            return None
        return error.lineno or 1, f"{error.msg}"
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _accepts(name: str, arguments: list[str], text: str, env: Mapping[str, str]) -> bool:
    path = shutil.which(name, path=env.get("PATH", os.defpath))
    if path is None or os.path.realpath(path) == os.path.realpath(sys.executable):
        return False
    return _run([path, *arguments], text, env).returncode == 0


def _run(command: list[str], text: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Let an interpreter parse a program; none of these calls runs any of it."""
    clean = {key: env[key] for key in ("PATH", "HOME", "LANG") if key in env}
    try:
        return subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
            env=clean,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return subprocess.CompletedProcess(command, 0, "", "")


def _confirmed_shell(program: Program, script: HookScript, env: Mapping[str, str]) -> tuple[int, str] | None:
    name = script.interpreter if script.interpreter in ("sh", "dash", "zsh") else "bash"
    if not script.interpreter and (script.shebang or "").rstrip("/").endswith(("/sh", "/dash", " dash", " sh")):
        name = "sh"
    return _refused(name, program.text, env)


def _refused(shell: str, text: str, env: Mapping[str, str]) -> tuple[int, str] | None:
    """Return line and problem of a text that a shell cannot parse."""
    path = shutil.which(shell, path=env.get("PATH", os.defpath))
    if path is None:
        return None
    done = _run([path, "-n"], text, env)
    if done.returncode == 0:
        return None
    match = re.search(r"(?:line )?(\d+): (.*)", done.stderr)
    return (int(match[1]), match[2].strip()) if match else (1, "a syntax error")


def _confirmed_node(script: HookScript, env: Mapping[str, str]) -> tuple[int, str] | None:
    path = shutil.which("node", path=env.get("PATH", os.defpath))
    if path is None or not script.path.endswith((".js", ".mjs", ".cjs")):
        return None
    done = _run([path, "--check", script.path], "", env)
    if done.returncode == 0:
        return None
    line = re.search(rf"{re.escape(os.path.basename(script.path))}:(\d+)", done.stderr)
    problem = re.search(r"SyntaxError: .*", done.stderr)
    return int(line[1]) if line else 1, problem[0] if problem else "a syntax error"
