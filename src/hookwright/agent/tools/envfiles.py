"""Files in which hooks persist variables: checked, then sourced before each command (D14).

Law: a file a shell cannot read to its end is reported once, with its hook and line, and skipped in every command
until it changes. A line that fails is reported, and the rest of the file is used.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence

import msgspec

from hookwright.processes.process import Command, Exit, ExitCode, Expired, NotStarted, run
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.storage import Stamp, stamp

#: Seconds for reading one file; a slower one would delay every command.
CHECK_TIMEOUT = 5.0
_DONE = "hookwright-env-file-done"
_TRACED = re.compile(r"\++@(\d+)@", re.MULTILINE)
#: bash writes `file: line 3: …`, dash `file: 3: …`.
_LINE = re.compile(r"(?:^|: )(?:line )?(\d+): (.*)")


class Checked(msgspec.Struct, frozen=True):
    """The result of one check of a file."""

    stamp: Stamp
    usable: bool


class EnvFiles:
    """Decides which env files are usable."""

    def __init__(self, files: Callable[[], Sequence[tuple[str, str]]], report: Callable[[Diagnostic], None]) -> None:
        self._files = files
        self._report = report
        self._checked: dict[str, Checked] = {}

    async def prelude(self, shell: str, cwd: str, env: Mapping[str, str]) -> str:
        """Return shell code that sources every usable file, in hook order, prints nothing and keeps the directory."""
        lines = []
        for hook, path in self._files():
            if await self._usable(hook, path, Command(argv=(shell,), cwd=cwd, env=env)):
                lines.append(f". {shlex.quote(path)} </dev/null >/dev/null 2>&1")
        # The files set variables, not shell options or the directory.
        return "; ".join([*lines, "set +efuvx", f"cd {shlex.quote(cwd)}", ""]) if lines else ""

    async def _usable(self, hook: str, path: str, shell: Command) -> bool:
        now = stamp(path)
        if now is None:
            return False
        known = self._checked.get(path)
        if known is None or known.stamp != now:
            usable = await self._check(hook, path, shell)
            known = self._checked[path] = Checked(now, usable)
        return known.usable

    async def _check(self, hook: str, path: str, shell: Command) -> bool:
        argv = shell.argv[0]
        parsed = await _run(shell, argv, "-n", path)
        if not isinstance(parsed, Exit) or parsed.status != ExitCode(0):
            said = _stderr(parsed) or "it could not be checked"
            self._tell(hook, path, said, "It is skipped in every command until it is corrected.", Severity.ERROR)
            return False
        # PS4 marks the lines that run, so the one that ended the shell can be named.
        body = f"PS4='+@$LINENO@'; set -x; . {shlex.quote(path)} >/dev/null; {{ set +x; }} 2>/dev/null; echo {_DONE}"
        ran = await _run(shell, argv, "-c", body)
        trace = _stderr(ran)
        said = "\n".join(line for line in trace.splitlines() if not _TRACED.match(line))
        if isinstance(ran, NotStarted) or _DONE.encode() not in ran.output.stdout.data:
            traced = [int(match[1]) for match in _TRACED.finditer(trace)]
            why = f"it took over {CHECK_TIMEOUT:g} s" if isinstance(ran, Expired) else "it ends the shell"
            line = f"{traced[-1]}: {why}" if traced else why
            self._tell(hook, path, line, "It is skipped in every command until it is corrected.", Severity.ERROR)
            return False
        if said:
            self._tell(hook, path, said, "The rest of the file is used.", Severity.WARNING)
        return True

    def _tell(self, hook: str, path: str, said: str, so: str, severity: Severity) -> None:
        found = _LINE.search(said.splitlines()[0].removeprefix(path))
        place, what = (f"{path}:{found[1]}", found[2]) if found else (path, said.splitlines()[0])
        self._report(Diagnostic("env-file", f"{place}, written by the hook `{hook}`: {what}. {so}", None, severity))


async def _run(shell: Command, *argv: str) -> Exit | Expired | NotStarted:
    return await run(msgspec.structs.replace(shell, argv=argv), CHECK_TIMEOUT)


def _stderr(ended: Exit | Expired | NotStarted) -> str:
    if isinstance(ended, NotStarted):
        return ended.message
    return ended.output.stderr.data.decode("utf-8", "replace").strip()
