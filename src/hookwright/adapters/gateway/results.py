"""Results of MCP requests: what hooks read of them, and what the client gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from hookwright.protocol.jsontext import Json, parse_json
from hookwright.protocol.wire import encode

#: What a rewritten result keeps of its `_meta`: who the server is, in the protocol's own key.
_SERVER_INFO = "io.modelcontextprotocol/serverInfo"

Object = dict[str, Json]


def for_hooks(result: Mapping[str, Json]) -> Json:
    """Return a result as PostToolUse hooks read it in `tool_response`.

    Law: hooks see everything the client gets. A result without `structuredContent` is its content blocks; one whose
    only text says the same as its `structuredContent` is that value as JSON text, as in Claude Code; any other one is
    an object with both.
    """
    content, structured = result.get("content"), result.get("structuredContent")
    if structured is None:
        return content if isinstance(content, list) else []
    if _says_the_same(content, structured):
        return encode(structured).decode()
    return {"content": content, "structuredContent": structured}


def _says_the_same(content: Json, structured: Json) -> bool:
    match content:
        case [{"type": "text", "text": str(text)}]:
            value, problem = parse_json(text)
            said = (text,) if problem is not None else (text, value)
            return any(structured in (one, {"result": one}) for one in said)
    return False


def rewritten(result: Mapping[str, Json], output: Json) -> Object:
    """Return a result whose output a hook replaced.

    Law: nothing of the old output remains. `structuredContent` is what the hook wrote there, or absent; of `_meta` only
    the name of the server stays. Text and values become one text block, a list of content blocks is the content, an
    object with `content` is both parts.
    """
    kept = {name: result[name] for name in ("resultType",) if name in result}
    meta = result.get("_meta")
    if isinstance(meta, dict) and _SERVER_INFO in meta:
        kept["_meta"] = {_SERVER_INFO: meta[_SERVER_INFO]}
    match output:
        case {"content": list(content)} if _are_blocks(content):
            structured = output.get("structuredContent")
            return {**kept, "content": content, **({} if structured is None else {"structuredContent": structured})}
        case list() if _are_blocks(output):
            return {**kept, "content": output}
        case str():
            return {**kept, "content": [text_block(output)]}
    return {**kept, "content": [text_block(encode(output).decode())]}


def _are_blocks(value: Sequence[Json]) -> bool:
    return all(isinstance(block, dict) and isinstance(block.get("type"), str) for block in value)


def text_block(text: str) -> Object:
    """Return a text as a content block."""
    return {"type": "text", "text": text}


def with_texts(result: Mapping[str, Json], texts: Sequence[str]) -> Object:
    """Return a result with further text blocks."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    return {**result, "content": [*blocks, *map(text_block, texts)]}


def refusal(texts: Sequence[str]) -> Object:
    """Return the result of a call that was not made, or whose result is withheld."""
    return {"content": [text_block(text) for text in texts], "isError": True}


def error_text(result: Mapping[str, Json]) -> str:
    """Return the text of a result with `isError`."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [str(one.get("text", "")) for one in blocks if isinstance(one, dict) and one.get("type") == "text"]
    return "\n".join(texts) or encode(blocks).decode()


def without_schemas(result: Mapping[str, Json], may_change: Callable[[str], bool]) -> Object | None:
    """Return a list of tools without `outputSchema` where a hook may change the output; None if nothing changes.

    Law: a client that knows the schema refuses a result without `structuredContent`, and keeping the old one would
    show what a hook removed.
    """
    tools = result.get("tools")
    if not isinstance(tools, list):
        return None
    kept = [_without_schema(tool, may_change) for tool in tools]
    return None if kept == tools else {**result, "tools": kept}


def _without_schema(tool: Json, may_change: Callable[[str], bool]) -> Json:
    if not isinstance(tool, dict) or "outputSchema" not in tool or not may_change(str(tool.get("name"))):
        return tool
    return {name: value for name, value in tool.items() if name != "outputSchema"}


def with_instructions(result: Mapping[str, Json], texts: Sequence[str]) -> Object | None:
    """Return what a server says about itself with further instructions; None if there are none."""
    if not texts:
        return None
    own = result.get("instructions")
    return {**result, "instructions": "\n\n".join([*([own] if isinstance(own, str) and own else []), *texts])}


class Answer(msgspec.Struct, frozen=True):
    """The answer of a server to one call; `raw` is sent if nothing changes."""

    raw: bytes
    value: dict[str, Json]

    @property
    def result(self) -> Object | None:
        """The result; None for an error of the protocol."""
        found = self.value.get("result")
        return found if isinstance(found, dict) else None

    @property
    def error(self) -> str:
        """The text of an error of the protocol."""
        found = self.value.get("error")
        return str(found.get("message", "")) if isinstance(found, dict) else encode(self.value).decode()
