"""The rules that need a run: fire samples at trusted hooks, in a copy of the project, through the engine."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator

import msgspec
from msgspec.structs import replace

from hookwright.config import Places
from hookwright.config.locations import Surroundings
from hookwright.config.trust import TrustPolicy
from hookwright.executors.command import CommandExecutor
from hookwright.hookset import HookSet
from hookwright.lint.found import finding
from hookwright.lint.model import Finding
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

#: Context from here on is close to the limit, and above it the model gets a preview.
_LONG, _TOO_LONG = 8_000, 10_000
#: Seconds; the agent waits for these events at every call.
_BUDGET = {"PreToolUse": 0.1, "PostToolUse": 0.1, "PermissionRequest": 0.1, "UserPromptSubmit": 0.3}
_PATIENCE = 1.0
#: A hook that goes on longer is ended.
_LIMIT = 20.0
#: The engine reads half a second more from a pipe that a child holds.
_HELD = 0.35
_LOOPBACK = re.compile(r"https?://(?:localhost|127(?:\.\d+){3}|\[::1\])(?:[:/]|$)")

Tell = Callable[[str], None]


class Tried(msgspec.Struct, frozen=True):
    """One hook, one sample, and what came of it."""

    hook: CheckedHook
    event: Event
    outcome: Outcome

    @property
    def run(self) -> Run | None:
        """Give the run, or None when the hook was not selected."""
        return self.outcome.runs[0] if self.outcome.runs else None


async def run_hooks(subject: Subject, trusted: Callable[[CheckedHook], bool], tell: Tell) -> list[Finding]:
    """Fire samples at every trusted hook of the project and look at what they do."""
    chosen = [hook for hook in subject.hooks if _can_run(hook)]
    found: list[Finding] = []
    for project in dict.fromkeys(hook.reach.project_dir for hook in chosen):
        own = [hook for hook in chosen if hook.reach.project_dir == project]
        held = [hook for hook in own if not trusted(hook)]
        if held:
            tell(f"{len(held)} hooks of {project} are not trusted and were not run: hookwright trust, or --trust")
        ready = [hook for hook in own if hook not in held]
        if ready:
            found += await _run_project(project, ready, subject, tell)
    return found


def _can_run(hook: CheckedHook) -> bool:
    """Tell whether a hook can be tried: a command in the foreground, or an endpoint on this machine."""
    handler = hook.handler
    if isinstance(handler, CommandHandler):
        return not handler.background and hook.document.committed | (hook.document.scope.value == "local")
    return isinstance(handler, HttpHandler) and bool(_LOOPBACK.match(handler.url))


async def _run_project(project: str, hooks: list[CheckedHook], subject: Subject, tell: Tell) -> list[Finding]:
    found: list[Finding] = []
    with trial_place(project, subject.options.env) as place:
        places = Places(project=place.project, env=place.env, trust=TrustPolicy.EVERYTHING)
        async with open_session(places, frozen=True) as session:
            for hook in hooks:
                tell(f"run {hook.event} {hook.handler.label}")
                for event in samples_of(hook, place):
                    tried = Tried(hook, event, await _fire(session, hook, event))
                    found += _answers(tried)
                    found += _statuses(tried)
                    found += await _costs(tried, place)
    return found


def samples_of(hook: CheckedHook, place: TrialPlace) -> Iterator[Event]:
    """Make an ordinary event that the hook would run for: a tool that its matcher covers, a value of its event."""
    rules = CATALOGUE[hook.event].rules
    cwd = place.project
    if rules.target == "tool_name":
        tool = next((name for name in tool_names() if hook.matcher.matches(name)), None)
        tool = tool if tool is not None else "mcp__server__tool"
        yield sample(hook.event, cwd=cwd, **sample_fields(hook.event, cwd, tool))
    elif rules.target is not None and rules.values:
        value = next((value for value in rules.values if hook.matcher.matches(value)), rules.values[0])
        yield sample(hook.event, cwd=cwd, **{rules.target: value})
    else:
        yield sample(hook.event, cwd=cwd)


async def _fire(session: HookSession, hook: CheckedHook, event: Event) -> Outcome:
    """Run this one hook, whatever its `if` says."""
    handler: Handler = replace(hook.handler, condition=None, timeout=min(hook.handler.timeout or _LIMIT, _LIMIT))
    session.engine.hooks = HookSet.build([MatcherGroup(hook.event, None, (handler,))])
    return await session.engine.fire(event)


# ── answers ─────────────────────────────────────────────────────────────────


def _answers(tried: Tried) -> Iterator[Finding]:
    """HK501 to HK503, HK507, HK510 and HK515: what was printed."""
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
        yield from _echo(tried, stdout)
        yield from _shape(tried, answer)
    elif answer.code == "broken-json":
        yield from _broken(tried, stdout.strip(), answer.message)
    yield from _length(tried, answer)


def _place(tried: Tried, rule: str, what: str, write: str) -> Finding:
    key = "url" if isinstance(tried.hook.handler, HttpHandler) else "command"
    return finding(rule, tried.hook.place(key), what, write)


def _broken(tried: Tried, text: str, message: str) -> Iterator[Finding]:
    end = _first_document(text)
    if end is not None and text[end:].lstrip().startswith("{"):
        offset = len(text) - len(text[end:].lstrip())
        what = f"With a sample it printed two JSON documents, the second from character {offset} on; both are void."
        yield _place(tried, "HK502", what, "One object with all fields.")
        return
    problem = message.partition("—")[2].strip()
    what = f"With a sample it printed something that looks like JSON and is none: {problem}."
    yield _place(tried, "HK501", what, "`jq -n --arg` or json.dumps, which quote by themselves.")


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
            f'With a sample it printed "{first}" before the JSON: all of it is plain text, and the decision '
            "is not read."
        )
        yield _place(tried, "HK503", what, "JSON alone on stdout; everything else with `>&2`.")


def _echo(tried: Tried, stdout: str) -> Iterator[Finding]:
    value = json.loads(stdout.removeprefix("\ufeff"))
    if isinstance(value, dict) and {"session_id", "hook_event_name"} <= value.keys():
        what = "With a sample it printed the event itself: no key of it is read, and no decision is made."
        yield _place(tried, "HK507", what, "An answer, or nothing.")


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
        what = f"{tool} answers with an object; this rewrite does not fit, so it is ignored and the original is shown."
        yield _place(tried, "HK515", what, "The object of `tool_response` with its fields changed.")


def _length(tried: Tried, answer: PlainText | Output | UnusableOutput) -> Iterator[Finding]:
    rules = CATALOGUE[tried.hook.event].rules
    texts = []
    if isinstance(answer, Output):
        texts = [text for text in (answer.specific.get("additional_context"), answer.system_message) if text]
    elif isinstance(answer, PlainText) and rules.plain is Plain.CONTEXT:
        texts = [answer.text]
    size = max((len(text) for text in texts if isinstance(text, str)), default=0)
    if size > _LONG:
        effect = (
            "the model gets a preview of 2,000"
            if size > _TOO_LONG
            else f"above {_TOO_LONG:,} the model gets a preview only"
        )
        what = f"With a sample the context has {size:,} characters; {effect}."
        yield _place(tried, "HK510", what, "The essence, and the path of a file for the rest.")


def _statuses(tried: Tried) -> Iterator[Finding]:
    """HK517: endpoints whose answer counts for nothing."""
    run = tried.run
    if run is not None and isinstance(run.reply, Failed) and isinstance(tried.hook.handler, HttpHandler):
        what = (
            f"Asked with a sample, the endpoint gave no usable answer ({run.reply.message}): "
            f"{tried.hook.event} goes on."
        )
        yield _place(tried, "HK517", what, "2xx with a JSON decision.")


# ── cost ────────────────────────────────────────────────────────────────────


async def _costs(tried: Tried, place: TrialPlace) -> list[Finding]:
    """HK703 and HK706: time, and output that stays open."""
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
            f"A child stays behind and keeps stdout or stderr open: the agent waits {held:.1f} s more for it "
            "at every call."
        )
        found.append(_place(tried, "HK706", what, "`>/dev/null 2>&1 </dev/null &` for whatever stays behind."))
    if seconds > budget:
        what = (
            f"The fastest of three runs took {seconds * 1000:.0f} ms; the budget of {tried.hook.event} is "
            f"{budget * 1000:.0f} ms, and the agent waits."
        )
        found.append(
            _place(tried, "HK703", what, "Less work, a narrower matcher, or `async` where nobody needs the answer.")
        )
    return found


async def _measured(tried: Tried, place: TrialPlace) -> tuple[float, float]:
    """Run the command twice more; give its shortest time, and how long its output stayed open after its end."""
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


def without_doubles(run: Iterable[Finding], static: Iterable[Finding], subject: Subject) -> list[Finding]:
    """Leave out what a look at the same hook's files already told."""
    told = {(item.rule, item.at.path) for item in static}
    kept = []
    for item in run:
        hooks = [hook for hook in subject.hooks if hook.document.path == item.at.path]
        here = [hook for hook in hooks if item.at.pointer.startswith(hook.place().pointer)]
        paths = {item.at.path, *(script.path for hook in here for script in hook.launch.scripts)}
        if not any((item.rule, path) in told for path in paths if os.path.isabs(path)):
            kept.append(item)
    return kept
