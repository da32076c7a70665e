"""Notes for the user as lines of the stream."""

from __future__ import annotations

from collections.abc import Callable

from hookwright.agent.headless.hook_lines import Line
from hookwright.agent.state.updates import Note
from hookwright.agent.state.user_notes import HOOK_CHANGED, NO_VERDICT
from hookwright.visibility import Form

#: Notes the stream omits: the result of the call, the question about it, the prompt, the turn or stderr has them.
_ELSEWHERE = frozenset({Form.BLOCKED.value, Form.STOP.value, Form.QUESTION.value, "prompt-blocked", "session-end"})
#: Events whose hooks say nothing outside their own lines and stderr.
_QUIET = frozenset({"PermissionRequest", "SessionStart", "Setup", "SubagentStart", "SubagentStop", "SessionEnd"})
_MARKED = frozenset({NO_VERDICT, HOOK_CHANGED})


class NoteLines:
    """Writes notes, each where nothing else in the stream says the same.

    Law: what a hook says has a line, unless its event has none or a hook blocked the prompt; a failure has one unless
    the `hook_response` line of the hook has its message; a hook that left a call unchecked has one, the first time.
    """

    def __init__(self, reported: Callable[[str], bool]) -> None:
        self._reported = reported
        self._unchecked: set[tuple[str, str]] = set()

    def line(self, note: Note, prompt_blocked: bool) -> Line | None:
        """Return the line of a note; None if it has none."""
        if note.tag in _ELSEWHERE or self._is_elsewhere(note, prompt_blocked):
            return None
        level = "notice" if note.tag == Form.SAYS.value else note.level
        line = {"subtype": "informational", "content": note.text, "level": level}
        return {**line, "tag": note.tag} if note.tag in _MARKED else line

    def _is_elsewhere(self, note: Note, prompt_blocked: bool) -> bool:
        name, _, text = note.text.partition(" ")
        if note.tag == Form.SAYS.value:
            return prompt_blocked or name.partition(":")[0] in _QUIET
        if note.tag == NO_VERDICT:
            known = (note.text, note.about) in self._unchecked
            self._unchecked.add((note.text, note.about))
            return known
        if note.tag != Form.NOTICE.value:
            return False
        return name.startswith("SessionEnd") or self._reported(text.removeprefix("hook error: "))
