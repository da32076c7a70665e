"""HK3xx: does the command start what was intended?"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator

from hookwright.lint.checks.syntax import RESERVED, check_syntax
from hookwright.lint.edits import replace_value
from hookwright.lint.found import finding
from hookwright.lint.guards import REFUSING, calls_of
from hookwright.lint.launch import HookScript, head
from hookwright.lint.model import Edit, Executable, Finding, Fix, Position
from hookwright.lint.programs.ir import Program
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.protocol.events import Exit2
from hookwright.protocol.sources import Scope

#: Exit status of an interpreter whose file is missing.
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
#: Programs of one operating system; a finding about them on another system would mean nothing.
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
    """Check every command and the scripts it names."""
    for hook in subject.commands:
        yield from _scripts(hook)
        yield from _unread(hook)
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


def _unread(hook: CheckedHook) -> Iterator[Finding]:
    """HK316: programs that decide and that no rule can look into."""
    write = "Test what it decides with cases: hookwright test."
    if hook.launch.unread:
        what = f"The command was not read ({hook.launch.unread}): no rule looked at what it decides."
        yield finding("HK316", hook.place("command"), what, write)
    for script in hook.launch.scripts:
        if script.unread and script.decides:
            name = os.path.basename(script.path)
            what = f"{name} was not read ({script.unread}): no rule looked at what it decides."
            yield finding("HK316", hook.place("command"), what, write)


def _missing(hook: CheckedHook, script: HookScript) -> Iterator[Finding]:
    """HK301: a missing file, and the exit status it leads to."""
    foreign = script.path.startswith(hook.reach.home + os.sep) and hook.document.scope is not Scope.USER
    if script.tested or foreign or not _is_decidable(script):
        return
    status = _MISSING.get(script.interpreter, 127 if not script.interpreter else 2)
    who = f"`{script.interpreter}`" if script.interpreter else "the shell"
    if status == 2 and hook.rules.exit_2 is Exit2.FEEDBACK:
        effect = "the model reads its error message after every call"
    elif status == 2 and hook.rules.exit_2 in REFUSING:
        effect = f"2 means *block*: every matching {hook.event} is refused"
    else:
        effect = "a non-blocking error, and the hook is silently off"
    what = f"{_shown(hook, script.path)} does not exist. {who[0].upper() + who[1:]} then exits {status}: {effect}."
    yield finding("HK301", hook.place("command"), what, "Write the path of an existing script.")


def _is_decidable(script: HookScript) -> bool:
    """Return whether the path is certain on this machine."""
    if os.path.isabs(script.word):
        return True
    return "/" in script.word or script.interpreter != ""


def _shown(hook: CheckedHook, path: str) -> str:
    for root in (hook.reach.plugin_root, hook.reach.project_dir):
        if root and path.startswith(root + os.sep):
            return os.path.relpath(path, root)
    return path


#: Ending of a script → its interpreter, where there is only one.
_INTERPRETERS = {
    ".py": "python3",
    ".js": "node",
    ".mjs": "node",
    ".cjs": "node",
    ".rb": "ruby",
    ".pl": "perl",
    ".sh": "bash",
    ".bash": "bash",
}


def _direct(hook: CheckedHook, script: HookScript) -> Iterator[Finding]:
    """HK303: a script started directly needs execute permission and a `#!` line."""
    shown = _shown(hook, script.path)
    if not os.path.isfile(script.path):
        return
    if script.shebang is not None and script.shebang.endswith("\r"):
        what = (
            f"The first line of {shown} ends with a carriage return, so its interpreter is not found: exit "
            "127, it never runs."
        )
        fix = _without_returns(script.path)
        yield finding("HK303", Position(script.path), what, "Use LF line endings, without \\r.", fix=fix)
    if not os.access(script.path, os.X_OK):
        what = f"{shown} is not executable: exit 126, it never runs, and the event proceeds."
        write = f"Type `chmod +x {shown}` (git: `git update-index --chmod=+x`), or put an interpreter before it."
        yield finding("HK303", hook.place("command"), what, write, fix=(Executable(script.path),))
    exec_form = hook.command is not None and hook.command.args is not None
    code = os.path.splitext(script.path)[1] in (".py", ".js", ".mjs", ".cjs", ".rb", ".pl", ".ts")
    if script.shebang is None and _is_text(script.path) and (exec_form or code):
        how = "it cannot be started (exec format error)" if exec_form else "the shell reads it as shell commands"
        what = f"{shown} has no `#!` line: {how}."
        program = _INTERPRETERS.get(os.path.splitext(script.path)[1])
        line = f"#!/usr/bin/env {program or 'python3'}"
        fix = (Edit(script.path, 0, 0, f"{line}\n"),) if program else ()
        yield finding("HK303", hook.place("command"), what, f"Add a first line such as `{line}`.", fix=fix)
    elif script.shebang is not None and not script.shebang.endswith("\r"):
        yield from _shebang(hook, script)


def _shebang(hook: CheckedHook, script: HookScript) -> Iterator[Finding]:
    """Check the interpreter of a `#!` line."""
    words = (script.shebang or "").split()
    names = [word for word in words if not word.startswith("-")]
    if not names:
        return
    program = names[1] if os.path.basename(names[0]) == "env" and len(names) > 1 else names[0]
    if "=" in program or _on_path(hook, program):
        return
    what = (
        f"`{program}`, named by the first line of {_shown(hook, script.path)}, is not on the PATH of this machine: "
        "exit 127, and the hook is silently off."
    )
    yield finding("HK302", Position(script.path), what, "Use an interpreter installed wherever the hook runs.")


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
    """HK305: a path that depends on the agent's current directory."""
    moved = any(call.name == "cd" for program in hook.programs if not program.path for _, call in calls_of(program))
    if os.path.isabs(script.word) or moved or script.word.startswith("~"):
        return
    if not script.exists and not script.word.startswith((".", "scripts/", "hooks/")):
        return
    base = "CLAUDE_PLUGIN_ROOT" if hook.plugin is not None else "CLAUDE_PROJECT_DIR"
    what = (
        f"`{script.word}` is looked up in the session's current directory, which changes with every `cd` of the agent."
    )
    right = f'"${{{base}}}"/{script.word.removeprefix("./")}'
    yield finding("HK305", hook.place("command"), what, f"Write `{right}`.", fix=_anchored(hook, script.word, base))


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
    """HK313: a plugin that looks for its scripts in the project."""
    if hook.plugin is None or (
        script.path.startswith(hook.plugin.root + os.sep) and "CLAUDE_PROJECT_DIR" not in _raw(hook)
    ):
        return
    if "CLAUDE_PROJECT_DIR" in _raw(hook):
        what = (
            f"A plugin's scripts are in its own folder; `{os.path.basename(script.word)}` is looked up in the user's "
            "project."
        )
        write = 'Write "${CLAUDE_PLUGIN_ROOT}"/… for files of the plugin.'
        yield finding("HK313", hook.place("command"), what, write)


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
    """HK302: programs missing on this machine."""
    handler = hook.command
    if handler is None:
        return
    names: list[str] = []
    if handler.args is not None:
        names = [handler.command] if re.fullmatch(r"[\w.+-]+", handler.command) else []
    elif hook.launch.inline is not None:
        names = list(_required(hook.launch.inline))
    for name in dict.fromkeys(names):
        if name not in _BUILTINS and name not in RESERVED and name not in _OTHER_SYSTEMS and not _on_path(hook, name):
            what = (
                f"`{name}` is not on the PATH of this machine: exit 127, a non-blocking error, and the hook is "
                "silently off."
            )
            write = f"Use an installed program, or test with `command -v {name}` first."
            yield finding("HK302", hook.place("command"), what, write)


def _required(program: Program) -> Iterator[str]:
    """Yield the programs a command line always runs, without those it tests for first."""
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


# ── paths and packages ──────────────────────────────────────────────────────


def _machine_path(hook: CheckedHook) -> Iterator[Finding]:
    """HK314: a personal home directory in a shared file."""
    match = _MACHINE.search(_raw(hook))
    if match is not None:
        what = f"`{match[0]}` exists on only one machine, and this file is shared."
        yield finding("HK314", hook.place("command"), what, 'Write "$CLAUDE_PROJECT_DIR" or "$HOME".')


def _fetches(hook: CheckedHook) -> Iterator[Finding]:
    """HK315: unpinned packages downloaded on every run."""
    for program in hook.programs:
        for _, call in calls_of(program):
            package = unpinned([word.known for word in call.words], hook)
            if package:
                yield _unpinned(hook, hook.position(program, call.place), package)
    handler = hook.command
    if handler is not None and handler.args is not None:
        package = unpinned([handler.command, *handler.args], hook)
        if package:
            yield _unpinned(hook, hook.place("command"), package)


def _unpinned(hook: CheckedHook, at: Position, package: str) -> Finding:
    what = f"The newest version of `{package}` is downloaded and run on every {hook.event}."
    return finding("HK315", at, what, f"Pin the version ({package}@1.2.3), or use an installed program.")


def unpinned(words: list[str], hook: CheckedHook) -> str | None:
    """Return the package a runner would download unpinned, or None."""
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
    """Return whether the project depends on a package, so that its own copy is run."""
    path = os.path.join(hook.reach.project_dir, "package.json")
    try:
        with open(path, encoding="utf-8") as file:
            return f'"{package}"' in file.read(1 << 20)
    except (OSError, UnicodeDecodeError):
        return False
