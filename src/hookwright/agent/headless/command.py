"""`hookwright run` from its arguments to its exit status."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from contextlib import AsyncExitStack

from hookwright.agent.agent import Agent, open_agent
from hookwright.agent.headless.arguments import ASK_HOST, check, read_options
from hookwright.agent.headless.control import Control, Opening
from hookwright.agent.headless.debug_log import DebugLog
from hookwright.agent.headless.host import HostLink
from hookwright.agent.headless.prompts import every_prompt, one_prompt
from hookwright.agent.headless.stream import SilentOutput, output_for
from hookwright.agent.headless.stream_lines import StreamOptions, StreamOutput
from hookwright.agent.state.endings import Result
from hookwright.agent.state.inbox import Closed
from hookwright.agent.state.options import AgentOptions
from hookwright.agent.state.session import Person
from hookwright.agent.state.updates import Diagnosed, Note, Update
from hookwright.agent.state.user_notes import HOOK_CHANGED
from hookwright.config import review_line, waits_for_review
from hookwright.errors import ConfigError
from hookwright.models import from_environment, has_key
from hookwright.observers import Notice
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.text import say

#: Set to 1 by a host that waits for the session's state before it closes the input.
READS_STATE = "CLAUDE_CODE_SDK_READS_SESSION_STATE"
NOTHING_TO_ASK = (
    "no model is configured: set ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or OPENAI_API_KEY, or play a script with "
    "--script FILE"
)
#: Exit status after a signal: SIGTERM aborts the run, SIGINT is the user's choice.
SIGNALS = {signal.SIGTERM: 143, signal.SIGINT: 0}


def main(args: argparse.Namespace, prompt: str | None) -> int:
    """Run the agent; return the exit status."""
    if prompt == "" and not (args.continue_ or args.resume):
        raise ConfigError("no prompt: pass one as an argument or on stdin")
    options = read_options(args, os.environ)
    check(options)
    if args.script is None and not args.init_only and not has_key(os.environ):
        say([f"hookwright: {NOTHING_TO_ASK}"], sys.stderr)
        return 1
    console = Console(args)
    try:
        return asyncio.run(_run(args, options, console, prompt))
    finally:
        console.close()


async def _run(args: argparse.Namespace, options: AgentOptions, console: Console, prompt: str | None) -> int:
    """Work in a separate task, so that a signal can end it cleanly."""
    loop = asyncio.get_running_loop()
    opened: asyncio.Future[Agent] = loop.create_future()
    work = asyncio.ensure_future(_session(args, options, console, prompt, opened))
    ended: list[int] = []

    def end(number: signal.Signals) -> None:
        ended.append(SIGNALS[number])
        if number is signal.SIGINT and opened.done() and opened.result().interrupt():
            opened.result().session.inbox.put(Closed())  # the turn ends with a result, and the session after it
        else:
            work.cancel()

    for number in SIGNALS:
        loop.add_signal_handler(number, end, number)
    try:
        result = await work
    except asyncio.CancelledError:
        if not ended:
            raise
        return ended[0]
    if ended:
        return ended[0]
    return 1 if result is not None and result.is_error else 0


async def _session(
    args: argparse.Namespace,
    options: AgentOptions,
    console: Console,
    prompt: str | None,
    opened: asyncio.Future[Agent],
) -> Result | None:
    control = console.control
    opening = await control.opening() if control is not None else Opening()
    found = opening.initialization
    async with AsyncExitStack() as closing:
        agent = await closing.enter_async_context(
            open_agent(
                found.applied(options),
                model=from_environment(os.environ, script=args.script),
                hooks=found.hooks,
                person=console.person,
                on_message_update=console.update,
                observers=(console.notice,),
            )
        )
        opened.set_result(agent)
        if args.init_only:
            return None
        if control is None:
            return await one_prompt(agent, prompt or "")
        agent.session.accompany(control.serve(agent, opening))
        return await every_prompt(agent, control.link.state)


class Console:
    """stdout, stderr and the debug file of one run."""

    def __init__(self, args: argparse.Namespace) -> None:
        shown = StreamOptions(hook_events=args.include_hook_events, partial_messages=args.include_partial_messages)
        self._output = SilentOutput() if args.init_only else output_for(args.output_format, shown)
        self._log = _debug_log(args)
        #: What only waits for the user's review; it becomes one line.
        self._waiting: list[Diagnostic] = []
        self._verbose: bool = args.verbose and args.output_format == "text"
        self.control: Control | None = None
        self.person = Person()
        if args.input_format == "stream-json":
            self.control = self._listening(args)
        elif args.session_mirror:
            raise ConfigError("--session-mirror needs --input-format stream-json")
        elif args.permission_prompt_tool == ASK_HOST:
            raise ConfigError("--permission-prompt-tool stdio needs --input-format stream-json")

    def _listening(self, args: argparse.Namespace) -> Control:
        if not isinstance(self._output, StreamOutput):
            raise ConfigError("--input-format stream-json needs --output-format stream-json")
        link = HostLink(
            self._output,
            lambda text: print(f"hookwright: {text}", file=sys.stderr),
            reads_state=os.environ.get(READS_STATE) == "1",
        )
        asks = args.permission_prompt_tool == ASK_HOST
        mirror = self._output.mirror if args.session_mirror else None
        self.person = Person(permit=link.permit if asks else None, carry=link.carry, mirror=mirror)
        return Control(link, self._output.repeat if args.replay_user_messages else lambda _: None)

    def update(self, update: Update) -> None:
        """Print and log an update."""
        self._output.update(update)
        if self._log is not None:
            self._log.update(update)
        if isinstance(update, Diagnosed) and waits_for_review(update.diagnostic):
            self._waiting.append(update.diagnostic)
            return
        self._say_waiting()
        if isinstance(update, Diagnosed) and update.diagnostic.severity is not Severity.INFO:
            say([f"hookwright: {update.diagnostic}"], sys.stderr)
        elif isinstance(update, Note) and (
            update.tag in ("session-end", "option", HOOK_CHANGED) or (self._verbose and update.level == "info")
        ):
            say([f"hookwright: {update.text}" if update.tag == HOOK_CHANGED else update.text], sys.stderr)

    def _say_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        say([f"hookwright: {review_line(waiting)}"] if waiting else [], sys.stderr)

    def notice(self, notice: Notice) -> None:
        """Print and log a notice of the engine."""
        self._output.notice(notice)
        if self._log is not None:
            self._log.notice(notice)

    def close(self) -> None:
        """Print what was kept for the end."""
        self._say_waiting()
        self._output.close()
        if self._log is not None:
            self._log.close()


def _debug_log(args: argparse.Namespace) -> DebugLog | None:
    if args.debug_file is None:
        return None
    try:
        return DebugLog(args.debug_file, machine_output=args.output_format != "text")
    except OSError as error:
        raise ConfigError(f"--debug-file {args.debug_file}: {error.strerror}") from None
