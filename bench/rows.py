"""The rows of the table: what is asked of which contenders, and what each figure must keep."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import msgspec
from floor.build import build
from harness import Contender, Row, Spread, mean_of_all, median_of_each, ratios, rounds, scenario, wait_for_quiet

#: The interpreter without a virtual environment: the cleanest cold start there is.
CLEAN = os.path.realpath(sys.executable)
FLOOR = "the C floor"


def in_process(number: int) -> Iterator[Row]:
    """What costs microseconds: events without hooks, selection, callbacks, interpretation, the journal."""
    names = {
        "no-match": ("no-match",),
        "other-10": ("other-tool", "10"),
        "callback": ("callback",),
        "callback-10000": ("callback-among", "10000"),
        "thread": ("thread-callback",),
        "journal": ("journal",),
        "interpretation": ("interpretation",),
        "select-10": ("select", "10"),
        "select-1000": ("select", "1000"),
        "select-10000": ("select", "10000"),
    }
    with ExitStack() as stack:
        contenders = {key: stack.enter_context(closing(scenario(*words))) for key, words in names.items()}
        took = rounds(contenders, number, lambda c: c.ask(400), mean_of_all)
    group = "In the process"

    def plain(key: str, what: str, at_most: float | None = None) -> Row:
        return Row(key=key, group=group, what=what, unit="µs", ours=Spread.of(took[key]), at_most=at_most)

    yield plain("no-match", "an event for which nothing is configured", 3.0)
    yield plain("other-10", "an event whose 10 handlers are all for other tools")
    for size in ("10", "1000", "10000"):
        each = [value / 100 for value in took[f"select-{size}"]]
        yield Row(
            key=f"select-{size}",
            group=group,
            what=f"select one handler among {int(size):,}",
            unit="µs",
            ours=Spread.of(each),
            other=Spread.of([value / 100 for value in took["select-10"]]) if size != "10" else None,
            against="among 10" if size != "10" else "",
            ratio=ratios(took[f"select-{size}"], took["select-10"]) if size != "10" else None,
            at_most=2.0 if size == "10000" else None,
        )
    yield plain("callback", "an async callback that answers nothing", 15.0)
    yield Row(
        key="callback-10000",
        group=group,
        what="the same callback among 10,000 handlers for other tools",
        unit="µs",
        ours=Spread.of(took["callback-10000"]),
        other=Spread.of(took["callback"]),
        against="alone",
        ratio=ratios(took["callback-10000"], took["callback"]),
    )
    yield plain("thread", "a plain function as callback (a thread, so that its time limit holds)")
    yield plain("interpretation", "interpret one answer and aggregate it", 25.0)
    yield Row(
        key="journal",
        group=group,
        what="a callback with the journal on (two lines on disk)",
        unit="µs",
        ours=Spread.of(took["journal"]),
        other=Spread.of(took["callback"]),
        against="journal off",
        ratio=ratios(took["journal"], took["callback"]),
    )


def processes(number: int) -> Iterator[Row]:
    """Command hooks against a C program that starts the same command with the same pipes and does nothing else."""
    group = "Command hooks"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        floor = stack.enter_context(closing(Contender(build(folder), "/bin/sh", "-c", "true")))
        exec_floor = stack.enter_context(closing(Contender(folder / "floor", "/bin/true")))
        ours = {
            name: stack.enter_context(closing(scenario("command", *words)))
            for name, words in {
                "one": ("1",),
                "large": ("1", "1024"),
                "exec": ("1", "0", "exec"),
                "8": ("8",),
                "64": ("64",),
                "256": ("256",),
            }.items()
        }
        single = {"floor": floor, "one": ours["one"], "large": ours["large"]}
        one = rounds(single, number, lambda c: c.ask(40), median_of_each)
        yield _against_floor("command", group, "one `sh -c true` through `fire`", one["one"], one["floor"], 1.15)
        yield Row(
            key="large-parent",
            group=group,
            what="the same from a process of 1 GB",
            unit="µs",
            ours=Spread.of(one["large"]),
            other=Spread.of(one["one"]),
            against="from a small one",
            ratio=ratios(one["large"], one["one"]),
            at_most=1.10,
        )
        form = {"floor": exec_floor, "exec": ours["exec"]}
        straight = rounds(form, number, lambda c: c.ask(40), median_of_each)
        yield _against_floor(
            "exec", group, "exec form, `/bin/true` without a shell", straight["exec"], straight["floor"]
        )
        for hooks, least in ((8, 0.80), (64, 0.75), (256, None)):
            yield _at_once(group, hooks, floor, ours[str(hooks)], (max(3, number // 2), least))


def segments(number: int) -> Iterator[Row]:
    """The parts of one command hook, to see what is ours and what is the system's."""
    script = Path(__file__).with_name("segments.py")
    took: dict[str, list[float]] = {}
    for _ in range(min(3, number)):
        wait_for_quiet()
        out = subprocess.run([sys.executable, script], capture_output=True, check=True)
        for name, value in msgspec.json.decode(out.stdout, type=dict[str, float]).items():
            took.setdefault(name, []).append(value)
    for index, (name, values) in enumerate(took.items()):
        group = "Where the time of one command hook goes"
        yield Row(key=f"segment-{index}", group=group, what=name, unit="µs", ours=Spread.of(values))


def _against_floor(
    key: str, group: str, what: str, ours: list[float], floor: list[float], at_most: float | None = None
) -> Row:
    return Row(
        key=key,
        group=group,
        what=what,
        unit="µs",
        ours=Spread.of(ours),
        other=Spread.of(floor),
        against=FLOOR,
        ratio=ratios(ours, floor),
        at_most=at_most,
    )


def _at_once(group: str, hooks: int, floor: Contender, ours: Contender, plan: tuple[int, float | None]) -> Row:
    """One event with so many hooks, against the floor that starts as many at once; throughput, so more is better."""
    number, least = plan
    batches = max(1, 160 // hooks)

    def ask(contender: Contender) -> tuple[float, list[float]]:
        if contender is ours:
            return contender.ask(batches)
        total = sum(contender.ask(hooks, hooks)[0] for _ in range(batches))
        return total, [total / batches] * batches

    took = rounds({"floor": floor, "ours": ours}, number, ask, mean_of_all)
    speed = {name: [hooks / value * 1e6 for value in values] for name, values in took.items()}
    return Row(
        key=f"at-once-{hooks}",
        group=group,
        what=f"{hooks} hooks of one event at once",
        unit="hooks/s",
        ours=Spread.of(speed["ours"]),
        other=Spread.of(speed["floor"]),
        against=FLOOR,
        ratio=ratios(speed["ours"], speed["floor"]),
        at_least=least,
    )


def sizes(number: int) -> Iterator[Row]:
    """Events of growing size, against `subprocess.run` with the same bytes."""
    for size, name in ((1024, "1 KB"), (100 * 1024, "100 KB"), (10 * 1024 * 1024, "10 MB")):
        with ExitStack() as stack:
            contenders = {
                "ours": stack.enter_context(closing(scenario("sized", str(size)))),
                "run": stack.enter_context(closing(scenario("sized-run", str(size)))),
            }
            count = 3 if size > 1024 * 1024 else 20
            took = rounds(contenders, max(3, number // 2), lambda c, n=count: c.ask(n), median_of_each)
        yield Row(
            key=f"size-{size}",
            group="Size of the event",
            what=f"{name}, read by `cat`",
            unit="µs",
            ours=Spread.of(took["ours"]),
            other=Spread.of(took["run"]),
            against="`subprocess.run`",
            ratio=ratios(took["ours"], took["run"]),
        )


def python_hooks(number: int) -> Iterator[Row]:
    """The same Python hook started anew, as a fork of a held interpreter, and as a worker that stays."""
    group = "Python hooks"
    with ExitStack() as stack:
        contenders = {
            "cold": stack.enter_context(closing(scenario("python", "cold", CLEAN))),
            "warm": stack.enter_context(closing(scenario("python", "warm", CLEAN))),
        }
        took = rounds(contenders, number, lambda c: c.ask(8, 1, 20), median_of_each)
        resident = stack.enter_context(closing(scenario("python", "resident", sys.executable, "author")))
        asked = rounds({"resident": resident}, number, lambda c: c.ask(300), median_of_each)
    yield Row(
        key="python-cold", group=group, what="`python3 hook.py`, a new process", unit="µs", ours=Spread.of(took["cold"])
    )
    yield Row(
        key="python-warm",
        group=group,
        what='the same hook, unchanged, with `worker: "warm"`',
        unit="µs",
        ours=Spread.of(took["warm"]),
        other=Spread.of(took["cold"]),
        against="times faster than a new process",
        ratio=ratios(took["cold"], took["warm"]),
        at_least=5.0,
    )
    yield Row(
        key="python-resident",
        group=group,
        what='a `hookwright.author` hook with `worker: "resident"`',
        unit="µs",
        ours=Spread.of(asked["resident"]),
        at_most=100.0,
    )


def http(number: int) -> Iterator[Row]:
    """An HTTP handler on this machine against the standard library's client on one kept connection."""
    with ExitStack() as stack:
        contenders = {
            "ours": stack.enter_context(closing(scenario("http"))),
            "bare": stack.enter_context(closing(scenario("http-bare"))),
        }
        took = rounds(contenders, number, lambda c: c.ask(200), median_of_each)
    yield Row(
        key="http",
        group="HTTP",
        what="an HTTP handler on this machine",
        unit="µs",
        ours=Spread.of(took["ours"]),
        other=Spread.of(took["bare"]),
        against="bare `http.client`, connection kept",
        ratio=ratios(took["ours"], took["bare"]),
    )


#: Tool calls of one prompt, and hooks before each of them.
CALLS, HOOKS = 60, 5


def agent(number: int) -> Iterator[Row]:
    """The reference agent: a turn without hooks, its transcript included, and tool calls with hooks and without."""
    group = "Reference agent"
    with ExitStack() as stack:
        names = {"turn": (), "bare": (str(CALLS),), "hooked": (str(CALLS), str(HOOKS))}
        contenders = {key: stack.enter_context(closing(scenario("agent-turn", *words))) for key, words in names.items()}
        turns = rounds({"turn": contenders.pop("turn")}, number, lambda c: c.ask(40), median_of_each)
        took = rounds(contenders, min(5, number), lambda c: c.ask(1), median_of_each)
    yield Row(
        key="agent-turn",
        group=group,
        what="a turn without hooks, scripted model",
        unit="µs",
        ours=Spread.of(turns["turn"]),
    )
    each = {key: [value / CALLS / 1000 for value in values] for key, values in took.items()}
    yield Row(
        key="agent-call",
        group=group,
        what="a Bash call of `true` without hooks",
        unit="ms",
        ours=Spread.of(each["bare"]),
    )
    yield Row(
        key="agent-call-hooked",
        group=group,
        what=f"the same with {HOOKS} command hooks of `true` before it, all at once",
        unit="ms",
        ours=Spread.of(each["hooked"]),
        other=Spread.of(each["bare"]),
        against="without hooks",
        ratio=ratios(each["hooked"], each["bare"]),
    )


def starts(number: int) -> Iterator[Row]:
    """Cold starts, on top of a bare interpreter."""
    hookwright = Path(sys.executable).with_name("hookwright")
    fire = (hookwright, "fire", "PreToolUse", "--tool", "Bash", "--json", "--no-journal")
    commands: dict[str, tuple[str | Path, ...]] = {
        "bare": (sys.executable, "-c", "pass"),
        "import": (sys.executable, "-c", "import hookwright"),
        "author": (sys.executable, "-c", "import hookwright.author"),
        "version": (hookwright, "--version"),
        "fire": fire,
    }
    with tempfile.TemporaryDirectory() as folder:
        took = _starts(commands, number, folder)
    group = "Cold start"

    def over_bare(key: str, what: str, at_most: float) -> Row:
        extra = [one - other for one, other in zip(took[key], took["bare"], strict=True)]
        return Row(key=f"start-{key}", group=group, what=what, unit="ms", ours=Spread.of(extra), at_most=at_most)

    yield Row(key="start-bare", group=group, what="`python -c pass`", unit="ms", ours=Spread.of(took["bare"]))
    yield over_bare("import", "`import hookwright`, over bare Python", 40.0)
    yield over_bare("author", "`import hookwright.author`, over bare Python", 2.7)
    yield Row(
        key="start-version",
        group=group,
        what="`hookwright --version`",
        unit="ms",
        ours=Spread.of(took["version"]),
        at_most=25.0,
    )
    yield over_bare("fire", "`hookwright fire` with no matching hook, over bare Python", 90.0)


def _starts(commands: dict[str, tuple[str | Path, ...]], number: int, folder: str) -> dict[str, list[float]]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env |= {"HOME": folder, "HOOKWRIGHT_MANAGED_SETTINGS": f"{folder}/none"}
    took: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(number * 2 + 1):
        wait_for_quiet()
        for name, argv in commands.items():
            began = time.perf_counter()
            subprocess.run(argv, env=env, cwd=folder, check=True, capture_output=True)
            if turn:  # the first one compiles
                took[name].append((time.perf_counter() - began) * 1000)
    return took


def memory(number: int) -> Iterator[Row]:
    """Resident memory: what a configured handler, a running hook and a flood of output cost the engine."""
    group = "Memory of the engine"
    for key, what, unit, at_most in (
        ("idle", "a configured handler that waits (of 10,000)", "kB", None),
        ("running", "a running hook (of 100)", "kB", None),
        ("flood", "peak growth while one hook prints 1 GB", "MB", 16.0),
    ):
        values = [_memory(key) for _ in range(1 if key == "flood" else min(3, number))]
        yield Row(key=f"memory-{key}", group=group, what=what, unit=unit, ours=Spread.of(values), at_most=at_most)


def _memory(key: str) -> float:
    script = Path(__file__).with_name("memory.py")
    out = subprocess.run([sys.executable, script, key], capture_output=True, text=True, check=True)
    return float(out.stdout)


ALL: dict[str, Callable[[int], Iterator[Row]]] = {
    "in-process": in_process,
    "processes": processes,
    "segments": segments,
    "sizes": sizes,
    "python": python_hooks,
    "http": http,
    "starts": starts,
    "agent": agent,
    "memory": memory,
}
