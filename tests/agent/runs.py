"""Run `hookwright run` for real: a throw-away home and project, hooks that note what they get, a scripted model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hookwright import Places
from hookwright.config import accept, review

#: Every hook saves its stdin under the event's name and a serial number before it does anything else.
PRELUDE = """#!/bin/bash
exec 3< <(cat)
payload=$(cat <&3)
event=$(sed -n 's/.*"hook_event_name":"\\([A-Za-z]*\\)".*/\\1/p' <<< "$payload")
name=$(mktemp "{seen}/$event-$(date +%s%N)-XXXXXX")
printf '%s' "$payload" > "$name"
"""
LIMIT = 30.0


class Ran:
    """What one run printed and how it ended."""

    def __init__(self, code: int, stdout: str, stderr: str) -> None:
        self.code = code
        self.stdout = stdout
        self.stderr = stderr

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Give the lines of a stream."""
        return [json.loads(line) for line in self.stdout.splitlines() if line.strip()]

    @property
    def results(self) -> list[dict[str, Any]]:
        """Give the result lines."""
        return [line for line in self.lines if line["type"] == "result"]

    @property
    def text(self) -> str:
        """Give the text of the last result."""
        return str(self.results[-1]["result"])

    def of(self, kind: str, subtype: str | None = None) -> list[dict[str, Any]]:
        """Give the lines of one kind."""
        return [line for line in self.lines if line["type"] == kind and subtype in (None, line.get("subtype"))]

    def tool_results(self) -> list[dict[str, Any]]:
        """Give the results that the main agent's model got."""
        blocks = [line["message"]["content"] for line in self.of("user") if line["parent_tool_use_id"] is None]
        return [block for content in blocks if isinstance(content, list) for block in content]


class Place:
    """A home, a project and the hooks of one test."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home, self.project, self.seen = (root / name for name in ("home", "project", "seen"))
        for folder in (self.home, self.project / ".claude", self.seen):
            folder.mkdir(parents=True)
        self.hooks: dict[str, list[dict[str, Any]]] = {}
        self.settings: dict[str, Any] = {}
        self._trust = {"HOOKWRIGHT_TRUST": "1"}
        #: Variables of every run, besides those of a call of `run`.
        self.more_env: dict[str, str] = {}

    def trust_as_it_is(self) -> None:
        """Trust the project's hooks and settings as they are now, and nothing that they become later."""
        self._trust = {}
        self.command({"turns": []})
        loaded = Places(project=str(self.project), env=self.env).load()
        found = review(loaded)
        accept(loaded.gate.store, found.project, found.pending)

    def hook(self, event: str, body: str = "", matcher: str | None = None, **more: Any) -> str:
        """Configure a hook that saves its stdin and then runs `body`; returns its command."""
        path = self.root / f"{event}-{sum(map(len, self.hooks.values()))}.sh"
        path.write_text(PRELUDE.replace("{seen}", str(self.seen)) + body + "\n")
        path.chmod(0o755)
        group: dict[str, Any] = {"hooks": [{"type": "command", "command": str(path), **more}]}
        if matcher is not None:
            group["matcher"] = matcher
        self.hooks.setdefault(event, []).append(group)
        return str(path)

    def answer(self, event: str, answer: Mapping[str, Any], matcher: str | None = None, **more: Any) -> str:
        """Configure a hook that answers with JSON."""
        return self.hook(event, f"cat <<'EOJ'\n{json.dumps(answer)}\nEOJ", matcher, **more)

    def file(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def got(self, event: str) -> list[dict[str, Any]]:
        """Give what hooks of an event read, in the order of their starts."""
        texts = (path.read_text() for path in sorted(self.seen.glob(f"{event}-*")))
        return [json.loads(text) for text in texts if text]  # a file that is still empty is being written

    @property
    def order(self) -> list[str]:
        """Name the events in the order in which their hooks started."""
        return [
            path.name.split("-")[0] for path in sorted(self.seen.iterdir(), key=lambda path: path.name.split("-")[1])
        ]

    @property
    def env(self) -> dict[str, str]:
        """Give the environment of a run."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {**kept, "HOME": str(self.home), "TMPDIR": str(self.root), **self._trust, **self.more_env}

    def command(self, script: Any, *args: str, output: str = "stream-json") -> list[str]:
        """Write the settings and the script; give the command line."""
        (self.project / ".claude" / "settings.json").write_text(json.dumps({"hooks": self.hooks, **self.settings}))
        path = self.root / "script.json"
        path.write_text(json.dumps(script))
        shown = ("--output-format", output, "--verbose", "--include-hook-events")
        return [sys.executable, "-m", "hookwright.cli", "run", "-p", "--script", str(path), *shown, *args]

    def run(self, script: Any, *args: str, prompt: str = "PROMPT", output: str = "stream-json", **env: str) -> Ran:
        """Run one prompt to its end."""
        done = subprocess.run(
            [*self.command(script, *args, output=output), prompt],
            cwd=self.project,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def talk(self, script: Any, feed: Sequence[Any], *args: str) -> Ran:
        """Hold a stream-json dialogue; see `Dialogue.feed`."""
        return Dialogue(self, script, args).hold(feed)

    def start(self, script: Any, *args: str, prompt: str = "PROMPT") -> subprocess.Popen[str]:
        """Start one prompt and leave it running."""
        return subprocess.Popen(
            [*self.command(script, *args), prompt],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def transcript(self) -> list[dict[str, Any]]:
        """Read the lines of the only session."""
        (path,) = (self.home / ".claude" / "projects").glob("*/*.jsonl")
        return [json.loads(line) for line in path.read_text().splitlines()]


class Dialogue:
    """The other end of `--input-format stream-json`."""

    def __init__(self, place: Place, script: Any, args: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            place.command(script, "--input-format", "stream-json", *args),
            cwd=place.project,
            env=place.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.append(line)

    def send(self, value: Any) -> None:
        """Send a prompt (text) or a raw line (object)."""
        if isinstance(value, str):
            value = {"type": "user", "message": {"role": "user", "content": value}}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(value) + "\n")
        self.process.stdin.flush()

    def wait_for(self, found: Callable[[dict[str, Any]], bool], count: int = 1) -> None:
        """Wait until so many lines fit."""
        until = time.monotonic() + LIMIT
        while sum(found(json.loads(line)) for line in list(self._lines)) < count:
            assert time.monotonic() < until, "".join(self._lines)
            assert self.process.poll() is None or self._reader.is_alive(), "".join(self._lines)
            time.sleep(0.01)

    def hold(self, feed: Sequence[Any]) -> Ran:
        """Send prompts and control requests, each after the answer to the one before; call what can be called."""
        results = responses = 0
        for item in feed:
            if callable(item):
                item(self)
                continue
            self.send(item)
            if isinstance(item, str):
                results += 1
                self.wait_for(lambda line: line["type"] == "result", results)
            elif item.get("type") == "control_request":
                responses += 1
                self.wait_for(lambda line: line["type"] == "control_response", responses)
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.close()
        process.wait(LIMIT)
        self._reader.join(LIMIT)
        with process.stdout, process.stderr:
            return Ran(process.returncode, "".join(self._lines), process.stderr.read())


def control(subtype: str, /, **fields: Any) -> dict[str, Any]:
    """Make a control request."""
    return {"type": "control_request", "request_id": f"r-{subtype}", "request": {"subtype": subtype, **fields}}


def tool(name: str, /, **arguments: Any) -> dict[str, Any]:
    """Make the block of a tool call."""
    return {"tool": name, "input": arguments}


def bash(command: str) -> dict[str, Any]:
    """Make the block of a Bash call."""
    return tool("Bash", command=command, description="run")


def seen(*patterns: str) -> list[list[dict[str, Any]]]:
    """Make turns in which the model says SAW if what is new in its request fits, else MISSED."""
    together = "".join(f"(?=[\\s\\S]*(?:{pattern}))" for pattern in patterns)
    return [[{"when": together}, {"text": "SAW"}], [{"text": "MISSED"}]]


def route(name: str, match: str, turns: list[Any], on: str = "first") -> dict[str, Any]:
    """Make a route of the script, for conversations other than the main one."""
    return {"name": name, "match": match, "on": on, "turns": turns, "repeat": True}


def end(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> Ran:
    """Send a signal and wait for the end."""
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=LIMIT)
    return Ran(process.returncode, stdout, stderr)
