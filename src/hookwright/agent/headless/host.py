"""The line to the host program: its lines come in on stdin, questions to it go out on the stream."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping

from hookwright.agent.headless.stream_lines import StreamOutput
from hookwright.agent.state.session import Permission, PermissionQuestion
from hookwright.errors import CallbackGone
from hookwright.protocol.jsontext import Json, parse_json
from hookwright.text import one_line

GONE = "The host is gone."


class HostSilent(Exception):
    """The host gave no answer; the message says why."""


class HostLink:
    """Reads JSON lines from stdin in its own thread; answers to questions of this side find their question."""

    def __init__(self, output: StreamOutput, complain: Callable[[str], None], *, reads_state: bool) -> None:
        self._output = output
        self._complain = complain
        self._reads_state = reads_state
        self._state = "idle"
        self._numbers = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[Mapping[str, Json]]] = {}
        #: Lines that are not answers; None is the end of the input.
        self._lines: asyncio.Queue[Mapping[str, Json] | None] = asyncio.Queue()
        self._ended = False
        #: Questions about permission that are waiting for an answer.
        self._questions = 0

    # ── lines of the host ───────────────────────────────────────────────────

    def open(self) -> None:
        """Read in a thread, since stdin may be any kind of file, and a daemon, since it may not end."""
        loop = asyncio.get_running_loop()

        def read() -> None:
            with contextlib.suppress(RuntimeError):  # the event loop has ended, and with it the session
                for line in _lines(sys.stdin.fileno()):
                    loop.call_soon_threadsafe(self._take, line)
                loop.call_soon_threadsafe(self._take, b"")

        threading.Thread(target=read, name="hookwright-stdin", daemon=True).start()

    async def line(self) -> Mapping[str, Json] | None:
        """Wait for the next line that is not an answer; return None at the end of the input."""
        return await self._lines.get()

    def _take(self, line: bytes) -> None:
        """Handle one line; empty bytes are the end of the input."""
        if not line:
            self._give_up()
        elif line.strip():
            value, problem = parse_json(line.decode("utf-8", "replace"))
            if problem is not None or not isinstance(value, dict):
                self.complain(f"skipped a line that is not a JSON object: {problem or 'another kind of value'}")
            elif value.get("type") == "control_response":
                self._answered(value.get("response"))
            else:
                self._lines.put_nowait(value)

    def _give_up(self) -> None:
        self._ended = True
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(CallbackGone(GONE))
        self._lines.put_nowait(None)

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

    def complain(self, text: str) -> None:
        """Report something wrong with the input."""
        self._complain(f"stdin: {text}")

    # ── lines to the host ───────────────────────────────────────────────────

    def succeed(self, request_id: Json, response: Mapping[str, Json]) -> None:
        """Answer a request of the host."""
        answer = {"subtype": "success", "request_id": request_id, "response": response}
        self._output.line({"type": "control_response", "response": answer})

    def refuse(self, request_id: Json, error: str) -> None:
        """Refuse a request of the host."""
        answer = {"subtype": "error", "request_id": request_id, "error": error}
        self._output.line({"type": "control_response", "response": answer})

    def state(self, state: str) -> None:
        """Report a change of the session's state: `running`, `requires_action` or `idle`."""
        if state != self._state:
            self._state = state
            if self._reads_state:
                self._output.state(state)

    def show_subagents(self) -> None:
        """Send also what subagents say and think from now on."""
        self._output.show_subagents()

    # ── questions to the host ───────────────────────────────────────────────

    async def ask(self, request: Mapping[str, Json]) -> Mapping[str, Json]:
        """Ask the host, and cancel the request when its answer is no longer needed.

        Raise HostSilent when the host answers with an error, and CallbackGone when it can no longer answer.
        """
        if self._ended:
            raise CallbackGone(GONE)
        name = f"hookwright-{next(self._numbers)}"
        self._waiting[name] = asyncio.get_running_loop().create_future()
        self._output.line({"type": "control_request", "request_id": name, "request": request})
        try:
            return await self._waiting[name]
        except asyncio.CancelledError:
            self._output.line({"type": "control_cancel_request", "request_id": name})
            raise
        finally:
            del self._waiting[name]

    async def carry(self, server: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        """Pass a message to an MCP server inside the host and return its answer."""
        answer = await self.ask({"subtype": "mcp_message", "server_name": server, "message": message})
        response = answer.get("mcp_response")
        if not isinstance(response, dict):
            raise HostSilent(f"The host gave no answer of its MCP server {server}.")
        return response

    async def permit(self, question: PermissionQuestion) -> Permission:
        """Ask the host whether a call may run; if the host is gone, the answer is no."""
        self._questions += 1
        self.state("requires_action")
        try:
            return _permission(await self.ask(_can_use_tool(question)))
        except (HostSilent, CallbackGone) as error:
            return Permission(allow=False, message=str(error))
        finally:
            self._questions -= 1
            self.state("requires_action" if self._questions else "running")


def _lines(file: int) -> Iterator[bytes]:
    """Yield the lines of a file, read without Python's buffer: its lock aborts a program that ends during a read."""
    begun = b""
    while data := os.read(file, 65_536):
        *whole, begun = (begun + data).split(b"\n")
        yield from (line + b"\n" for line in whole)
    if begun:
        yield begun


def _can_use_tool(question: PermissionQuestion) -> dict[str, Json]:
    request = {
        "subtype": "can_use_tool",
        "tool_name": question.tool_name,
        "title": _title(question),
        "display_name": question.tool_name,
        "input": dict(question.tool_input),
        "tool_use_id": question.tool_use_id,
        "permission_suggestions": [dict(one) for one in question.suggestions],
    }
    description = question.tool_input.get("description")
    if isinstance(description, str):
        request["description"] = description
    if question.reason is not None:
        request["decision_reason"] = question.reason
    if question.agent_id is not None:
        request["agent_id"] = question.agent_id
    if question.blocked_path is not None:
        request["blocked_path"] = question.blocked_path
    return request


#: Tool → what it does, and the field of its input that names to what.
_DEEDS = {
    "Bash": ("run", "command"),
    "Edit": ("edit", "file_path"),
    "Read": ("read", "file_path"),
    "WebFetch": ("fetch", "url"),
    "Write": ("write", "file_path"),
}


def _title(question: PermissionQuestion) -> str:
    """Return the question as a sentence, for a host that shows it to a person."""
    deed, field = _DEEDS.get(question.tool_name, ("use", ""))
    return f"Claude wants to {deed} {one_line(str(question.tool_input.get(field, question.tool_name)), 200)}"


def _permission(answer: Mapping[str, Json]) -> Permission:
    updates = answer.get("updatedPermissions")
    updated = answer.get("updatedInput")
    return Permission(
        allow=answer.get("behavior") == "allow",
        message=str(answer.get("message") or ""),
        updated_input=updated if isinstance(updated, dict) else None,
        updated_permissions=tuple(updates) if isinstance(updates, list) else (),
        interrupt=answer.get("interrupt") is True,
    )
