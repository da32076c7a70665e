"""Run the table of hostile hooks on other engines too, side by side, where a row is one event and one command.

    python bench/faults_peers.py [--only TEXT] [-j N]

Each trial is a separate process: the hostile hook alone, and together with a hook that denies. A row is right when both
decisions are, in time, without a process that outlives the hook, and within the memory that the table grants. Peers
that speak another dialect get the same denial in theirs; hooks that must be ended get whole seconds where a peer has
no smaller unit, and the rest of the second is not held against it. Peers are installed below bench/.peers. A run of all
rows writes the table into docs/faults.md.
"""

from __future__ import annotations

import argparse
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from peers import ENGINES, ENV, HOME, Missing, Peer, node_peer, python_peer

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from faults.hostile import DENY, FAULTS, Fault, answer, says
from faults.leftovers import MARK, marked

#: Seconds over its limit after which an engine hangs, and those that are granted to a busy machine.
HANG, GRANTED = 12.0, 3.0
PAGE = Path(__file__).parent.parent / "docs" / "faults.md"
#: How the table begins, which is the last part of the page.
TABLE = "| fault |"
SIBLING = says(answer("deny"))


class Engine(msgspec.Struct, frozen=True):
    """An engine to try."""

    name: str
    argv: tuple[str, ...]
    #: It reads `decision` and not `permissionDecision`.
    plain_dialect: bool = False


class Trial(msgspec.Struct, frozen=True):
    """What one event came to."""

    decision: str
    over: float = 0.0
    left: int = 0
    memory: float = 0.0


def engines() -> tuple[list[Engine], list[Missing]]:
    """Find the engines that can be tried here."""
    found = [Engine("Hookwright", (sys.executable, str(ENGINES / "fault_hookwright.py")))]
    missing = []
    deepagents = python_peer(
        "deepagents", "deepagents-code==0.1.88", "deepagents_code.hooks.engine", "run_deepagents.py"
    )
    gemini = node_peer("gemini", "@google/gemini-cli-core@0.61.0")
    if isinstance(deepagents, Peer):
        found.append(Engine(deepagents.name, (deepagents.argv[0], str(ENGINES / "fault_deepagents.py"))))
    else:
        missing.append(deepagents)
    if isinstance(gemini, Peer):
        script = str(ENGINES / "fault_gemini.mjs")
        found.append(Engine("gemini-cli-core 0.61.0", (gemini.argv[0], script, str(HOME / "gemini")), True))
    else:
        missing.append(gemini)
    return found, missing


def translated(command: str) -> str:
    """Say a denial in the dialect that reads `decision` alone."""
    head = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "'
    said = re.escape(head) + r'(\w+)", "permissionDecisionReason": ("[^"]*")\}'
    return re.sub(said, r'{"decision": "\1", "reason": \2', command)


def attempt(engine: Engine, fault: Fault, commands: list[str]) -> Trial:
    """Fire one event at an engine in a process of its own, and look at what it did and left."""
    commands = [text.replace("PYTHON", sys.executable) for text in commands]
    if engine.plain_dialect:
        commands = [translated(text) for text in commands]
    mark = uuid.uuid4().hex
    job = msgspec.json.encode({"commands": commands, "timeout": fault.limit, "size": fault.event})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            engine.argv,
            cwd=folder,
            env={**ENV, MARK: mark},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return _judged(process, job, fault, mark)
        finally:
            for pid in marked(mark) - {os.getpid()}:
                os.kill(pid, signal.SIGKILL)
            process.wait()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.close()
            process.stdout.close()


def _judged(process: subprocess.Popen[bytes], job: bytes, fault: Fault, mark: str) -> Trial:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(job + b"\n")
    process.stdin.flush()
    ready, _, _ = select.select([process.stdout], [], [], fault.limit + HANG)
    line = process.stdout.readline() if ready else b""
    if not line:
        return Trial("HANG" if not ready else "dies", HANG if not ready else 0.0)
    said = msgspec.json.decode(line)
    left: set[int] = set()
    for _ in range(60):
        left = marked(mark) - {process.pid, os.getpid()}
        if len(left) <= fault.outlive:
            break
        time.sleep(0.05)
    over = said["seconds"] - fault.limit if fault.expires else 0.0
    return Trial(said["decision"], max(0.0, over), max(0, len(left) - fault.outlive), _peak(process.pid))


def _peak(pid: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def judge(engine: Engine, fault: Fault, base: float) -> str:
    """Try a row on an engine; `ok`, or what went wrong."""
    problems = []
    for name, commands in (("", [fault.command]), ("with a deny: ", [SIBLING, fault.command])):
        trial = attempt(engine, fault, commands)
        if not (trial.decision == DENY if name else fault.right(trial.decision)):
            problems.append(f"{name}{trial.decision} for {DENY if name else fault.want}")
        if trial.over > GRANTED and trial.decision != "HANG":
            problems.append(f"{name}{trial.over:.1f} s late")
        if trial.left:
            problems.append(f"{name}{trial.left} left")
        if trial.memory - base > fault.memory + 64:
            problems.append(f"{name}{trial.memory - base:.0f} MB")
    return "ok" if not problems else "; ".join(problems)


def main() -> int:
    """Try every row on every engine and print the table."""
    parser = argparse.ArgumentParser(description="Run the table of hostile hooks on other engines.")
    parser.add_argument("--only", default="", help="only rows whose name has this text")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="rows at once (default 2)")
    args = parser.parse_args()
    found, missing = engines()
    for peer in missing:
        print(f"{peer.name} is left out: {peer.why}", file=sys.stderr)
    quiet = Fault(name="", command="true", want="none")
    bases = {engine.name: attempt(engine, quiet, ["true"]).memory for engine in found}
    names = [name for name in FAULTS if args.only in name]
    lines: list[str] = []
    wrong = dict.fromkeys((engine.name for engine in found), 0)

    def say(*cells: str) -> None:
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)

    say("fault", *(engine.name for engine in found))
    say("---", *("---" for _ in found))
    with ThreadPoolExecutor(args.jobs) as pool:
        rows = pool.map(lambda name: [judge(one, FAULTS[name], bases[one.name]) for one in found], names)
        for name, results in zip(names, rows, strict=True):
            say(name, *results)
            for engine, result in zip(found, results, strict=True):
                wrong[engine.name] += result != "ok"
    say(f"**wrong of {len(names)}**", *(f"**{wrong[one.name]}**" for one in found))
    if not args.only and not missing:
        page = PAGE.read_text()
        PAGE.write_text(page[: page.index(TABLE)] + "\n".join(lines) + "\n")
    return 1 if wrong["Hookwright"] else 0


if __name__ == "__main__":
    sys.exit(main())
