"""Events, keys, variables and time limits of a handler in another agent."""

from __future__ import annotations

from collections.abc import Iterator

from hookwright.dialects.portability import habits, modest
from hookwright.lint.agents.hook import AgentHook
from hookwright.lint.guards import REFUSING, program_refusals
from hookwright.lint.model import Finding
from hookwright.protocol.jsontext import Json

#: Keys of Claude Code that change what a handler does.
_MEANINGFUL = {
    "if": "the hook runs for every call that the matcher selects",
    "once": "the hook runs every time",
    "args": "the command runs without its arguments",
    "async": "the agent waits for the hook",
    "asyncRewake": "the agent waits for the hook",
    "onFailure": "a hook that fails does not refuse",
    "shell": "another shell runs the command",
}


def check_settings(hook: AgentHook) -> Iterator[Finding]:
    """Check the declaration of a hook against what the agent reads."""
    yield from _event(hook)
    yield from _moment(hook)
    yield from _handler(hook)
    yield from _variables(hook)
    yield from _unit(hook)
    yield from _limit(hook)


def _event(hook: AgentHook) -> Iterator[Finding]:
    """HK904: an event the agent does not have, or has under another name."""
    if not hook.borrowed:
        return
    names = ", ".join(moment.name for moment in hook.dialect.moments)
    if hook.moment is None:
        what = f"{hook.title} has no event for {hook.event}; these hooks do not run there."
        yield hook.found("HK904", hook.event_spot, modest(hook.dialect), (what, f"Use one of {names}."))
    elif hook.moment.name != hook.event and not hook.dialect.loads_claude:
        what = f"{hook.title} calls {hook.event} `{hook.moment.name}`; under this name the hooks do not run there."
        write = f"Declare them under `{hook.moment.name}` in a file for {hook.title}."
        yield hook.found("HK904", hook.event_spot, hook.moment.proof, (what, write))


def _moment(hook: AgentHook) -> Iterator[Finding]:
    """HK915: an event that fires at other moments than Claude Code's."""
    moment = hook.moment
    if moment is None or moment.exported or not moment.note or not moment.claude:
        return
    what = f"`{moment.name}` of {hook.title} {moment.note}."
    write = "Do not rely on the moment: let the script find out whether there is something to do."
    yield hook.found("HK915", hook.event_spot, moment.proof, (what, write))


def _handler(hook: AgentHook) -> Iterator[Finding]:
    """HK901: a handler type or a key that the agent reads and ignores."""
    if hook.kind not in habits(hook.dialect).kinds:
        what = f"{hook.title} does not run `{hook.kind}` handlers."
        yield hook.found("HK901", hook.spot("type"), modest(hook.dialect), (what, "Use a command handler."))
    for key, effect in _MEANINGFUL.items() if hook.borrowed else ():
        if key in hook.entry and key not in hook.dialect.handler_keys and _set(hook.entry[key]):
            what = f"{hook.title} ignores `{key}`: {effect}."
            write = "Do the same inside the script, or use `hookwright export`."
            yield hook.found("HK901", hook.spot(key), modest(hook.dialect), (what, write))


def _set(value: Json) -> bool:
    return value not in (None, False, "continue")


def _variables(hook: AgentHook) -> Iterator[Finding]:
    """HK902: an environment variable that the agent does not set."""
    known = hook.dialect.environment
    unset = habits(hook.dialect).no_project_variable or (known and "CLAUDE_PROJECT_DIR" not in known)
    if not unset or "CLAUDE_PROJECT_DIR" not in hook.command or "${CLAUDE_PROJECT_DIR:-" in hook.command:
        return
    what = f"{hook.title} does not set CLAUDE_PROJECT_DIR: the path becomes `/…`, and every call ends with exit 127."
    write = 'Write `"${CLAUDE_PROJECT_DIR:-.}"/…`; the working directory is the project.'
    yield hook.found("HK902", hook.spot("command"), modest(hook.dialect), (what, write))


def _seconds(hook: AgentHook) -> float | None:
    value = hook.entry.get("timeout" if hook.borrowed else hook.dialect.clock.key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _unit(hook: AgentHook) -> Iterator[Finding]:
    """HK905: a time limit in another unit."""
    clock = hook.dialect.clock
    given = _seconds(hook)
    there = clock.seconds(given) if given is not None and clock.key == "timeout" else given
    if given is None or there is None:
        return
    if there != given if hook.borrowed else there < 1:
        what = f"The unit of {hook.title} is {clock.unit.value}: the hook is stopped after {there:g} s there."
        write = f'Set "timeout": {given * 1000:g} in a file for {hook.title}.'
        yield hook.found("HK905", hook.spot("timeout"), clock.proof, (what, write))


def _limit(hook: AgentHook) -> Iterator[Finding]:
    """HK912: a time limit that is longer than the agent's."""
    moment, clock = hook.moment, hook.dialect.clock
    if moment is None or hook.rules is None:
        return
    given = _seconds(hook)
    wanted = given if given is not None else hook.rules.timeout
    most, proof = (moment.limit, moment.proof) if moment.limit is not None else (None, clock.proof)
    if most is None and given is None and _guards(hook):
        most = clock.default
    if most is None or wanted <= most or (given is None and not _guards(hook) and moment.limit is None):
        return
    after = "is not stopped by it any more" if _guards(hook) else "continues without it"
    what = f"{hook.title} ends the hook after {most:g} s, Claude Code after {wanted:g} s; the event {after}."
    at = hook.spot("timeout" if given is not None else "command")
    yield hook.found("HK912", at, proof, (what, f"Make it fast, and set `timeout` to at most {most:g} s."))


def _guards(hook: AgentHook) -> bool:
    refusing = hook.rules is not None and hook.rules.exit_2 in REFUSING
    return refusing and any(program_refusals(program) for program in hook.launch.deciding)
