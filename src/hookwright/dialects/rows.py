"""Rows that many tables have: what an agent sends by Claude Code's own name, does not send, or only observes."""

from __future__ import annotations

from hookwright.dialects.model import FieldMap, Moment, Proof

#: File tools with camelCase keys.
CAMEL_CASE = (("filePath", "file_path"), ("oldString", "old_string"), ("newString", "new_string"))


def same_fields(proof: Proof, *names: str) -> tuple[FieldMap, ...]:
    """Return fields that are sent by Claude Code's own names."""
    return tuple(FieldMap(name, name, proof) for name in names)


def absent_fields(proof: Proof, *names: str) -> tuple[FieldMap, ...]:
    """Return fields that are not sent."""
    return tuple(FieldMap(name, "", proof) for name in names)


def observed(proof: Proof, *names: str) -> tuple[Moment, ...]:
    """Return events with Claude Code's own names that nothing can be refused at."""
    return tuple(Moment(name=name, claude=name, proof=proof, note="observed only") for name in names)


def own_moments(proof: Proof, *names: str) -> tuple[Moment, ...]:
    """Return events that Claude Code does not have."""
    return tuple(Moment(name=name, claude="", proof=proof, exported=False) for name in names)
