"""WebFetch against a real server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agent.benches import call, make_bench
from hookwright.agent.tools import webfetch
from hookwright.agent.tools.webfetch import text_of_html
from hookwright.errors import ModelError

PAGE = (
    "<html><head><title>Title</title><style>p{}</style></head><body><script>var x='hidden'</script>"
    "<h1>Head &amp; shoulders</h1><p>One\ntwo   <b>three</b></p><ul><li>item</li></ul></body></html>"
)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        route = {
            "/page": (200, "text/html; charset=utf-8", PAGE.encode()),
            "/latin": (200, "text/plain; charset=latin-1", b"caf\xe9"),
            "/odd": (200, "text/plain; charset=nonsense", b"odd"),
            "/missing": (404, "text/plain", b"no such page"),
            "/image": (200, "image/png", b"\x89PNG"),
            "/large": (200, "text/plain", b"x" * 3000),
        }
        if self.path in ("/here", "/loop", "/away", "/file"):
            target = {"/here": "/page", "/loop": "/loop", "/away": "http://localhost:9/", "/file": "file:///etc/passwd"}
            self.send_response(302)
            self.send_header("Location", target[self.path])
            self.end_headers()
            return
        code, kind, data = route[self.path]
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        """Keep quiet."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_the_text_of_a_page_is_what_a_reader_sees(tmp_path: Path, server: str) -> None:
    done = call(make_bench(tmp_path), "WebFetch", url=f"{server}/here", prompt="?")
    assert done.text == "Title\nHead & shoulders\nOne two three\n- item"
    response = done.response
    assert (response["code"], response["codeText"], response["url"]) == (200, "OK", f"{server}/page")
    assert list(response) == ["bytes", "code", "codeText", "result", "durationMs", "url"]


def test_a_model_answers_the_question_where_there_is_one(tmp_path: Path, server: str) -> None:
    bench = make_bench(tmp_path)

    async def ask(question: str, text: str) -> str:
        return f"{question} -> {text.splitlines()[0]}"

    bench.ask_model = ask
    assert call(bench, "WebFetch", url=f"{server}/page", prompt="which?").text == "which? -> Title"


@pytest.mark.parametrize(
    ("path", "text"), [("/latin", "café"), ("/odd", "odd"), ("/missing", "HTTP 404 Not Found\nno such page")]
)
def test_texts_of_other_kinds(tmp_path: Path, server: str, path: str, text: str) -> None:
    assert call(make_bench(tmp_path), "WebFetch", url=server + path, prompt="?").text == text


def test_what_cannot_be_had_is_a_failure(tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webfetch, "MAX_BYTES", 2000)
    for url, said in (
        (f"{server}/loop", "more than 5 redirects"),
        (f"{server}/away", "redirects to another host: http://localhost:9/"),
        (f"{server}/file", "not a web address"),
        (f"{server}/image", "image/png, not text"),
        (f"{server}/large", "more than 2,000 bytes"),
        ("file:///etc/passwd", "not a web address"),
        ("http://[bad", "is not an address"),
        ("http://127.0.0.1:1/", "could not be fetched"),
    ):
        done = call(make_bench(tmp_path), "WebFetch", url=url, prompt="?")
        assert done.is_error
        assert said in str(done.text)


def test_a_model_that_fails_fails_the_call(tmp_path: Path, server: str) -> None:
    bench = make_bench(tmp_path)

    async def ask(question: str, text: str) -> str:
        raise ModelError("overloaded")

    bench.ask_model = ask
    assert call(bench, "WebFetch", url=f"{server}/page", prompt="?").text == "overloaded"


def test_broken_html_still_has_text() -> None:
    assert text_of_html("<p>a<p>b</script></div><br>c<style>d") == "a\nb\nc"
