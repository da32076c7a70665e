"""A gateway that listens, as a process, and a client for it by hand."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

ACCEPT = "application/json, text/event-stream"


class Listening:
    """A running gateway."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port
        self.url = f"http://127.0.0.1:{port}/mcp"

    def ask(self, method: str = "POST", body: Any = None, **headers: str) -> tuple[http.client.HTTPResponse, list[Any]]:
        """Make one HTTP request; return its response and the messages in it."""
        sent = {"Accept": ACCEPT, "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        connection.request(method, "/mcp", data, {name: value for name, value in sent.items() if value})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        if response.headers.get_content_type() == "text/event-stream":
            lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
            return response, [json.loads(line) for line in lines]
        return response, [json.loads(text)] if text else []

    @contextmanager
    def opened(self, method: str, body: Any = None, **headers: str) -> Iterator[http.client.HTTPResponse]:
        """Make a request whose response is a stream, and leave it open for a while."""
        head = {"Accept": ACCEPT, "Content-Type": "application/json"}
        head |= {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, "/mcp", json.dumps(body) if body is not None else None, head)
            with connection.getresponse() as response:
                assert response.headers.get_content_type() == "text/event-stream"
                yield response

    def greet(self, **capabilities: Any) -> str:
        """Open a session; return its id."""
        info = {"name": "by-hand", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": info}
        response, (answer,) = self.ask(body=request("initialize", 0, **hello))
        assert "result" in answer, answer
        session = response.headers["Mcp-Session-Id"]
        done, _ = self.ask(body={"jsonrpc": "2.0", "method": "notifications/initialized"}, Mcp_Session_Id=session)
        assert done.status == 202
        return session

    def call(self, session: str, tool: str, id_: int = 1, **arguments: Any) -> Any:
        """Call a tool; return the last message."""
        body = request("tools/call", id_, name=tool, arguments=arguments)
        return self.ask(body=body, Mcp_Session_Id=session)[1][-1]


def request(method: str, id_: int, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


@contextmanager
def listening(project: Path, *server: str, address: str = "127.0.0.1:0") -> Iterator[Listening]:
    """Start a gateway on a free port; it is killed at the end if it is still there."""
    command = [sys.executable, "-m", "hookwright.cli", "mcp", "--name", "files", "--trust", "--listen", address]
    env = {**os.environ, "HOME": str(project / "home")}
    with subprocess.Popen(
        [*command, "--", *server], cwd=project, env=env, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            line = next(line for line in process.stderr if "listening on" in line)
            yield Listening(process, int(line.rpartition(":")[2].removesuffix("/mcp\n")))
        finally:
            process.kill()
