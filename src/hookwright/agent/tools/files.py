"""Read and write whole text files: regular files only, without waiting, never half a file."""

from __future__ import annotations

import errno
import os
import stat

import msgspec

from hookwright.projects.files import Refused, is_binary, open_regular, reason
from hookwright.storage import replace_file

#: Far more than any text a model edits.
MAX_BYTES = 32 * 1024 * 1024


class TextFile(msgspec.Struct, frozen=True):
    """Text with Unix line ends, and how to write it back in its own form."""

    text: str
    crlf: bool = False
    bom: bool = False


def read_text(path: str) -> TextFile:
    """Read a whole text file; raise Refused for one that is not text or is too large to edit."""
    with open(open_regular(path), "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise Refused(f"{path} is over {MAX_BYTES:,} bytes; change it with a command instead.")
    if is_binary(data[:8192]):
        raise Refused(f"{path} is a binary file.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not UTF-8 (byte {error.start}); change it with a command instead.") from None
    bom, text = text.startswith("\ufeff"), text.removeprefix("\ufeff")
    # Mixed line ends are kept: there is no single form to restore.
    crlf = "\r\n" in text and text.count("\r\n") == text.count("\n")
    return TextFile(text.replace("\r\n", "\n") if crlf else text, crlf, bom)


def write_text(path: str, content: TextFile) -> None:
    """Replace a file so that readers see the old text or the new one; follow links and keep the mode."""
    text = content.text.replace("\n", "\r\n") if content.crlf else content.text
    data = (("\ufeff" if content.bom else "") + text).encode("utf-8", "replace")
    try:
        real = os.path.realpath(path)
        os.makedirs(os.path.dirname(real), exist_ok=True)
        _replaceable(real)
        replace_file(real, data)
    except (OSError, ValueError) as error:
        raise Refused(f"{path} cannot be written: {reason(error)}") from None


def _replaceable(path: str) -> None:
    """Raise OSError for a file that must not be replaced: a device, or one that is write-protected."""
    try:
        facts = os.stat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(errno.EINVAL, "it is a directory" if stat.S_ISDIR(facts.st_mode) else "it is not a regular file")
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "it is write-protected")
