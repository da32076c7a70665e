"""Make synthetic histories in the format of Claude Code's transcripts, of any size.

    python bench/history.py FOLDER MEGABYTES [--seed N] [--copies SHARE]

The shape follows real sessions: a line has 3.7 KB on average, results are 59 % of the bytes and calls 8 %, one call per
19 KB; a tenth of the sessions is a fork that repeats the lines of the session before it, and one call in ten of the
larger sessions belongs to a subagent. The same seed makes the same bytes.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
#: Bytes of one session, about.
SESSION = 4_000_000
TOOLS = {"Bash": 40, "Read": 30, "Edit": 14, "Grep": 8, "Write": 5, "Glob": 3}
WORDS = ("error", "build", "the", "file", "path", "return", "import", "def", "\\n", '"quoted"', "{json}", "0x1f")
COMMANDS = ("git status", "ls -la src", "pytest -q tests", "rm -rf build", "git push --force", "cat README.md", "make")


class Session:
    """Writes the lines of one session."""

    def __init__(self, random_: random.Random, number: int) -> None:
        self._random = random_
        self._time = START + timedelta(hours=3 * number)
        self.id = f"{random_.getrandbits(128):032x}"
        self._calls = 0

    def lines(self, size: int) -> Iterator[str]:
        """Yield lines until they have about so many bytes."""
        written = 0
        while written < size:
            for line in self._turn():
                written += len(line)
                yield line

    def _turn(self) -> Iterator[str]:
        prompt = {"role": "user", "content": self._text(300)}
        yield self._line("user", message=prompt, permissionMode="default", promptId=self._name("p"))
        for _ in range(self._random.randint(2, 12)):
            yield from self._call()
            for _ in range(self._random.randint(0, 3)):
                record = {"type": "file_snapshot", "content": self._text(self._random.choice((300, 2_000, 9_000)))}
                yield self._line("attachment", attachment=record)
        yield self._message({"type": "text", "text": self._text(700)}, "end_turn")

    def _call(self) -> Iterator[str]:
        tool = self._random.choices(list(TOOLS), list(TOOLS.values()))[0]
        call = self._name("toolu_01")
        yield self._message({"type": "tool_use", "id": call, "name": tool, "input": self._input(tool)}, "tool_use")
        # Twice: once as the model reads it, once as the tool's structured response.
        text = self._text(self._random.choice((200, 800, 3_000, 12_000)))
        block = {"tool_use_id": call, "type": "tool_result", "content": text}
        if self._random.random() < 0.08:
            block = {**block, "is_error": True}
            yield self._line("user", message={"role": "user", "content": [block]}, toolUseResult=f"Error: {text}")
            return
        response = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        yield self._line("user", message={"role": "user", "content": [block]}, toolUseResult=response)

    def _input(self, tool: str) -> dict[str, object]:
        if tool == "Bash":
            return {"command": f"{self._random.choice(COMMANDS)} {self._text(120)}", "description": self._text(60)}
        path = {"file_path": f"/home/user/project/src/module_{self._random.randrange(500)}.py"}
        if tool == "Edit":
            return {**path, "old_string": self._text(600), "new_string": self._text(700)}
        return {**path, "content": self._text(3_000)} if tool == "Write" else path

    def _message(self, block: dict[str, object], reason: str) -> str:
        usage = {"input_tokens": 3, "cache_read_input_tokens": 51_234, "output_tokens": 120, "service_tier": "standard"}
        head = {"model": "claude-opus-5-5", "id": self._name("msg_01"), "type": "message", "role": "assistant"}
        message = {**head, "content": [block], "stop_reason": reason, "stop_sequence": None, "usage": usage}
        return self._line("assistant", message=message, requestId=self._name("req_01"), effort="medium")

    def _line(self, kind: str, **fields: object) -> str:
        self._time += timedelta(milliseconds=self._random.randint(5, 4_000))
        around = {
            "uuid": self._name("u"),
            "timestamp": self._time.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "userType": "external",
            "cwd": "/home/user/project",
            "sessionId": self.id,
            "version": "2.1.325",
            "gitBranch": "main",
        }
        line = {"parentUuid": self._name("u"), "isSidechain": False, "type": kind, **fields, **around}
        return json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n"

    def _name(self, prefix: str) -> str:
        return f"{prefix}{self._random.getrandbits(96):024x}"

    def _text(self, size: int) -> str:
        # A few words, repeated: making random words would take longer than reading them.
        piece = " ".join(self._random.choices(WORDS, k=12)) + "\n"
        return (piece * (size // len(piece) + 1))[:size]


def write_history(folder: Path, size: int, *, seed: int = 1, copies: float = 0.1) -> int:
    """Write sessions of about so many bytes together; return how many bytes were written."""
    generator = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    written, number = 0, 0
    before: list[str] = []
    while written < size:
        session = Session(generator, number)
        target = min(SESSION, size - written)
        lines = list(session.lines(target))
        if before and generator.random() < copies:
            lines = [*before[: len(before) // 2], *lines]
        data = "".join(lines).encode()
        (folder / f"{session.id}.jsonl").write_bytes(data)
        written, number, before = written + len(data), number + 1, lines
    return written


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("megabytes", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--copies", type=float, default=0.1, help="the share of sessions that repeat the one before")
    given = parser.parse_args()
    made = write_history(given.folder, int(given.megabytes * 1e6), seed=given.seed, copies=given.copies)
    print(f"{made / 1e6:.0f} MB in {given.folder}")
