"""HK3xx: does the command start what it was meant to start?"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator

from hookwright.lint.checks.syntax import check_syntax
from hookwright.lint.edits import replace_value
from hookwright.lint.found import finding
from hookwright.lint.guards import REFUSING, calls_of
from hookwright.lint.launch import HookScript, head
from hookwright.lint.model import Edit, Executable, Finding, Fix, Position
from hookwright.lint.programs.ir import Program
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.protocol.events import Exit2
from hookwright.protocol.sources import Scope

#: What an interpreter exits with when its file is missing.
_MISSING = {"bash": 127, "zsh": 127, "node": 1, "nodejs": 1, "bun": 1, "ruby": 1, "deno": 1}
_BUILTINS = frozenset(
    [
        ".",
        ":",
        "[",
        "[[",
        "alias",
        "bg",
        "break",
        "builtin",
        "cd",
        "command",
        "continue",
        "declare",
        "echo",
        "eval",
        "exec",
        "exit",
        "export",
        "false",
        "fg",
        "getopts",
        "hash",
        "jobs",
        "let",
        "local",
        "logout",
        "mapfile",
        "popd",
        "printf",
        "pushd",
        "pwd",
        "read",
        "readonly",
        "return",
        "select",
        "set",
        "shift",
        "shopt",
        "source",
        "test",
        "time",
        "times",
        "trap",
        "true",
        "type",
        "typeset",
        "ulimit",
        "umask",
        "unalias",
        "unset",
        "wait",
    ]
)
#: Programs of one system only; that they are missing on another says nothing.
_OTHER_SYSTEMS = frozenset(
    [
        "osascript",
        "afplay",
        "say",
        "terminal-notifier",
        "pbcopy",
        "notify-send",
        "paplay",
        "aplay",
        "xdg-open",
        "powershell",
        "pwsh",
        "cmd",
        "wsl",
        "cygpath",
    ]
)
_MACHINE = re.compile(r"(?:/home/(?!\$)[\w.-]+|/Users/(?!\$|Shared)[\w.-]+|[A-Za-z]:\\+Users\\+[\w.-]+)(?=[/\\])")


def check_launching(subject: Subject) -> Iterator[Finding]:
    """Look at every command and the scripts that it names."""
    for hook in subject.commands:
        yield from _scripts(hook)
        yield from _programs_missing(hook)
        yield from _fetches(hook)
        if hook.document.committed:
            yield from _machine_path(hook)
    yield from check_syntax(subject)


# ── scripts ─────────────────────────────────────────────────────────────────


def _scripts(hook: CheckedHook) -> Iterator[Finding]:
    for script in hook.launch.scripts:
        if not script.exists:
            yield from _missing(hook, script)
        elif not script.interpreter:
            yield from _direct(hook, script)
        yield from _relative(hook, script)
        yield from _of_plugin(hook, script)


def _missing(hook: CheckedHook, script: HookScript) -> Iterator[Finding]:
    """HK301: a file that is not there, with what its interpreter exits with."""
    foreign = script.path.startswith(hook.reach.home + os.sep) and hook.document.scope is not Scope.USER
    if script.tested or foreign or not _is_decidable(script):
        return
    status = _MISSING.get(script.interpreter, 127 if not script.interpreter else 2)
    who = f"`{script.interpreter}`" if script.interpreter else "the shell"
    if status == 2 and hook.rules.exit_2 is Exit2.FEEDBACK:
        effect = "its error text is given to the model after every call"
    elif status == 2 and hook.rules.exit_2 in REFUSING:
        effect = f"2 means *block*: every {hook.event} that matches is refused"
    else:
        effect = "a non-blocking error: the hook is silently off"
    what = (
        f"{_shown(hook, script.path)} does not exist. {who[0].upper() + who[1:]} exits {status} for that, and {effect}."
    )
    yield finding("HK301", hook.place("command"), what, "The path of an existing script.")


def _is_decidable(script: HookScript) -> bool:
    """Tell whether the path is known for sure on this machine."""
    if os.path.isabs(script.word):
        return True
    return "/" in script.word or script.interpreter != ""


def _shown(hook: CheckedHook, path: str) -> str:
    for root in (hook.reach.plugin_root, hook.reach.project_dir):
        if root and path.startswith(root + os.sep):
            return os.path.relpath(path, root)
    return path


def _direct(hook: CheckedHook, script: HookScript) -> Iterator[Finding]:
    """HK303: a file that is run by itself needs the right to it and a line that says by what."""
    shown = _shown(hook, script.path)
    if not os.path.isfile(script.path):
        return
    if script.shebang is not None and script.shebang.endswith("\r"):
        what = (
            f"The first line of {shown} ends with a carriage return, so its interpreter is not found: exit "
            "127, it never runs."
        )
        yield finding(
            "HK303", Position(script.path), what, "Line ends without \\r (LF).", fix=_without_returns(script.path)
        )
    if not os.access(script.path, os.X_OK):
        what = f"{shown} is not executable: exit 126, it never runs, and the event goes on."
        write = f"chmod +x {shown} (git update-index --chmod=+x), or an interpreter before it."
        yield finding("HK303", hook.place("command"), what, write, fix=(Executable(script.path),))
    exec_form = hook.command is not None and hook.command.args is not None
    code = os.path.splitext(script.path)[1] in (".py", ".js", ".mjs", ".cjs", ".rb", ".pl", ".ts")
    if script.shebang is None and _is_text(script.path) and (exec_form or code):
        how = "it cannot be started (exec format error)" if exec_form else "the shell reads it as shell commands"
        what = f"{shown} has no `#!` line: {how}."
        yield finding("HK303", hook.place("command"), what, "`#!/usr/bin/env python3` or the like as its first line.")
    elif script.shebang is not None and not script.shebang.endswith("\r"):
        yield from _shebang(hook, script)


def _shebang(hook: CheckedHook, script: HookScript) -> Iterator[Finding]:
    """HK302 for the interpreter of a `#!` line."""
    words = (script.shebang or "").split()
    names = [word for word in words if not word.startswith("-")]
    if not names:
        return
    program = names[1] if os.path.basename(names[0]) == "env" and len(names) > 1 else names[0]
    if "=" in program or _on_path(hook, program):
        return
    what = (
        f"`{program}`, which the first line of {_shown(hook, script.path)} names, is not on the PATH of this "
        "machine: exit 127, the hook is silently off."
    )
    yield finding("HK302", Position(script.path), what, "An interpreter that is installed wherever the hook runs.")


def _is_text(path: str) -> bool:
    return b"\0" not in head(path)


def _without_returns(path: str) -> Fix:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return ()
    return tuple(Edit(path, match.start(), match.end(), "\n") for match in re.finditer("\r\n", text))


def _relative(hook: CheckedHook, script: HookScript) -> Iterator[Finding]:
    """HK305: a path that depends on where the agent last went."""
    moved = any(call.name == "cd" for program in hook.programs if not program.path for _, call in calls_of(program))
    if os.path.isabs(script.word) or moved or script.word.startswith("~"):
        return
    if not script.exists and not script.word.startswith((".", "scripts/", "hooks/")):
        return
    base = "CLAUDE_PLUGIN_ROOT" if hook.plugin is not None else "CLAUDE_PROJECT_DIR"
    what = (
        f"`{script.word}` is looked for in the directory where the session is at that moment, which follows "
        "every `cd` of the agent."
    )
    right = f'"${{{base}}}"/{script.word.removeprefix("./")}'
    yield finding("HK305", hook.place("command"), what, f"`{right}`", fix=_anchored(hook, script.word, base))


def _anchored(hook: CheckedHook, word: str, base: str) -> Fix:
    handler = hook.command
    if handler is None:
        return ()
    clean = word.removeprefix("./")
    if handler.args is not None:
        parts = [handler.command, *handler.args]
        at = parts.index(word) if word in parts else -1
        if at < 0:
            return ()
        path = (*hook.at, "command") if at == 0 else (*hook.at, "args", at - 1)
        return replace_value(hook.document, path, f"${{{base}}}/{clean}")
    if handler.command.count(word) != 1 or re.search(r"[\"' ]", word):
        return ()
    bare = re.search(rf"(?<![\w./\"'-]){re.escape(word)}(?![\w./\"'-])", handler.command)
    if bare is None:
        return ()
    text = f'{handler.command[: bare.start()]}"${{{base}}}"/{clean}{handler.command[bare.end() :]}'
    return replace_value(hook.document, (*hook.at, "command"), text)


def _of_plugin(hook: CheckedHook, script: HookScript) -> Iterator[Finding]:
    """HK313: a plugin that runs its scripts from the project."""
    if hook.plugin is None or (
        script.path.startswith(hook.plugin.root + os.sep) and "CLAUDE_PROJECT_DIR" not in _raw(hook)
    ):
        return
    if "CLAUDE_PROJECT_DIR" in _raw(hook):
        what = (
            f"A plugin's scripts lie in its own folder; `{os.path.basename(script.word)}` is looked for in "
            "the user's project."
        )
        yield finding("HK313", hook.place("command"), what, '"${CLAUDE_PLUGIN_ROOT}"/… for what comes with the plugin.')


def _raw(hook: CheckedHook) -> str:
    handler = hook.command
    return " ".join((handler.command, *(handler.args or ()))) if handler is not None else ""


# ── programs ────────────────────────────────────────────────────────────────


def _on_path(hook: CheckedHook, name: str) -> bool:
    if "/" in name:
        return os.access(name, os.X_OK)
    path = hook.options.env.get("PATH", os.defpath)
    return shutil.which(name, path=path) is not None


def _programs_missing(hook: CheckedHook) -> Iterator[Finding]:
    """HK302: programs of the command line that this machine does not have."""
    handler = hook.command
    if handler is None:
        return
    names: list[str] = []
    if handler.args is not None:
        names = [handler.command] if re.fullmatch(r"[\w.+-]+", handler.command) else []
    elif hook.launch.inline is not None:
        names = list(_required(hook.launch.inline))
    for name in dict.fromkeys(names):
        if name not in _BUILTINS and name not in _OTHER_SYSTEMS and not _on_path(hook, name):
            what = (
                f"`{name}` is not on the PATH of this machine: exit 127, a non-blocking error, so the hook is "
                "silently off."
            )
            yield finding(
                "HK302", hook.place("command"), what, f"A program that is installed, or `command -v {name}` first."
            )


def _required(program: Program) -> Iterator[str]:
    """Name the programs that a command line runs whatever happens; one that is asked for first is no surprise."""
    for point, call in calls_of(program):
        name = call.words[0].constant if call.words else None
        asked = program.mentions(f"command -v {name}") or program.mentions(f"which {name}")
        if (
            name
            and re.fullmatch(r"[\w.+-]+", name)
            and not asked
            and not call.shell
            and not call.checked
            and call.program
            and not point.under
        ):
            yield name


# ── portability of what is started ──────────────────────────────────────────


def _machine_path(hook: CheckedHook) -> Iterator[Finding]:
    """HK314: somebody's home directory in a shared file."""
    match = _MACHINE.search(_raw(hook))
    if match is not None:
        what = f"`{match[0]}` exists on one machine only, and this file is shared."
        yield finding("HK314", hook.place("command"), what, '"$CLAUDE_PROJECT_DIR" or "$HOME".')


def _fetches(hook: CheckedHook) -> Iterator[Finding]:
    """HK315: packages that are fetched anew and unpinned."""
    for program in hook.programs:
        for _, call in calls_of(program):
            package = unpinned([word.known for word in call.words], hook)
            if package:
                what = f"`{package}` is downloaded in whatever version is newest and run, on every {hook.event}."
                yield finding(
                    "HK315",
                    hook.position(program, call.place),
                    what,
                    f"A pinned version ({package}@1.2.3) or an installed program.",
                )
    handler = hook.command
    if handler is not None and handler.args is not None:
        package = unpinned([handler.command, *handler.args], hook)
        if package:
            what = f"`{package}` is downloaded in whatever version is newest and run, on every {hook.event}."
            yield finding(
                "HK315", hook.place("command"), what, f"A pinned version ({package}@1.2.3) or an installed program."
            )


def unpinned(words: list[str], hook: CheckedHook) -> str | None:
    """Name the package that a runner would fetch unpinned, or None."""
    if not words:
        return None
    name, rest = os.path.basename(words[0]), words[1:]
    if (name, rest[:1]) in (("pnpm", ["dlx"]), ("yarn", ["dlx"]), ("pipx", ["run"])):
        rest = rest[1:]
    elif name == "npx":
        if not {"-y", "--yes"} & set(rest) and not any(word.endswith("@latest") for word in rest):
            return None
    elif name not in ("uvx", "bunx"):
        return None
    operands = [word for word in rest if not word.startswith("-")]
    package = operands[0] if operands else ""
    if not package or "/" in package.lstrip("@").split("/", 1)[-1] or package.startswith((".", "/")):
        return None
    pinned = re.search(r"(?<=.)@\^?\d|==|@[0-9a-f]{7,}", package)
    return None if pinned or _installed(hook, package) else package.removesuffix("@latest")


def _installed(hook: CheckedHook, package: str) -> bool:
    """Tell whether the project depends on a package, so that its own copy is run."""
    path = os.path.join(hook.reach.project_dir, "package.json")
    try:
        with open(path, encoding="utf-8") as file:
            return f'"{package}"' in file.read(1 << 20)
    except (OSError, UnicodeDecodeError):
        return False
