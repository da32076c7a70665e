"""Read a transcript back: the conversation up to its last line, as messages for a model.

Reading is lenient: lines that are broken, unknown or out of place are skipped, whichever program wrote the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from hookwright.agent.transcript.hooks import texts_read
from hookwright.agent.transcript.lines import read_lines
from hookwright.agent.transcript.paths import InvalidSession
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
    #: Lines after the one that the conversation was asked to end with.
    dropped: tuple[Entry, ...] = ()

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


def load(path: str, at: str | None = None) -> Conversation:
    """Read the conversation of a file, up to the line `at`; raise OSError if the file cannot be read."""
    return conversation(read_lines(path), at)


def conversation(lines: Iterable[Entry], at: str | None = None) -> Conversation:
    """Walk up from the last line of the chain; where a link is lost, continue with the line above it in the file.

    With `at`, the uuid of a line, the conversation ends there; raise InvalidSession if there is no such line.
    """
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
    end = len(chain) if at is None else _place(chain, at) + 1
    chain, dropped = chain[:end], chain[end:]
    return Conversation(_with_siblings(chain, _walk(chain)), rewritten, title, tuple(dropped))


def _place(chain: Sequence[Entry], at: str) -> int:
    for place, entry in enumerate(chain):
        if entry["uuid"] == at:
            return place
    raise InvalidSession(f"there is no message {at} in this session: write the uuid of one of its lines.")


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


def _with_siblings(lines: Sequence[Entry], walked: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Add what belongs to the messages of the chain and hangs beside it.

    Claude Code writes each parallel call as a line, each result below its own call, and continues below the last
    result; so the walk up meets one result of several. Law: every call of a message on the chain is there, with its
    result wherever that hangs and what hooks added to it; they follow the last part of the message, in the order of
    the file.
    """
    places = {entry["uuid"]: place for place, entry in enumerate(lines)}
    known = {entry["uuid"] for entry in walked}
    beside = [entry for entry in lines if entry["uuid"] not in known]
    turns: dict[str, int] = {}  # by message: the number of its last part on the chain
    keys: list[tuple[int, bool, int]] = []
    number = 0
    for entry in walked:
        follows = _follows_a_call(entry)
        number += not follows
        keys.append((number, follows, places[entry["uuid"]]))
        if (name := _message_id(entry)) is not None:
            turns[name] = number
    added = _siblings(beside, walked, turns)
    keys += [(turn, _follows_a_call(entry), places[entry["uuid"]]) for entry, turn in added]
    entries = (*walked, *(entry for entry, _ in added))
    return tuple(entry for _, entry in sorted(zip(keys, entries, strict=True), key=lambda pair: pair[0]))


def _siblings(beside: Sequence[Entry], walked: Sequence[Entry], turns: Mapping[str, int]) -> list[tuple[Entry, int]]:
    """Return the lines beside the chain that belong to a message on it, each with the number of that message."""
    added = [(entry, turns[name]) for entry in beside if (name := _message_id(entry)) is not None and name in turns]
    asked = {call: turns[name] for entry in (*walked, *(one for one, _ in added)) for name, call in _calls(entry)}
    answered = {call for entry in walked for call in _results(entry)}
    below: dict[str, int] = {}
    for entry in beside:
        found = [call for call in _results(entry) if call in asked and call not in answered]
        parent = entry.get("parentUuid")
        if found:
            below[entry["uuid"]] = asked[found[0]]
            answered.update(found)
        elif entry.get("type") == "attachment" and isinstance(parent, str) and parent in below:
            below[entry["uuid"]] = below[parent]
        else:
            continue
        added.append((entry, below[entry["uuid"]]))
    return added


def _follows_a_call(entry: Entry) -> bool:
    return entry.get("type") == "attachment" or bool(_results(entry))


def _message_id(entry: Entry) -> str | None:
    message = entry.get("message") if entry.get("type") == "assistant" else None
    name = message.get("id") if isinstance(message, dict) else None
    return name if isinstance(name, str) else None


def _calls(entry: Entry) -> list[tuple[str, str]]:
    message, name = _message(entry), _message_id(entry)
    return [] if message is None or name is None else [(name, block["id"]) for block in tool_uses(message)]


def _results(entry: Entry) -> set[str]:
    message = _message(entry) if entry.get("type") == "user" else None
    return _answered(message) if message is not None else set()


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


#: The fields a block must have, with their types, to be of any use.
_FIELDS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "tool_use": {"id": str, "name": str, "input": dict},
    "tool_result": {"tool_use_id": str},
    "text": {"text": str},
    "thinking": {"thinking": str},
}


def _readable(block: Json) -> bool:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return False
    fields = _FIELDS.get(block["type"], {})
    if not all(isinstance(block.get(name), kind) for name, kind in fields.items()):
        return False
    return block["type"] != "tool_result" or _is_content(block.get("content", ""))


def _is_content(content: Json) -> bool:
    """Return whether the content of a result is a text or a list of blocks."""
    if isinstance(content, list):
        return all(isinstance(block, dict) and isinstance(block.get("type"), str) for block in content)
    return isinstance(content, str)


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
