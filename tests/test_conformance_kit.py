"""The conformance kit's own parts: its scripted server prints nothing about clients that leave."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import urllib.request
from pathlib import Path

KIT = Path(__file__).parent / "conformance" / "kit"
CASE = {"model": {"turns": [[{"delay": 0.2}, {"error": 500}]]}}

#: Serves until its stdin ends, so that everything the server has to say is on stderr by then.
SERVE = f"""
import json, sys
sys.path.insert(0, {str(KIT)!r})
import fake_api
server, _ = fake_api.serve(json.loads(sys.argv[1]), "/dev/null")
server.daemon_threads = False
print(server.server_address[1], flush=True)
sys.stdin.read()
server.shutdown()
server.server_close()
"""


def leave_early(port: int) -> None:
    """Send a request and reset the connection before the answer is written."""
    body = b'{"messages": [], "tools": [{}]}'
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"POST /v1/messages HTTP/1.1\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def test_a_client_that_leaves_early_costs_the_scripted_server_no_traceback() -> None:
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE, json.dumps(CASE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        leave_early(port)
        with urllib.request.urlopen(
            urllib.request.Request(f"http://127.0.0.1:{port}/v1/messages/count_tokens", data=b"{}", method="POST"),
            timeout=10,
        ) as answer:
            assert json.loads(answer.read()) == {"input_tokens": 1000}
        _, errors = server.communicate("", timeout=30)
    assert errors == ""
    assert server.returncode == 0
