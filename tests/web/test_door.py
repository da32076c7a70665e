"""The door of the console: the whole matrix, as a law and over a real socket."""

from __future__ import annotations

import itertools
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.web.door import Door, judge
from processes import eventually
from web.consoles import NAMES, Open, headers

TOKEN = "ab" * 32
DOOR = Door(port=8123, token=TOKEN)

HOSTS = {
    "127.0.0.1:8123": True,
    "localhost:8123": True,
    "[::1]:8123": True,
    "127.0.0.1": False,
    "127.0.0.1:80": False,
    "evil.example:8123": False,
    "127.0.0.1:8123.evil.example": False,
    "localhost.evil.example:8123": False,
    "": False,
    None: False,
}
TOKENS = {f"Bearer {TOKEN}": True, TOKEN: False, f"Bearer {TOKEN[:-1]}": False, "Bearer ": False, None: False}
ORIGINS = {
    "http://127.0.0.1:8123": True,
    None: True,
    "https://127.0.0.1:8123": False,
    "http://evil.example": False,
    "null": False,
}
SITES = {"same-origin": True, "none": True, None: True, "cross-site": False, "same-site": False}
METHODS = {"GET": True, "HEAD": True, "POST": False, "PUT": False, "DELETE": False, "OPTIONS": False, "TRACE": False}


def test_a_request_is_answered_exactly_if_every_clause_holds() -> None:
    count = 0
    for host, token, origin, site, method in itertools.product(HOSTS, TOKENS, ORIGINS, SITES, METHODS):
        given = headers(host, token, origin, site)
        common = HOSTS[host] and ORIGINS[origin] and SITES[site] and METHODS[method]
        assert (judge(DOOR, method, "/api/about", given) is None) is (common and TOKENS[token])
        assert (judge(DOOR, method, "/main.js", given) is None) is common
        count += 1
    assert count == 8750


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=40))
def test_no_other_host_is_ours(host: str) -> None:
    found = judge(DOOR, "GET", "/", [(b"host", host.encode("latin-1"))])
    assert (found is None) is (host in ("127.0.0.1:8123", "localhost:8123", "[::1]:8123") or _zeros(host))


def _zeros(host: str) -> bool:
    """Return whether a host is ours with zeros in front of its port."""
    name, _, port = host.rpartition(":")
    return name in ("127.0.0.1", "localhost", "[::1]") and port.isascii() and port.isdigit() and int(port) == 8123


@pytest.mark.parametrize("twice", NAMES[:3])
def test_a_header_that_comes_twice_is_turned_away(twice: bytes) -> None:
    given = headers("127.0.0.1:8123", f"Bearer {TOKEN}", "http://127.0.0.1:8123", None)
    assert judge(DOOR, "GET", "/api/about", given) is None
    assert judge(DOOR, "GET", "/api/about", [*given, *(pair for pair in given if pair[0] == twice)]) is not None


def test_only_a_path_that_was_allowed_can_be_posted_to() -> None:
    door = Door(port=8123, token=TOKEN, posts=frozenset({"/api/fire"}))
    given = headers("127.0.0.1:8123", f"Bearer {TOKEN}", None, None)
    assert judge(door, "POST", "/api/fire", given) is None
    assert judge(door, "POST", "/api/hooks", given) is not None
    assert judge(DOOR, "POST", "/api/fire", given) is not None


def test_on_a_socket_a_host_has_no_port() -> None:
    door = Door(port=None, token=TOKEN)
    assert judge(door, "GET", "/", [(b"host", b"localhost")]) is None
    assert judge(door, "GET", "/", [(b"host", b"localhost:80")]) is not None


# ── over a real socket ──────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    opened = Open(tmp_path_factory.mktemp("console"))
    yield opened
    assert opened.close() == 0


def test_the_matrix_over_a_real_socket(console: Open) -> None:
    for good, token, origin, site, method in itertools.product(
        (True, False),
        (True, False),
        (None, "http://evil.example"),
        (None, "cross-site"),
        ("GET", "HEAD", "POST", "PUT"),
    ):
        host = console.host if good else f"rebound.example:{console.port}"
        values = (host, f"Bearer {console.token}" if token else None, origin, site)
        status, found, body = console.ask(method, "/api/about", *values)
        allowed = good and token and origin is None and site is None and method in ("GET", "HEAD")
        assert (status == 200) is allowed, (values, method, status)
        assert console.token.encode() not in body
        assert found["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert (found["x-content-type-options"], found["cache-control"]) == ("nosniff", "no-store")
        assert found["set-cookie"] is None
        assert found["access-control-allow-origin"] is None


def test_a_token_in_the_address_opens_nothing(console: Open) -> None:
    path = f"/api/about?token={console.token}"
    assert console.ask("GET", path, console.host, None, None, None)[0] == 401


def test_it_listens_on_loopback_alone(console: Open) -> None:
    table = Path("/proc/net/tcp")
    if not table.exists():
        pytest.skip("there is no /proc/net/tcp here")
    listening = [line.split()[1] for line in table.read_text().splitlines()[1:] if line.split()[3] == "0A"]
    assert f"0100007F:{console.port:04X}" in listening
    assert f"00000000:{console.port:04X}" not in listening


def test_huge_headers_and_two_requests_at_once_do_no_harm(console: Open) -> None:
    with socket.create_connection(("127.0.0.1", console.port), timeout=20) as raw:
        raw.sendall(b"GET / HTTP/1.1\r\nHost: " + console.host.encode() + b"\r\nX: " + b"a" * 100_000)
        raw.shutdown(socket.SHUT_WR)
        assert raw.recv(100).startswith((b"HTTP/1.1 400", b"HTTP/1.1 431", b""))
    request = f"GET /api/about HTTP/1.1\r\nHost: {console.host}\r\n"
    with socket.create_connection(("127.0.0.1", console.port), timeout=20) as raw:
        raw.sendall(
            (f"{request}Authorization: Bearer {console.token}\r\n\r\n{request}Connection: close\r\n\r\n").encode()
        )
        answers = b""
        while data := raw.recv(65536):
            answers += data
    assert [part[:3] for part in answers.split(b"HTTP/1.1 ")[1:]] == [b"200", b"401"]


def test_a_second_console_names_the_first_one_and_the_lock_goes_with_it(tmp_path: Path) -> None:
    first = Open(tmp_path)
    env = {**os.environ, "HOOKWRIGHT_STATE_DIR": str(first.state), "HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "hookwright.cli", "web", "--project", str(tmp_path)]
    second = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False)
    assert second.returncode == 2
    assert f"a console is already open for {first.state}: http://{first.host}/#" in second.stderr
    assert (first.state / "web.lock").stat().st_mode & 0o777 == 0o600
    assert (first.state / "live").stat().st_mode & 0o777 == 0o700
    assert first.close() == 0
    assert not (first.state / "live").exists()
    assert (first.state / "web.lock").read_text() == ""


def test_nine_pages_are_one_too_many_and_a_page_that_left_makes_room(console: Open) -> None:
    request = f"GET /api/stream HTTP/1.1\r\nHost: {console.host}\r\nAuthorization: Bearer {console.token}\r\n\r\n"
    pages = []
    for _ in range(8):
        page = socket.create_connection(("127.0.0.1", console.port), timeout=20)
        page.sendall(request.encode())
        assert page.recv(12) == b"HTTP/1.1 200"
        pages.append(page)
    assert console.ask("GET", "/api/stream")[0] == 503
    for page in pages:
        page.close()
    assert eventually(lambda: _streams(console))


def _streams(console: Open) -> bool:
    with socket.create_connection(("127.0.0.1", console.port), timeout=20) as page:
        request = f"GET /api/stream HTTP/1.1\r\nHost: {console.host}\r\nAuthorization: Bearer {console.token}\r\n\r\n"
        page.sendall(request.encode())
        return page.recv(12) == b"HTTP/1.1 200"


def test_the_page_and_its_parts_need_no_token_and_hold_none(console: Open) -> None:
    for path in ("/", "/main.js", "/rows.js", "/show.js", "/ask.js", "/style.css", "/icon.svg"):
        status, _, body = console.ask("GET", path, console.host, None, None, None)
        assert status == 200
        assert console.token.encode() not in body
    assert json.loads(console.ask("GET", "/api/about")[2])["posts"] == []
    assert console.ask("GET", "/../../etc/passwd")[0] == 404
