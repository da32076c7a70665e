"""Measure `hook --from codex` through the daemon against `sh -c true`, and the cold path against bare Python.

    python bench/daemon.py [--rounds N] [--json]

Each round starts every program a few times in random order; a figure is the quickest start of a program over all rounds
divided by that of `sh -c true`, since other work on the machine only ever adds time. The cold path is a difference:
milliseconds over `python -c ''`. Exits 1 if a figure is out of its bound.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import wait_for_quiet

COMPILE = runpy.run_path(str(Path(__file__).parents[1] / "client" / "compile.py"))["build"]
RESIDENT = """\
from hookwright.author import hook


@hook.pre_tool_use("Read")
def quiet(event):
    return None


hook.run()
"""
#: What is started, the tool of its event, and the bound: times `sh -c true`, or milliseconds over bare Python.
FAST = {
    "no hook for the tool": ("Glob", 3.0),
    "a resident Python hook": ("Read", 3.0),
    "a command hook, `true`": ("Bash", None),
}
_calls = itertools.count()
COLD = {"hook --from codex, cold": 55.0, "fire, cold": 55.0, "hook --from codex --fast, Python client": None}


def prepare(folder: Path) -> dict[str, str]:
    """Install the client, and write a user's settings; return the environment."""
    for name in ("home/.claude", "bin", "run", "project"):
        (folder / name).mkdir(parents=True)
    COMPILE(folder / "bin" / "hookwright-client")
    program = folder / "bin" / "hookwright"
    program.write_text(f"#!{sys.executable}\nimport sys\nfrom hookwright.cli import main\nsys.exit(main())\n")
    program.chmod(0o755)
    resident = folder / "home" / "resident.py"
    resident.write_text(RESIDENT)
    groups = [
        {"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]},
        {
            "matcher": "Read",
            "hooks": [{"type": "command", "command": f"{sys.executable} {resident}", "worker": "resident"}],
        },
    ]
    (folder / "home/.claude/settings.json").write_text(json.dumps({"hooks": {"PreToolUse": groups}}))
    for tool in ("Glob", "Read", "Bash"):
        given = {"command": "ls", "file_path": "/x", "pattern": "*"}
        common = {"session_id": "s", "cwd": str(folder / "project"), "hook_event_name": "PreToolUse"}
        event = {**common, "tool_use_id": "c", "tool_name": tool, "tool_input": given}
        (folder / tool).write_text(json.dumps(event))
    return {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder / "run")}


def start(argv: list[str], stdin: Path, env: dict[str, str]) -> float:
    """Run a program to its end with an event of its own; return milliseconds."""
    number = next(_calls)  # a call that was seen before would not run its hooks
    event = json.loads(stdin.read_text())
    event["tool_input"]["command"] = f"ls {number}"
    stdin.write_text(json.dumps({**event, "tool_use_id": f"c{number}"}))
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, str(stdin), os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
    began = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
    _, status = os.waitpid(pid, 0)
    took = (time.perf_counter() - began) * 1000
    if status:
        raise SystemExit(f"bench: {argv} ended with status {os.waitstatus_to_exitcode(status)}")
    return took


def measure(folder: Path, rounds: int) -> dict[str, float]:
    """Return the quickest start of each program in milliseconds."""
    env = prepare(folder)
    program, client = str(folder / "bin/hookwright"), str(folder / "bin/hookwright-client")
    hook = ["hook", "--from", "codex"]
    glob = folder / "Glob"
    starts: dict[str, tuple[list[str], Path, int]] = {
        "sh": (["/bin/sh", "-c", "true"], glob, 10),
        "python": ([sys.executable, "-c", ""], glob, 2),
        "hook --from codex, cold": ([program, *hook], glob, 2),
        "fire, cold": ([program, "fire"], glob, 2),
        "hook --from codex --fast, Python client": ([program, *hook, "--fast"], glob, 2),
        **{name: ([client, *hook], folder / tool, 10) for name, (tool, _) in FAST.items()},
    }
    daemon = subprocess.Popen([program, "daemon", "start"], env=env)
    try:
        while not list((folder / "run").glob("hookwright/*.sock")):
            time.sleep(0.05)
        best = dict.fromkeys(starts, float("inf"))
        for number in range(rounds + 1):
            wait_for_quiet()
            for name in random.sample(list(starts), len(starts)):
                argv, stdin, times = starts[name]
                took = [start(argv, stdin, env) for _ in range(times)]
                if number:  # the first round fills caches
                    best[name] = min(best[name], *took)
        return best
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait()


def main() -> int:
    """Print the figures; return 1 when one is out of its bound."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="hw-"))
    try:
        best = measure(folder, args.rounds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    rows = [(f"client, {name}", best[name] / best["sh"], bound, "× sh") for name, (_, bound) in FAST.items()]
    rows += [(name, best[name] - best["python"], bound, "ms over Python") for name, bound in COLD.items()]
    if args.json:
        print(json.dumps({"ms": best, "figures": {name: figure for name, figure, _, _ in rows}}, indent=1))
    else:
        print(f"sh -c true {best['sh']:.2f} ms, python -c '' {best['python']:.1f} ms")
        for name, figure, bound, unit in rows:
            kept = "" if bound is None else f"  <= {bound:g}  {'ok' if figure <= bound else 'OUT OF BOUND'}"
            print(f"{name:42} {figure:6.2f} {unit}{kept}")
    return 0 if all(bound is None or figure <= bound for _, figure, bound, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
