"""The files that a command names, so that `Read` and `Edit` rules bind commands as they bind tools.

Law: a rule about a file applies to a command that surely reads or changes the file (`cat .env`, `head < .env`,
`rm .env`), and may apply to any other program that is given the file's name. Names are taken from every directory the
command may be in. Where a reading program is given a name that only the run knows, the rule may apply.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from itertools import islice

import msgspec

from hookwright.matching.shell import Analysis, SubCommand, Word, analyse_bash

_READERS = frozenset(
    """
    ag awk base32 base64 bat cat cmp comm cp cut dd diff egrep expand fgrep fold fmt gawk git-grep grep gunzip gzip head
    hexdump join jq less md5sum more mv nl od openssl paste pr rev rg rsync scp sed sha1sum sha256sum sha512sum shuf
    sort source split strings tac tail tar tee uniq vi view vim wc xxd yq zcat zip .
    """.split()  # noqa: SIM905 (a table)
)
_CHANGERS = frozenset(["chmod", "chown", "cp", "dd", "ln", "mv", "rm", "rmdir", "tee", "touch", "truncate", "unlink"])
#: Programs that print or test names, not what is in the files.
_HARMLESS = frozenset(
    ["[", "[[", "basename", "cd", "dirname", "echo", "false", "ls", "mkdir", "printf", "pwd", "test", "true", "which"]
)
_RECURSIVE = re.compile(r"-\w*[rR]\w*|--(dereference-)?recursive|--archive|-a")
_ALWAYS_RECURSIVE = frozenset(["ag", "rg", "rsync", "tar"])
_IN_PLACE = re.compile(r"-i.*|--in-place.*")
_MOST_FILES = 2_000
_MOST_GLOBS = 3


class Named(msgspec.Struct, frozen=True):
    """A file that a command names."""

    path: str
    #: Whether the command surely reads or changes the file.
    sure: bool
    changes: bool = False


class NamedFiles(msgspec.Struct, frozen=True):
    """The files that a command names, and why it may read others."""

    files: tuple[Named, ...]
    doubt: str | None = None


def named_files(command: str, cwd: str, home: str) -> NamedFiles:
    """Return the files that a command names, as absolute paths that are not resolved."""
    analysis = analyse_bash(command)
    found = _Finder(analysis, cwd, home)
    parts = (*analysis.commands, *analysis.started)
    files = [named for part in parts for named in found.in_command(part)]
    files += [named for part in analysis.may_start for named in found.in_command(part) if not named.changes]
    for redirection in analysis.redirections:
        files += found.named(redirection.target, sure=True, changes=redirection.writes)
    doubt = found.doubt or analysis.problem or analysis.hidden
    return NamedFiles(tuple(dict.fromkeys(files)), doubt)


class _Finder:
    """Find names from every directory that a command may be in."""

    def __init__(self, analysis: Analysis, cwd: str, home: str) -> None:
        self.home = home
        self.doubt: str | None = None
        self.bases = [cwd]
        for part in analysis.commands:
            if part.name in ("cd", "pushd"):
                self._enter(part)

    def _enter(self, part: SubCommand) -> None:
        words = [word for word in part.core[1:] if not word.shape.startswith("-")]
        if not all(word.known for word in part.core):
            self.doubt = "the command changes to a directory that only the run knows"
        targets = [self._expanded(word) for word in words] or [self.home]
        self.bases += [os.path.join(base, target) for base in self.bases for target in targets][:_MOST_FILES]

    def _expanded(self, word: Word) -> str:
        is_home = word.raw == "~" or word.raw.startswith("~/")
        return self.home + word.shape[1:] if is_home else word.shape

    def in_command(self, part: SubCommand) -> Iterator[Named]:
        """Yield the files that one command names."""
        program = part.program
        if program in _HARMLESS:
            return
        reads = program in _READERS
        options = [word.shape for word in part.core[1:] if word.shape.startswith("-")]
        changes = program in _CHANGERS or (program == "sed" and any(map(_IN_PLACE.fullmatch, options)))
        for word in part.core[1:]:
            found = list(self.named(word, sure=reads or changes, changes=False))
            yield from found
            if changes:
                yield from (msgspec.structs.replace(named, changes=True) for named in found)
        if reads and (program in _ALWAYS_RECURSIVE or any(map(_RECURSIVE.fullmatch, options))):
            yield from self._below(part)

    def named(self, word: Word, sure: bool, changes: bool) -> Iterator[Named]:
        """Yield the files that one word may name: itself, or a part of it, as in `if=x`, `--file=x`, `@x`, `-fx`."""
        if not word.known:
            yield from self._globbed(word, sure)
            return
        text = self._expanded(word)
        parts = {text, text.partition("=")[2], text.partition("@")[2], text[2:] if text.startswith("-") else ""}
        for base in self.bases:
            for part in sorted(parts - {"", "-"}):
                if not part.startswith("-"):
                    whole = part == text
                    yield Named(os.path.join(base, part), sure and whole, changes)

    def _globbed(self, word: Word, sure: bool) -> Iterator[Named]:
        if word.globs and "\0" not in word.shape and "\1" not in word.shape:
            segments = sum(glob.has_magic(segment) for segment in word.shape.split("/"))
            found = [
                os.path.join(base, name)
                for base in self.bases
                for name in islice(glob.iglob(word.shape, root_dir=base, include_hidden=True), _MOST_FILES + 1)
                if segments <= _MOST_GLOBS
            ]
            yield from (Named(path, sure=False) for path in found)
            if segments <= _MOST_GLOBS and len(found) <= _MOST_FILES:
                return
        if sure:
            self.doubt = self.doubt or "the command reads a file whose name only the run knows"

    def _below(self, part: SubCommand) -> Iterator[Named]:
        """Yield the files below the folders that a command reads with everything in them."""
        operands = [word for word in part.core[1:] if word.known and not word.shape.startswith("-")]
        folders = [os.path.join(base, self._expanded(word)) for base in self.bases for word in operands]
        folders = [folder for folder in folders if os.path.isdir(folder)] or self.bases
        hidden = part.program not in ("rg", "ag") or any(
            re.fullmatch(r"-\w*[u.]\w*|--(hidden|unrestricted|no-ignore.*)", word.shape) for word in part.core
        )
        seen = 0
        for folder, inside, files in (entry for start in folders for entry in os.walk(start)):
            inside[:] = [name for name in inside if name != ".git" and (hidden or not name.startswith("."))]
            seen += len(files) + 1
            if seen > _MOST_FILES:
                self.doubt = self.doubt or "the command reads more files than can be looked at"
                return
            for name in files:
                if hidden or not name.startswith("."):
                    yield Named(os.path.join(folder, name), sure=False)
