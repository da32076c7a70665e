"""Read a transcript back: the conversation up to its last line, as messages for a model.

Reading is lenient: lines that are broken, unknown or out of place are skipped, whichever program wrote the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from hookwright.agent.transcript.hooks import texts_read
from hookwright.agent.transcript.lines import read_lines
from hookwright.protocol.jsontext import Json

Entry = dict[str, Json]
Message = dict[str, Json]

#: What a model reads instead of a result that was never written.
LOST_RESULT = "The session ended before this tool call finished; it may have had partial effects."


class Conversation(msgspec.Struct, frozen=True):
    """The lines from the last compaction, or the beginning, to the end of the chain."""

    entries: tuple[Entry, ...]
    #: Results that hooks rewrote after they were on disk, by tool call.
    rewritten: Mapping[str, Json]
    title: str | None = None

    @property
    def last(self) -> str | None:
        """The uuid that the next line names as its parent."""
        return self.entries[-1]["uuid"] if self.entries else None

    def messages(self) -> list[Message]:
        """Fold the lines into messages.

        Law: fragments of one model message become one; the results of one turn are together, right after the turn and
        in the order of its calls; text that hooks added follows them as one `{"role": "system"}` message. So a resumed
        conversation is message for message the one in `hookwright.agent.state.dialogue` when it was live.
        """
        out: list[Message] = []
        texts: list[str] = []
        for entry in self.entries:
            message = _message(entry)
            if entry.get("type") == "attachment":
                texts += texts_read(entry["attachment"]) if isinstance(entry.get("attachment"), dict) else []
            elif message is not None:
                message = self._with_rewrites(message)
                if not _has_results(message):
                    _say(out, texts)
                _add(out, message)
        _say(out, texts)
        return [{"role": message["role"], "content": message["content"]} for message in _in_call_order(out)]

    def _with_rewrites(self, message: Message) -> Message:
        if not self.rewritten or not _has_results(message):
            return message
        blocks = [
            {**block, "content": self.rewritten[block["tool_use_id"]]}
            if block.get("tool_use_id") in self.rewritten
            else block
            for block in message["content"]
        ]
        return {**message, "content": blocks}


def load(path: str) -> Conversation:
    """Read the conversation of a file; raise OSError if the file cannot be read."""
    return conversation(read_lines(path))


def conversation(lines: Iterable[Entry]) -> Conversation:
    """Walk up from the last line of the chain; where a link is lost, continue with the line above it in the file."""
    chain: list[Entry] = []
    rewritten: dict[str, Json] = {}
    title = None
    for line in lines:
        if isinstance(line.get("uuid"), str) and not line.get("teamName"):
            chain.append(line)
        elif line.get("type") == "content-replacement":
            rewritten.update(_replacements(line))
        else:
            title = title_of(line) or title
    # In a subagent's file every line is a sidechain; in any other file such lines belong to another conversation.
    if not all(entry.get("isSidechain") for entry in chain):
        chain = [entry for entry in chain if not entry.get("isSidechain")]
    return Conversation(_walk(chain), rewritten, title)


def _walk(chain: Sequence[Entry]) -> tuple[Entry, ...]:
    places = {entry["uuid"]: place for place, entry in enumerate(chain)}
    out: list[Entry] = []
    at = len(chain) - 1
    while at >= 0:
        out.append(chain[at])
        parent = chain[at].get("parentUuid")
        if parent is None:
            break
        # A parent further down would be a cycle; a missing parent was lost with its line.
        found = places.get(parent, -1) if isinstance(parent, str) else -1
        at = found if 0 <= found < at else at - 1
    return tuple(reversed(out))


def _replacements(line: Entry) -> dict[str, Json]:
    changes = line.get("replacements")
    return {
        change["toolUseId"]: change["replacement"]
        for change in (changes if isinstance(changes, list) else [])
        if isinstance(change, dict) and isinstance(change.get("toolUseId"), str) and "replacement" in change
    }


def title_of(line: Entry) -> str | None:
    """Return the session title a line sets, if any."""
    keys = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
    value = line.get(keys.get(str(line.get("type")), ""))
    return value if isinstance(value, str) else None


def _message(entry: Entry) -> Message | None:
    if entry.get("type") not in ("user", "assistant"):
        return None
    message = entry.get("message")
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
        return None
    content = message.get("content")
    if isinstance(content, list):
        blocks = [block for block in content if _readable(block)]
        return {**message, "content": blocks} if blocks else None
    return message if isinstance(content, str) and content else None


#: The id that a block must have, as a string, to be of any use.
_NAMED = {"tool_use": "id", "tool_result": "tool_use_id"}


def _readable(block: Json) -> bool:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return False
    key = _NAMED.get(block["type"])
    return key is None or isinstance(block.get(key), str)


def _has_results(message: Message) -> bool:
    content = message["content"]
    return isinstance(content, list) and any(block["type"] == "tool_result" for block in content)


def _add(out: list[Message], message: Message) -> None:
    last = out[-1] if out else None
    if last is not None and last["role"] == message["role"]:
        same = message.get("id") is not None and last.get("id") == message.get("id")
        if same or (_has_results(last) and _has_results(message)):
            out[-1] = {**last, "content": [*_blocks(last["content"]), *_blocks(message["content"])]}
            return
    out.append(message)


def _in_call_order(messages: Sequence[Message]) -> list[Message]:
    """Parallel results are on disk in the order of their ends; a model reads them in the order of its calls."""
    out: list[Message] = []
    for message in messages:
        calls = [block["id"] for block in tool_uses(out[-1])] if out else []
        if len(calls) > 1 and _has_results(message):
            places = {name: place for place, name in enumerate(calls)}
            blocks = sorted(message["content"], key=lambda block: places.get(block.get("tool_use_id"), len(places)))
            message = {**message, "content": blocks}
        out.append(message)
    return out


def _blocks(content: str | list[dict[str, Json]]) -> list[dict[str, Json]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _say(out: list[Message], texts: list[str]) -> None:
    if texts:
        out.append({"role": "system", "content": "\n\n".join(texts)})
        texts.clear()


def tool_uses(message: Message) -> list[dict[str, Json]]:
    """List the tool calls of a message."""
    content = message["content"]
    return [block for block in content if block["type"] == "tool_use"] if isinstance(content, list) else []


def pending(messages: Sequence[Message]) -> list[dict[str, Json]]:
    """List the tool calls at the end of a conversation that have no result: deferred or interrupted ones."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place]["role"] == "assistant":
            answered = _answered(messages[place + 1]) if place + 1 < len(messages) else set()
            return [block for block in tool_uses(messages[place]) if block["id"] not in answered]
    return []


def _answered(message: Message) -> set[str]:
    content = message["content"] if isinstance(message["content"], list) else []
    return {block["tool_use_id"] for block in content if block["type"] == "tool_result"}


def closed(messages: Sequence[Message]) -> list[Message]:
    """Make a conversation a model API accepts: calls and results in pairs, and no turn that only thinks."""
    out: list[Message] = []
    for message in messages:
        if _only_thinks(message):
            continue
        asked = [block["id"] for block in tool_uses(out[-1])] if out else []
        if _has_results(message):
            message = {**message, "content": [block for block in message["content"] if _belongs(block, asked)]}
        missing = [id_ for id_ in asked if id_ not in _answered(message)]
        if missing:
            lost = [_lost(id_) for id_ in missing]
            if _has_results(message):
                message = {**message, "content": [*lost, *message["content"]]}
            else:
                out.append({"role": "user", "content": lost})
        if message["content"]:
            out.append(message)
    if out and (asked := [block["id"] for block in tool_uses(out[-1])]):
        out.append({"role": "user", "content": [_lost(id_) for id_ in asked]})
    return out


def _only_thinks(message: Message) -> bool:
    content = message["content"]
    return isinstance(content, list) and all(block["type"] in ("thinking", "redacted_thinking") for block in content)


def _belongs(block: dict[str, Json], asked: Sequence[str]) -> bool:
    return bool(block["type"] != "tool_result" or block["tool_use_id"] in asked)


def _lost(tool_use_id: str) -> dict[str, Json]:
    return {"type": "tool_result", "tool_use_id": tool_use_id, "content": LOST_RESULT, "is_error": True}
