"""Which requests the console answers: one law, checked before anything else looks at a request."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Mapping

import msgspec

#: Paths below these need the token; everything else is the page itself, which has no secret.
_GUARDED = ("/api/", "/v1/")
_READING = frozenset({"GET", "HEAD"})
_SAME_SITE = frozenset({"same-origin", "none"})
_HOST = re.compile(r"(?P<name>127\.0\.0\.1|localhost|\[::1\])(?::(?P<port>\d{1,5}))?")


class Door(msgspec.Struct, frozen=True, kw_only=True):
    """What a console knows of itself when it judges a request."""

    #: The port it listens on; None on a unix socket, where a host has no port.
    port: int | None
    token: str
    #: Paths that may be posted to: none, unless the person who started the console allowed it.
    posts: frozenset[str] = frozenset()


class Turned(msgspec.Struct, frozen=True):
    """A request that is not answered: the status and why."""

    status: int
    why: str


def judge(door: Door, method: str, path: str, headers: Iterable[tuple[bytes, bytes]]) -> Turned | None:
    """Return why a request is turned away; None if it may be answered.

    Law, in this order:
    1. it has one `Host`, which is 127.0.0.1, localhost or [::1] with our port: a name that another page made point here
       is not ours;
    2. an `Origin` is ours, and `Sec-Fetch-Site` says `same-origin` or `none`: no other page may ask, whatever it knows;
    3. it reads (GET, HEAD), or it posts to a path that was allowed at the start;
    4. what is not the page itself carries the token, once, in `Authorization`. There is no cookie, and a token in the
       address is not looked at.
    """
    found: dict[bytes, list[str]] = {}
    for name, value in headers:
        found.setdefault(name.lower(), []).append(value.decode("latin-1"))
    hosts = found.get(b"host", [])
    if len(hosts) != 1 or not _is_ours(door, hosts[0]):
        return Turned(403, "this console answers only to its own address")
    origins = found.get(b"origin", [])
    if any(not _is_origin(door, origin) for origin in origins) or len(origins) > 1:
        return Turned(403, "another page asks")
    if any(site not in _SAME_SITE for site in found.get(b"sec-fetch-site", [])):
        return Turned(403, "another page asks")
    if method not in _READING and not (method == "POST" and path in door.posts):
        return Turned(405, "this console only reads")
    if path.startswith(_GUARDED) and not _knows_token(door, found):
        return Turned(401, "open the address that `hookwright web` printed: it has the token")
    return None


def _is_ours(door: Door, host: str) -> bool:
    read = _HOST.fullmatch(host)
    if read is None:
        return False
    if door.port is None:
        return read["port"] is None
    return read["port"] is not None and int(read["port"]) == door.port


def _is_origin(door: Door, origin: str) -> bool:
    scheme, _, host = origin.partition("://")
    return scheme == "http" and _is_ours(door, host)


def _knows_token(door: Door, found: Mapping[bytes, list[str]]) -> bool:
    given = found.get(b"authorization", [])
    expected = f"Bearer {door.token}"
    return len(given) == 1 and hmac.compare_digest(given[0].encode("latin-1"), expected.encode())


#: Sent with every answer, also with a refusal.
HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        b"frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
