"""Operations on values that Python and JavaScript share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookwright.lint.programs.ir import (
    UNKNOWN,
    Array,
    CodePlace,
    Encoded,
    EnvRead,
    FieldRead,
    Hole,
    Object,
    Text,
    Value,
    origins_of,
    text,
)


def as_text(found: Value) -> Text:
    """Write a value as text, as far as that is known."""
    match found:
        case Text():
            return found
        case Hole():
            return text(found)
        case bool() | int() | float() | None:
            return text(str(found))
    return text(Hole(origins_of(found)))


def encoded(found: Value) -> Text:
    """Write a value as JSON."""
    return text(Encoded(found))


def added(left: Value, right: Value) -> Value:
    """Join two strings or lists; anything else is unknown."""
    if isinstance(left, Array) and isinstance(right, Array):
        return Array((*left.items, *right.items))
    if isinstance(left, Text) or isinstance(right, Text):
        return text(as_text(left), as_text(right))
    return Hole(origins_of(left) | origins_of(right))


def field(fields: list[FieldRead], place: CodePlace, found: Value, key: str) -> Value:
    """Return one key of an object; for the event, record the read."""
    if isinstance(found, Object):
        return found.items.get(key, UNKNOWN)
    if not isinstance(found, Hole | Text):
        return UNKNOWN
    origins = found.origins
    ours = [origin for origin in origins if origin == "event" or origin.startswith("event.")]
    fields += [FieldRead(place, (*origin.split(".")[1:], key)) for origin in ours]
    return Hole(frozenset(f"{origin}.{key}" if origin.startswith("event") else origin for origin in origins))


def item(found: Value, index: int) -> Value:
    """Look at one element of a list."""
    if isinstance(found, Array):
        return found.items[index] if -len(found.items) <= index < len(found.items) else UNKNOWN
    return Hole(origins_of(found))


def element(found: Value) -> Value:
    """Return what a loop over a value yields: one of its elements."""
    if isinstance(found, Object):
        return Hole(choices=tuple(found.items))
    if not isinstance(found, Array) or not found.items:
        return Hole(origins_of(found))
    if all(isinstance(part, Array) for part in found.items):
        rows = [part.items for part in found.items if isinstance(part, Array)]
        return Array(tuple(one_of(column) for column in zip(*rows, strict=False)))
    if all(isinstance(part, Object) for part in found.items):
        objects = [part.items for part in found.items if isinstance(part, Object)]
        return Object({key: one_of([part.get(key) for part in objects]) for part in objects for key in part})
    return one_of(found.items)


def one_of(values: Sequence[Value]) -> Value:
    """Make a value that is one of several; what they agree on is kept."""
    if values and all(value == values[0] for value in values):
        return values[0]
    constants = [value.constant if isinstance(value, Text) else None for value in values]
    choices = tuple(part for part in constants if part is not None) if None not in constants else ()
    return Hole(frozenset(origin for value in values for origin in origins_of(value)), choices)


def joined(ends: Sequence[Mapping[str, Value]]) -> dict[str, Value]:
    """Keep what all sides of a branch agree on; the rest may be any of them."""
    names = dict.fromkeys(name for end in ends for name in end)
    return {name: one_of([end.get(name) for end in ends]) for name in names}


def patterns_of(found: Value) -> tuple[str, ...]:
    """List the possible texts of a value, as far as they are written in the program."""
    match found:
        case Text():
            known = found.constant
            return (known,) if known is not None else tuple(c for hole in found.holes for c in hole.choices)
        case Hole(choices=choices):
            return choices
        case Array(items=items):
            return tuple(pattern for part in items for pattern in patterns_of(part))
        case Object(items=keys):
            return tuple(keys)
    return ()


def tried(fields: list[FieldRead], since: int) -> None:
    """Mark the fields read since then as alternatives, if there are several."""
    new = fields[since:]
    paths = {field.path for field in new}
    ends = {path for path in paths if not any(other != path and other[: len(path)] == path for other in paths)}
    if len(ends) > 1:
        fields[since:] = [FieldRead(field.place, field.path, True) for field in new]


def elsewhere(env: list[EnvRead], since: int, others: Sequence[Value]) -> None:
    """Mark the variables read since then when one of the other values is not a constant."""
    if any(isinstance(other, Hole) or (isinstance(other, Text) and other.constant is None) for other in others):
        env[since:] = [EnvRead(read.place, read.name, True, True) for read in env[since:]]


def is_empty(found: Value) -> bool:
    """Return whether a value is empty, as defaults often are."""
    return found is None or found is False or found in (Text(), Object({}), Array(()))


def rooted(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Write expressions that must match from the start as searches."""
    return tuple(pattern if pattern.startswith("^") else f"^{pattern}" for pattern in patterns)
