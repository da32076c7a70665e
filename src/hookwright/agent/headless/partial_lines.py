"""The model's answer as it arrives, in the events of the Messages API: starts, pieces and ends of numbered blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from hookwright.protocol.jsontext import Json

#: Writes an event of the conversation that a call started; None is the main one.
WriteEvent = Callable[[Mapping[str, Json], str | None], None]


class _Open(msgspec.Struct, frozen=True):
    """The block that is being written."""

    index: int
    #: The id of a tool call; None for text.
    call: str | None


class PartialLines:
    """Numbers the blocks of each conversation's current message."""

    def __init__(self, write: WriteEvent) -> None:
        self._write = write
        self._open: dict[str | None, _Open] = {}

    def text(self, text: str, model: str, parent: str | None) -> None:
        """Write some more text."""
        index = self._block(None, {"type": "text", "text": ""}, model, parent)
        self._delta(index, {"type": "text_delta", "text": text}, parent)

    def call(self, block: Mapping[str, Json], partial_json: str, model: str, parent: str | None) -> None:
        """Write some more of a tool call, `{id, name}`."""
        start = {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}
        index = self._block(block["id"], start, model, parent)
        if partial_json:
            self._delta(index, {"type": "input_json_delta", "partial_json": partial_json}, parent)

    def close_block(self, parent: str | None) -> bool:
        """End the last block; return whether there was a message at all."""
        block = self._open.pop(parent, None)
        if block is not None:
            self._write({"type": "content_block_stop", "index": block.index}, parent)
        return block is not None

    def close_message(self, message: Mapping[str, Json], parent: str | None) -> None:
        """End the message."""
        delta = {"stop_reason": message.get("stop_reason"), "stop_sequence": None}
        self._write({"type": "message_delta", "delta": delta, "usage": message.get("usage")}, parent)
        self._write({"type": "message_stop"}, parent)

    def _block(self, call: str | None, start: Mapping[str, Json], model: str, parent: str | None) -> int:
        """Return the number of the block that a piece belongs to; start it, and the message, where it is new."""
        known = self._open.get(parent)
        if known is not None and known.call == call:
            return known.index
        if known is None:
            message: Mapping[str, Json] = {
                "type": "message",
                "role": "assistant",
                "model": model,
                "content": [],
                "stop_reason": None,
            }
            self._write({"type": "message_start", "message": message}, parent)
        else:
            self._write({"type": "content_block_stop", "index": known.index}, parent)
        index = 0 if known is None else known.index + 1
        self._open[parent] = _Open(index, call)
        self._write({"type": "content_block_start", "index": index, "content_block": start}, parent)
        return index

    def _delta(self, index: int, delta: Mapping[str, Json], parent: str | None) -> None:
        self._write({"type": "content_block_delta", "index": index, "delta": delta}, parent)
