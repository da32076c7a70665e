"""Check values against the part of JSON Schema used by tool inputs and outputs.

Known: `type`, `enum`, `required`, `properties`, `additionalProperties: false`, `items`, `minimum`, `exclusiveMinimum`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hookwright.protocol.jsontext import Json, json_type

Schema = Mapping[str, Json]

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
    "null": (type(None),),
}


def problems(schema: Schema, value: Json, name: str = "") -> Iterator[str]:
    """Yield every problem of a value; nothing if it matches."""
    kinds = schema.get("type", ())
    wanted = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if wanted and not any(_is(kind, value) for kind in wanted):
        what = f"The parameter `{name}`" if name else "The value"
        yield f"{what} is expected as `{' | '.join(wanted)}` but provided as `{json_type(value)}`"
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
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        yield f"The parameter `{name}` is {value}; it must be more than {schema['exclusiveMinimum']}"


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
