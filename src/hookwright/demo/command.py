"""`hookwright demo`: a session of the reference agent in a temporary project, with real hooks and a report of each.

It needs no key and no network: the model is a script (model.json).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from hookwright.agent import AgentOptions, Result, open_agent
from hookwright.agent.state.updates import Added, Note, Said, ToolEnded, Update
from hookwright.cli.terminal import Style
from hookwright.models.script import load_script
from hookwright.models.scripted import ScriptedModel
from hookwright.observers import EventEnded, Notice, RunEnded
from hookwright.protocol.outcome import Allow, Ask, Block, Defer, Deny, Ending, Run
from hookwright.text import one_line, say

HERE = Path(__file__).parent
PROMPT = "Clear the old results, then make greet() say `Hello, Ada.`"


class Account:
    """Prints what happens, as it happens."""

    def __init__(self, style: Style) -> None:
        self.style = style

    def line(self, text: str) -> None:
        """Print one line."""
        say([text], sys.stdout)

    def hear(self, update: Update) -> None:
        """Print what the model says and what its tools return."""
        match update:
            case Said(message=message, shown=shown):
                if shown:
                    self.line(f"{self.style.bold('model')}  {one_line(shown)}")
                for block in message["content"]:
                    if block["type"] == "tool_use":
                        what = block["input"].get("command") or block["input"].get("file_path")
                        self.line(f"{self.style.bold('call ')}  {block['name']}: {one_line(str(what))}")
            case ToolEnded(name=name, block=block):
                mark = self.style.bad("refused") if block.get("is_error") else self.style.good("done")
                self.line(f"{self.style.bold('tool ')}  {name} {mark}")
            case Added(text=text, hook_name=name) if name:
                self.line(f"{self.style.dim('       the model now reads: ' + one_line(text, 150))}")
            case Note(text=text):
                self.line(f"{self.style.dim('       the user reads: ' + one_line(text, 150))}")

    def observe(self, notice: Notice) -> None:
        """Print what every hook did."""
        if isinstance(notice, RunEnded):
            run = notice.run
            name = run.handler.label.rsplit("/", 1)[-1].strip('"')
            took = f"{run.timing.seconds * 1000:.0f} ms"
            self.line(f"  {self.style.warn('hook')} {notice.job.event.event_name} {name} ({took}): {self._meant(run)}")
        elif isinstance(notice, EventEnded) and not notice.outcome.runs and notice.outcome.skips:
            self.line(self.style.dim(f"  hook {notice.outcome.hook_name}: {len(notice.outcome.skips)} skipped"))

    def _meant(self, run: Run) -> str:
        verdict = run.verdict
        match verdict.decision:
            case Deny(reason=reason):
                return self.style.bad(f"denies — {one_line(reason.split(']: ')[-1])}")
            case Block(reason=reason):
                return self.style.bad(f"sends it back — {one_line(reason)}")
            case Allow() | Ask() | Defer():
                return type(verdict.decision).__name__.lower()
        if verdict.ending is not Ending.SUCCESS:
            return self.style.bad(f"no verdict — {one_line(verdict.error or verdict.ending.value)}")
        if verdict.context or verdict.plain:
            return "adds context"
        return self.style.dim("no objection")


async def session(project: Path, home: Path) -> Result:
    """Run the session and print it."""
    account = Account(Style.of(sys.stdout))
    env = {**os.environ, "HOME": str(home), "HOOKWRIGHT_MANAGED_SETTINGS": str(home / "none")}
    options = AgentOptions(
        cwd=str(project),
        env=env,
        home=str(home),
        trust=True,
        permission_mode="acceptEdits",
        allowed_tools=("Bash(rm *)",),
    )
    model = ScriptedModel(load_script(HERE / "model.json"))
    account.line(f"{account.style.bold('user ')}  {PROMPT}")
    async with open_agent(options, model=model, on_message_update=account.hear, observers=[account.observe]) as agent:
        return await agent.run(PROMPT)


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command; it has no options."""
    parser.epilog = "Exit status: 0 if every hook did its work, 1 if one did not."


def run(args: argparse.Namespace) -> int:  # noqa: ARG001 - the command has no options
    """Make a temporary project, run the session, check that the hooks held, and clean up."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hookwright-demo-") as folder:
        project, home = Path(folder, "project"), Path(folder, "home")
        shutil.copytree(HERE / "project", project)
        for hook in (project / ".claude" / "hooks").iterdir():  # an installed package may have lost the bit
            hook.chmod(0o755)
        home.mkdir()
        result = asyncio.run(session(project, home))
        kept = (project / "old").is_dir()
        formatted = (project / "greet.py").read_text() == 'def greet(name):\n    return f"Hello, {name}."\n'
        logged = (project / ".claude" / "sessions.jsonl").exists()
    held = [
        (kept, "the folder that `rm -rf` aimed at is still there"),
        (formatted, "the written file was formatted, and the tests brought it right"),
        (logged, "the end of the session was logged"),
        (result.success, f"{result.tool_calls} tool calls, {result.turns} model answers"),
    ]
    print()
    for true, what in held:
        print(f"{'✓' if true else '✗'} {what}")
    print(f"{time.monotonic() - started:.1f} s")
    return 0 if all(true for true, _ in held) else 1
