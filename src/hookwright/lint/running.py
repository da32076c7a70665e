"""Rules that need a run: fire sample events at trusted hooks, in a copy of the project, through the engine."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator

import msgspec
from msgspec.structs import replace

from hookwright.config import Places
from hookwright.config.locations import Surroundings
from hookwright.config.trust import TrustPolicy
from hookwright.executors.command import CommandExecutor
from hookwright.hookset import HookSet
from hookwright.lint.checks.output import inert_answer, not_json, text_before_json, two_documents, wrong_output_shape
from hookwright.lint.found import finding
from hookwright.lint.model import Finding, Position
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.lint.trial import TrialPlace, trial_place
from hookwright.processes import process
from hookwright.protocol.events import CATALOGUE, Event, Plain
from hookwright.protocol.handlers import CommandHandler, Handler, HttpHandler, MatcherGroup
from hookwright.protocol.job import Job
from hookwright.protocol.outcome import Outcome, Run
from hookwright.protocol.replies import Exited, Failed
from hookwright.protocol.samples import sample, sample_fields, tool_names
from hookwright.protocol.wire import Output, PlainText, UnusableOutput, encode_event, read_stdout
from hookwright.session import HookSession, open_session

#: Characters of context: close to the limit, and above it, where the model gets only a preview.
_LONG, _TOO_LONG = 8_000, 10_000
#: Seconds a hook may take on events the agent waits for at every call.
_BUDGET = {"PreToolUse": 0.1, "PostToolUse": 0.1, "PermissionRequest": 0.1, "UserPromptSubmit": 0.3}
_PATIENCE = 1.0
#: Seconds after which a hook is stopped.
_LIMIT = 20.0
#: Seconds; the engine reads for another half a second from a pipe that a child keeps open.
_HELD = 0.35
_LOOPBACK = re.compile(r"https?://(?:localhost|127(?:\.\d+){3}|\[::1\])(?:[:/]|$)")

Report = Callable[[str], None]


class Tried(msgspec.Struct, frozen=True):
    """One hook, one sample event, and the outcome."""

    hook: CheckedHook
    event: Event
    outcome: Outcome

    @property
    def run(self) -> Run | None:
        """The run, or None when the hook was not selected."""
        return self.outcome.runs[0] if self.outcome.runs else None


async def run_hooks(subject: Subject, trusted: Callable[[CheckedHook], bool], report: Report) -> list[Finding]:
    """Fire sample events at every trusted hook of the project and check what the hooks do."""
    chosen = [hook for hook in subject.hooks if _can_run(hook)]
    found: list[Finding] = []
    for project in dict.fromkeys(hook.reach.project_dir for hook in chosen):
        own = [hook for hook in chosen if hook.reach.project_dir == project]
        held = [hook for hook in own if not trusted(hook)]
        if held:
            report(f"{_counted(held)} of {project} not trusted and not run. Type `hookwright trust`, or add --trust.")
        ready = [hook for hook in own if hook not in held]
        if ready:
            found += await _run_project(project, ready, subject, report)
    return found


def _counted(hooks: list[CheckedHook]) -> str:
    return "1 hook" if len(hooks) == 1 else f"{len(hooks)} hooks"


def _can_run(hook: CheckedHook) -> bool:
    """Return whether a hook can be tried: a foreground command, or an HTTP endpoint on this machine."""
    handler = hook.handler
    if isinstance(handler, CommandHandler):
        return not handler.background and hook.document.committed | (hook.document.scope.value == "local")
    return isinstance(handler, HttpHandler) and bool(_LOOPBACK.match(handler.url))


async def _run_project(project: str, hooks: list[CheckedHook], subject: Subject, report: Report) -> list[Finding]:
    found: list[Finding] = []
    with trial_place(project, subject.options.env) as place:
        places = Places(project=place.project, env=place.env, trust=TrustPolicy.EVERYTHING)
        async with open_session(places, frozen=True) as session:
            for hook in hooks:
                report(f"run {hook.event} {hook.handler.label}")
                event = sample_for(hook, place.project)
                tried = Tried(hook, event, await _fire(session, hook, event))
                found += [*_answers(tried), *_statuses(tried), *await _costs(tried, place)]
    return found


def sample_for(hook: CheckedHook, cwd: str) -> Event:
    """Return an ordinary event the hook would run for: a tool its matcher covers, or a value of its event."""
    rules = CATALOGUE[hook.event].rules
    if rules.target == "tool_name":
        tool = next((name for name in tool_names() if hook.matcher.matches(name)), None)
        tool = tool if tool is not None else "mcp__server__tool"
        return sample(hook.event, cwd=cwd, **sample_fields(hook.event, cwd, tool))
    if rules.target is not None and rules.values:
        value = next((value for value in rules.values if hook.matcher.matches(value)), rules.values[0])
        return sample(hook.event, cwd=cwd, **{rules.target: value})
    return sample(hook.event, cwd=cwd)


async def _fire(session: HookSession, hook: CheckedHook, event: Event) -> Outcome:
    """Run this one hook, without its `if`."""
    handler: Handler = replace(hook.handler, condition=None, timeout=min(hook.handler.timeout or _LIMIT, _LIMIT))
    session.engine.replace_hooks(HookSet.build([MatcherGroup(hook.event, None, (handler,))]))
    return await session.engine.fire(event)


# ── answers ─────────────────────────────────────────────────────────────────


def _answers(tried: Tried) -> Iterator[Finding]:
    """Check what the hook printed."""
    run = tried.run
    reply = run.reply if run is not None else None
    if not isinstance(reply, Exited):
        return
    stdout = reply.stdout.decode("utf-8", "replace")
    rules = CATALOGUE[tried.hook.event].rules
    if rules.plain is Plain.PATH:
        return
    answer = read_stdout(stdout, tried.hook.event, rules)
    if isinstance(answer, PlainText):
        yield from _leading_text(tried, answer.text)
    elif isinstance(answer, Output):
        echoed = list(_echo(tried, stdout))
        yield from echoed or _inert(tried, answer)
        yield from _shape(tried, answer)
    elif answer.code == "broken-json":
        yield from _broken(tried, stdout.strip(), answer.message)
    yield from _length(tried, answer)


def _at(tried: Tried) -> Position:
    return tried.hook.place("url" if isinstance(tried.hook.handler, HttpHandler) else "command")


def _broken(tried: Tried, text: str, message: str) -> Iterator[Finding]:
    end = _first_document(text)
    if end is not None and text[end:].lstrip().startswith("{"):
        offset = len(text) - len(text[end:].lstrip())
        what = (
            f"Run with a sample event, it printed two JSON documents, the second at character {offset}; both are void."
        )
        yield two_documents(_at(tried), what)
        return
    problem = message.partition("—")[2].strip()
    what = f"Run with a sample event, it printed text that looks like JSON but is not valid: {problem}."
    yield not_json(_at(tried), what)


def _first_document(text: str) -> int | None:
    try:
        return json.JSONDecoder().raw_decode(text)[1]
    except ValueError:
        return None


def _leading_text(tried: Tried, text: str) -> Iterator[Finding]:
    start = text.find("{")
    if start <= 0:
        return
    try:
        value = json.loads(text[start:])
    except ValueError:
        return
    if isinstance(value, dict) and value.keys() & {"hookSpecificOutput", "decision", "continue", "systemMessage"}:
        first = text[:start].strip().splitlines()[0][:60]
        what = (
            f'Run with a sample event, it printed "{first}" before the JSON: the whole output is plain text, and the '
            "decision is not read."
        )
        yield text_before_json(_at(tried), what)


def _echo(tried: Tried, stdout: str) -> Iterator[Finding]:
    """HK507: the event printed back."""
    value = json.loads(stdout.removeprefix("\ufeff"))
    if isinstance(value, dict) and {"session_id", "hook_event_name"} <= value.keys():
        what = "Run with a sample event, it printed the event itself: none of its keys is read, and nothing is decided."
        yield finding("HK507", _at(tried), what, "Print an answer, or nothing.")


def _inert(tried: Tried, answer: Output) -> Iterator[Finding]:
    if answer.unknown and msgspec.structs.replace(answer, unknown=(), repeated=()) == Output():
        what = f"Run with a sample event, it printed an answer of which nothing is read: {answer.unknown[0]}."
        yield inert_answer(_at(tried), tried.hook, what)


def _shape(tried: Tried, answer: Output) -> Iterator[Finding]:
    rewritten = answer.specific.get("updated_tool_output")
    given = getattr(tried.event, "tool_response", None)
    tool = getattr(tried.event, "tool_name", "")
    if (
        rewritten is not None
        and isinstance(given, dict)
        and not isinstance(rewritten, dict)
        and not tool.startswith("mcp__")
    ):
        what = f"{tool} returns an object; this rewrite is not one, so it is ignored and the original is shown."
        yield wrong_output_shape(_at(tried), what)


def _length(tried: Tried, answer: PlainText | Output | UnusableOutput) -> Iterator[Finding]:
    """HK510: context too long for the model to read in full."""
    rules = CATALOGUE[tried.hook.event].rules
    texts = []
    if isinstance(answer, Output):
        texts = [text for text in (answer.specific.get("additional_context"), answer.system_message) if text]
    elif isinstance(answer, PlainText) and rules.plain is Plain.CONTEXT:
        texts = [answer.text]
    size = max((len(text) for text in texts if isinstance(text, str)), default=0)
    if size > _LONG:
        effect = (
            "the model gets only the first 2,000"
            if size > _TOO_LONG
            else f"above {_TOO_LONG:,} the model gets only a preview"
        )
        what = f"Run with a sample event, its context has {size:,} characters; {effect}."
        yield finding("HK510", _at(tried), what, "Print a summary and the path of a file with the rest.")


def _statuses(tried: Tried) -> Iterator[Finding]:
    """HK517: endpoints whose answer has no effect."""
    run = tried.run
    if run is not None and isinstance(run.reply, Failed) and isinstance(tried.hook.handler, HttpHandler):
        what = (
            f"Called with a sample event, the endpoint gave no usable answer ({run.reply.message}): "
            f"{tried.hook.event} proceeds."
        )
        yield finding("HK517", _at(tried), what, "Answer with status 2xx and a JSON decision.")


# ── cost ────────────────────────────────────────────────────────────────────


async def _costs(tried: Tried, place: TrialPlace) -> list[Finding]:
    """HK703 and HK706: slow hooks, and output that stays open."""
    run = tried.run
    if run is None or not isinstance(tried.hook.handler, CommandHandler) or not isinstance(run.reply, Exited):
        return []
    budget = _BUDGET.get(tried.hook.event, _PATIENCE)
    if run.timing.seconds <= min(budget, _HELD):
        return []
    seconds, held = await _measured(tried, place)
    found = []
    if held:
        what = (
            f"A child process keeps stdout or stderr open after the hook exits: the agent waits {held:.1f} s longer "
            "at every call."
        )
        write = "Start it with `>/dev/null 2>&1 </dev/null &`."
        found.append(finding("HK706", _at(tried), what, write))
    if seconds > budget:
        what = (
            f"The fastest of three runs took {seconds * 1000:.0f} ms; the budget for {tried.hook.event} is "
            f"{budget * 1000:.0f} ms, and the agent waits."
        )
        write = "Do less work, narrow the matcher, or set `async` if the answer is not needed."
        found.append(finding("HK703", _at(tried), what, write))
    return found


async def _measured(tried: Tried, place: TrialPlace) -> tuple[float, float]:
    """Run the command twice more; return its shortest time, and how long its output stayed open after it exited."""
    host = Surroundings.here(place.env, None, None).host(place.project)
    executor = CommandExecutor(host)
    job = Job(tried.hook.handler, tried.event, encode_event(tried.event), 0, "check", _LIMIT)
    assert tried.run is not None
    times = [tried.run.timing.seconds]
    held = []
    for _ in range(2):
        started = time.perf_counter()
        ended = await process.run(executor.command(job), _LIMIT)
        if isinstance(ended, process.Exit):
            total = time.perf_counter() - started
            times.append(ended.seconds)
            held.append(total - ended.seconds)
    return min(times), min(held) if held and min(held) > _HELD else 0.0
