"""Hooks in the OpenAI Agents SDK: `install(".")`, or `HookedRunner(".").run(agent, …)` without changing the default.

The SDK's own hooks only observe. So this runner wraps the tools of every agent that runs in it, whatever way the agent
was reached: streams, handoffs, `Agent.as_tool`, tools of MCP servers.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, Unpack

from agents import AgentBase, RunConfig, RunHooks, RunState
from agents.run import AgentRunner, CallModelData, ModelInputData, set_default_agent_runner

from hookwright.adapters.bridge.bridge import Bridge, Choices
from hookwright.adapters.openai_agents.run import Run, current, result_of, running
from hookwright.adapters.openai_agents.tools import hooked, rehook
from hookwright.adapters.openai_agents.values import (
    RunEnded,
    agent_name,
    call_ids,
    continued,
    ended_result,
    fields_of,
    handoff_names,
    hosted,
    is_history,
    prompt_text,
    results,
    unparsed,
    user_items,
)
from hookwright.config import Places
from hookwright.errors import HooksRefused

#: The keyword arguments of a run.
Options: TypeAlias = Mapping[str, Any]


def install(project: str | Places = ".", **choices: Unpack[Choices]) -> HookedRunner:
    """Give every run of this process the Claude Code hooks of a project: `Runner.run`, `run_sync`, `run_streamed`.

    Agents that run as tools of other agents are subagents. `uninstall` takes the hooks away again.
    """
    runner = HookedRunner(project, **choices)
    set_default_agent_runner(runner)
    return runner


def uninstall() -> None:
    """Let runs of this process use the SDK's own runner again."""
    set_default_agent_runner(None)


class HookedRunner(AgentRunner):
    """A runner of the SDK that runs hooks; one instance serves any number of agents and runs."""

    def __init__(self, project: str | Places = ".", **choices: Unpack[Choices]) -> None:
        super().__init__()
        self.bridge = Bridge(project, **choices)
        #: Runs that wait for a person, by the id of each call that they wait for.
        self._paused: dict[str, Run] = {}
        reach_tools()

    def close(self) -> None:
        """Fire SessionEnd for every conversation and stop the thread."""
        self.bridge.close()
        self._paused.clear()

    def question(self, interruption: Any) -> str | None:
        """Return what a hook asks about a call that waits for a person; None if no hook asks."""
        for name in call_ids([interruption]):
            if name in self._paused:
                return self._paused[name].question(name)
        return None

    # ── the SDK's methods; `run_sync` of the SDK calls `run` ────────────────

    async def run(self, starting_agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002 - the SDK's word
        """Run an agent until its hooks let it stop."""
        run = self._begun(starting_agent, input, options)
        try:
            await _prompted(run)
            given = self._options(run, options)
            result = await self._ran(run, starting_agent, input, given)
            while not result.interruptions and (again := await _sent_back(run, result)):
                agent, more, given = continued(result, again, given)
                result = await self._ran(run, agent, more, given)
        except BaseException:  # also a cancelled run is over
            await _left(run)
            raise
        await self._settled(run, result)
        return result

    def run_streamed(self, starting_agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002 - the SDK's word
        """Do the same in a stream, which continues where hooks send the agent back to work."""
        run = self._begun(starting_agent, input, options)
        given = self._options(run, options)
        with _within(run):
            result = super().run_streamed(starting_agent, input, **given)
        result.stream_events = functools.partial(self._chained, run, result, result.stream_events, given)
        return result

    # ── the run ─────────────────────────────────────────────────────────────

    async def _ran(self, run: Run, agent: Any, given: Any, options: Options) -> Any:
        with _within(run):
            try:
                return await super().run(agent, given, **options)
            except RunEnded as end:
                return ended_result(end)
            except Exception as error:  # a model's client raises what it likes; hooks hear of it, the caller gets it
                await _failed(run, error)
                raise

    async def _chained(self, run: Run, result: Any, first: Any, options: Options) -> AsyncIterator[Any]:
        """Yield the events of a run, and of each run that stop hooks ask for; the result is that of the last one."""
        latest, events = result, first
        while True:
            try:
                async for event in events():
                    yield event
            except RunEnded as end:
                result.final_output = end.reason
            except Exception as error:  # the same as above
                await _failed(run, error)
                await _left(run)
                raise
            if latest is not result:
                vars(result).update({key: value for key, value in vars(latest).items() if key != "stream_events"})
            if result.interruptions or not (again := await _sent_back(run, result)):
                await self._settled(run, result)
                return
            agent, more, options = continued(result, again, options)
            with _within(run):
                latest = super().run_streamed(agent, more, **options)
            events = latest.stream_events

    def _begun(self, agent: Any, given: Any, options: Options) -> Run:
        above = running.get()
        if isinstance(given, RunState):
            rehook(given)
            waiting = self._paused if above is None else above.paused
            found = next((waiting[one] for one in call_ids(given.get_interruptions()) if one in waiting), None)
            if found is not None:
                return found
        name = _conversation(options)
        source = "resume" if is_history(given) else "startup"
        turn = self.bridge.turn(name, agent=agent_name(agent), source=source)
        text = None if isinstance(given, RunState) else prompt_text(given)
        lasting = name is not None or bool(turn.agent_id)
        return Run(turn, above=above, prompt=text, lasting=lasting, delta=_server_managed(options))

    async def _settled(self, run: Run, result: Any) -> None:
        """Keep a run that waits for a person; end a conversation that cannot continue."""
        if result.interruptions:
            (self._paused if run.above is None else run.above.paused).update(
                dict.fromkeys(call_ids(result.interruptions), run)
            )
            if run.within is not None:
                run.within.paused = True
        else:
            for name in [name for name, one in self._paused.items() if one is run]:
                del self._paused[name]
            await _left(run)

    def _options(self, run: Run, options: Options) -> dict[str, Any]:
        """Return the arguments of a run with our filter before each model call, and our watch."""
        given = options.get("run_config")
        config = RunConfig(**given) if isinstance(given, Mapping) else given or RunConfig()
        changed = _replaced(
            config,
            call_model_input_filter=_Requests(config.call_model_input_filter),
            tool_error_formatter=_Errors(config.tool_error_formatter),
            session_input_callback=_Sessions(run, config.session_input_callback),
        )
        return {**options, "run_config": changed, "hooks": _Watch(options.get("hooks"))}


def _replaced(config: RunConfig, **fields: Any) -> RunConfig:
    """Return a copy of a configuration; a subclass may have its own constructor, so none is called."""
    copied: RunConfig = object.__new__(type(config))
    vars(copied).update({**vars(config), **fields})
    return copied


def _conversation(options: Options) -> str | None:
    """Return the id of the conversation that a run belongs to; None if the SDK has none for it."""
    session = options.get("session")
    if session is not None:
        return str(session.session_id)
    config = options.get("run_config")
    group = config.get("group_id") if isinstance(config, Mapping) else getattr(config, "group_id", None)
    found = options.get("conversation_id") or group
    return str(found) if found else None


def _server_managed(options: Options) -> bool:
    names = ("conversation_id", "previous_response_id", "auto_previous_response_id")
    return any(options.get(name) for name in names)


@contextmanager
def _within(run: Run) -> Iterator[None]:
    token = running.set(run)
    try:
        yield
    finally:
        running.reset(token)


async def _prompted(run: Run) -> None:
    """Fire SessionStart and UserPromptSubmit once; raise HooksRefused for a prompt that hooks refuse."""
    if run.prompted:
        return
    run.prompted = True
    if run.prompt is None:  # the run continues with the answer of a person
        await run.turn.later((await run.turn.start()).notes)
        return
    order = await run.turn.prompt(run.prompt)
    if order.refusal is not None:
        raise HooksRefused(order.refusal)
    await run.turn.later(order.notes)


async def _sent_back(run: Run, result: Any) -> tuple[str, ...]:
    """Fire SubagentStop for an agent that took over, then Stop; return what sends the agent back to work."""
    if run.ended is not None:
        return ()
    answer = result.final_output if isinstance(result.final_output, str) else str(result.final_output)
    if run.took_over is not None:
        order = await run.took_over.stop(answer)
        if order.again:
            return order.again
    return (await run.turn.stop(answer, run.taken())).again


async def _failed(run: Run, error: Exception) -> None:
    """Fire StopFailure if the model was being called."""
    if run.asking:
        run.asking = False
        await run.turn.broke(str(error) or type(error).__name__)


async def _left(run: Run) -> None:
    if not run.lasting:
        await run.turn.end()


# ── model calls ─────────────────────────────────────────────────────────────


class _Requests:
    """The filter before each model call: checks that hooks saw every result, and adds the texts that wait."""

    def __init__(self, own: Any) -> None:
        self._own = own

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Fire PostToolBatch, then let the model be called."""
        run = current()
        await _prompted(run)
        run.handoffs |= handoff_names(data.agent)
        items = data.model_data.input
        for call, reason in run.refused(items):
            await run.active.denied(call, reason)
        if run.ended is None:
            order = await run.active.request([*results(items, run.handoffs), *run.taken()])
            if order.refusal is not None:
                raise HooksRefused(order.refusal)
            run.ended = order.stop
            run.added += [(len(items), item) for item in user_items(order.notes)]
        if run.ended is not None:
            raise RunEnded(run.ended)
        changed = ModelInputData(input=_with(items, run), instructions=data.model_data.instructions)
        if self._own is None:
            return changed
        own = self._own(CallModelData(model_data=changed, agent=data.agent, context=data.context))
        return await result_of(own)


def _with(items: Sequence[Any], run: Run) -> list[Any]:
    """Return the input of a model with the texts of hooks, each in its place."""
    out = list(items)
    for place, item in reversed(run.added):
        out.insert(min(place, len(out)), item)
    if run.delta:  # the service keeps them
        run.added.clear()
    return out


class _Sessions:
    """Asks hooks about a prompt before a session stores it."""

    def __init__(self, run: Run, own: Any) -> None:
        self._run = run
        self._own = own

    async def __call__(self, history: list[Any], new: list[Any]) -> list[Any]:
        """Return the input of the run: history and new items, or what the program's own function makes of them."""
        await _prompted(self._run)
        if self._own is None:
            return [*history, *new]
        return await result_of(self._own(history, new))


class _Errors:
    """Notes which tools failed: the SDK turns their exceptions into text."""

    def __init__(self, own: Any) -> None:
        self._own = own

    async def __call__(self, args: Any) -> str | None:
        """Return the program's own message, or None for that of the SDK."""
        if args.kind == "tool_exception":
            current().failures[args.call_id] = str(args.error) or type(args.error).__name__
        return await result_of(self._own(args)) if self._own is not None else None


class _Watch(RunHooks[Any]):
    """Watches model calls and handoffs, and passes everything on to the program's own hooks."""

    def __init__(self, own: RunHooks[Any] | None) -> None:
        self._own = own if own is not None else RunHooks()

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
        """Note that the model is being called."""
        current().asking = True
        await self._own.on_llm_start(context, agent, system_prompt, input_items)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """Note what the provider ran itself; calls without arguments that can be read must not ask a person."""
        run = current()
        run.asking = False
        run.provider += hosted(response.output)
        for item in unparsed(agent, response.output):
            context.approve_tool(item)
        await self._own.on_llm_end(context, agent, response)

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        """Pass it on."""
        await self._own.on_agent_start(context, agent)

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        """Pass it on."""
        await self._own.on_agent_end(context, agent, output)

    async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
        """Fire SubagentStart: the agent takes over, and SubagentStop for one that took over before."""
        run = current()
        if run.took_over is not None:
            await run.took_over.later((await run.took_over.stop("")).again)
        with run.turn.inside():
            run.took_over = run.turn.bridge.turn(agent=agent_name(to_agent))
        await run.took_over.later((await run.took_over.start()).notes)
        await self._own.on_handoff(context, from_agent, to_agent)

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        """Pass it on."""
        await self._own.on_tool_start(context, agent, tool)

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        """Pass it on."""
        await self._own.on_tool_end(context, agent, tool, result)


# ── tools ───────────────────────────────────────────────────────────────────


def reach_tools() -> None:
    """Let agents that run in a hooked run have hooked tools: the one method that every path to a tool passes."""
    own = AgentBase.get_all_tools
    if hasattr(own, "__wrapped__"):
        return

    @functools.wraps(own)
    async def get_all_tools(self: Any, run_context: Any) -> list[Any]:
        tools = await own(self, run_context)
        run = running.get()
        if run is None:
            return tools
        run.turn.bridge.check(fields_of(tools))
        return [hooked(tool) for tool in tools]

    AgentBase.get_all_tools = get_all_tools
