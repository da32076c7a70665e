"""Bash: run a command in the session's directory and environment, within a time limit."""

from __future__ import annotations

import os
import re
import secrets
import shlex

from hookwright.agent.tools.context import ToolContext
from hookwright.agent.tools.shells import MovedShell, exit_code, find_shell
from hookwright.agent.tools.tool import OUTPUT_LIMIT, Effect, Input, Tool, ToolResult, failed, parameters, shape
from hookwright.processes.process import Captured, CapturedOutput, Command, Exit, Expired, NotStarted
from hookwright.protocol.jsontext import Json
from hookwright.storage import make_folder
from hookwright.text import cut_middle

DEFAULT_TIMEOUT = 120_000
MAX_TIMEOUT = 600_000

_SILENT = frozenset(
    ["cd", "chgrp", "chmod", "chown", "cp", "export", "ln", "mkdir", "mv", "rm", "rmdir", "touch", "unset", "wait"]
)
#: stdout and stderr are one text, in the order in which they were written.
_ONE_STREAM = "exec 2>&1; "
_RUNS_ON = (
    "You will be notified when it completes. If it is still running after 30m in the background, it will be stopped "
    "and you will be notified. It is running now: do not start a second copy while it runs. To check interim output, "
    "use Read on that file path."
)
_STEPS = re.compile(r"&&|\|\||;|\n")


async def run(arguments: Input, context: ToolContext) -> ToolResult:
    """Run the command; return its output and exit code, and follow its `cd`."""
    if not os.path.isdir(context.cwd):
        gone = context.cwd
        context.move(context.root)
        return failed(f"The working directory {gone} no longer exists; commands run in {context.root} again.")
    shell = find_shell(context.env)
    prelude = await context.env_files.prelude(shell, context.cwd, context.env)
    if arguments.get("run_in_background", False):
        return _start(arguments, context, _command(shell, prelude + _eval(arguments["command"]), context))
    moved = os.path.join(context.folder, f"cwd-{secrets.token_hex(8)}")
    make_folder(context.folder)
    # An EXIT trap, so `cd x; exit 3` also moves.
    # The file exists as long as the call waits: a command that moved to the background does not move the session.
    told = shlex.quote(moved)
    trap = f"trap {shlex.quote(f'[ -e {told} ] && pwd >|{told} 2>/dev/null')} EXIT; "
    command = _command(shell, _ONE_STREAM + prelude + trap + _eval(arguments["command"]), context)
    limit = min(max(arguments.get("timeout", DEFAULT_TIMEOUT), 1), MAX_TIMEOUT)
    try:
        os.close(os.open(moved, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        ended = await _ended(arguments, context, command, limit / 1000)
        _follow(moved, context)
    finally:
        if os.path.lexists(moved):
            os.unlink(moved)
    if isinstance(ended, NotStarted):
        return failed(ended.message)
    silent = _is_silent(arguments["command"])
    if isinstance(ended, MovedShell):
        about = {"backgroundTaskId": ended.task.id, "timedOutAfterMs": limit}
        response = {**_response(ended.printed, silent), **about}
        return ToolResult(response, f"{render(response)} Output is being written to: {ended.task.output}. {_RUNS_ON}")
    response = _response(ended.output, silent)
    if isinstance(ended, Expired):
        return failed(_error(143, response, f"Command timed out after {_shown(limit)}"))
    code = exit_code(ended.status)
    return ToolResult(response, render(response)) if code == 0 else failed(_error(code, response))


async def _ended(
    arguments: Input, context: ToolContext, command: Command, limit: float
) -> Exit | Expired | MovedShell | NotStarted:
    """Law: a command that only waits is ended at its time limit; any other runs on in the background."""
    text = arguments["command"]
    if text.split()[:1] == ["sleep"]:
        return await context.shells.run(command, limit)
    return await context.shells.run_or_move(command, limit, text, arguments.get("description", ""))


def _command(shell: str, script: str, context: ToolContext) -> Command:
    return Command(argv=(shell, "-c", script), cwd=context.cwd, env={**context.env, "PWD": context.cwd})


def _eval(command: str) -> str:
    # eval, all on one line: a syntax error stays inside the command, and line numbers are the command's own.
    return f"eval {shlex.quote(command)}"


def _start(arguments: Input, context: ToolContext, command: Command) -> ToolResult:
    task = context.shells.start(command, arguments["command"], arguments.get("description", ""))
    if isinstance(task, NotStarted):
        return failed(task.message)
    response = {**_empty(), "backgroundTaskId": task.id}
    return ToolResult(response, f"{render(response)} Its output goes to: {task.output}")


def _follow(moved: str, context: ToolContext) -> None:
    """Move to the directory in which the command ended."""
    try:
        with open(moved, encoding="utf-8", errors="surrogateescape") as file:
            directory = file.read().removesuffix("\n")
    except OSError:  # the command was killed, or replaced its shell
        return
    if os.path.isabs(directory) and os.path.isdir(directory):
        context.move(directory)


def _response(output: CapturedOutput, silent: bool) -> dict[str, Json]:
    said = {"stdout": _text(output.stdout), "stderr": _text(output.stderr)}
    return {**_empty(), **said, "noOutputExpected": silent}


def _empty() -> dict[str, Json]:
    return {"stdout": "", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}


def _text(captured: Captured) -> str:
    text = cut_middle(captured.data.decode("utf-8", "replace").rstrip(), OUTPUT_LIMIT)
    lost = captured.total - len(captured.data)
    return f"{text}\n... [{lost} bytes more were not kept] ..." if captured.truncated else text


def _is_silent(command: str) -> bool:
    """Return whether such a command normally prints nothing."""
    steps = [step.split() for step in _STEPS.split(command) if step.strip()]
    return bool(steps) and all(step[0] in _SILENT and "|" not in step for step in steps)


def _error(code: int, response: dict[str, Json], note: str = "") -> str:
    parts = (f"Exit code {code}", note, response["stdout"], response["stderr"])
    return "\n".join(part for part in parts if part)


def _shown(milliseconds: float) -> str:
    minutes, seconds = divmod(milliseconds / 1000, 60)
    return f"{minutes:.0f}m {seconds:g}s" if minutes else f"{seconds:g}s"


def render(response: Json) -> str:
    """Return stdout, then stderr, or a note that there was neither."""
    task, limit = response.get("backgroundTaskId"), response.get("timedOutAfterMs")
    said = [text for text in (response["stdout"], response["stderr"]) if text]
    if task and limit is not None:
        moved = f"Command did not complete within its {_shown(limit)} timeout and was moved to the background"
        return "\n".join([*said, f"{moved} (ID: {task})."])
    if task:
        return f"Command running in background with ID: {task}."
    if said:
        return "\n".join(said)
    return "Done" if response.get("noOutputExpected") else "(Bash completed with no output)"


BASH = Tool(
    name="Bash",
    description=(
        "Run a shell command. The working directory is kept between calls; other shell state is not. Variables "
        "persisted by hooks are set. With run_in_background the call returns at once with a task id and the path of "
        "the output file."
    ),
    parameters=parameters(
        {"command": {"type": "string", "description": "the command"}},
        {
            "description": {"type": "string", "description": "what the command does, in a few words"},
            "timeout": {
                "type": "number",
                "description": f"milliseconds; {DEFAULT_TIMEOUT} by default, at most {MAX_TIMEOUT}",
            },
            "run_in_background": {"type": "boolean", "description": "do not wait for the command"},
        },
    ),
    effect=Effect.SHELL,
    run=run,
    output=shape(
        {"stdout": "string", "stderr": "string", "interrupted": "boolean"},
        {
            "isImage": "boolean",
            "noOutputExpected": "boolean",
            "backgroundTaskId": "string",
            "timedOutAfterMs": "number",
        },
    ),
    render=render,
)
