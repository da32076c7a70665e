"""Run the hooks of an agent as the agent does, and read their answers as it reads them, its faults included."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence

import msgspec

from hookwright.dialects.model import AnswerEffect, Dialect, Moment
from hookwright.dialects.native import NativeAnswer, NativeReading, obeyed, read_before_call
from hookwright.dialects.portability import habits
from hookwright.dialects.reading.model import ForeignHook
from hookwright.processes import process
from hookwright.protocol.jsontext import Json, parse_json

_BEFORE_CALL = "PreToolUse"


class Ran(msgspec.Struct, frozen=True, eq=False):
    """One hook after its run."""

    hook: ForeignHook
    answer: NativeAnswer | None
    reading: NativeReading
    seconds: float = 0.0


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """Where hooks run."""

    project: str
    env: Mapping[str, str]


async def run_hooks(
    hooks: Sequence[ForeignHook], moment: Moment, payload: Mapping[str, Json], setting: Setting
) -> list[Ran]:
    """Run hooks one after another, each with the agent's shell, environment and time limit."""
    data = json.dumps(payload, ensure_ascii=False).encode() + b"\n"
    return [await _run(hook, moment, data, setting) for hook in hooks]


async def _run(hook: ForeignHook, moment: Moment, data: bytes, setting: Setting) -> Ran:
    dialect = hook.dialect
    folders = {name: setting.project for name in dialect.environment if name.endswith(("_PROJECT_DIR", "_CWD"))}
    command = process.Command(
        argv=(*habits(dialect).shell, hook.command), cwd=setting.project, env={**setting.env, **folders}, stdin=data
    )
    began = asyncio.get_running_loop().time()
    ended = await process.run(command, hook.limit)
    seconds = asyncio.get_running_loop().time() - began
    match ended:
        case process.NotStarted():
            return Ran(hook, None, NativeReading(dialect.answers.on_failure, f"it cannot be started: {ended.message}"))
        case process.Expired():
            why = f"it reached its limit of {ended.limit:g} s"
            return Ran(hook, None, NativeReading(dialect.answers.on_timeout, why), seconds)
    status = ended.status.code if isinstance(ended.status, process.ExitCode) else 128
    answer = NativeAnswer(status, _text(ended.output.stdout.data), _text(ended.output.stderr.data))
    return Ran(hook, answer, read_answer(dialect, moment, answer), seconds)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def read_answer(dialect: Dialect, moment: Moment, answer: NativeAnswer) -> NativeReading:
    """Return what an agent does after an answer at any of its events."""
    if moment.claude == _BEFORE_CALL:
        return read_before_call(dialect, answer)
    if obeyed(moment, answer):
        return NativeReading(AnswerEffect.REFUSED, "a refusal in a form that is obeyed here")
    if not moment.refused_by:
        return NativeReading(AnswerEffect.RUNS, "nothing can be refused at this event")
    quiet = answer.status == 0 and not answer.stdout.strip()
    return NativeReading(AnswerEffect.RUNS, "no answer" if quiet else "not a refusal in a form that is obeyed here")


def verdict(dialect: Dialect, ran: Sequence[Ran]) -> NativeReading:
    """Return what an agent does after all hooks of one event.

    Law: one refusal refuses, except where the agent lets a later `allow` win over it; without a refusal the first
    effect other than running is the agent's.
    """
    for index, one in enumerate(ran):
        if one.reading.effect not in (AnswerEffect.REFUSED, AnswerEffect.ENDS):
            continue
        later = [other for other in ran[index + 1 :] if _allows(other)]
        if later and habits(dialect).allow_beats_deny:
            return NativeReading(AnswerEffect.RUNS, "a later `allow` beats an earlier refusal")
        return one.reading
    other = next((one.reading for one in ran if one.reading.effect is not AnswerEffect.RUNS), None)
    return other if other is not None else NativeReading(AnswerEffect.RUNS, "no hook refused" if ran else "no hook ran")


def _allows(ran: Ran) -> bool:
    value, problem = parse_json(ran.answer.stdout.strip()) if ran.answer is not None else (None, "")
    specific = value.get("hookSpecificOutput") if problem is None and isinstance(value, dict) else None
    return isinstance(specific, dict) and specific.get("permissionDecision") == "allow"
