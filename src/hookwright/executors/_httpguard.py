"""Which URLs and addresses an HTTP hook may reach, decided without network access."""

from __future__ import annotations

import functools
import ipaddress
import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

import msgspec

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_PORT = re.compile(r"[0-9]{1,5}")
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


class RefusedAddress(msgspec.Struct, frozen=True):
    """Why a URL or an address is refused."""

    message: str


class HttpTarget(msgspec.Struct, frozen=True):
    """A URL, split once; what is compared with patterns is exactly what is sent."""

    scheme: str
    #: Lower case, without a trailing dot; an IPv6 address is in brackets.
    host: str
    port: int
    #: Path and query, without dot segments and without a fragment.
    path: str

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        return self.host if self.port == _PORTS[self.scheme] else f"{self.host}:{self.port}"

    @property
    def hostname(self) -> str:
        """The host for resolvers and certificates: an IPv6 address without its brackets."""
        return self.host.strip("[]")


# ── URLs ────────────────────────────────────────────────────────────────────


@functools.lru_cache(maxsize=256)
def parse_url(url: str) -> HttpTarget | RefusedAddress:
    """Split an absolute http or https URL; refuse whatever two parsers could read differently."""
    if any(char <= " " or char == "\x7f" for char in url):
        return RefusedAddress("has white space or a control character; percent-encode it")
    if "\\" in url:
        return RefusedAddress("has a backslash; write / or %5C")
    scheme, separator, rest = url.partition("://")
    scheme = scheme.lower()
    if not separator or scheme not in _PORTS:
        return RefusedAddress("is not an absolute http:// or https:// URL")
    authority, tail = _split_authority(rest)
    if "@" in authority:
        return RefusedAddress("has credentials before the host; put them in `headers` with `allowedEnvVars`")
    found = _host_and_port(authority)
    if found is None:
        return RefusedAddress(f"has no valid host and port: {authority!r}")
    host, port = found
    return HttpTarget(scheme, host, int(port) if port else _PORTS[scheme], _path(tail))


def _split_authority(rest: str) -> tuple[str, str]:
    end = min((place for place in map(rest.find, "/?#") if place >= 0), default=len(rest))
    return rest[:end], rest[end:]


def _host_and_port(authority: str) -> tuple[str, str] | None:
    if authority.startswith("["):
        literal, closed, rest = authority[1:].partition("]")
        if not closed or "%" in literal or (rest and not rest.startswith(":")):
            return None
        try:
            host = f"[{ipaddress.IPv6Address(literal)}]"
        except ValueError:
            return None
        port = rest[1:]
    else:
        name, _, port = authority.partition(":")
        host = _ascii(name)
        if not _HOST.fullmatch(host):
            return None
    if port and not (_PORT.fullmatch(port) and 0 < int(port) < 65536):
        return None
    return host, port


def _ascii(name: str) -> str:
    """Normalise a host name for comparison: IDNA, lower case, no trailing dot."""
    try:
        return name.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        return name.lower().removesuffix(".")


def _path(tail: str) -> str:
    path, question, query = tail.partition("#")[0].partition("?")
    written = _without_dots(path or "/") + question + query
    return quote(written, safe=_PRINTABLE, errors="replace")


def _without_dots(path: str) -> str:
    """Resolve `.` and `..`, so a URL cannot escape a pattern for one folder."""
    kept: list[str] = []
    segments = path.split("/")[1:]
    for position, segment in enumerate(segments):
        plain = segment.lower().replace("%2e", ".")
        if plain not in (".", ".."):
            kept.append(segment)
            continue
        if plain == ".." and kept:
            kept.pop()
        if position == len(segments) - 1:
            kept.append("")
    return "/" + "/".join(kept)


# ── patterns ────────────────────────────────────────────────────────────────


def allows(patterns: Sequence[str] | None, target: HttpTarget) -> bool:
    """Return whether `allowedHttpHookUrls` allows a URL: None allows all, an empty list none."""
    return patterns is None or any(matches(pattern, target) for pattern in patterns)


def matches(pattern: str, target: HttpTarget) -> bool:
    """Compare one pattern with a URL, part by part, so `*` never crosses from one part into the next.

    Law: scheme and host are compared without case, path and query with it; a pattern without a port means the
    default one, unless its host ends with `*`; a pattern without a path means `/`, unless it ends with `*`.
    """
    scheme, separator, rest = pattern.partition("://")
    if not separator:
        if not pattern.startswith("*"):
            return False
        scheme, rest = "*", pattern
    authority, tail = _split_authority(rest)
    host, port = _pattern_host_and_port(authority)
    if not tail:
        tail = "*" if authority.endswith("*") else "/"
    return (
        _glob(scheme.lower(), target.scheme)
        and _glob(host, target.host)
        and _port_matches(host, port, target)
        and _glob(tail.partition("#")[0], target.path)
    )


def _pattern_host_and_port(authority: str) -> tuple[str, str]:
    if authority.startswith("["):
        literal, _, port = authority.partition("]")
        parsed = _host_and_port(literal + "]")
        return (parsed[0] if parsed is not None else (literal + "]").lower()), port.removeprefix(":")
    host, _, port = authority.partition(":")
    return _ascii(host), port


def _port_matches(host: str, port: str, target: HttpTarget) -> bool:
    if port:
        return _glob(port, str(target.port))
    return host.endswith("*") or target.port == _PORTS[target.scheme]


def _glob(pattern: str, text: str) -> bool:
    """Match `*` in linear time; no other character is special."""
    head, *rest = pattern.split("*")
    if not rest:
        return pattern == text
    *middle, tail = rest
    position, end = len(head), len(text) - len(tail)
    if position > end or not text.startswith(head) or not text.endswith(tail):
        return False
    for part in middle:
        found = text.find(part, position, end)
        if found < 0:
            return False
        position = found + len(part)
    return True


# ── addresses ───────────────────────────────────────────────────────────────

#: Names and addresses where clouds hand out credentials to any process inside them.
_METADATA_NAMES = frozenset(
    {"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"}
)
_METADATA_NETWORKS = tuple(
    ipaddress.ip_network(network)
    for network in (
        "169.254.0.0/16",
        "100.100.100.200/32",
        "168.63.129.16/32",
        "192.0.0.192/32",
        "fe80::/10",
        "fd00:ec2::254/128",
        "fd20:ce::254/128",
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")


def metadata_address(host: str, addresses: Iterable[str]) -> RefusedAddress | None:
    """Refuse a host when its name or any address it resolves to is a metadata or link-local one."""
    if host.removesuffix(".").lower() in _METADATA_NAMES:
        return RefusedAddress(f"{host} is a cloud metadata service")
    for address in addresses:
        if _is_metadata(address):
            return RefusedAddress(f"{host} is {address}, a link-local or cloud metadata address")
    return None


def anywhere(host: str, addresses: Iterable[str]) -> RefusedAddress | None:  # noqa: ARG001 - used like metadata_address
    """Refuse nothing."""
    return None


@functools.lru_cache(maxsize=256)
def _is_metadata(address: str) -> bool:
    return any(
        reading.version == network.version and reading in network
        for reading in _readings(address)
        for network in _METADATA_NETWORKS
    )


def _readings(address: str) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Return an address and the IPv4 addresses it wraps."""
    outer = ipaddress.ip_address(address)
    if isinstance(outer, ipaddress.IPv4Address):
        return [outer]
    wrapped = [outer.ipv4_mapped, outer.sixtofour, *(outer.teredo or ())]
    if outer in _NAT64 or outer in _COMPATIBLE:
        wrapped.append(ipaddress.IPv4Address(int(outer) & 0xFFFFFFFF))
    return [outer, *(inner for inner in wrapped if inner is not None)]
