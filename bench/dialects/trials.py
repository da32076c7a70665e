"""One run of one agent with one hook, and what became of the calls that the model asked for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dialects.answers import Given
from dialects.model import Model, ModelCall
from dialects.rigs import HookEntry, Rig, start
from hookwright.dialects.model import Vocabulary
from hookwright.dialects.table import dialect

LIMIT = 100.0
#: What stands in a recording for the home directory of a run.
HOME = "/home/me"

#: Keeps each payload and its environment, finds out the event and the number of the command, then answers.
_HOOK = """#!/bin/sh
kept={here}/$(date +%s%N)-$$
cat > $kept.part
env > $kept.env
mv $kept.part $kept.json
event=$(sed -n 's/.*"hook_event_name" *: *"\\([^"]*\\)".*/\\1/p' $kept.json | head -n 1)
number=$(sed -n 's/.*made-\\([0-9]*\\).txt.*/\\1/p' $kept.json | head -n 1)
{script}
"""


class Payload(NamedTuple):
    """What a hook was sent, and the environment it ran in."""

    sent: Any
    env: dict[str, str]


class Trial(NamedTuple):
    """A finished run."""

    #: The names of the files in the project.
    files: frozenset[str]
    #: Everything that the model was sent, as one text per request.
    requests: tuple[str, ...]
    printed: str
    #: In the order of time.
    payloads: tuple[Payload, ...]
    #: How many results of calls the model was sent.
    results: int = 0
    #: The agent's own log of the session, as far as its payloads name one.
    transcript: str = ""

    def model_read(self, text: str) -> bool:
        """Return whether the model was sent a text."""
        return any(text in request for request in self.requests)

    def fate(self, number: int) -> str:
        """Return what became of the command with a number, in the word of a recording.

        Law: a call whose result the model read was refused, if it did not run; the first call without a result ended
        the turn, or the agent hung; a call that the agent did not fire a hook for was not reached.
        """
        if f"made-{number}.txt" in self.files:
            return "runs"
        if f"other-{number}.txt" in self.files:
            return "rewritten"
        if number < self.results:
            return "refused"
        if not self.fired(number):
            return "not fired"
        return "hangs" if self.printed == "hung" else "ends"

    def fired(self, number: int) -> bool:
        """Return whether a hook was asked about the command with a number."""
        return any(f"made-{number}.txt" in json.dumps(payload.sent) for payload in self.payloads)


def trial(rig: Rig, text: str, calls: Sequence[ModelCall], entry: HookEntry) -> Trial:
    """Run an agent with a hook in its own files: `text` is the shell of the hook."""

    def prepare(home: Path, url: str, hook: Path) -> None:
        rig.prepare(home, url, entry._replace(command=str(hook)))

    return _run(rig, text, calls, prepare)


def bridged(rig: Rig, text: str, calls: Sequence[ModelCall], matcher: str = "") -> Trial:
    """Run an agent with a hook in Claude Code's file of the user, through an export."""

    def prepare(home: Path, url: str, hook: Path) -> None:
        claude_settings(home, str(hook), matcher)
        rig.prepare(home, url, None)
        _export(rig, home)

    return _run(rig, text, calls, prepare)


def beside_claude(rig: Rig, calls: Sequence[ModelCall]) -> Trial:
    """Run an agent that has no hooks, where Claude Code has a hook of the user and one of the project."""

    def prepare(home: Path, url: str, hook: Path) -> None:
        rig.prepare(home, url, None)
        claude_settings(home, f"WHOSE=user {hook}", "")
        claude_settings(home / "project", f"WHOSE=project {hook}", "")

    return _run(rig, ":", calls, prepare)


def _run(rig: Rig, text: str, calls: Sequence[ModelCall], prepare: Callable[[Path, str, Path], None]) -> Trial:
    root = Path(tempfile.mkdtemp(prefix="dialects-"))
    home, kept, hook = root / "home", root / "kept", root / "hook.sh"
    project = home / "project"
    model = Model([call.moved(HOME, str(home)) for call in calls])
    try:
        project.mkdir(parents=True)
        kept.mkdir()
        hook.write_text(_HOOK.format(here=kept, script=text))
        hook.chmod(0o755)
        (project / "old.txt").write_text("old\n")
        prepare(home, model.url, hook)
        printed = start(rig, home, project, model.url, LIMIT)
        return Trial(
            frozenset(file.name for file in project.iterdir()),
            tuple(json.dumps(body, ensure_ascii=False) for _, body in model.requests),
            printed.replace(str(home), HOME),
            _payloads(kept, home),
            model.results,
            _transcript(kept, home),
        )
    finally:
        model.close()
        shutil.rmtree(root, ignore_errors=True)


def _payloads(kept: Path, home: Path) -> tuple[Payload, ...]:
    found = []
    for file in sorted(kept.glob("*.json")):
        text = file.read_text(errors="replace").replace(str(home), HOME)
        lines = file.with_suffix(".env").read_text(errors="replace").splitlines()
        found.append(Payload(json.loads(text), dict(line.split("=", 1) for line in lines if "=" in line)))
    return tuple(found)


def _transcript(kept: Path, home: Path) -> str:
    paths = [json.loads(file.read_text(errors="replace")).get("transcript_path") for file in kept.glob("*.json")]
    files = [Path(path) for path in paths if path]
    return next((file.read_text().replace(str(home), HOME) for file in files if file.is_file()), "")


def claude_settings(folder: Path, command: str, matcher: str) -> None:
    """Write Claude Code's settings with one PreToolUse hook below a folder."""
    (folder / ".claude").mkdir(exist_ok=True)
    group = {**({"matcher": matcher} if matcher else {}), "hooks": [{"type": "command", "command": command}]}
    (folder / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))


def _export(rig: Rig, home: Path) -> None:
    """Run `hookwright export` as a user would."""
    call = [sys.executable, "-m", "hookwright.cli", "export", "--to", rig.name, "--project", str(home / "project")]
    subprocess.run(call, env={**os.environ, "HOME": str(home)}, check=True, capture_output=True)


# ── what hooks do ───────────────────────────────────────────────────────────


def at(rig: Rig, event: str, text: str) -> str:
    """Return shell that does something at one event and has no opinion at the others."""
    quiet = "printf '{}'" if dialect(rig.name).answers.vocabulary is Vocabulary.PLUGIN else ":"
    return f'case "$event" in\n"{event}")\n{text}\n;;\n*) {quiet};;\nesac'


def saying(given: Given) -> str:
    """Return shell that gives an answer."""
    return f"printf %s {_quoted(given.stdout)}\nprintf %s {_quoted(given.stderr)} >&2\nexit {given.status}"


def saying_each(given: Sequence[Given]) -> str:
    """Return shell that gives the answer with the number of the command."""
    cases = "".join(f"{number})\n{saying(each.numbered(number))}\n;;\n" for number, each in enumerate(given))
    return f'case "$number" in\n{cases}esac'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def before_call(rig: Rig) -> str:
    """Return the agent's event before a call."""
    moment = dialect(rig.name).moment_of("PreToolUse")
    assert moment is not None
    return moment.name
