"""Consoles in processes of their own, and journals to show in them."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from hookwright.observers.journal.writer import NAME

NAMES = (b"host", b"authorization", b"origin", b"sec-fetch-site")


def headers(*values: str | None) -> list[tuple[bytes, bytes]]:
    return [(name, value.encode()) for name, value in zip(NAMES, values, strict=True) if value is not None]


class Open:
    """A console in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.state = folder / "state"
        env = {**os.environ, "HOOKWRIGHT_STATE_DIR": str(self.state), "HOME": str(folder / "home")}
        command = [sys.executable, "-m", "hookwright.cli", "web", "--project", str(folder), *options]
        self.process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True, cwd=folder)
        assert self.process.stdout is not None
        address = self.process.stdout.readline().strip()
        self.host, _, self.token = address.removeprefix("http://").partition("/#")
        self.port = int(self.host.rpartition(":")[2])

    def ask(self, method: str, path: str, *values: str | None) -> tuple[int, http.client.HTTPMessage, bytes]:
        given = values or (self.host, f"Bearer {self.token}", None, None)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers(*given):
                connection.putheader(name.decode(), value)
            connection.endheaders()
            response = connection.getresponse()
            return response.status, response.msg, response.read()
        finally:
            connection.close()

    def close(self) -> int:
        assert self.process.stdout is not None
        with self.process.stdout:
            self.process.send_signal(signal.SIGINT)
            return self.process.wait(20)


def long_journal(state: Path, events: int) -> None:
    """Write the journal of many sessions: a run and an event per firing, one in ten refused."""
    state.mkdir(mode=0o700, exist_ok=True)
    now = time.time() - events / 20
    lines = [json.dumps({"kind": "journal", "v": 2, "t": now})]
    for number in range(4):
        described = {"handler": f"guard-{number}.sh", "type": "command", "scope": "user", "source": f"s.json:{number}"}
        lines.append(json.dumps({"kind": "handler", "h": f"h{number}", "id": f"user:{number}", **described}))
    for number in range(events):
        denied = number % 10 == 0
        common = {"t": now + number / 20, "event": "PreToolUse", "fire": f"f{number}", "tool": f"Tool{number % 7}"}
        common |= {"session": f"session-{number % 40:04}", "cwd": f"/home/me/project-{number % 5}"}
        run = {"kind": "run", "h": f"h{number % 4}", "run": "hook-1", "outcome": "success", "ending": "success"}
        lines.append(json.dumps(common | run | {"decision": "deny" if denied else None, "ms": number % 90 + 0.5}))
        event: dict[str, object] = {
            "kind": "event",
            "decision": "deny" if denied else None,
            "blocked": denied,
            "stop": False,
            "ran": 1,
        }
        event |= {"skipped": 3, "errors": 0, "context": 0, "ms": number % 90 + 1.5}
        lines.append(json.dumps(common | event | {"skips": [[f"h{(number + at) % 4}", "matcher"] for at in (1, 2, 3)]}))
    (state / NAME).write_text("\n".join(lines) + "\n")
