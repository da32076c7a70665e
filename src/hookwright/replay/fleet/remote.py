"""Files by URL, such as `s3://bucket/history`, through fsspec."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING

from hookwright.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_URL = re.compile(r"[a-z][a-z0-9+.-]*(?:::[a-z][a-z0-9+.-]*)*://", re.IGNORECASE)


def is_url(name: str) -> bool:
    """Return whether a name is a URL, not a path."""
    return _URL.match(name) is not None


def opened(url: str) -> tuple[AbstractFileSystem, str]:
    """Return the file system of a URL and the path there; raise MissingExtra or ConfigError if there is none."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtra(f"Reading {url.partition('://')[0]}:// addresses", "remote") from None
    try:
        system, path = url_to_fs(url)
    except ImportError as error:
        raise ConfigError(f"{url}: {error}. Install it here and on the workers.") from None
    except ValueError as error:
        raise ConfigError(f"{url}: {error}") from None
    return system, path


def local_path(name: str) -> str:
    """Return the path that a `file://` URL names; any other name as it is."""
    return name.removeprefix("file://") if name.startswith("file:///") else name


def real_path(name: str) -> str:
    """Return a path without symbolic links; a URL as it is."""
    return name if is_url(name) else os.path.realpath(name)


def open_url(url: str) -> IO[bytes]:
    """Open what a URL names for reading; raise OSError if that fails."""
    system, path = opened(url)
    try:
        file: IO[bytes] = system.open(path, "rb")
    except OSError:
        raise
    except Exception as error:  # each store has errors of its own, for example about credentials
        raise OSError(f"{url}: {error}") from None
    return file


def listed(url: str) -> list[str]:
    """Return the URLs of the files that a URL names: a file, everything below a folder, or what a pattern matches."""
    system, path = opened(url)
    try:
        if any(mark in path for mark in "*?["):
            found = [one for one in system.glob(path) if system.isfile(one)]
        else:
            found = [path] if system.isfile(path) else system.find(path)
    except OSError as error:
        raise ConfigError(f"{url}: cannot be read: {_reason(error)}") from None
    except Exception as error:  # each store has errors of its own, for example about credentials
        raise ConfigError(f"{url}: cannot be read: {error}") from None
    return [system.unstrip_protocol(one) for one in sorted(found)]


def size_of(name: str) -> int:
    """Return the size of a file or of what a URL names; 0 if that is not known."""
    try:
        if not is_url(name):
            return os.stat(name).st_size
        system, path = opened(name)
        return int(system.size(path) or 0)
    except OSError:
        return 0


def modified(url: str) -> float:
    """Return when what a URL names was last written; infinity if its store does not say."""
    try:
        system, path = opened(url)
        when: datetime = system.modified(path)
    except (OSError, NotImplementedError, AttributeError):
        return float("inf")
    return when.timestamp() if when.tzinfo is not None else when.replace(tzinfo=UTC).timestamp()


def read_url(url: str) -> bytes:
    """Return the bytes of a file or URL; raise ConfigError if it cannot be read."""
    try:
        if not is_url(url):
            with open(url, "rb") as file:
                return file.read()
        system, path = opened(url)
        data: bytes = system.cat_file(path)
    except OSError as error:
        raise ConfigError(f"{url}: cannot be read: {_reason(error)}") from None
    return data


def write_url(url: str, data: bytes) -> None:
    """Write a file or URL; raise ConfigError if it cannot be written."""
    try:
        if not is_url(url):
            os.makedirs(os.path.dirname(os.path.abspath(url)), exist_ok=True)
            descriptor = os.open(url, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with open(descriptor, "wb") as file:
                file.write(data)
            return
        system, path = opened(url)
        system.pipe_file(path, data)
    except OSError as error:
        raise ConfigError(f"{url}: cannot be written: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__
