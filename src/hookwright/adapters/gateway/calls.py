"""The life of one tool call through the gateway: PreToolUse, the user, the server, PostToolUse or its failure."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable

import msgspec

from hookwright.adapters.gateway.elicitations import after_user, by_hooks
from hookwright.adapters.gateway.hooks import Hooks, HooksFailed, texts
from hookwright.adapters.gateway.messages import Message, response
from hookwright.adapters.gateway.questions import (
    CAPABILITIES_KEY,
    OURS,
    QUESTION,
    VERSION_KEY,
    Approved,
    Asked,
    Rounds,
    approves,
    can_ask,
    question,
)
from hookwright.adapters.gateway.results import (
    Answer,
    Object,
    error_text,
    for_hooks,
    refusal,
    rewritten,
    with_texts,
)
from hookwright.protocol.events import PermissionRequest, PostToolUse, PostToolUseFailure, PreToolUse
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Allow, Ask, Defer, Deny, Outcome
from hookwright.protocol.wire import encode
from hookwright.text import cut_middle
from hookwright.visibility import Form, Reader, for_reader

#: An error text for hooks is cut in the middle when it is longer.
ERROR_LIMIT = 10_000
DENIED = "The user denied this tool call."
NO_USER = "This call needs the user's approval, and this MCP client cannot ask for it: it does not support elicitation."
NOT_JUDGED = "hookwright could not run the hooks for this call, so it was not made: "
WITHHELD = "The tool ran. hookwright withholds its result, because the hooks for it could not run: "


class Refused(msgspec.Struct, frozen=True):
    """A call that is not made; the model reads why."""

    texts: tuple[str, ...]


class Pending(msgspec.Struct, frozen=True):
    """A call that waits for the user, in a version of the protocol in which the client repeats it."""

    result: Object


class Ports(msgspec.Struct, frozen=True):
    """What a call needs of its connection."""

    hooks: Hooks
    rounds: Rounds
    #: Send a call to the server and wait for its answer.
    call: Callable[[Message], Awaitable[Answer]]
    #: Ask the client's user and wait for the answer; None if the client cannot, or is asked in a result.
    ask: Callable[[dict[str, Json]], Awaitable[Json]] | None
    #: What becomes of the result of a task that a call started, by the id of the task.
    tasks: dict[str, Callable[[Answer], Awaitable[bytes]]]


class ToolCall:
    """One `tools/call` request."""

    def __init__(self, message: Message, ports: Ports) -> None:
        self.message = message
        self.started = False
        self._ports = ports
        self._hooks = ports.hooks
        self._params = message.params
        meta = self._params.get("_meta")
        self._meta = meta if isinstance(meta, dict) else {}
        self._modern = VERSION_KEY in self._meta
        self._tool = str(self._params.get("name"))
        arguments = self._params.get("arguments")
        self._arguments: dict[str, Json] = arguments if isinstance(arguments, dict) else {}

    @property
    def name(self) -> str:
        """The tool's name for hooks."""
        return str(self._hooks.named(self._tool)["tool_name"])

    async def answer(self) -> bytes:
        """Return the line that answers the call."""
        try:
            judged = await self._judged()
        except HooksFailed as error:
            judged = Refused((f"{NOT_JUDGED}{error}",))
        if isinstance(judged, Refused):
            return self._response(refusal(judged.texts))
        if isinstance(judged, Pending):
            return self._response(judged.result)
        return await self._made(judged)

    def _response(self, result: Object) -> bytes:
        return response(self.message.id, {**({"resultType": "complete"} if self._modern else {}), **result})

    # ── before the call ─────────────────────────────────────────────────────

    async def _judged(self) -> Approved | Refused | Pending:
        """Decide about the call; a later round of a call that was decided is not decided again."""
        await asyncio.shield(self._hooks.begin())
        known = self._ports.rounds.take(self._params)
        if isinstance(known, Asked):
            replies = self._params.get("inputResponses")
            self._params = known.params
            yes = isinstance(replies, dict) and approves(replies.get(QUESTION))
            return known.approved if yes else Refused((DENIED, *known.approved.notes))
        if known is None:
            return await self._before()
        self._params = await self._with_answers(known)
        return msgspec.structs.replace(known, answered={}, asked={})

    async def _with_answers(self, known: Approved) -> dict[str, Json]:
        """Return the parameters of a later round with the answers of hooks to the questions of the server."""
        found = self._params.get("inputResponses")
        said: dict[str, Json] = dict(found) if isinstance(found, dict) else {}
        changed = dict(known.answered)
        for name, asked in known.asked.items():
            new = await after_user(self._hooks, asked, said.get(name))
            changed |= {} if new is None else {name: new}
        own = str(self._params.get("requestState")).startswith(OURS)
        if not changed and not own:
            return self._params
        kept = {key: value for key, value in self._params.items() if key != "requestState" or not own}
        return {**kept, "inputResponses": {**said, **changed}}

    async def _before(self) -> Approved | Refused | Pending:
        tool_use_id = f"toolu_{os.urandom(12).hex()}"
        pre = await self._hooks.fire(PreToolUse, **self._fields(self._arguments), tool_use_id=tool_use_id)
        read = texts(pre)
        if isinstance(pre.decision, Deny) or pre.stop is not None:
            return Refused((*read.error, *read.notes))
        arguments = self._arguments if pre.updated_input is None else dict(pre.updated_input)
        approved = Approved(arguments, tool_use_id, read.notes)
        if isinstance(pre.decision, Ask | Defer):
            return await self._asked(approved, pre)
        return approved

    def _fields(self, arguments: dict[str, Json]) -> dict[str, Json]:
        return {**self._hooks.named(self._tool), "tool_input": arguments, "permission_mode": "default"}

    async def _asked(self, approved: Approved, pre: Outcome) -> Approved | Refused | Pending:
        """Let PermissionRequest hooks answer, then the user; without a user the call is refused with the reason."""
        reason = pre.reason or "A hook asks for your approval."
        if self._ports.ask is None and not can_ask(self._meta.get(CAPABILITIES_KEY)):
            return Refused((f"{reason}\n{NO_USER}", *approved.notes))
        outcome = await self._hooks.fire(PermissionRequest, **self._fields(approved.arguments))
        if isinstance(outcome.decision, Deny):
            read = texts(outcome)
            return Refused((*read.error, *read.notes, *approved.notes))
        if isinstance(outcome.decision, Allow):
            found = await self._allowed(approved, pre, outcome)
            if not isinstance(found, Ask):
                return found
            reason = found.reason
        else:
            asked = [message.text for message in for_reader(pre, Reader.USER) if message.form is Form.QUESTION]
            reason = "\n".join(asked) or reason
        return await self._by_user(approved, question(self.name, approved.arguments, reason))

    async def _allowed(self, approved: Approved, pre: Outcome, outcome: Outcome) -> Approved | Refused | Ask:
        """Apply a hook's allow; guards judge an input that it rewrote."""
        if outcome.updated_input is None or dict(outcome.updated_input) == approved.arguments:
            return approved
        arguments = dict(outcome.updated_input)
        held = await self._hooks.recheck(pre.runs, **self._fields(arguments), tool_use_id=approved.tool_use_id)
        if isinstance(held.decision, Deny) or held.stop is not None:
            read = texts(held)
            return Refused((*read.error, *read.notes))
        if isinstance(held.decision, Ask | Defer):
            return Ask(held.reason or "A hook asks about the rewritten input.")
        return msgspec.structs.replace(approved, arguments=arguments)

    async def _by_user(self, approved: Approved, asks: dict[str, Json]) -> Approved | Refused | Pending:
        if self._ports.ask is not None:
            yes = approves(await self._ports.ask(asks))
            return approved if yes else Refused((DENIED, *approved.notes))
        state = f"{OURS}{os.urandom(16).hex()}"
        self._ports.rounds.keep(self._params, state, Asked(approved, self._params))
        requests = {QUESTION: {"method": "elicitation/create", "params": asks}}
        return Pending({"resultType": "input_required", "inputRequests": requests, "requestState": state})

    # ── the call and after it ───────────────────────────────────────────────

    async def _made(self, approved: Approved) -> bytes:
        began = time.monotonic()
        self.started = True
        try:
            answer = await self._ports.call(self._to_send(approved))
        except asyncio.CancelledError:
            await self._interrupted(approved, began)
            raise
        try:
            return await self._judge_answer(answer, approved, began)
        except HooksFailed as error:
            return self._response(refusal([f"{WITHHELD}{error}"]))

    def _to_send(self, approved: Approved) -> Message:
        same = approved.arguments == self._arguments and self._params is self.message.value.get("params")
        if same and self.message.strict:
            return self.message
        value = {**self.message.value, "params": {**self._params, "arguments": approved.arguments}}
        if "_meta" in self.message.params:
            value["params"]["_meta"] = self.message.params["_meta"]
        return Message(encode(value) + b"\n", value)

    async def _interrupted(self, approved: Approved, began: float) -> None:
        """Fire the failure of a call that the client cancelled; nothing is answered."""
        try:
            await self._hooks.fire(
                PostToolUseFailure,
                **self._after(approved, began),
                error="The client cancelled the call.",
                is_interrupt=True,
            )
        except HooksFailed:  # the call is over, and there is no result to withhold
            return

    async def _judge_answer(self, answer: Answer, approved: Approved, began: float) -> bytes:
        """Return the answer of the server as the hooks leave it."""
        result = answer.result
        if result is None:
            return await self._protocol_error(answer, approved, began)
        kind = result.get("resultType", "complete")
        if kind == "input_required":
            return await self._needs_input(answer, result, approved)
        match result:
            case {"task": {"taskId": str(task)}}:
                self._ports.tasks[task] = lambda found: self._judge_task(found, approved, began)
                return answer.raw
        if kind != "complete":
            text = f"The server answered with a result of type {kind!r}, which hookwright cannot show to hooks."
            return self._response(refusal([text]))
        return await self._judge_result(answer, result, approved, began)

    async def _needs_input(self, answer: Answer, result: Object, approved: Approved) -> bytes:
        """Let Elicitation hooks answer the questions of a server; the client is asked the others, and calls again."""
        requests = result.get("inputRequests")
        answered: dict[str, Json] = {}
        asked: dict[str, dict[str, Json]] = {}
        for name, found in requests.items() if isinstance(requests, dict) else ():
            match found:
                case {"method": "elicitation/create", "params": dict(params)}:
                    said = await by_hooks(self._hooks, params)
                    asked |= {name: params} if said is None else {}
                    answered |= {} if said is None else {name: said}
        state = result.get("requestState")
        if answered and state is None:
            state = f"{OURS}{os.urandom(16).hex()}"
        waiting = msgspec.structs.replace(approved, answered=answered, asked=asked)
        self._ports.rounds.keep(self.message.params, state, waiting)
        if not answered:
            return answer.raw
        left = {name: found for name, found in requests.items() if name not in answered} if requests else {}
        kept = {key: value for key, value in result.items() if key != "inputRequests"}
        more = {"inputRequests": left} if left else {}
        return encode({**answer.value, "result": {**kept, **more, "requestState": state}}) + b"\n"

    async def _judge_task(self, answer: Answer, approved: Approved, began: float) -> bytes:
        """Return the result of a task that the call started, as the hooks leave it."""
        try:
            if answer.result is None:
                return await self._protocol_error(answer, approved, began)
            return await self._judge_result(answer, answer.result, approved, began)
        except HooksFailed as error:
            return response(answer.value.get("id"), refusal([f"{WITHHELD}{error}"]))

    async def _judge_result(self, answer: Answer, result: Object, approved: Approved, began: float) -> bytes:
        """Fire PostToolUse or PostToolUseFailure for a result, and apply what its hooks decide."""
        fields = self._after(approved, began)
        if result.get("isError") is True:
            outcome = await self._hooks.fire(
                PostToolUseFailure, **fields, error=cut_middle(error_text(result), ERROR_LIMIT), is_interrupt=False
            )
        else:
            outcome = await self._hooks.fire(PostToolUse, **fields, tool_response=for_hooks(result))
        notes = (*approved.notes, *texts(outcome).notes, *self._hooks.late())
        changed = result if outcome.updated_output is None else rewritten(result, outcome.updated_output)
        if changed is result and not notes:
            return answer.raw
        return encode({**answer.value, "result": with_texts(changed, notes)}) + b"\n"

    def _after(self, approved: Approved, began: float) -> dict[str, Json]:
        milliseconds = round((time.monotonic() - began) * 1000)
        return {**self._fields(approved.arguments), "tool_use_id": approved.tool_use_id, "duration_ms": milliseconds}

    async def _protocol_error(self, answer: Answer, approved: Approved, began: float) -> bytes:
        """Fire PostToolUseFailure for an error of the protocol; its text is what the model reads of it."""
        error_said = cut_middle(answer.error, ERROR_LIMIT)
        outcome = await self._hooks.fire(
            PostToolUseFailure, **self._after(approved, began), error=error_said, is_interrupt=False
        )
        notes = (*approved.notes, *texts(outcome).notes)
        error = answer.value.get("error")
        if not isinstance(error, dict):
            return self._response(refusal(["The server's answer is neither a result nor an error.", *notes]))
        if not notes:
            return answer.raw
        return encode({**answer.value, "error": {**error, "message": "\n".join([answer.error, *notes])}}) + b"\n"
