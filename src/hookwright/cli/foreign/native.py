"""`explain --agent` and `fire --agent`: an agent's own hooks, and what that agent does with them."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Sequence

import msgspec

from hookwright.cli.foreign.inventory import surroundings
from hookwright.cli.options import read_event
from hookwright.cli.terminal import Style, columns, folded
from hookwright.config.locations import Surroundings
from hookwright.dialects.model import AnswerEffect, Dialect, FileScope, Layout, Moment
from hookwright.dialects.portability import evidence
from hookwright.dialects.reading.chosen import Chosen, chosen_hooks
from hookwright.dialects.reading.doubles import other_run
from hookwright.dialects.reading.model import AgentHooks, ForeignHook
from hookwright.dialects.reading.payloads import claude_tool, native_payload
from hookwright.dialects.reading.read import read_agent
from hookwright.dialects.reading.running import Ran, Setting, run_hooks, verdict
from hookwright.dialects.reading.trust import TrustNotes, read_trust
from hookwright.dialects.table import dialect
from hookwright.errors import ConfigError, InvalidEvent
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import payload
from hookwright.text import did_you_mean, escaped, flat, harmless, one_line, plural, say, short_path

PROCEED, BLOCKED = 0, 2
_WORDS = {
    AnswerEffect.RUNS: "proceeds",
    AnswerEffect.REFUSED: "is refused",
    AnswerEffect.ENDS: "is refused, and the turn ends",
    AnswerEffect.ASKS: "waits for the user's answer",
    AnswerEffect.HANGS: "waits without an end where no user can answer",
    AnswerEffect.REWRITTEN: "proceeds with the rewritten input",
}


class Firing(msgspec.Struct, frozen=True, kw_only=True):
    """One event of one agent, with the hooks that its files declare for it."""

    table: Dialect
    moment: Moment
    payload: dict[str, Json]
    read: AgentHooks
    chosen: tuple[Chosen, ...]
    trust: TrustNotes
    around: Surroundings
    project: str

    def place(self, hook: ForeignHook) -> str:
        """Return the place of a hook as people read it."""
        return f"{short_path(hook.path, self.around.cwd, self.around.home)}:{hook.line}"


def firing(args: argparse.Namespace) -> Firing:
    """Read the event and the agent's hooks; raise for an agent without a configuration of hooks."""
    table = dialect(args.agent)
    if all(file.layout is Layout.CODE for file in table.files):
        raise ConfigError(
            f"{table.title} runs plugins instead of configured hooks; --agent {table.name} is not covered"
        )
    if args.event is None:
        raise InvalidEvent(f"name an event of {table.title}: {', '.join(moment.name for moment in table.moments)}")
    moment = _moment(table, args.event)
    args.event = moment.claude
    if args.tool is not None:
        args.tool = claude_tool(table, args.tool)
    around, project = surroundings(args.project)
    sent = native_payload(table, moment, payload(read_event(args)))
    read = read_agent(table, around, project)
    return Firing(
        table=table,
        moment=moment,
        payload=sent,
        read=read,
        chosen=tuple(chosen_hooks(read, moment, sent)),
        trust=read_trust(table, around),
        around=around,
        project=project,
    )


def _moment(table: Dialect, name: str) -> Moment:
    found = table.moment(name) or table.moment_of(name)
    names = [moment.name for moment in table.moments]
    if found is None:
        raise InvalidEvent(f"{table.title} has no event `{name}`; it has {', '.join(names)}{did_you_mean(name, names)}")
    if not found.claude:
        raise InvalidEvent(f"`{name}` of {table.title} has no counterpart in Claude Code, so there is no sample of it")
    return found


def explain_native(args: argparse.Namespace) -> int:
    """Print for every hook of an agent why it runs or not at an event; nothing is run."""
    fired = firing(args)
    if args.json:
        print(json.dumps([_record(fired, one) for one in fired.chosen], indent=1))
        return PROCEED
    style = Style.of(sys.stdout)
    say(folded([*_head(fired, style), *_chains(fired, style)], columns(sys.stdout)), sys.stdout)
    return PROCEED


def _head(fired: Firing, style: Style) -> Iterator[str]:
    yield style.bold(f"{fired.moment.name} in {fired.table.title}") + style.dim(
        f"  {plural(len(fired.chosen), 'hook')}  [{evidence(fired.table, fired.moment.proof)}]"
    )
    if fired.moment.note:
        yield style.dim(f"  {fired.moment.note}")
    for problem in fired.read.problems:
        place = f"{short_path(problem.path, fired.around.cwd, fired.around.home)}:{problem.line}"
        yield f"  {style.bad('problem')}: {flat(place)}: {flat(problem.what)}"


def _chains(fired: Firing, style: Style) -> Iterator[str]:
    for one in fired.chosen:
        hook = one.hook
        yield f"  {style.good('✓') if one.fails is None else style.dim('–')} {one_line(hook.label)}"
        yield f"      source   {flat(fired.place(hook))}"
        yield f"      {one.fails.value.ljust(8) if one.fails is not None else 'matcher '} {flat(one.why)}"
        noted = fired.trust.of(hook, fired.project) or fired.table.trust
        yield f"      trust    {flat(noted)}"
        limit = f"{hook.limit:g} s" if hook.limit is not None else "none"
        yield f"      limit    {limit}; after it, {fired.table.title} {fired.table.answers.on_timeout.value}"
        other = other_run(hook, fired.read.hooks)
        if other is not None:
            yield f"      {style.warn(f'twice    also {flat(fired.place(other))}')}"
    if not fired.chosen:
        yield "  no hooks for this event"


def _record(fired: Firing, one: Chosen) -> dict[str, Json]:
    return {
        "agent": fired.table.name,
        "event": fired.moment.name,
        "command": one.hook.label,
        "source": f"{one.hook.path}:{one.hook.line}",
        "would_run": one.fails is None,
        "fails": one.fails.value if one.fails is not None else None,
        "why": one.why,
        "limit": one.hook.limit,
        "trust": fired.trust.of(one.hook, fired.project) or None,
    }


def fire_native(args: argparse.Namespace) -> int:
    """Run an agent's hooks for an event and print what that agent does after their answers."""
    fired = firing(args)
    if args.show_event:
        say([escaped(json.dumps(fired.payload, ensure_ascii=False))], sys.stdout)
        return PROCEED
    _refuse_options(args)
    held = [one.hook for one in fired.chosen if one.fails is None and not _may_run(one.hook, trusted=args.trust)]
    hooks = [one.hook for one in fired.chosen if one.fails is None and _may_run(one.hook, trusted=args.trust)]
    setting = Setting(project=fired.project, env=fired.around.env)
    ran = asyncio.run(run_hooks(hooks, fired.moment, fired.payload, setting))
    final = verdict(fired.table, ran)
    status = BLOCKED if final.effect in (AnswerEffect.REFUSED, AnswerEffect.ENDS) else PROCEED
    if args.json:
        print(json.dumps(_outcome(fired, ran, held), indent=1))
        return status
    style = Style.of(sys.stdout)
    lines = [*_head(fired, style), *_ran(fired, ran, style)]
    lines += [f"  – {one_line(one.hook.label)}: {flat(one.why)}" for one in fired.chosen if one.fails is not None]
    untrusted = "it came with the project and was not run; review it, then add --trust"
    lines += [f"  {style.warn('–')} {one_line(hook.label)}  {flat(fired.place(hook))}: {untrusted}" for hook in held]
    shown = style.bad if status == BLOCKED else style.good
    proof = fired.table.answers.proof if fired.moment.claude == "PreToolUse" else fired.moment.proof
    unasked = f"; {plural(len(held), 'hook')} did not run and may refuse" if held and status == PROCEED else ""
    word = shown(_WORDS[final.effect])
    lines.append(f"the event {word}: {final.why}{unasked}  [{evidence(fired.table, proof)}]")
    say(folded(lines, columns(sys.stdout)), sys.stdout)
    return status


def _refuse_options(args: argparse.Namespace) -> None:
    for option in ("watch", "as_model", "inject", "sequential", "no_timeouts"):
        if getattr(args, option):
            raise ConfigError(f"--{option.replace('_', '-')} is about Hookwright's own engine; remove it, or --agent")


def _may_run(hook: ForeignHook, *, trusted: bool) -> bool:
    """Return whether a hook may run here: what came with a project runs only if the user says so."""
    own = hook.declared.scope in (FileScope.USER, FileScope.MANAGED) or hook.declared.path.startswith("~")
    return trusted or own


def _ran(fired: Firing, ran: Sequence[Ran], style: Style) -> Iterator[str]:
    for one in ran:
        status = f"exit {one.answer.status}" if one.answer is not None else "no answer"
        yield f"  {one_line(one.hook.label)}  {style.dim(f'{status}, {one.seconds * 1000:.0f} ms')}"
        for name, text in (("stdout", one.answer.stdout), ("stderr", one.answer.stderr)) if one.answer else ():
            if text.strip():
                yield f"      {name}: {one_line(harmless(text.strip()))}"
        noted = fired.trust.of(one.hook, fired.project)
        if noted:
            yield style.dim(f"      {flat(noted)}")
        what = f"{one.reading.why}: {fired.table.title} {one.reading.effect.value}"
        yield f"      {style.warn(flat(what)) if _lost(one) else flat(what)}"


def _lost(ran: Ran) -> bool:
    """Return whether Claude Code would have refused after this answer and the agent does not."""
    said = ran.answer is not None and (ran.answer.status == 2 or '"deny"' in ran.answer.stdout)
    return said and not ran.reading.stops


def _outcome(fired: Firing, ran: Sequence[Ran], held: Sequence[ForeignHook]) -> dict[str, Json]:
    final = verdict(fired.table, ran)
    return {
        "agent": fired.table.name,
        "event": fired.moment.name,
        "effect": final.effect.name.lower(),
        "why": final.why,
        "payload": fired.payload,
        "runs": [
            {
                "command": one.hook.label,
                "source": f"{one.hook.path}:{one.hook.line}",
                "status": one.answer.status if one.answer is not None else None,
                "stdout": one.answer.stdout if one.answer is not None else "",
                "stderr": one.answer.stderr if one.answer is not None else "",
                "effect": one.reading.effect.name.lower(),
                "why": one.reading.why,
            }
            for one in ran
        ],
        "not_trusted": [f"{hook.path}:{hook.line}" for hook in held],
        "skipped": [
            {"source": f"{one.hook.path}:{one.hook.line}", "why": one.why}
            for one in fired.chosen
            if one.fails is not None
        ],
    }
