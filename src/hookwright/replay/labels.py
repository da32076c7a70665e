"""Labels: what a person says about past calls, so that likely false positives become counted ones."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping

import msgspec

from hookwright.errors import ConfigError
from hookwright.protocol.jsontext import Json, parse_json


class Label(enum.Enum):
    """Whether a call should have been allowed."""

    OK = "ok"
    BAD = "bad"


class Labels(msgspec.Struct, frozen=True):
    """The labels of a file, by the id of the call as reports write it: `session:tool_use_id`."""

    known: Mapping[str, Label] = msgspec.field(default_factory=dict)

    def of(self, call: str) -> Label | None:
        """Return the label of a call."""
        return self.known.get(call)


def read_labels(path: str) -> Labels:
    """Read a JSON object of calls and labels, or lines with `call` and `label`; raise ConfigError for anything else."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--labels {os.path.relpath(path)}: cannot be read: {error}") from None
    whole, problem = parse_json(text)
    if problem is None and isinstance(whole, dict) and "label" not in whole:
        return Labels({call: _label(label, f"--labels {path}: {call}") for call, label in whole.items()})
    known: dict[str, Label] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            value, where = parse_json(line)[0], f"--labels {path}:{number}"
            if not isinstance(value, dict) or not isinstance(value.get("call"), str):
                raise ConfigError(f'{where}: write {{"call": "SESSION:TOOL_USE_ID", "label": "ok"}}')
            known[str(value["call"])] = _label(value.get("label"), where)
    return Labels(known)


def _label(value: Json, where: str) -> Label:
    try:
        return Label(value)
    except ValueError:
        raise ConfigError(f"{where}: {value!r} is not a label; write ok or bad") from None
