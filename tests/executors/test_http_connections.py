"""HTTP handlers against servers that break, hang, flood or go away, and over TLS."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
import socket
import ssl
import subprocess
import tracemalloc
import zlib
from pathlib import Path

import pytest

from hookwright.executors._httpwire import BadAnswer, Body
from hookwright.executors.http import HttpExecutor
from hookwright.protocol.handlers import HttpHandler
from hookwright.protocol.job import Job
from hookwright.protocol.replies import Answered, Failed, Failure, Reply
from hookwright.protocol.wire import encode_event
from http_server import PROJECT, USER, Answer, Request, Server, answer, ask, executor, job, raw, with_server
from support import event

DENY = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}


# ── servers that break ──


def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/hook"
    assert asyncio.run(executor()(job(url))) == Failed(Failure.CONNECTION, f"cannot reach {url}: connection refused")


def test_a_name_that_does_not_exist() -> None:
    async def getaddrinfo(*args: object, **options: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async def main() -> Reply:
        asyncio.get_running_loop().getaddrinfo = getaddrinfo  # type: ignore[method-assign, assignment]
        return await executor()(job("http://no-such-host.invalid/hook"))

    assert asyncio.run(main()) == Failed(
        Failure.CONNECTION, "cannot reach http://no-such-host.invalid/hook: Name or service not known"
    )


async def _reset(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def _reset_in_body(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    await writer.drain()
    writer.transport.abort()


@pytest.mark.parametrize("respond", [_reset, _reset_in_body, raw(b"HTTP/1.1 200 OK\r\nConte")])
def test_a_connection_that_breaks_is_no_answer(respond: Answer) -> None:
    async def and_close(request: Request, writer: asyncio.StreamWriter) -> None:
        await respond(request, writer)
        writer.close()

    reply, _ = ask(and_close)
    assert isinstance(reply, Failed)
    assert reply.why in (Failure.CONNECTION, Failure.ANSWER)


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Encoding: gzip\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Encoding: br\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 10\r\n\r\n" + gzip.compress(b"{}", mtime=0)[:10],
        b"HTTP/1.1 100 Continue\r\n\r\n" * 50,
        b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * 2_000_000,
    ],
)
def test_an_answer_that_cannot_be_read(data: bytes) -> None:
    reply, _ = ask(raw(data))
    assert isinstance(reply, Failed)
    assert reply.why is Failure.ANSWER


async def _endless(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    for _ in range(1024):
        writer.write(chunk)
        await writer.drain()


async def _gzip_bomb(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
    pack = zlib.compressobj(wbits=31)
    for _ in range(256):
        writer.write(pack.compress(b" " * 0x100000))
        await writer.drain()


async def _crumbs(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(100):
        writer.write(b"1\r\n \r\n" * 10_000)
        await writer.drain()


@pytest.mark.parametrize(
    "respond",
    [_endless, _gzip_bomb, _crumbs, raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n{")],
    ids=["1 GB", "gzip bomb", "one byte at a time", "announced length"],
)
def test_an_answer_over_the_limit_is_not_read_further(respond: Answer) -> None:
    reply, _ = ask(respond)
    assert isinstance(reply, Failed)
    assert reply.why is Failure.ANSWER
    assert reply.message.endswith("the rest was not read")


def test_unpacking_stops_at_the_limit() -> None:
    packed = gzip.compress(b" " * 64 * 1024 * 1024, 1, mtime=0)
    tracemalloc.start()
    try:
        with pytest.raises(BadAnswer):
            Body("gzip").add(packed)
        assert tracemalloc.get_traced_memory()[1] < 24 * 1024 * 1024
    finally:
        tracemalloc.stop()


def test_three_megabytes_are_an_answer() -> None:
    text = json.dumps({"systemMessage": "x" * 3_000_000})
    assert ask(answer(text))[0] == Answered(json.loads(text), 200, body=text)


def test_a_server_may_answer_before_it_read_everything() -> None:
    async def main() -> Reply:
        gone = asyncio.Event()

        async def early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
            await asyncio.sleep(0.1)
            writer.transport.abort()
            gone.set()

        async with await asyncio.start_server(early, "127.0.0.1", 0) as server:
            fired = event("PreToolUse", tool_input={"content": "x" * 20_000_000})
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            reply = await executor()(Job(HttpHandler(source=USER, url=url), fired, encode_event(fired), 0, "r", 5.0))
            await gone.wait()
            return reply

    reply = asyncio.run(main())
    assert isinstance(reply, Failed)
    assert reply.status == 413


# ── cancellation ──


async def _hang(request: Request, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def _drip(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.01)


async def _drip_head(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX-Drip: ")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.req("R-190")
@pytest.mark.parametrize("respond", [_hang, _drip, _drip_head, answer("{}"), answer(status="500 X"), _reset])
def test_whatever_happens_no_socket_and_no_task_is_left(respond: Answer) -> None:
    async def work(server: Server, run: HttpExecutor) -> None:
        for _ in range(3):
            try:
                async with asyncio.timeout(0.1):
                    await run(job(server.url))
            except TimeoutError:
                assert respond in (_hang, _drip, _drip_head)

    with_server(respond, work)


def test_an_error_status_does_not_wait_for_its_body() -> None:
    async def slow_body(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 500 X\r\nContent-Length: 100\r\n\r\n")
        await asyncio.sleep(60)

    reply, _ = ask(slow_body)
    assert isinstance(reply, Failed)
    assert reply.status == 500


# ── connections are kept ──


def test_one_connection_serves_many_events() -> None:
    async def work(server: Server, run: HttpExecutor) -> None:
        for _ in range(20):
            assert await run(job(server.url)) == Answered({}, 200, body="{}")
        assert (server.connections, len(server.requests)) == (1, 20)

    with_server(answer("{}"), work)


def test_an_error_with_its_body_at_hand_keeps_the_connection() -> None:
    async def work(server: Server, run: HttpExecutor) -> None:
        for _ in range(5):
            await run(job(server.url))
        assert server.connections == 1

    with_server(answer("no", "404 X"), work)


def test_a_connection_that_the_server_closed_is_replaced() -> None:
    async def once(request: Request, writer: asyncio.StreamWriter) -> None:
        await answer("{}")(request, writer)
        writer.close()

    async def work(server: Server, run: HttpExecutor) -> None:
        for _ in range(5):
            assert await run(job(server.url)) == Answered({}, 200, body="{}")
            await asyncio.sleep(0.01)
        assert server.connections == 5

    with_server(once, work)


def test_a_connection_that_breaks_under_the_next_request_is_replaced() -> None:
    async def work(server: Server, run: HttpExecutor) -> None:
        await run(job(server.url))
        server.respond = _second_time_abort(server)
        assert await run(job(server.url)) == Answered({}, 200, body="{}")
        assert (server.connections, len(server.requests)) == (2, 3)

    with_server(answer("{}"), work)


def _second_time_abort(server: Server) -> Answer:
    async def respond(request: Request, writer: asyncio.StreamWriter) -> None:
        server.respond = answer("{}")
        writer.transport.abort()

    return respond


def test_bytes_that_nobody_asked_for_are_never_an_answer() -> None:
    smuggled = json.dumps(DENY).encode()
    extra = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(smuggled), smuggled)

    async def two(request: Request, writer: asyncio.StreamWriter) -> None:
        await answer("{}")(request, writer)
        await asyncio.sleep(0.02)
        writer.write(extra)
        await writer.drain()

    async def work(server: Server, run: HttpExecutor) -> None:
        for _ in range(3):
            assert await run(job(server.url)) == Answered({}, 200, body="{}")
            await asyncio.sleep(0.05)
        assert server.connections == 3

    with_server(two, work)


def test_a_hundred_at_once() -> None:
    async def work(server: Server, run: HttpExecutor) -> None:
        for _ in range(2):
            replies = await asyncio.gather(*(run(job(server.url)) for _ in range(100)))
            assert replies == [Answered({}, 200, body="{}")] * 100
        assert len(server.requests) == 200

    with_server(answer("{}"), work)


def test_an_executor_outlives_its_event_loop() -> None:
    async def once(run: HttpExecutor) -> Reply:
        async with Server(answer("{}")) as server:
            reply = await run(job(server.url))
            await run.aclose()
            return reply

    run = executor()
    assert [asyncio.run(once(run)) for _ in range(3)] == [Answered({}, 200, body="{}")] * 3


# ── TLS ──


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a key and a certificate for 127.0.0.1 that signs itself."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=hookwright"
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(path), "-out", str(path) + ".crt"]
    subprocess.run([*words.split(), *names], check=True, capture_output=True)
    path.write_text(path.read_text() + Path(str(path) + ".crt").read_text())
    return path


def test_tls_is_verified_and_its_connection_kept(certificate: Path) -> None:
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate)
    trusting = ssl.create_default_context(cafile=str(certificate) + ".crt")

    async def main() -> None:
        async with Server(answer("{}"), serving) as server:
            good, strict = executor(tls=trusting), executor()
            for _ in range(3):
                assert await good(job(server.url, PROJECT)) == Answered({}, 200, body="{}")
            assert server.connections == 1
            refused = await strict(job(server.url))
            assert isinstance(refused, Failed)
            assert refused.why is Failure.CONNECTION
            assert "SSL_CERT_FILE" in refused.message
            wrong_name = await good(job(server.url.replace("127.0.0.1", "127.0.0.2")))
            assert isinstance(wrong_name, Failed)
            await good.aclose()
            await strict.aclose()

    asyncio.run(main())


def test_tls_to_a_server_that_speaks_none_and_hangs_is_cancelled(certificate: Path) -> None:
    async def work(server: Server, run: HttpExecutor) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await run(job(server.url.replace("http:", "https:")))

    with_server(_hang, work)
