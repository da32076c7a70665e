"""Run HTTP handlers: POST the event, read the answer.

Proxies from the environment are not used: a hook talks to its URL directly. Redirects are not followed. The time
limit is the engine's: it cancels the whole exchange, and the connection is then closed at once.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from hookwright._version import __version__
from hookwright.errors import MissingExtra
from hookwright.executors._httpguard import HttpTarget, RefusedAddress, allows, anywhere, metadata_address, parse_url
from hookwright.executors._httpwire import AddressRefused, BadAnswer, HttpResponse
from hookwright.protocol.handlers import HttpHandler
from hookwright.protocol.job import Job
from hookwright.protocol.jsontext import parse_json
from hookwright.protocol.replies import Answered, Failed, Failure, Reply

if TYPE_CHECKING:
    from hookwright.executors._httpclient import HttpClient

_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
#: Headers that frame and address the message; a hook that set them could bypass the allowlist.
_OURS = frozenset(
    {
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_EXCERPT = 200


class HttpExecutor:
    """POSTs events to URLs the settings and the guard allow."""

    def __init__(
        self,
        env: Mapping[str, str],
        allowed_urls: Sequence[str] | None,
        allowed_env: Sequence[str] | None,
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._env = env
        self._allowed_urls = allowed_urls
        self._allowed_env = frozenset(allowed_env) if allowed_env is not None else None
        self._tls = tls
        self._made: HttpClient | None = None

    async def __call__(self, job: Job) -> Reply:
        """Check the URL, send the payload, and turn the answer into a reply."""
        handler = job.handler
        assert isinstance(handler, HttpHandler)
        target = self._target(handler)
        if isinstance(target, RefusedAddress):
            return Failed(Failure.FORBIDDEN, target.message)
        notes: list[str] = []
        body = job.payload.removesuffix(b"\n")
        headers = [*self._headers(handler, target, notes), (b"Content-Length", str(len(body)).encode())]
        reply = await self._ask(handler, target, headers, body)
        return msgspec.structs.replace(reply, notes=tuple(notes)) if notes else reply

    async def aclose(self) -> None:
        """Close the connections kept for the next event."""
        if self._made is not None:
            made, self._made = self._made, None
            await made.aclose()

    def _target(self, handler: HttpHandler) -> HttpTarget | RefusedAddress:
        target = parse_url(handler.url)
        if isinstance(target, RefusedAddress):
            return RefusedAddress(f"{handler.url!r} {target.message}")
        if not allows(self._allowed_urls, target):
            listed = ", ".join(self._allowed_urls or ()) or "nothing"
            return RefusedAddress(
                f"{handler.url} is not allowed: `allowedHttpHookUrls` lists {listed}. Add the URL there."
            )
        return target

    async def _ask(
        self, handler: HttpHandler, target: HttpTarget, headers: list[tuple[bytes, bytes]], body: bytes
    ) -> Answered | Failed:
        guard = metadata_address if handler.source.from_project else anywhere
        try:
            response = await self._client().post(target, headers, body, guard)
        except MissingExtra as error:
            return Failed(Failure.LAUNCH, str(error))
        except AddressRefused as error:
            return Failed(Failure.FORBIDDEN, f"{error}; a project hook may not reach it")
        except BadAnswer as error:
            return Failed(Failure.ANSWER, f"{handler.url}: {error}")
        except OSError as error:
            return Failed(Failure.CONNECTION, f"cannot reach {handler.url}: {_reason(error)}")
        return read_response(response, handler.url)

    def _client(self) -> HttpClient:
        if self._made is None:
            try:
                from hookwright.executors._httpclient import HttpClient
            except ModuleNotFoundError as error:
                if error.name != "h11":
                    raise
                raise MissingExtra("an http hook", "http") from None
            self._made = HttpClient(self._tls)
        return self._made

    # ── headers ─────────────────────────────────────────────────────────────

    def _headers(self, handler: HttpHandler, target: HttpTarget, notes: list[str]) -> list[tuple[bytes, bytes]]:
        """Merge the handler's headers into the default ones; those that frame the message cannot be set."""
        headers = {
            "accept": ("Accept", "application/json, text/plain, */*"),
            "content-type": ("Content-Type", "application/json"),
            "user-agent": ("User-Agent", f"hookwright/{__version__}"),
            "accept-encoding": ("Accept-Encoding", "gzip, deflate"),
        }
        for name, template in handler.headers:
            if not _HEADER_NAME.fullmatch(name):
                notes.append(f"header {name!r} is not a valid header name; it was skipped")
            elif name.lower() in _OURS or name.lower().startswith("proxy-"):
                notes.append(f"header {name} belongs to the connection and cannot be set by a hook; it was skipped")
            else:
                headers[name.lower()] = (name, self._value(name, template, handler, notes))
        headers["host"] = ("Host", target.authority)
        return [(name.encode("ascii"), value.encode("utf-8", "surrogateescape")) for name, value in headers.values()]

    def _value(self, name: str, template: str, handler: HttpHandler, notes: list[str]) -> str:
        allowed = set(handler.allowed_env_vars)
        if self._allowed_env is not None:
            allowed &= self._allowed_env

        def variable(found: re.Match[str]) -> str:
            wanted = found[1] or found[2]
            if wanted in allowed and wanted in self._env:
                return self._env[wanted]
            notes.append(f"header {name}: ${wanted} {self._why_empty(wanted, handler)}; an empty string was used")
            return ""

        value = _VARIABLE.sub(variable, template)
        clean = _CONTROL.sub("", value)
        if clean != value:
            notes.append(f"header {name}: control characters were removed from its value")
        return _encodable(clean.strip(" \t"))

    def _why_empty(self, wanted: str, handler: HttpHandler) -> str:
        if wanted not in handler.allowed_env_vars:
            return "is not in the handler's `allowedEnvVars`"
        if self._allowed_env is not None and wanted not in self._allowed_env:
            return "is not in `httpHookAllowedEnvVars`"
        return "is not set"


def read_response(response: HttpResponse, url: str) -> Answered | Failed:
    """Read an answer; only a 2xx with a JSON object or an empty body is valid."""
    status = response.status
    if not 200 <= status < 300:
        return Failed(Failure.STATUS, f"HTTP {status} from {url}", status)
    body = response.body.decode("utf-8", "replace")
    text = body.removeprefix("\ufeff").strip()
    if not text:
        return Answered({}, status)
    value, problem = parse_json(text)
    if problem is None and isinstance(value, dict):
        return Answered(value, status, body=body)
    shown = text if len(text) <= _EXCERPT else text[:_EXCERPT] + "…"
    wanted = "JSON, but got non-JSON response body" if problem is not None else "a JSON object, but got other JSON"
    return Failed(Failure.ANSWER, f"HTTP hook must return {wanted}: {shown}", status, body=body)


def _encodable(value: str) -> str:
    """Keep the raw bytes of environment values; any other surrogate becomes U+FFFD."""
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _reason(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{error.verify_message}; set SSL_CERT_FILE to the authority's certificate"
    return error.strerror or str(error) or type(error).__name__
