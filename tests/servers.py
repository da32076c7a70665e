"""Model APIs on 127.0.0.1 that answer by script: the Messages API and chat completions, streamed or not.

    with messages_api(say("hello"), fail(429, headers={"retry-after-ms": "1"}), slowly(2, say("late"))) as server:
        ... server.url, server.env, server.requests, server.hung_up

Answers are used one a request; the last one stays. `raw` sends bytes as they are, `torn` breaks an answer off.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """One scripted answer; the functions below make them."""

    texts: tuple[str, ...] = ()
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    thinking: str = ""
    stop: str | None = None
    status: int = 200
    error: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    body: bytes | None = None
    keep: int | None = None


def say(*texts: str, **options: Any) -> Answer:
    """The model says something, in as many pieces as are given."""
    return Answer(texts=texts, **options)


def call(name: str, arguments: dict[str, Any], *texts: str) -> Answer:
    """The model calls a tool."""
    return Answer(texts=texts, calls=((name, arguments),))


def fail(status: int, message: str = "scripted error", code: str = "", headers: dict[str, str] | None = None) -> Answer:
    """The API answers with an error status; it is retried at once where the SDK retries at all."""
    error = {"type": code or "invalid_request_error", "code": code or None, "message": message}
    return Answer(status=status, error=error, headers={"retry-after-ms": "1", **(headers or {})})


def slowly(seconds: float, answer: Answer) -> Answer:
    """The answer takes its time."""
    return replace(answer, delay=seconds)


def raw(body: bytes) -> Answer:
    """The body is these bytes, as application/json."""
    return Answer(body=body)


def torn(answer: Answer, keep: int) -> Answer:
    """The connection closes after so many bytes of the body, or pieces of the stream."""
    return replace(answer, keep=keep)


@dataclass(frozen=True)
class Received:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Server:
    """A running API: where it is, what it was asked, and whether a client went away while it waited."""

    def __init__(self, answers: tuple[Answer, ...]) -> None:
        self.requests: list[Received] = []
        self.hung_up = threading.Event()
        self.arrived = threading.Event()
        self.url = ""
        self.env: dict[str, str] = {}
        self._answers = answers
        self._lock = threading.Lock()

    def take(self, received: Received) -> tuple[int, Answer]:
        """Record a request and give its number and its answer."""
        with self._lock:
            number = len(self.requests)
            self.requests.append(received)
            self.arrived.set()
            return number, self._answers[min(number, len(self._answers) - 1)]


class Api(BaseHTTPRequestHandler):
    """What both APIs have in common."""

    protocol_version = "HTTP/1.1"
    # Head and body leave together; apart they would wait for each other's acknowledgement.
    wbufsize = 1 << 16
    script: Server

    def log_message(self, *args: Any) -> None:
        """Stay silent."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        number, answer = self.script.take(Received(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        if answer.delay and self.client_left(answer.delay):
            self.script.hung_up.set()
            self.close_connection = True
            return
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.respond(number, answer, body)
            self.wfile.flush()

    def finish(self) -> None:
        """Close up, also when the client is gone."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            super().finish()

    def client_left(self, seconds: float) -> bool:
        """Wait, and tell whether the client closed the connection meanwhile."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.connection], [], [], left)[0]:
                with contextlib.suppress(ConnectionResetError):
                    return bool(self.connection.recv(1, socket.MSG_PEEK) == b"")
                return True
        return False

    def respond(self, number: int, answer: Answer, body: dict[str, Any]) -> None:
        if answer.error is not None:
            self.send_body(answer, json.dumps({"type": "error", "error": answer.error}).encode())
        elif answer.body is not None:
            self.send_body(answer, answer.body)
        elif body.get("stream"):
            self.send_events(answer, self.events(number, answer, body))
        else:
            self.send_body(answer, json.dumps(self.message(number, answer, body)).encode())

    def send_body(self, answer: Answer, data: bytes) -> None:
        self.send_response(answer.status)
        for name, value in {"content-type": "application/json", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: answer.keep])
        self.close_connection = answer.keep is not None

    def send_events(self, answer: Answer, events: list[bytes]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events[: answer.keep]:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            self.wfile.flush()
        if answer.keep is None:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = answer.keep is not None

    def message(self, number: int, answer: Answer, body: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def events(self, number: int, answer: Answer, body: dict[str, Any]) -> list[bytes]:
        raise NotImplementedError


class Messages(Api):
    """The Messages API."""

    def message(self, number: int, answer: Answer, body: dict[str, Any]) -> dict[str, Any]:
        content: list[dict[str, Any]] = []
        if answer.thinking:
            content.append({"type": "thinking", "thinking": answer.thinking, "signature": "c2ln"})
        if answer.texts:
            content.append({"type": "text", "text": "".join(answer.texts)})
        for i, (name, arguments) in enumerate(answer.calls):
            content.append({"type": "tool_use", "id": f"toolu_{number}_{i}", "name": name, "input": arguments})
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": answer.stop or ("tool_use" if answer.calls else "end_turn"),
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 10, "cache_read_input_tokens": 5},
        }

    def events(self, number: int, answer: Answer, body: dict[str, Any]) -> list[bytes]:
        whole = self.message(number, answer, body)
        events: list[tuple[str, dict[str, Any]]] = [
            ("message_start", {"message": {**whole, "content": [], "stop_reason": None}})
        ]
        for index, block in enumerate(whole["content"]):
            start, deltas = self.pieces(block, answer)
            events.append(("content_block_start", {"index": index, "content_block": start}))
            events += [("content_block_delta", {"index": index, "delta": delta}) for delta in deltas]
            events.append(("content_block_stop", {"index": index}))
        end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        events.append(("message_delta", {"delta": end, "usage": {"output_tokens": 10}}))
        events.append(("message_stop", {}))
        return [f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode() for kind, data in events]

    def pieces(self, block: dict[str, Any], answer: Answer) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        if block["type"] == "text":
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": text} for text in answer.texts]
        if block["type"] == "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}, [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        text = json.dumps(block["input"])
        halves = (text[: len(text) // 2], text[len(text) // 2 :])
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": half} for half in halves]


class ChatCompletions(Api):
    """The chat-completions API."""

    def message(self, number: int, answer: Answer, body: dict[str, Any]) -> dict[str, Any]:
        said: dict[str, Any] = {"role": "assistant", "content": "".join(answer.texts) or None}
        if answer.calls:
            said["tool_calls"] = self.tool_calls(number, answer)
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": said, "finish_reason": self.finish_reason(answer)}],
            "usage": self.usage(),
        }

    def events(self, number: int, answer: Answer, body: dict[str, Any]) -> list[bytes]:
        deltas: list[dict[str, Any]] = [{"role": "assistant"}, *({"content": text} for text in answer.texts)]
        for i, whole in enumerate(self.tool_calls(number, answer)):
            text = whole["function"]["arguments"]
            first = {**whole, "index": i, "function": {"name": whole["function"]["name"], "arguments": ""}}
            deltas.append({"tool_calls": [first]})
            halves = (text[: len(text) // 2], text[len(text) // 2 :])
            deltas += [{"tool_calls": [{"index": i, "function": {"arguments": half}}]} for half in halves]
        chunks: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
        ]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": self.finish_reason(answer)}]})
        chunks.append({"choices": [], "usage": self.usage()})
        head = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
        return [*(f"data: {json.dumps({**head, **chunk})}\n\n".encode() for chunk in chunks), b"data: [DONE]\n\n"]

    def tool_calls(self, number: int, answer: Answer) -> list[dict[str, Any]]:
        return [
            {
                "id": f"call_{number}_{i}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for i, (name, arguments) in enumerate(answer.calls)
        ]

    def finish_reason(self, answer: Answer) -> str:
        return {"max_tokens": "length"}.get(answer.stop or "", "tool_calls" if answer.calls else "stop")

    def usage(self) -> dict[str, Any]:
        details = {"cached_tokens": 5}
        return {"prompt_tokens": 105, "completion_tokens": 10, "total_tokens": 115, "prompt_tokens_details": details}


@contextlib.contextmanager
def _serving(api: type[Api], answers: tuple[Answer, ...]) -> Iterator[Server]:
    script = Server(answers)
    handler = type(api.__name__, (api,), {"script": script})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def messages_api(*answers: Answer) -> Iterator[Server]:
    """Serve the Messages API."""
    with _serving(Messages, answers) as server:
        server.env = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "key",
            "ANTHROPIC_MODEL": "claude-haiku-5-5",
            "CLAUDE_CODE_MAX_RETRIES": "2",
        }
        yield server


@contextlib.contextmanager
def chat_api(*answers: Answer) -> Iterator[Server]:
    """Serve the chat-completions API."""
    with _serving(ChatCompletions, answers) as server:
        server.env = {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "key", "OPENAI_MODEL": "gpt-5.4-mini"}
        yield server
