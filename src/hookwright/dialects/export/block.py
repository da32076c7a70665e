"""Our entries in a TOML file: one marked block at its end."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping

from hookwright.errors import ConfigError
from hookwright.protocol.jsontext import Json

BEGIN = "# >>> hookwright export: do not edit; remove with `hookwright export --to kimi --remove`"
#: The first line of the block in a file that did not exist.
NEW = f"{BEGIN}; the file was new"
END = "# <<< hookwright export"
_BLOCK = re.compile(rf"\n{re.escape(BEGIN)}\n.*?{re.escape(END)}\n", re.DOTALL)
_NEW_BLOCK = re.compile(rf"^{re.escape(NEW)}\n.*?{re.escape(END)}\n", re.DOTALL | re.MULTILINE)


def with_block(text: str | None, entries: Mapping[str, Mapping[str, Json]]) -> str:
    """Add the block; None is a file that does not exist.

    Law: the new text is the old one with the block at its end, it is valid TOML, and its value is the old one with our
    entries at the end of `hooks`. `without_block` gives back the old text.
    """
    tables = "".join(_table(event, entry) for event, entry in entries.items())
    new = f"{NEW}\n{tables}{END}\n" if text is None else f"{text}\n{BEGIN}\n{tables}{END}\n"
    before, after = _read(text or "", ""), _read(new, " after our entries were added; `hooks` is written inline")
    known = before.get("hooks", [])
    if after != {**before, "hooks": [*known, *({"event": event, **entry} for event, entry in entries.items())]}:
        raise ConfigError("`hooks` is not a list of tables. Correct it first; nothing was changed.")
    return new


def _table(event: str, entry: Mapping[str, Json]) -> str:
    lines = [f"{key} = {json.dumps(value)}" for key, value in {"event": event, **entry}.items()]
    return "\n".join(["[[hooks]]", *lines]) + "\n"


def _read(text: str, when: str) -> dict[str, Json]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"it is not valid TOML{when}: {error}. Correct it first; nothing was changed.") from None


def without_block(text: str) -> str | None:
    """Remove the block; None if nothing is left of a file that we made."""
    left, ours = _NEW_BLOCK.subn("", text)
    return (left or None) if ours else _BLOCK.sub("", text)


def has_block(text: str) -> bool:
    """Return whether the block is there."""
    return _BLOCK.search(text) is not None or _NEW_BLOCK.search(text) is not None
