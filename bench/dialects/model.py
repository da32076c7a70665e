"""A scripted model on loopback: it asks for one call after another, then ends the turn, in three APIs."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

_USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


class ModelCall(NamedTuple):
    """A call of a tool by the agent's own names."""

    tool: str
    given: dict[str, Any]
    #: The input is one text instead of an object.
    text: str = ""

    def moved(self, old: str, new: str) -> ModelCall:
        """Return the call with paths below another folder."""
        return ModelCall(self.tool, json.loads(json.dumps(self.given).replace(old, new)), self.text.replace(old, new))


class Model:
    """Serves the same calls to every conversation; `requests` is what it was sent, by address."""

    def __init__(self, calls: Sequence[ModelCall]) -> None:
        self.calls = tuple(calls)
        self.requests: list[tuple[str, Any]] = []
        #: How many results of calls a conversation had at most.
        self.results = 0
        model = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: object) -> None:
                """Print nothing."""

            def do_GET(self) -> None:
                self._send("application/json", json.dumps({"models": [], "data": [], "object": "list"}))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
                model.requests.append((self.path, body))
                self._send(*model.answer(self.path, body))

            def _send(self, kind: str, text: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, body: Any) -> tuple[str, str]:
        """Return the type and the text of a reply."""
        if "generateContent" in path or "streamGenerateContent" in path:
            return self._gemini(path, body)
        if path.endswith("/responses"):
            return "text/event-stream", self._responses(body)
        return self._chat(body)

    def _next(self, tools: Sequence[str | None], done: int) -> ModelCall | None:
        """Return the call that is due after a number of results; a request without its tool gets a text."""
        self.results = max(self.results, done)
        due = self.calls[done] if done < len(self.calls) else None
        return due if due is not None and due.tool in tools else None

    def _responses(self, body: Any) -> str:
        items = [item for item in body.get("input", []) if isinstance(item, dict)]
        done = sum(str(item.get("type", "")).endswith("_output") for item in items)
        call = self._next([tool.get("name") for tool in body.get("tools", [])], done)
        head = {"id": f"f{done}", "call_id": f"c{done}"}
        if call is None:
            text = [{"type": "output_text", "text": "done"}]
            item: dict[str, Any] = {"type": "message", "role": "assistant", "id": "m1", "content": text}
        elif call.text:
            item = {"type": "custom_tool_call", **head, "name": call.tool, "input": call.text}
        else:
            item = {"type": "function_call", **head, "name": call.tool, "arguments": json.dumps(call.given)}
        events = [
            {"type": "response.created", "response": {"id": "r1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "r1", "output": [item], "usage": _USAGE}},
        ]
        return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)

    def _gemini(self, path: str, body: Any) -> tuple[str, str]:
        parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
        tools = [f.get("name") for tool in body.get("tools", []) for f in tool.get("functionDeclarations", [])]
        call = self._next(tools, sum("functionResponse" in part for part in parts))
        part: dict[str, Any] = {"text": "done"}
        if call is not None:
            part = {"functionCall": {"name": call.tool, "args": call.given}}
        reply = {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        }
        if "stream" in path:
            return "text/event-stream", f"data: {json.dumps(reply)}\n\n"
        return "application/json", json.dumps(reply)

    def _chat(self, body: Any) -> tuple[str, str]:
        done = sum(message.get("role") == "tool" for message in body.get("messages", []))
        call = self._next([tool.get("function", {}).get("name") for tool in body.get("tools", [])], done)
        delta: dict[str, Any] = {"role": "assistant", "content": "done"}
        if call is not None:
            function = {"name": call.tool, "arguments": json.dumps(call.given)}
            calls = [{"index": 0, "id": f"c{done}", "type": "function", "function": function}]
            delta = {"role": "assistant", "content": None, "tool_calls": calls}
        end = "stop" if call is None else "tool_calls"
        head = {"id": "x", "created": 1, "model": body.get("model", "x")}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not body.get("stream"):
            choice = {"index": 0, "message": delta, "finish_reason": end}
            whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
            return "application/json", json.dumps(whole)
        last = {"choices": [{"index": 0, "delta": {}, "finish_reason": end}], "usage": usage}
        chunks = [
            {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]},
            {**head, "object": "chat.completion.chunk", **last},
        ]
        return "text/event-stream", "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n"
