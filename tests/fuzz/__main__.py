"""Fuzz the targets: `python -m fuzz [--runs N] [--only TEXT] [-j N] [--seed N] [--plain]`, as `make fuzz` does.

Each target runs in a process of its own, so that a crash in C is a finding and not the end. With atheris installed
the inputs are led by coverage; without it, or with --plain, they are random edits. A failing input is printed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
#: Seconds after which an input is a hang.
HANG = 1.0


def main() -> int:
    """Run the targets and print a line for each; 1 when one failed."""
    parser = argparse.ArgumentParser(
        prog="fuzz", description="Throw inputs at everything that reads what others wrote."
    )
    parser.add_argument("--runs", type=int, default=1_000_000, help="inputs for each target (default 1,000,000)")
    parser.add_argument("--only", default="", help="only targets whose name has this text")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="for the same inputs again")
    parser.add_argument("--plain", action="store_true", help="random edits, even where atheris is installed")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="targets at once (default 2)")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--last", type=Path, default=Path(os.devnull), help=argparse.SUPPRESS)
    args = parser.parse_args()
    plain = args.plain or importlib.util.find_spec("atheris") is None
    if args.inside:
        if plain:
            return plainly(args.inside, args.runs, args.seed, args.last)
        return guided(args.inside, args.runs, args.seed)
    from fuzz.targets import TARGETS

    names = [name for name in TARGETS if args.only in name]
    print(f"{'random edits' if plain else 'led by coverage (atheris)'}, seed {args.seed}", flush=True)
    with ThreadPoolExecutor(args.jobs) as pool:
        results = pool.map(lambda name: run(name, args.runs, args.seed, plain), names)
        failed = [name for name, good in zip(names, results, strict=True) if not good]
    print(f"failing: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def run(name: str, runs: int, seed: int, plain: bool) -> bool:
    """Run one target in a process of its own; say how it went."""
    argv = [sys.executable, "-m", "fuzz", "--inside", name, "--runs", str(runs), "--seed", str(seed)]
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        last = Path(folder) / "last"
        argv += ["--plain", "--last", str(last)] if plain else []
        ended = subprocess.run(argv, capture_output=True, check=False, cwd=HERE.parent)
        said = (ended.stdout + ended.stderr).decode("utf-8", "replace")
        if ended.returncode < 0 and last.exists():
            said += f"\ndied by signal {-ended.returncode}; input: {_last(last.read_bytes())!r}"
    seconds = time.monotonic() - started
    counted = re.findall(r"^(?:Done|stat::number_of_executed_units:|tried) ?(\d+)", said, re.MULTILINE)
    tried = int(counted[-1]) if counted else 0
    slowest = re.findall(r"slowest ([\d.]+)", said)
    good = ended.returncode == 0 and tried >= runs
    mark, longest = "ok" if good else "FAILED", slowest[-1] if slowest else "?"
    print(f"{mark:7} {name:16} {tried:>9} inputs {seconds:7.0f} s  slowest {longest} s")
    if not good:
        lines = said.strip().splitlines()
        begin = next((number for number, line in enumerate(lines) if "Uncaught Python exception" in line), -25)
        shown = [*(line for line in lines if line.startswith("input: ")), *lines[begin:][:40]]
        print("        " + "\n        ".join(shown), flush=True)
    sys.stdout.flush()
    return good


def _last(data: bytes) -> bytes:
    return data[4 : 4 + int.from_bytes(data[:4], "big")]


class Watch:
    """Runs a target and remembers the slowest input."""

    def __init__(self, name: str) -> None:
        from fuzz.targets import TARGETS

        self._target = TARGETS[name].run
        self.tried = 0
        self.slowest = 0.0

    def __call__(self, data: bytes) -> None:
        self.tried += 1
        started = time.process_time()
        try:
            self._target(data)
        except BaseException:
            print(f"input: {data!r}", flush=True)
            raise
        seconds = time.process_time() - started
        if seconds > self.slowest * 1.2:
            self.slowest = seconds
            print(f"slowest {seconds:.3f}", flush=True)  # atheris ends the process without a word
            if seconds > HANG:
                print(f"input: {data!r}", flush=True)
                raise AssertionError(f"an input took {seconds:.2f} s")


def plainly(name: str, runs: int, seed: int, trace: Path) -> int:
    """Throw random edits at a target; the trace has the last input of those that may crash in C."""
    import faulthandler

    from fuzz.mutate import inputs
    from fuzz.targets import TARGETS

    faulthandler.enable()
    watch = Watch(name)
    made = inputs(TARGETS[name].seeds, seed)
    with trace.open("wb", buffering=0) as last:
        for _ in range(runs):
            data = next(made)
            if name in ("shell", "rule", "hidden command", "reading", "moving"):
                last.seek(0)
                last.write(len(data).to_bytes(4, "big") + data)
            watch(data)
    print(f"tried {watch.tried}", flush=True)
    return 0


def guided(name: str, runs: int, seed: int) -> int:
    """Let atheris lead the inputs by what they reach."""
    import atheris

    with atheris.instrument_imports(include=["hookwright"]):
        watch = Watch(name)
    from fuzz.mutate import WORDS
    from fuzz.targets import TARGETS

    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for number, data in enumerate(TARGETS[name].seeds):
            (corpus / str(number)).write_bytes(data)
        words = Path(folder) / "words"
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in WORDS))
        options = [f"-runs={runs}", f"-seed={seed % 2**31 or 1}", "-max_len=4096", "-timeout=30", "-rss_limit_mb=4096"]
        options += [f"-dict={words}", f"-artifact_prefix={folder}/", "-print_final_stats=1", "-verbosity=1"]
        atheris.Setup([sys.argv[0], *options, str(corpus)], watch)
        atheris.Fuzz()
    return 0


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    sys.exit(main())
