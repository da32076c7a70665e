"""The control protocol: prompts and requests of the host come in, responses and questions go out."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import sys
import threading
from collections.abc import Callable, Mapping

from hookwright.agent.agent import Agent
from hookwright.agent.headless.callbacks import InvalidCallbacks, callback_hooks
from hookwright.agent.permissions import InvalidUpdate
from hookwright.agent.state.inbox import Closed, Prompt
from hookwright.agent.state.session import Permission, PermissionQuestion
from hookwright.agent.turn.switching import SwitchRefused
from hookwright.errors import CallbackGone
from hookwright.protocol.jsontext import Json, parse_json

Write = Callable[[Mapping[str, Json]], None]
GONE = "The host is gone."


class Control:
    """Reads JSON lines from stdin in its own thread and answers on the stream."""

    def __init__(self, write: Write, complain: Callable[[str], None], on_state: Callable[[str], None]) -> None:
        self._write = write
        self._on_state = on_state
        self._state = "idle"
        self._complain = complain
        self._numbers = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[Mapping[str, Json]]] = {}
        self._requests: set[asyncio.Task[None]] = set()
        self._ended = False
        #: Questions about permission that are waiting for an answer.
        self._questions = 0

    def state(self, state: str) -> None:
        """Report a change of the session's state: `running`, `requires_action` or `idle`."""
        if state != self._state:
            self._state = state
            self._on_state(state)

    # ── questions to the host ───────────────────────────────────────────────

    async def permit(self, question: PermissionQuestion) -> Permission:
        """Ask the host whether a call may run; if the host is gone, the answer is no."""
        request = {
            "subtype": "can_use_tool",
            "tool_name": question.tool_name,
            "input": dict(question.tool_input),
            "tool_use_id": question.tool_use_id,
            "permission_suggestions": [dict(one) for one in question.suggestions],
        }
        if question.reason is not None:
            request["decision_reason"] = question.reason
        if question.agent_id is not None:
            request["agent_id"] = question.agent_id
        self._questions += 1
        self.state("requires_action")
        try:
            answer = await self._ask(request)
        except (HostSilent, CallbackGone) as error:
            return Permission(allow=False, message=str(error))
        finally:
            self._questions -= 1
            self.state("requires_action" if self._questions else "running")
        updates = answer.get("updatedPermissions")
        updated = answer.get("updatedInput")
        return Permission(
            allow=answer.get("behavior") == "allow",
            message=str(answer.get("message") or ""),
            updated_input=updated if isinstance(updated, dict) else None,
            updated_permissions=tuple(updates) if isinstance(updates, list) else (),
            interrupt=answer.get("interrupt") is True,
        )

    async def _ask(self, request: Mapping[str, Json]) -> Mapping[str, Json]:
        """Ask the host, and cancel the request when its answer is no longer needed.

        Raise HostSilent when the host answers with an error, and CallbackGone when it can no longer answer.
        """
        if self._ended:
            raise CallbackGone(GONE)
        name = f"hookwright-{next(self._numbers)}"
        self._waiting[name] = asyncio.get_running_loop().create_future()
        self._write({"type": "control_request", "request_id": name, "request": request})
        try:
            return await self._waiting[name]
        except asyncio.CancelledError:
            self._write({"type": "control_cancel_request", "request_id": name})
            raise
        finally:
            del self._waiting[name]

    # ── lines from the host ─────────────────────────────────────────────────

    def serve(self, agent: Agent) -> None:
        """Read for an agent: in a thread, since stdin may be any kind of file, and a daemon, since it may not end."""
        loop = asyncio.get_running_loop()

        def read() -> None:
            with contextlib.suppress(RuntimeError):  # the event loop has ended, and with it the session
                for line in sys.stdin.buffer:
                    loop.call_soon_threadsafe(self.take, agent, line)
                loop.call_soon_threadsafe(self.take, agent, b"")

        threading.Thread(target=read, name="hookwright-stdin", daemon=True).start()

    def take(self, agent: Agent, line: bytes) -> None:
        """Handle one line; empty bytes are the end of the input."""
        if not line:
            self._give_up()
            agent.session.inbox.put(Closed())
        elif line.strip():
            value, problem = parse_json(line.decode("utf-8", "replace"))
            if problem is not None or not isinstance(value, dict):
                self._complain(f"stdin: skipped a line that is not a JSON object: {problem or 'another kind of value'}")
            else:
                self._dispatch(agent, value)

    def _give_up(self) -> None:
        self._ended = True
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(CallbackGone(GONE))

    def _dispatch(self, agent: Agent, value: Mapping[str, Json]) -> None:
        match value.get("type"):
            case "user":
                agent.session.inbox.put(Prompt(prompt_text(value)))
            case "control_response":
                self._answered(value.get("response"))
            case "control_request":
                task = asyncio.get_running_loop().create_task(self._carry_out(agent, value))
                self._requests.add(task)
                task.add_done_callback(self._requests.discard)
            case other:
                self._complain(f"stdin: skipped a line of type {other!r}; send user or control lines.")

    def _answered(self, response: Json) -> None:
        if not isinstance(response, dict):
            return
        future = self._waiting.get(str(response.get("request_id")))
        if future is not None and not future.done():
            answer = response.get("response")
            if isinstance(answer, dict):
                future.set_result(answer)
            else:
                future.set_exception(HostSilent(str(response.get("error") or "The host answered nothing.")))

    async def _carry_out(self, agent: Agent, value: Mapping[str, Json]) -> None:
        request, name = value.get("request"), value.get("request_id")
        request = request if isinstance(request, dict) else {}
        try:
            if request.get("subtype") == "initialize" and request.get("hooks"):
                agent.session.hooks.activate(callback_hooks(request["hooks"], self._ask).groups)
            answer = await carry_out(agent, request)
        except (_Refusal, InvalidCallbacks) as refusal:
            response = {"subtype": "error", "request_id": name, "error": str(refusal)}
        else:
            response = {"subtype": "success", "request_id": name, "response": answer}
        self._write({"type": "control_response", "response": response})


class HostSilent(Exception):
    """The host gave no answer; the message says why."""


class _Refusal(Exception):
    """A refused request; the message says why."""


async def carry_out(agent: Agent, request: Mapping[str, Json]) -> dict[str, Json]:
    """Run a request of the host and return the response."""
    match request.get("subtype"):
        case "initialize":
            components = agent.session.equipment.components
            return {
                "commands": list(components.skills),
                "agents": list(components.agents),
                "hook_on_failure_supported": True,
            }
        case "interrupt":
            agent.interrupt()
            return {}
        case "set_model":
            done = await agent.switch_model(str(request.get("model") or agent.session.model.main_model))
            if isinstance(done, SwitchRefused):
                raise _Refusal(done.reason)
            return {"model": done}
        case "set_permission_mode":
            try:
                agent.session.set_mode(str(request.get("mode")))
            except InvalidUpdate as error:
                raise _Refusal(str(error)) from None
            return {"mode": agent.session.permissions.mode.value}
        case "register_repo_root":
            path = request.get("path") or request.get("directory") or request.get("root")
            if not isinstance(path, str):
                raise _Refusal("register_repo_root needs `path`, the directory to add")
            return {"message": agent.add_directory(path)}
        case other:
            raise _Refusal(f"the control request {other!r} is not supported")


def prompt_text(value: Mapping[str, Json]) -> str:
    """Return the text of a user line: a string, or the text blocks of its content."""
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
    return content if isinstance(content, str) else ""
