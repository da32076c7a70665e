"""The walk of one denied tool call: which modules it crosses, from the settings file to the text the model reads.

    python tools/walk.py                                        this checkout
    python tools/walk.py --package NAME --src CHECKOUT/src      another one, whatever its package is called

The reference agent runs with a scripted model whose only tool call, `Bash`, a command hook denies with exit 2. A
profiler notes each function of the package. A coroutine that is resumed is noted again.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import itertools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
HOOK = "echo 'rm -rf is not allowed' >&2; exit 2"
SETTINGS = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": HOOK}]}]}}
SCRIPT = {"turns": [[{"tool": "Bash", "input": {"command": "rm -rf build"}}], [{"text": "Understood."}]]}

#: The stages, by the function each of them is.
STAGES = {
    "load the settings": ("load", "load_hooks"),
    "start the agent": ("assembly", "assemble"),
    "handle the denied call": ("tool_call", "handle"),
}


class Call(NamedTuple):
    """One call of a function of the package."""

    module: str
    function: str
    #: Names of the stages it belongs to.
    stages: frozenset[str]


def main() -> int:
    """Run the agent once and print the walk."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default="hookwright")
    parser.add_argument("--src", type=Path, default=ROOT / "src")
    options = parser.parse_args()
    sys.path.insert(0, str(options.src.resolve()))
    with tempfile.TemporaryDirectory() as folder:
        calls, told = walk(options.package, Path(folder))
    print("\n".join(report(calls, told)))
    return 0


def walk(package: str, folder: Path) -> tuple[list[Call], str]:
    """Run one prompt with the denying hook; return the calls and what the model read of the denial."""
    home, project = folder / "home", folder / "project"
    (home / ".claude").mkdir(parents=True)
    project.mkdir()
    (home / ".claude" / "settings.json").write_text(json.dumps(SETTINGS))
    agent = importlib.import_module(f"{package}.agent")
    script = importlib.import_module(f"{package}.models.script").parse_script(SCRIPT)
    model = importlib.import_module(f"{package}.models.scripted").ScriptedModel(script)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(home), f"{package.upper()}_MANAGED_SETTINGS": str(folder / "none")}
    options = agent.AgentOptions(cwd=str(project), home=str(home), env=env, journal=True, watchdog=False)

    async def prompt() -> str:
        async with agent.open_agent(options, model=model) as opened:
            result = await opened.run("Remove the build folder.")
        answers = [message for message in result.messages if message["role"] == "user"]
        return str(next(part["content"] for message in answers for part in message["content"] if "tool_use_id" in part))

    with recorded(package) as calls:
        told = asyncio.run(prompt())
    return calls, told


@contextmanager
def recorded(package: str) -> Iterator[list[Call]]:
    """Note every call of a function of the package while the block runs."""
    calls: list[Call] = []
    note = _profiler(f"{package}.", calls)
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def _profiler(prefix: str, calls: list[Call]) -> Callable[[FrameType, str, object], None]:
    def note(frame: FrameType, happened: str, _: object) -> None:
        if happened == "call" and frame.f_globals.get("__name__", "").startswith(prefix):
            name = frame.f_globals["__name__"].removeprefix(prefix)
            if frame.f_code.co_name != "<module>":
                calls.append(Call(name, frame.f_code.co_qualname, frozenset(_stages(frame))))

    return note


def _stages(frame: FrameType | None) -> Iterator[str]:
    while frame is not None:
        here = (frame.f_globals.get("__name__", "").rpartition(".")[2], frame.f_code.co_name)
        yield from (stage for stage, place in STAGES.items() if place == here)
        frame = frame.f_back


def report(calls: list[Call], told: str) -> Iterator[str]:
    """Yield the size of each stage, then the modules of the last one in the order in which they are entered."""
    yield "| stage | calls | functions | modules | steps from module to module |"
    yield "| --- | --: | --: | --: | --: |"
    for stage in STAGES:
        part = [call for call in calls if stage in call.stages]
        modules = [call.module for call in part]
        steps = sum(one != other for one, other in itertools.pairwise(modules))
        functions = len({call[:2] for call in part})
        yield f"| {stage} | {len(part)} | {functions} | {len(set(modules))} | {steps} |"
    yield ""
    yield f"Modules of `{stage}`, in the order in which they are entered:"
    yield ""
    for number, module in enumerate(dict.fromkeys(modules), 1):
        entered = list(dict.fromkeys(call.function for call in part if call.module == module))
        yield f"{number:2}. {module}: {', '.join(entered)}"
    yield ""
    yield f"The model reads: {told}"


if __name__ == "__main__":
    sys.exit(main())
