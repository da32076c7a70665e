"""Run command handlers with the key `worker`: in a fork of a held interpreter, or in a resident process."""

from __future__ import annotations

import msgspec

from hookwright.executors.command import CommandExecutor
from hookwright.processes.process import Command
from hookwright.protocol.handlers import CommandHandler
from hookwright.protocol.job import Job
from hookwright.protocol.replies import Exited, Failed, Failure, Reply
from hookwright.warm.plan import UNUSABLE, Unusual
from hookwright.warm.pool import WarmFork
from hookwright.warm.workers import Workers


class WorkerExecutor:
    """Uses a worker where possible, and starts the command the ordinary way otherwise."""

    def __init__(self, commands: CommandExecutor, workers: Workers) -> None:
        self._commands = commands
        self._interpreters = workers.interpreters
        self._residents = workers.residents
        #: Handlers whose lack of a worker was already reported.
        self._reported: set[str] = set()

    async def __call__(self, job: Job) -> Reply:
        """Run the hook; the reply is the same as that of an ordinary start."""
        handler = job.handler
        assert isinstance(handler, CommandHandler)
        try:
            command = self._commands.command(job)
        except OSError as error:
            return Failed(Failure.LAUNCH, f"cannot create its env file: {error}")
        if handler.worker == "resident":
            return await self._resident(job, handler, command)
        return await self._warm(job, handler, command)

    async def _resident(self, job: Job, handler: CommandHandler, command: Command) -> Reply:
        reply = await self._residents.ask(handler, command, job.timeout)
        if not isinstance(reply, Unusual):
            return reply
        ordinary = await self._commands.follow(job, self._commands.start(command, job.timeout))
        return self._with_reason(ordinary, handler, reply)

    async def _warm(self, job: Job, handler: CommandHandler, command: Command) -> Reply:
        commands = self._commands
        fork = await self._interpreters.take(handler, command)
        if isinstance(fork, WarmFork):
            reply = await commands.follow(job, commands.start(command, job.timeout, fork.start))
            if not _never_ran(reply):
                return reply
            self._interpreters.refuse(handler, command, "a fork of its interpreter could not take over an event")
            return await commands.follow(job, commands.start(command, job.timeout))
        reply = await commands.follow(job, commands.start(command, job.timeout))
        if fork is None:
            self._interpreters.prepare(handler, command)
            return reply
        return self._with_reason(reply, handler, fork)

    def _with_reason(self, reply: Reply, handler: CommandHandler, unusual: Unusual) -> Reply:
        """Add a note, once per handler that asked for a worker, why it has none."""
        place = str(handler.source)
        if handler.worker is None or place in self._reported or not isinstance(reply, Exited):
            return reply
        self._reported.add(place)
        note = f'`worker` is "{handler.worker}", but a new process is started for every event: {unusual.reason}'
        return msgspec.structs.replace(reply, notes=(*reply.notes, note))


def _never_ran(reply: Reply) -> bool:
    """Return whether a fork ended before it ran its script: with its own status, and nothing on stdout."""
    return isinstance(reply, Exited) and reply.status == UNUSABLE and not reply.stdout
