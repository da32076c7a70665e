"""Which HTTP requests are let in: a web page must not reach a server on this machine."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence

import msgspec

from hookwright.errors import ConfigError

_JSON, _EVENTS = "application/json", "text/event-stream"
#: Names that always mean this machine.
_LOCAL = ("localhost", "127.0.0.1", "[::1]")
_FORM = "write an address and a port, as in 127.0.0.1:8765 (port 0 takes a free one)"


class Turned(msgspec.Struct, frozen=True):
    """A request that is not let in: its HTTP status and why."""

    status: int
    why: str


class Doors(msgspec.Struct, frozen=True):
    """Where clients may connect, and under which names."""

    host: str
    port: int
    #: Values of the Host header besides the address itself, with or without a port.
    names: tuple[str, ...] = ()

    def at(self, port: int) -> Doors:
        """Return the same with the port that was taken."""
        return msgspec.structs.replace(self, port=port)

    @property
    def url(self) -> str:
        """The address for clients."""
        return f"http://{self.host}:{self.port}/mcp"

    def knows(self, name: str) -> bool:
        """Return whether a Host header names this server: its port must be ours, unless the user wrote another one."""
        local = [f"{one}:{self.port}" for one in (*_LOCAL, self.host, *self.names)]
        bare = [self.host, *_LOCAL] if self.port == 80 else []
        return name.lower() in {one.lower() for one in (*local, *bare, *self.names)}


def doors(address: str, names: Sequence[str]) -> Doors:
    """Read ADDRESS:PORT.

    Law: an address that other machines can reach needs the names under which they reach it, because the gateway has
    no passwords; raise ConfigError without them, and for anything that is not an address.
    """
    host, colon, port = address.rpartition(":")
    try:
        found = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host.strip("[]"))
        number = int(port) if port.isascii() and port.isdigit() else -1
    except ValueError:
        raise ConfigError(f"--listen {address}: {host or address!r} is not an IP address; {_FORM}") from None
    if not colon or not 0 <= number < 65536:
        raise ConfigError(f"--listen {address}: {port!r} is not a port; {_FORM}")
    if not found.is_loopback and not names:
        raise ConfigError(
            f"--listen {address}: other machines can reach this address, and every client that does may call the "
            "tools. Listen on 127.0.0.1, or name the hosts that clients use: --allow-host build.example"
        )
    return Doors(f"[{found}]" if found.version == 6 else str(found), number, tuple(names))


def turned_away(doors: Doors, method: str, headers: Mapping[str, str]) -> Turned | None:
    """Return why a request is not let in; None lets it in.

    Law: `Host` must name this server, so that a page whose name was rebound to this machine is refused; `Origin`, which
    browsers send, must be this server itself. A POST carries JSON, which a page cannot send without being asked first.
    A client accepts JSON and events for a POST, and events for a GET.
    """
    host, origin = headers.get("host", ""), headers.get("origin")
    if not doors.knows(host):
        return Turned(421, f"the Host header {host!r} does not name this server; allow it with --allow-host")
    if origin is not None and not any(
        origin.startswith(scheme) and doors.knows(origin.removeprefix(scheme)) for scheme in ("http://", "https://")
    ):
        return Turned(403, f"the Origin {origin!r} is not this server; allow its host with --allow-host")
    if method == "POST" and headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        return Turned(415, f"the body must be {_JSON}")
    wanted = {"POST": (_JSON, _EVENTS), "GET": (_EVENTS,)}.get(method, ())
    missing = [kind for kind in wanted if not _accepts(headers.get("accept", ""), kind)]
    return Turned(406, f"the Accept header must name {' and '.join(wanted)}") if missing else None


def _accepts(accept: str, kind: str) -> bool:
    found = {one.partition(";")[0].strip().lower() for one in accept.split(",")}
    return bool(found & {kind, "*/*", f"{kind.partition('/')[0]}/*"})
