"""Check values against the part of JSON Schema used by tool inputs and outputs.

Known: `type`, `enum`, `required`, `properties`, `additionalProperties: false`, `items`, `minimum`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hookwright.protocol.jsontext import Json, json_type

Schema = Mapping[str, Json]

_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
    "null": (type(None),),
}


def coerced(schema: Schema, value: Json) -> Json:
    """Return an object whose numbers and truth values may be written as text: `"5000"`, `" 5.5 "`, `"true"`."""
    known = schema.get("properties", {})
    if not isinstance(value, dict):
        return value
    return {key: _read(known[key].get("type"), item) if key in known else item for key, item in value.items()}


def _read(kind: Json, item: Json) -> Json:
    if not isinstance(item, str):
        return item
    if kind == "boolean":
        return {"true": True, "false": False}.get(item, item)
    if kind in ("number", "integer") and _NUMBER.fullmatch(item.strip()):
        number = float(item)
        return int(number) if number.is_integer() else number
    return item


def problems(schema: Schema, value: Json, name: str = "") -> Iterator[str]:
    """Yield every problem of a value; nothing if it matches."""
    kinds = schema.get("type", ())
    wanted = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if wanted and not any(_is(kind, value) for kind in wanted):
        what = f"The parameter `{name}`" if name else "The value"
        text = isinstance(value, str)  # Claude Code's own words know no integers
        shown = " | ".join("number" if kind == "integer" and text else kind for kind in wanted)
        yield f"{what} type is expected as `{shown}` but provided as `{json_type(value)}`"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"The parameter `{name}` is {value!r}; it is one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _range(schema, value, name)
    if isinstance(value, dict):
        yield from _members(schema, value, name)
    if isinstance(value, list | tuple) and "items" in schema:
        for place, item in enumerate(value):
            yield from problems(schema["items"], item, f"{name}[{place}]")


def _is(kind: str, value: Json) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _KINDS[kind])


def _range(schema: Schema, value: float, name: str) -> Iterator[str]:
    if "minimum" in schema and value < schema["minimum"]:
        yield f"The parameter `{name}` is {value}; the least value is {schema['minimum']}"


def _members(schema: Schema, value: Mapping[str, Json], name: str) -> Iterator[str]:
    known = schema.get("properties", {})
    inside = f"{name}." if name else ""
    for key in schema.get("required", ()):
        if key not in value:
            yield f"The required parameter `{inside}{key}` is missing"
    for key, item in value.items():
        if key in known:
            yield from problems(known[key], item, f"{inside}{key}")
        elif schema.get("additionalProperties") is False:
            yield f"An unexpected parameter `{inside}{key}` was provided"
