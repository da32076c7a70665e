"""What the user has trusted, project by project, in one private file outside every project."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable

import msgspec

from hookwright.config.files import read_bytes
from hookwright.errors import TrustError
from hookwright.storage import locked, make_folder, replace_file


class FileCopy(msgspec.Struct, frozen=True):
    """A file as it was when it was trusted; a short `text` is kept for a later diff."""

    path: str
    real: str
    digest: str
    text: str | None = None


class Record(msgspec.Struct, frozen=True):
    """One trusted item: a hook with its scripts, or the settings of a project."""

    digest: str
    entry: str
    place: str
    files: tuple[FileCopy, ...] = ()
    trusted_at: float = 0.0


class _Content(msgspec.Struct, frozen=True):
    version: int
    projects: dict[str, tuple[Record, ...]] = msgspec.field(default_factory=dict)


_VERSION = 1


class TrustStore:
    """The file with all decisions; a store that cannot be read is never overwritten."""

    def __init__(self, path: str) -> None:
        self.path = path

    def decisions(self, project: str) -> tuple[Record, ...]:
        """Return what is trusted in a project; raise TrustError if the store is unusable."""
        return self._read().projects.get(os.path.realpath(project), ())

    def record(self, project: str, records: Iterable[Record], superseded: Iterable[str] = ()) -> None:
        """Trust these items, and stop trusting earlier forms whose digests are superseded.

        An earlier form is removed, so that a return to it is a change like any other.
        """
        now = time.time()
        new = {record.digest: msgspec.structs.replace(record, trusted_at=now) for record in records}
        gone = {*superseded, *new}
        self._update(project, lambda old: (*(record for record in old if record.digest not in gone), *new.values()))

    def revoke(self, project: str) -> None:
        """Forget everything that is trusted in a project."""
        self._update(project, lambda _: ())

    def projects(self) -> tuple[str, ...]:
        """Return the projects with decisions."""
        return tuple(self._read().projects)

    def _update(self, project: str, change: Callable[[tuple[Record, ...]], tuple[Record, ...]]) -> None:
        try:
            folder = os.path.dirname(self.path)
            make_folder(folder)
            with locked(folder):
                content = self._read()
                projects = dict(content.projects)
                projects[os.path.realpath(project)] = change(projects.get(os.path.realpath(project), ()))
                kept = {name: records for name, records in projects.items() if records}
                written = msgspec.json.format(msgspec.json.encode(_Content(_VERSION, kept)), indent=1)
                replace_file(self.path, written, mode=0o600, durable=True)
        except OSError as error:
            raise TrustError(f"{self.path}: cannot be written: {error.strerror or error}.") from error

    def _read(self) -> _Content:
        try:
            data = read_bytes(self.path)
            self._check_owner()
        except FileNotFoundError:
            return _Content(_VERSION)
        except OSError as error:
            raise TrustError(f"{self.path}: cannot be read: {error}. Until then nothing is trusted.") from error
        try:
            content = msgspec.json.decode(data, type=_Content)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise TrustError(f"{self.path}: is damaged: {error}. Move it away and trust again.") from error
        if content.version != _VERSION:
            raise TrustError(f"{self.path}: has version {content.version}; this Hookwright reads {_VERSION}.")
        return content

    def _check_owner(self) -> None:
        facts = os.stat(self.path)
        if facts.st_mode & 0o022:
            raise TrustError(f"{self.path}: others may write it, so it proves nothing. Check it, then run chmod 600.")
        if facts.st_uid not in (0, os.geteuid()):
            raise TrustError(f"{self.path}: belongs to another user, so it proves nothing.")
