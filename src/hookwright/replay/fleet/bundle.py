"""Everything hooks need, as one file that is named by its hash."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tarfile
import tempfile
from collections.abc import Iterable, Iterator

import msgspec

from hookwright.errors import ConfigError, HookwrightError

#: The most bytes of a bundle.
LIMIT = 256 * 1024 * 1024
_FILES = "files/"
_TREES = "trees.json"
#: The mark of a folder that hides what the machine has at its path, in the attributes of overlays.
_OPAQUE = "user.overlay.opaque"


class BrokenBundle(HookwrightError):
    """A bundle that is not what its name says, or that would be unpacked outside its folder."""


class Contents(msgspec.Struct, frozen=True):
    """What goes into a bundle, by absolute path."""

    #: Folders that are sent as they are: what a worker has at the same path is hidden.
    trees: tuple[str, ...]
    #: Files, links and folders. Of a folder only its existence is sent; a file outside the trees is sent as such, even
    #: if it is a link.
    paths: tuple[str, ...]


class Bundle(msgspec.Struct, frozen=True):
    """A tar file and the SHA-256 of its bytes."""

    digest: str
    data: bytes


def pack(contents: Contents) -> Bundle:
    """Write a bundle.

    Law: the bytes depend on paths, contents, links and the executable bit alone: not on times, owners, or the order in
    which paths are listed.
    """
    raw = io.BytesIO()
    total = 0
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        trees = msgspec.json.encode(sorted(contents.trees))
        tar.addfile(_member(_TREES, len(trees)), io.BytesIO(trees))
        for path in sorted({*contents.trees, *contents.paths}):
            member, data = _read(path, any(_within(path, tree) for tree in contents.trees))
            total += len(data)
            if total > LIMIT:
                raise ConfigError(
                    f"{path}: hooks, settings and project have more than {LIMIT >> 20} MB, which is too much to send "
                    "to workers. Add large files to .gitignore, or start in a shallow clone (git clone --depth 1)."
                )
            tar.addfile(member, io.BytesIO(data))
    return Bundle(hashlib.sha256(raw.getbuffer()).hexdigest(), raw.getvalue())


def _read(path: str, in_tree: bool) -> tuple[tarfile.TarInfo, bytes]:
    name = _FILES + path.lstrip("/")
    try:
        facts = os.lstat(path) if in_tree else os.stat(path)
        if stat.S_ISLNK(facts.st_mode):
            link = _member(name, 0, tarfile.SYMTYPE)
            link.linkname = os.readlink(path)
            return link, b""
        if stat.S_ISDIR(facts.st_mode):
            return _member(name, 0, tarfile.DIRTYPE), b""
        with open(path, "rb") as file:
            data = file.read(LIMIT + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be sent to workers: {error.strerror}") from None
    member = _member(name, len(data))
    member.mode = 0o755 if facts.st_mode & stat.S_IXUSR else 0o644
    return member, data


def _member(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.size, member.mtime = kind, size, 0
    member.mode = 0o755 if kind == tarfile.DIRTYPE else 0o644
    return member


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


class Unpacked(msgspec.Struct, frozen=True):
    """A bundle in a private folder of this machine."""

    #: The folder that is shown as `/`.
    root: str
    #: Digests of regular files and the targets of links, by absolute path, as they were packed.
    facts: dict[str, str]

    def at_home(self) -> str | None:
        """Return the first path that is not on this machine as it is in the bundle; None if all are."""
        return next((path for path, fact in self.facts.items() if _fact(path) != fact), None)

    def check(self) -> None:
        """Raise BrokenBundle if a file was changed after it was unpacked."""
        for path, fact in self.facts.items():
            if _fact(self.root + path) != fact:
                raise BrokenBundle(f"{self.root}{path}: changed after it was unpacked. Start the replay again.")


def unpack(bundle: Bundle, folder: str) -> Unpacked:
    """Unpack a bundle into a new folder inside `folder`, which only this user can read.

    Law: nothing is written if the bytes are not those that the name says, nothing outside the new folder, and nothing
    through a link.
    """
    if hashlib.sha256(bundle.data).hexdigest() != bundle.digest:
        raise BrokenBundle(f"the bundle {bundle.digest[:12]} was damaged on its way. Start the replay again.")
    root = tempfile.mkdtemp(prefix=f"hookwright-bundle-{bundle.digest[:12]}-", dir=folder)
    facts: dict[str, str] = {}
    trees: list[str] = []
    with tarfile.open(fileobj=io.BytesIO(bundle.data)) as tar:
        for member, path in _checked(tar):
            inside = root + path
            file = tar.extractfile(member) if member.isreg() else None
            if file is not None and not path:
                trees = msgspec.json.decode(file.read(), type=list[str])
                continue
            os.makedirs(inside if member.isdir() else os.path.dirname(inside), exist_ok=True)
            if member.issym():
                os.symlink(member.linkname, inside)
            elif file is not None:
                _write(inside, file.read(), member.mode)
            if not member.isdir():
                facts[path] = _fact(inside)
    for tree in trees:
        os.makedirs(root + tree, exist_ok=True)
        _hide_below(root + tree, tree)
    return Unpacked(root, facts)


def _checked(tar: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, str]]:
    """Yield members with their absolute paths, the empty path for the list of trees."""
    links: set[str] = set()
    for member in tar:
        path = "/" + member.name.removeprefix(_FILES)
        if member.name == _TREES and member.isreg():
            yield member, ""
            continue
        plain = member.name.startswith(_FILES) and os.path.normpath(path) == path and ".." not in path.split("/")
        if not plain or not (member.isreg() or member.isdir() or member.issym()) or any(_above(path, links)):
            raise BrokenBundle(f"{member.name}: does not belong in a bundle")
        if member.issym():
            links.add(path)
        yield member, path


def _above(path: str, links: Iterable[str]) -> Iterator[bool]:
    return (_within(path, link) for link in links)


def _write(path: str, data: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
        os.fchmod(descriptor, mode & 0o755)


def _hide_below(folder: str, path: str) -> None:
    """Mark a folder so that what the machine has at its path is hidden by it."""
    try:
        os.setxattr(folder, _OPAQUE, b"y")
    except OSError:
        if os.path.isdir(path):
            raise ConfigError(
                f"{path} exists on this worker with other files, and {folder} cannot hide them: its file system has no "
                "attributes. Start workers with a --local-directory on another file system, or without that folder."
            ) from None


def _fact(path: str) -> str:
    """Return the target of a link, the digest of a file and whether it can be run, else an empty text."""
    try:
        facts = os.lstat(path)
        if stat.S_ISLNK(facts.st_mode) and not path.startswith("/proc"):
            return f"link {os.readlink(path)}"
        if not stat.S_ISREG(facts.st_mode):
            return ""
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
    return f"{digest} {bool(facts.st_mode & stat.S_IXUSR)}"
