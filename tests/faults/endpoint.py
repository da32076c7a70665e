"""A hostile server on 127.0.0.1, in a process of its own: the path of a request names what it does.

python -m faults.endpoint      prints its port, serves until its stdin ends
"""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import struct
import sys
import threading
import time
import zlib
from collections.abc import Callable

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
DENIAL = json.dumps(
    {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "told",
        }
    }
).encode()
_MB = bytes(1024 * 1024)


def hang(client: socket.socket) -> None:
    """Never answer."""
    with contextlib.suppress(OSError):
        client.recv(1)


def hang_in_head(client: socket.socket) -> None:
    client.sendall(OK)
    hang(client)


def hang_in_body(client: socket.socket) -> None:
    client.sendall(OK + b"Content-Length: %d\r\n\r\n" % len(DENIAL) + DENIAL[:20])
    hang(client)


def drip(client: socket.socket) -> None:
    """Send a byte a fifth of a second."""
    for byte in OK + b"Content-Length: 1000\r\n\r\n" + b" " * 1000:
        client.sendall(bytes([byte]))
        time.sleep(0.2)


def drip_head(client: socket.socket) -> None:
    client.sendall(OK)
    while True:
        client.sendall(b"X: y\r\n")
        time.sleep(0.05)


def close(client: socket.socket) -> None:
    """Close without a word."""


def reset(client: socket.socket) -> None:
    """Break the connection."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def reset_in_body(client: socket.socket) -> None:
    client.sendall(OK + b"Content-Length: 1000\r\n\r\n" + DENIAL[:20])
    time.sleep(0.05)
    reset(client)


def redirect(client: socket.socket) -> None:
    client.sendall(b"HTTP/1.1 307 Elsewhere\r\nLocation: /deny\r\nContent-Length: 0\r\n\r\n")


def gigabytes(client: socket.socket) -> None:
    """Send without end, without a length."""
    client.sendall(OK + b"Connection: close\r\n\r\n")
    while True:
        client.sendall(_MB)


def declared_gigabytes(client: socket.socket) -> None:
    client.sendall(OK + b"Content-Length: 4294967296\r\n\r\n")
    while True:
        client.sendall(_MB)


def chunks(client: socket.socket) -> None:
    """Send chunks of a byte without end."""
    client.sendall(OK + b"Transfer-Encoding: chunked\r\n\r\n")
    while True:
        client.sendall(b"1\r\n \r\n" * 4096)


def head_without_end(client: socket.socket) -> None:
    client.sendall(OK)
    while True:
        client.sendall(b"X-Filler: " + b"y" * 8000 + b"\r\n")


def interim_without_end(client: socket.socket) -> None:
    while True:
        client.sendall(b"HTTP/1.1 102 Processing\r\n\r\n" * 100)


def gzip_bomb(client: socket.socket) -> None:
    """Send a gigabyte of zeros in a megabyte."""
    packed = gzip.compress(_MB * 64, 9)
    client.sendall(OK + b"Content-Encoding: gzip\r\nConnection: close\r\n\r\n")
    for _ in range(16):
        client.sendall(packed)


def deflate_bomb(client: socket.socket) -> None:
    pack = zlib.compressobj(9)
    client.sendall(OK + b"Content-Encoding: deflate\r\nConnection: close\r\n\r\n")
    for _ in range(256):
        client.sendall(pack.compress(_MB))
    client.sendall(pack.flush())


def garbage(client: socket.socket) -> None:
    client.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 SSH-2.0-server\r\n\r\n")


def broken_json(client: socket.socket) -> None:
    _whole(client, DENIAL[:-1])


def deep_json(client: socket.socket) -> None:
    _whole(client, DENIAL[:-1] + b', "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")


def failing(client: socket.socket) -> None:
    _whole(client, DENIAL, b"HTTP/1.1 500 No\r\n")


def deny(client: socket.socket) -> None:
    """Answer well."""
    _whole(client, DENIAL)


def _whole(client: socket.socket, body: bytes, head: bytes = OK) -> None:
    client.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)


# ── model APIs ──


def _message(text: str) -> bytes:
    block = {"type": "text", "text": text}
    usage = {"input_tokens": 1, "output_tokens": 1}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    return json.dumps({**head, "content": [block], "stop_reason": "end_turn", "usage": usage}).encode()


def model(client: socket.socket) -> None:
    """Say that the condition is not met."""
    _whole(client, _message('{"ok": false, "reason": "told", "impossible": false}'))


def model_stalls(client: socket.socket) -> None:
    body = _message('{"ok": true, "reason": "", "impossible": false}')
    client.sendall(OK + b"Content-Length: %d\r\n\r\n" % len(body) + body[: len(body) // 2])
    hang(client)


def model_gigabytes(client: socket.socket) -> None:
    client.sendall(OK + b"Connection: close\r\n\r\n" + b'{"id": "msg_1", "content": "')
    for _ in range(64):
        client.sendall(b"x" * len(_MB))
        time.sleep(0.05)
    hang(client)


def _streamed(*events: dict[str, object]) -> bytes:
    lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)
    return b"".join(b"%x\r\n%s\r\n" % (len(line), line) for line in lines)


_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_USAGE = {"input_tokens": 1, "output_tokens": 1}
_BEGUN = _streamed(
    {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _USAGE,
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Half an ans"}},
)


def stream_stalls(client: socket.socket) -> None:
    """Begin to answer, and say no more."""
    client.sendall(_STREAM + _BEGUN)
    hang(client)


def stream_breaks(client: socket.socket) -> None:
    """Begin to answer, and close."""
    client.sendall(_STREAM + _BEGUN)


def stream_resets(client: socket.socket) -> None:
    client.sendall(_STREAM + _BEGUN)
    time.sleep(0.05)
    reset(client)


def stream_floods(client: socket.socket) -> None:
    """Answer without end."""
    client.sendall(_STREAM + _BEGUN)
    more = _streamed({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x" * 1000}})
    while True:
        client.sendall(more)
        time.sleep(0.001)


MODES: dict[str, Callable[[socket.socket], None]] = {
    made.__name__: made
    for made in (
        *(hang, hang_in_head, hang_in_body, drip, drip_head, close, reset, reset_in_body, redirect, gigabytes),
        *(declared_gigabytes, chunks, head_without_end, interim_without_end, gzip_bomb, deflate_bomb, garbage),
        *(broken_json, deep_json, failing, deny, model, model_stalls, model_gigabytes),
        *(stream_stalls, stream_breaks, stream_resets, stream_floods),
    )
}


def serve(client: socket.socket) -> None:
    """Read a request and do what its path says; the connection ends with it."""
    with contextlib.suppress(OSError), client:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = client.recv(65536)
            if not piece:
                return
            head += piece
        top, _, body = head.partition(b"\r\n\r\n")
        length = next(int(line[15:]) for line in top.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        while len(body) < length:
            body += client.recv(65536)
        MODES[top.split()[1].decode().strip("/").split("/")[0]](client)


def main() -> None:
    """Print the port and serve."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=64)
    print(listening.getsockname()[1], flush=True)

    def accept() -> None:
        while True:
            client, _ = listening.accept()
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
