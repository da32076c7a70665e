"""A scripted model on loopback: it asks for one shell command or patch, then ends the turn, in three APIs."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: The names that agents have for their shell, and the key of the command.
SHELLS = {
    "exec_command": "cmd",
    "shell_command": "command",
    "run_shell_command": "command",
    "Bash": "command",
    "bash": "command",
}


class Model:
    """Serves one command to every conversation; `requests` is what it was sent."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.requests: list[Any] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: object) -> None:
                """Print nothing."""

            def do_GET(self) -> None:
                self._send("application/json", json.dumps({"models": [], "data": [], "object": "list"}))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
                model.requests.append(body)
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

    def _responses(self, body: Any) -> str:
        called = any(item.get("type", "").endswith("_output") for item in body.get("input", []))
        tools = [tool.get("name") for tool in body.get("tools", [])]
        shell = next((name for name in SHELLS if name in tools), None)
        if called or shell is None:
            text = [{"type": "output_text", "text": "done"}]
            item: dict[str, Any] = {"type": "message", "role": "assistant", "id": "m1", "content": text}
        elif self.command.startswith("*** Begin Patch"):
            item = {
                "type": "custom_tool_call",
                "id": "f1",
                "call_id": "c1",
                "name": "apply_patch",
                "input": self.command,
            }
        else:
            arguments = json.dumps({SHELLS[shell]: self.command})
            item = {"type": "function_call", "id": "f1", "call_id": "c1", "name": shell, "arguments": arguments}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        events = [
            {"type": "response.created", "response": {"id": "r1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "r1", "output": [item], "usage": usage}},
        ]
        return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)

    def _gemini(self, path: str, body: Any) -> tuple[str, str]:
        parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
        tools = [f.get("name") for tool in body.get("tools", []) for f in tool.get("functionDeclarations", [])]
        if "run_shell_command" in tools and not any("functionResponse" in part for part in parts):
            part: dict[str, Any] = {"functionCall": {"name": "run_shell_command", "args": {"command": self.command}}}
        else:
            part = {"text": "done"}
        reply = {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        }
        if "stream" in path:
            return "text/event-stream", f"data: {json.dumps(reply)}\n\n"
        return "application/json", json.dumps(reply)

    def _chat(self, body: Any) -> tuple[str, str]:
        called = any(message.get("role") == "tool" for message in body.get("messages", []))
        tools = [tool.get("function", {}).get("name") for tool in body.get("tools", [])]
        shell = next((name for name in SHELLS if name in tools), None)
        if called or shell is None:
            delta: dict[str, Any] = {"role": "assistant", "content": "done"}
        else:
            call = {"name": shell, "arguments": json.dumps({SHELLS[shell]: self.command})}
            calls = [{"index": 0, "id": "c1", "type": "function", "function": call}]
            delta = {"role": "assistant", "content": None, "tool_calls": calls}
        end = "stop" if "tool_calls" not in delta else "tool_calls"
        head = {"id": "x", "created": 1, "model": body.get("model", "x")}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not body.get("stream"):
            choice = {"index": 0, "message": delta, "finish_reason": end}
            whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
            return "application/json", json.dumps(whole)
        chunks = [
            {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]},
            {
                **head,
                "object": "chat.completion.chunk",
                "choices": [{"index": 0, "delta": {}, "finish_reason": end}],
                "usage": usage,
            },
        ]
        return "text/event-stream", "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n"
