"""An installation with the C client, a user with a guard, and a daemon started as clients start it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hookwright.resident.places import socket_path
from hookwright.resident.start import is_locked, lock_path
from processes import eventually

CLIENT = Path(__file__).parents[2] / "client"
#: The guard: it notes its parent, a variable, its directory, and refuses.
GUARD = 'echo "$PPID $WHO $PWD" >> "$LOG"; sleep "${NAP:-0}"; echo "not this" >&2; exit 2'


def compile_client(program: Path) -> None:
    """Compile the C client as its wheel does."""
    spec = importlib.util.spec_from_file_location("compile_client", CLIENT / "compile.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.build(program)


def install(folder: Path) -> Path:
    """Make a folder of programs: `hookwright` as an installer writes it, and the client beside it."""
    program = folder / "hookwright"
    program.write_text(f"#!{sys.executable}\nimport sys\nfrom hookwright.cli import main\nsys.exit(main())\n")
    program.chmod(0o755)
    compile_client(folder / "hookwright-client")
    return folder


class User:
    """A home with a guard for Bash, a project, and a runtime folder with a short path."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs = programs
        self.home, self.project, self.log = folder / "home", folder / "project", folder / "log"
        self.runtime = Path(tempfile.mkdtemp(prefix="hw-"))
        self.call = 0
        (self.home / ".claude").mkdir(parents=True)
        self.project.mkdir()
        self.set_hooks({"type": "command", "command": GUARD})

    def set_hooks(self, handler: dict[str, object]) -> None:
        """Write the user's settings."""
        hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}
        (self.home / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))

    @property
    def env(self) -> dict[str, str]:
        """The environment of an agent."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "HOOKWRIGHT_MANAGED_SETTINGS": str(self.home / "none"),
            "LOG": str(self.log),
            "WHO": "caller",
        }

    @property
    def socket(self) -> str:
        """The socket of this installation."""
        path = socket_path(self.env, os.path.realpath(self.programs) + "/hookwright")
        assert path is not None
        return path

    @property
    def payload(self) -> str:
        """A call of Bash, as Codex sends it."""
        fields = {"session_id": "s1", "cwd": str(self.project), "hook_event_name": "PreToolUse"}
        call = {"tool_use_id": f"c{self.call}", "tool_name": "Bash", "tool_input": {"command": f"ls {self.call}"}}
        return json.dumps({**fields, **call})

    def fresh(self) -> str:
        """Another call: hooks run once for each."""
        self.call += 1
        return self.payload

    def argv(self, *args: str) -> list[str]:
        """The C client with arguments; those of an agent's hook without any."""
        return [str(self.programs / "hookwright-client"), *(args or ("hook", "--from", "codex"))]

    def start(self, *args: str, **env: str) -> subprocess.Popen[str]:
        """Start the client with the payload on its stdin."""
        process = subprocess.Popen(
            self.argv(*args),
            cwd=self.project,
            env={**self.env, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        process.stdin.write(self.fresh())
        process.stdin.close()
        process.stdin = None
        return process

    def ask(self, *args: str, stdin: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        """Run the client to its end."""
        return subprocess.run(
            self.argv(*args),
            cwd=self.project,
            env={**self.env, **env},
            input=self.fresh() if stdin is None else stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def hookwright(self, *args: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        """Run the ordinary program."""
        return subprocess.run(
            [str(self.programs / "hookwright"), *args],
            cwd=self.project,
            env={**self.env, **env},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def runs(self) -> list[list[str]]:
        """What the guard noted: parent, variable, directory."""
        return [line.split(" ", 2) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    @contextmanager
    def daemon(self, idle: float = 60, **env: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a daemon of this installation, and end it."""
        argv = [str(self.programs / "hookwright"), "daemon", "start", "--idle", str(idle)]
        process = subprocess.Popen(argv, env={**self.env, "WHO": "daemon", **env}, cwd="/")
        try:
            assert eventually(lambda: os.path.exists(self.socket) or process.poll() is not None, 30)
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()

    def close(self) -> None:
        """End a daemon that a client has started, and remove the runtime folder."""
        if is_locked(self.socket):
            pid = int(Path(lock_path(self.socket)).read_text())
            os.kill(pid, signal.SIGCONT)
            os.kill(pid, signal.SIGKILL)
            assert eventually(lambda: not is_locked(self.socket))
        shutil.rmtree(self.runtime, ignore_errors=True)


def denied(done: subprocess.CompletedProcess[str]) -> bool:
    """Return whether Codex would not run the call."""
    if done.returncode == 2:
        return bool(done.stderr.strip())
    said = json.loads(done.stdout) if done.returncode == 0 and done.stdout else {}
    return bool(said.get("hookSpecificOutput", {}).get("permissionDecision") == "deny")
