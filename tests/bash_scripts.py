"""Random Bash scripts, and Bash itself to say which of them run a program: `python tests/bash_scripts.py COUNT`.

Two properties of the readers of shell text, for every script:

* if Bash runs `zm`, a guard for `zm` matches or is in doubt, as an `if`, as an ask rule and as a deny rule;
* if allow rules for other programs, or the table of commands that only read, permit it, Bash does not run `zm`.

Scripts run many to a process, in a scratch folder, with a PATH of a few harmless programs; `zm` only notes its call.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import msgspec

from hookwright.agent.permissions import Workspace
from hookwright.agent.permissions.commands import only_moves_files, only_reads
from hookwright.matching.conditions import Match, NoMatch, Reading, Undecided, Where, allowed_by, parse_rule
from hookwright.matching.shell import analyse_bash

BASH = shutil.which("bash") or "/bin/bash"
PROGRAMS = ["bash", "cat", "env", "find", "nice", "nohup", "sh", "tail", "timeout", "xargs"]
GUARD = parse_rule("Bash(zm *)")
ALLOW = [parse_rule(f"Bash({text})") for text in ("echo *", "cat *", "find *", "git log *", "true", "x=*", "timeout *")]

# ── scripts ─────────────────────────────────────────────────────────────────

_DATA = json.loads((Path(__file__).parent / "data" / "bash_scripts.json").read_text())
#: Pieces of any kind, in any order.
TOKENS: list[str] = _DATA["tokens"]
#: Ways to call `zm x`, and places where a command can be.
SPELLED: list[str] = _DATA["spelled"]
PLACES: list[str] = _DATA["places"]
_STRAY = [" ", "\n", "\\\n", "'", '"', "`", "$", "\\", "#", ";", "(", ")", "{", "}"]
_CHUNK = 5_000
#: What each script finds set.
SETUP = "n=; r=zm; s='zm x'\n"


def _soup(chance: random.Random) -> str:
    tokens = [chance.choice(TOKENS) for _ in range(chance.randint(1, 8))]
    tokens.insert(chance.randint(0, len(tokens)), "zm x")
    return "".join(token + chance.choice([" ", " ", " ", "", "\n"]) for token in tokens)


def _dish(chance: random.Random) -> str:
    text = chance.choice(SPELLED)
    for _ in range(chance.choice([1, 1, 1, 2, 2, 3])):
        text = chance.choice(PLACES).format(text)
    if chance.random() < 0.2:
        at = chance.randint(0, len(text))
        text = text[:at] + chance.choice(_STRAY) + text[at:]
    if chance.random() < 0.1:
        at = chance.randint(0, len(text))
        text = text[:at] + text[at + 1 :]
    return text


def made(number: int) -> str:
    """Make the script with this number."""
    chance = random.Random(number)
    return _soup(chance) if number % 3 == 0 else _dish(chance)


# ── what we say ─────────────────────────────────────────────────────────────


class Judged(msgspec.Struct, frozen=True):
    """Our answers about a script."""

    unseen: bool
    permitted: bool
    in_doubt: bool


def judged(script: str, folder: str) -> Judged:
    """Return whether some guard does not see `zm` in a script, and whether anything permits it."""
    where = Where(cwd=folder, home="/nowhere", anchor=folder)
    call = {"command": script}
    readings = (Reading.CONDITION, Reading.ASK, Reading.DENY)
    answers = [GUARD.match("Bash", call, where, reading) for reading in readings]
    workspace = Workspace(root=folder, home="/nowhere")
    permitted = (
        isinstance(allowed_by(ALLOW, "Bash", call, where), Match)
        or only_reads(script, folder, workspace)
        or only_moves_files(script, folder, workspace)
    )
    doubt = any(isinstance(answer, Undecided) for answer in answers)
    return Judged(any(isinstance(answer, NoMatch) for answer in answers), permitted, doubt)


# ── what Bash does ──────────────────────────────────────────────────────────

_LOOP = """
n=0
while IFS= read -r -d '' script <&9; do
  n=$((n+1)); echo $n > "$DONE"
  ( exec 9<&-; export ID=$n; cd "$ROOM"; eval "$SETUP$script" ) < /dev/null > /dev/null 2>&1
done 9< "$SCRIPTS"
wait
echo end > "$DONE"
"""


class Kitchen:
    """A scratch folder where Bash runs scripts, with an `zm` that only notes who called it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.room = folder / "room"
        self.room.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        for name in PROGRAMS:
            found = shutil.which(name)
            if found is not None:
                (programs / name).symlink_to(found)
        self.log = folder / "log"
        self.log.touch()
        stub = programs / "zm"
        stub.write_text(f'#!/bin/sh\necho "$ID" >> {self.log}\n')
        stub.chmod(0o755)
        self.env = {
            "PATH": str(programs),
            "BIN": str(programs),
            "ROOM": str(self.room),
            "DONE": str(folder / "done"),
            "SCRIPTS": str(folder / "scripts"),
            "SETUP": SETUP,
            "HOME": "/nowhere",
            "TMPDIR": str(folder),
        }

    def ran(self, scripts: Sequence[str]) -> set[int]:
        """Run scripts; return the places of those that ran `zm`. One that hangs is given up."""
        found: set[int] = set()
        start = 0
        while start < len(scripts):
            batch = [script.replace("\0", "") for script in scripts[start:]]
            (self.folder / "scripts").write_text("".join(f"{script}\0" for script in batch), "utf-8", "replace")
            self.log.write_text("")
            done = self._run(2 + len(batch) / 20)
            found |= {start + int(line) - 1 for line in self.log.read_text().split() if line.isdigit()}
            if done == "end":
                break
            start += int(done or "1")
        return found

    def _run(self, seconds: float) -> str:
        argv = ["timeout", "-k", "0.5", str(seconds), BASH, "--norc", "-c", _LOOP]
        subprocess.run(argv, env=self.env, cwd=self.room, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return (self.folder / "done").read_text().strip()


class Tally(msgspec.Struct):
    """How many scripts were tried, how many of them were in doubt, and those that got past a property."""

    tried: int = 0
    in_doubt: int = 0
    ran: int = 0
    fallen: list[str] = []

    def plus(self, other: Tally) -> Tally:
        """Return the sum of two tallies."""
        numbers = (self.tried + other.tried, self.in_doubt + other.in_doubt, self.ran + other.ran)
        return Tally(*numbers, self.fallen + other.fallen)

    def line(self) -> str:
        """Return the tally as a line of text."""
        return f"{self.tried} tried, {self.in_doubt} in doubt, {self.ran} run by Bash, {len(self.fallen)} fallen"


def tally(numbers: Iterable[int]) -> Tally:
    """Try scripts; Bash runs only those that some guard does not see or that something permits."""
    result = Tally()
    with tempfile.TemporaryDirectory() as name:
        kitchen = Kitchen(Path(name))
        waiting: list[str] = []
        for number in numbers:
            script = made(number)
            found = judged(script, str(kitchen.room))
            result.tried += 1
            result.in_doubt += found.in_doubt
            if found.unseen or found.permitted:
                waiting.append(script)
            if result.tried % 1000 == 0:
                analyse_bash.cache_clear()
        result.ran = len(waiting)
        result.fallen = [waiting[place] for place in sorted(kitchen.ran(waiting))]
    return result


def main() -> int:
    """Try many scripts and print what came of them; 1 if any got past a property."""
    parser = argparse.ArgumentParser(description="Compare the readers of shell text with Bash itself.")
    parser.add_argument("count", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--start", type=int, default=0, help="the number of the first script")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    end = args.start + args.count
    chunks = [range(at, min(at + _CHUNK, end)) for at in range(args.start, end, _CHUNK)]
    total, began = Tally(), time.monotonic()
    with ProcessPoolExecutor(args.jobs) as pool:
        for done in pool.map(tally, chunks):
            total = total.plus(done)
            print("".join(f"fallen: {script!r}\n" for script in done.fallen), end="", flush=True)
            print(total.line(), file=sys.stderr, flush=True)
    print(f"{total.line()}, {time.monotonic() - began:.0f} s")
    return 1 if total.fallen else 0


if __name__ == "__main__":
    sys.exit(main())
