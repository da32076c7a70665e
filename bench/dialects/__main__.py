"""Print what each agent does with each answer of a hook: by itself, and through the bridge.

python -m dialects [--record] [agent …]: needs `npm`, and installs the agents; runs in a network of its own that has
nothing but loopback. A cell that differs from the recordings in tests/dialects is marked. With `--record` the
recordings are written again. The exit status is 1 if a call that must stop ran through the bridge, or a cell changed.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

from dialects.answers import MUST_STOP
from dialects.record import Line, answers, guard, recording
from dialects.rigs import RIGS, Rig, install, installed

RECORDINGS = Path(__file__).parent.parent.parent / "tests" / "dialects"
INSIDE = "HOOKWRIGHT_DIALECTS_INSIDE"
#: Longer texts in an agent's own log are its instructions and its tools; they are cut.
LONGEST = 600
STOPPED = ("refused", "ends")
#: The agents whose logs are a source of a replay.
LOGS = ("codex", "gemini")
GUARDED = "a guard of a file for Write|Edit"


def _file(rig: Rig) -> Path:
    return RECORDINGS / rig.name / f"{rig.version}.jsonl"


def recorded(rig: Rig) -> dict[str, Line]:
    """Return the recorded answers and the guard of an agent by label."""
    if not _file(rig).exists():
        return {}
    lines = [json.loads(line) for line in _file(rig).read_text().splitlines()]
    return {line.get("label", GUARDED): line for line in lines if line["kind"] in ("answer", "guard")}


def record(rig: Rig) -> list[Line]:
    """Write the recording of an agent; return its answers and the guard."""
    lines = []
    for line in recording(rig):
        if line["kind"] == "transcript":
            _transcript(rig, line["text"])
            continue
        lines.append(line)
    _file(rig).parent.mkdir(exist_ok=True)
    _file(rig).write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return [line for line in lines if line["kind"] in ("answer", "guard")]


def _transcript(rig: Rig, text: str) -> None:
    if rig.name not in LOGS:
        return
    lines = [json.dumps(_cut(json.loads(line)), ensure_ascii=False) for line in text.splitlines()]
    _file(rig).parent.mkdir(exist_ok=True)
    _file(rig).with_suffix(".transcript").write_text("\n".join(lines) + "\n")


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value]
    return value if not isinstance(value, str) or len(value) <= LONGEST else value[: LONGEST // 10] + " …"


def run(rig: Rig) -> list[Line]:
    """Run every answer and the guard; return what became of each."""
    return [*answers(rig), guard(rig)]


def print_table(rig: Rig, lines: Sequence[Line], before: dict[str, Line]) -> int:
    """Print the cells of an agent; return how many of them are wrong or changed."""
    must = {given.label for given in MUST_STOP} | {GUARDED}
    failed = 0
    print(f"{rig.name} {rig.version}: answer · by itself · through the bridge")
    for line in lines:
        label = line.get("label", GUARDED)
        wrong = label in must and line["bridged"] not in STOPPED
        known = before.get(label, line)
        changed = any(known.get(cell) != line[cell] for cell in ("native", "bridged"))
        failed += wrong or changed
        mark = "RAN THROUGH THE BRIDGE" if wrong else ""
        mark += f" recorded: {known.get('native')}, {known.get('bridged')}" if changed else ""
        print(f"  {label:36} {line['native']:30} {line['bridged']:10} {mark}".rstrip(), flush=True)
    for cell in ("native", "bridged"):
        stopped = sum(line[cell] in STOPPED for line in lines if line.get("label") in must)
        print(f"  {cell}: {stopped} of {len(MUST_STOP)} stopped", flush=True)
    return failed


def main(words: Sequence[str]) -> int:
    """Run the agents, two at a time; return 1 if a cell is wrong or changed, or an agent is not installed."""
    chosen = [word for word in words if not word.startswith("-")]
    rigs = [rig for rig in RIGS if rig.name in chosen or not chosen]
    again = "--record" in words
    before = {rig.name: {} if again else recorded(rig) for rig in rigs}
    work = record if again else run
    failed = 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        waiting = [(rig, pool.submit(work, rig) if installed(rig) else None) for rig in rigs]
        for rig, lines in waiting:
            if lines is None:
                print(f"{rig.name}: not installed, so not run", flush=True)
                failed += 1
            else:
                failed += print_table(rig, lines.result(), before[rig.name])
    print(f"{failed} cells are wrong or differ from the recording" if failed else "every cell is as recorded")
    return 1 if failed else 0


def entry() -> NoReturn:
    """Install what can be installed, then run again in a network with nothing but loopback."""
    if os.environ.get(INSIDE) == "1":
        raise SystemExit(main(sys.argv[1:]))
    for rig in RIGS:
        if not installed(rig):
            problem = install(rig)
            print(
                f"{rig.name} {rig.version}: " + (f"cannot be installed: {problem}" if problem else "installed"),
                flush=True,
            )
    again = shlex.join([sys.executable, "-m", "dialects", *sys.argv[1:]])
    os.environ[INSIDE] = "1"
    os.execvp("unshare", ["unshare", "-rn", "sh", "-c", f"ip link set lo up && exec {again}"])


if __name__ == "__main__":
    entry()
