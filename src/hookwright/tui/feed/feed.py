"""The conversation on the screen: a list of items, reduced from the updates of the agent and the engine.

It has no widgets and changes nothing but its own list, so it can be used and inspected without a terminal.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import assert_never

import msgspec

from hookwright.agent.state import endings, updates
from hookwright.agent.state.prompts import STOPPED_BY_USER
from hookwright.agent.state.updates import Update
from hookwright.agent.state.user_notes import HOOK_CHANGED
from hookwright.observers import EventEnded, LateEnded, Notice
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import Under
from hookwright.protocol.jsontext import Json
from hookwright.protocol.matched import hook_name
from hookwright.protocol.outcome import Late, SkipReason
from hookwright.protocol.replies import Exited, Failed, TimedOut
from hookwright.text import flat
from hookwright.tui.feed.flow import Firings
from hookwright.tui.feed.items import (
    AddedText,
    AnswerText,
    Banner,
    CallItem,
    CallState,
    Firing,
    FiringItem,
    Hooked,
    Item,
    Level,
    PromptItem,
    Remark,
)
from hookwright.tui.feed.words import short_label

#: A hook's question is shown in the dialog, not in the conversation.
_NOT_SHOWN = frozenset({"question"})
_LEVELS = {"warning": Level.WARNING, "error": Level.ERROR}
_SEVERITIES = {Severity.ERROR: Level.ERROR, Severity.WARNING: Level.WARNING, Severity.INFO: Level.INFO}
#: Not shown one by one: the trust review and the head of the conversation report them together.
_SUMMED_UP = frozenset({"untrusted", "changed-since-trusted"})


class Feed:
    """The items of one conversation and the facts around it."""

    def __init__(self, cwd: str) -> None:
        self.items: list[Item] = [Banner(cwd=cwd)]
        #: Items from this index on may differ from what was last painted; the painter sets it to the end.
        self.dirty = 0
        #: How many times the list was cleared.
        self.generation = 0
        self.model = ""
        self.mode = "default"
        self.title: str | None = None
        self.busy = False
        #: True while hooks may rewrite what is displayed: then text is shown only after they have run.
        self.holds_text = False
        self._firings = Firings()
        self._turn: list[Firing] = []
        self._told: set[tuple[str, str]] = set()

    @property
    def banner(self) -> Banner:
        """The head of the conversation."""
        head = self.items[0]
        assert isinstance(head, Banner)
        return head

    # ── changes ─────────────────────────────────────────────────────────────

    def _add(self, item: Item) -> int:
        self.items.append(item)
        self.dirty = min(self.dirty, len(self.items) - 1)
        return len(self.items) - 1

    def _put(self, index: int, item: Item) -> None:
        self.items[index] = item
        self.dirty = min(self.dirty, index)

    def _drop(self, index: int) -> None:
        del self.items[index]
        self._firings.moved(index, -1)
        self.dirty = min(self.dirty, index)

    def clear(self) -> None:
        """Clear the conversation; the head stays."""
        self.items = [self.banner]
        self._firings = Firings()
        self._turn = []
        self.dirty = 0
        self.generation += 1

    def say(self, text: str, level: Level = Level.INFO, tag: str | None = None) -> None:
        """Add a line for the user."""
        self._add(Remark(text=text, level=level, tag=tag))

    def describe(self, **facts: str) -> None:
        """Change facts in the head of the conversation."""
        self._put(0, msgspec.structs.replace(self.banner, **facts))

    # ── turns ───────────────────────────────────────────────────────────────

    def prompted(self, text: str, *, machine: bool = False) -> None:
        """Start a turn."""
        self.busy = True
        self._turn = []
        self._add(PromptItem(text=text, machine=machine))

    def restore(self, messages: Sequence[Mapping[str, Json]]) -> None:
        """Show a resumed conversation above everything added since it was resumed."""
        newer = self.items[1:]
        self.items = [self.banner]
        for message in messages:
            content = message["content"]
            if isinstance(content, str):
                if message["role"] == "user":
                    self._restore_prompt(content)
                elif message["role"] == "system":
                    self._add(AddedText(content))
            else:
                for block in content:
                    self._restore_block(message["role"], block)
        self._firings.moved(0, len(self.items) - 1)
        self.items += newer
        self.dirty = 0

    def _restore_prompt(self, text: str) -> None:
        if text == STOPPED_BY_USER:
            self.say("Interrupted.", Level.WARNING, "interrupted")
        else:
            self._add(PromptItem(text=text))

    def _restore_block(self, role: str, block: Mapping[str, Json]) -> None:
        match block.get("type"):
            case "text" if role == "assistant":
                self._add(AnswerText(text=block["text"], done=True))
            case "text":
                self._restore_prompt(block["text"])
            case "tool_use":
                self._add(CallItem(id=block["id"], name=block["name"], input=block["input"]))
            case "tool_result":
                self._result(block, None)

    # ── the agent ───────────────────────────────────────────────────────────

    def take(self, update: Update) -> None:
        """Apply an update of the agent."""
        match update:
            case updates.Opened():
                self._opened(update)
            case updates.Typed(text=text, parent_tool_use_id=None):
                self._typed(text)
            case updates.Typed():
                pass
            case updates.Said():
                self._said(update)
            case updates.ToolEnded(block=block, response=response):
                self._result(block, response)
            case updates.Added(text=text, hook_name=name):
                self._add(AddedText(text, name))
            case updates.Note(tag=tag):
                if tag != HOOK_CHANGED:  # said with the firing, and with the way to trust it here
                    self._noted(update)
            case updates.Diagnosed(diagnostic=diagnostic):
                self._found(diagnostic)
            case updates.HookEnded(late=late):
                self.say(_late(late), Level.QUIET, "background")
            case updates.Titled(title=title):
                self.title = title
            case updates.ModeChanged(mode=mode):
                self.mode = mode
            case updates.Retried(retry=retry):
                why = retry.error if retry.status is None else f"{retry.status}, {retry.error}"
                again = f"trying again in {retry.delay:.0f} s ({retry.attempt} of {retry.most})"
                self.say(f"The request to the model failed ({why}); {again}.", Level.WARNING, "api-retry")
            case updates.Ended(result=result):
                self._ended(result)
            case (
                updates.TurnBegan()
                | updates.CallTyped()
                | updates.CallDenied()
                | updates.TaskStarted()
                | updates.TaskEnded()
                | updates.Compacting()
                | updates.CompactionEnded()
            ):
                pass  # the feed shows the call, the task and the compaction itself
            case _:
                assert_never(update)

    def _opened(self, update: updates.Opened) -> None:
        known = self.banner.session_id
        self.model, self.mode = update.model, update.permission_mode
        self.describe(cwd=update.cwd, model=update.model, session_id=update.session_id)
        if known not in ("", update.session_id):
            self.clear()

    def _typed(self, text: str) -> None:
        if self.holds_text:
            return
        last = self.items[-1]
        if isinstance(last, AnswerText) and not last.done:
            self._put(len(self.items) - 1, msgspec.structs.replace(last, text=last.text + text))
        else:
            self._add(AnswerText(text=text))

    def _said(self, update: updates.Said) -> None:
        parent = update.parent_tool_use_id
        place = self._open_answer() if parent is None else None
        if update.shown.strip():
            answer = AnswerText(text=update.shown, done=True, parent=parent)
            if place is None:
                self._add(answer)
            else:
                self._put(place, answer)
        elif place is not None:
            self._drop(place)
        for block in update.message["content"]:
            if block["type"] == "tool_use":
                self._add(CallItem(id=block["id"], name=block["name"], input=block["input"], parent=parent))

    def _open_answer(self) -> int | None:
        for index in range(len(self.items) - 1, -1, -1):
            item = self.items[index]
            if isinstance(item, AnswerText) and item.parent is None:
                return None if item.done else index
            if isinstance(item, PromptItem):
                return None
        return None

    def _result(self, block: Mapping[str, Json], response: Json) -> None:
        index = self._call(str(block.get("tool_use_id")))
        if index is None:
            return
        call = self.items[index]
        assert isinstance(call, CallItem)
        text = _text_of(block.get("content", ""))
        state = CallState.FAILED if block.get("is_error") else CallState.DONE
        self._put(index, msgspec.structs.replace(call, state=state, result=text, response=response))
        self._absorb(text)

    def _absorb(self, text: str) -> None:
        """Drop the line of a refusal that the result of its call already shows."""
        for index in range(len(self.items) - 1, max(-1, len(self.items) - 20), -1):
            item = self.items[index]
            if isinstance(item, Remark) and item.tag == "block" and item.text in text:
                self._drop(index)

    def _call(self, call_id: str) -> int | None:
        for index in range(len(self.items) - 1, -1, -1):
            item = self.items[index]
            if isinstance(item, CallItem) and item.id == call_id:
                return index
        return None

    def _noted(self, note: updates.Note) -> None:
        if note.tag in _NOT_SHOWN:
            return
        last = self.items[-1]
        if isinstance(last, Remark) and note.text.startswith(last.text):
            self._drop(len(self.items) - 1)
        self.say(note.text, _LEVELS.get(note.level, Level.INFO), note.tag)

    def _found(self, diagnostic: Diagnostic) -> None:
        if diagnostic.code not in _SUMMED_UP:
            self.say(str(diagnostic), _SEVERITIES[diagnostic.severity], diagnostic.code)

    def _ended(self, result: endings.Result) -> None:
        self.busy = False
        interrupted = isinstance(result.ending, endings.Interrupted)
        for index, item in enumerate(self.items):
            if isinstance(item, CallItem) and item.state is CallState.RUNNING:
                self._put(index, msgspec.structs.replace(item, state=CallState.INTERRUPTED))
        place = self._open_answer()
        if place is not None:
            open_answer = self.items[place]
            assert isinstance(open_answer, AnswerText)
            self._put(place, msgspec.structs.replace(open_answer, done=True))
        if any(firing.runs for firing in self._turn):
            self._add(Hooked(tuple(self._turn)))
        self._turn = []
        match result.ending:
            case endings.TurnAnswered(text=text):
                self.say(text)
            case endings.Interrupted():
                self.say("Interrupted." if interrupted else "", Level.WARNING, "interrupted")
            case endings.ApiFailed(text=text):
                self.say(text, Level.ERROR, "api-error")
            case endings.OutOfTurns() | endings.Deferred():
                self.say(f"The turn ends: {result.stop_reason}.", Level.WARNING)

    # ── the engine ──────────────────────────────────────────────────────────

    def notice(self, notice: Notice) -> None:
        """Apply a notice of the engine; an event without hooks is not shown."""
        if isinstance(notice, EventEnded) and not notice.outcome.runs and not notice.outcome.skips:
            return
        if isinstance(notice, LateEnded):  # the agent's own update says it
            return
        place, firing = self._firings.take(notice, time.time())
        if place is None:
            self._firings.placed(firing, self._add(FiringItem(firing)))
        else:
            self._put(place, FiringItem(firing))
        if firing.outcome is not None:
            self._attach(firing)
            self._tell_of_distrust(firing)

    def _attach(self, firing: Firing) -> None:
        """Show a firing where the user expects it: under its call, its prompt, or the turn."""
        index = self._home_of(firing)
        if index is not None:
            item = self.items[index]
            assert isinstance(item, CallItem | PromptItem)
            self._put(index, msgspec.structs.replace(item, firings=(*item.firings, firing)))
        elif self.busy:
            self._turn.append(firing)
        elif firing.runs:
            self._show_separately(firing)

    def _home_of(self, firing: Firing) -> int | None:
        event = firing.event
        if event.rules.shown_under is Under.CALL:
            call_id = getattr(event, "tool_use_id", None)
            found = self._call(call_id) if isinstance(call_id, str) else self._asked(firing)
            if found is None and isinstance(call_id, str) and (firing.runs or event.event_name == "PreToolUse"):
                found = self._add(CallItem(id=call_id, name=event.tool_name, input=event.tool_input))  # type: ignore[attr-defined]
            return found
        if event.rules.shown_under is Under.PROMPT and self.busy:
            places = range(len(self.items) - 1, -1, -1)
            return next((place for place in places if isinstance(self.items[place], PromptItem)), None)
        return None

    def _asked(self, firing: Firing) -> int | None:
        """Find the call of a PermissionRequest, which does not name it."""
        name = getattr(firing.event, "tool_name", "")
        for index in range(len(self.items) - 1, -1, -1):
            item = self.items[index]
            if isinstance(item, CallItem) and item.name == name and item.state is CallState.RUNNING:
                return index
        return None

    def _show_separately(self, firing: Firing) -> None:
        for index in range(len(self.items) - 1, -1, -1):
            item = self.items[index]
            if isinstance(item, Hooked):
                self._put(index, Hooked((*item.firings, firing)))
                return
            if not isinstance(item, FiringItem | AddedText):
                break
        self._add(Hooked((firing,)))

    def _tell_of_distrust(self, firing: Firing) -> None:
        """Report once per hook that it was not run because it changed since it was trusted."""
        assert firing.outcome is not None
        for skip in firing.outcome.skips:
            if skip.reason is not SkipReason.CHANGED:
                continue
            key = (str(skip.handler.source), skip.detail)
            if key not in self._told:
                self._told.add(key)
                label = short_label(skip.handler)
                self.say(f"{label} was not run: {flat(skip.detail)} or /hooks", Level.WARNING, "changed-since-trusted")


def _late(late: Late) -> str:
    """Describe how a background hook ended; what it adds for the model is shown when the model reads it."""
    name = f"{hook_name(late.job.event)} hook {short_label(late.job.handler)}"
    match late.reply:
        case Exited(status=status):
            return f"{name} ended in the background: exit {status}"
        case Failed(why=why, message=message):
            return f"{name} in the background {why.value}: {message}"
        case TimedOut(limit=limit):
            return f"{name} in the background timed out at {limit:g} s"
        case _:
            return f"{name} ended in the background"


def _text_of(content: Json) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", f"[{block.get('type')}]")) for block in content)
