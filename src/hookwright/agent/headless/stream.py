"""What `hookwright run` prints: text, one JSON object, or one JSON line per update."""

from __future__ import annotations

import sys
from typing import Protocol, TextIO

from hookwright.agent.headless.result_line import ResultLines
from hookwright.agent.headless.stream_lines import StreamOptions, StreamOutput
from hookwright.agent.state.endings import Result
from hookwright.agent.state.updates import Ended, Note, ToolEnded, Update
from hookwright.agent.state.user_notes import HOOK_CHANGED
from hookwright.observers import Notice
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode
from hookwright.text import harmless, one_line, say


class SessionOutput(Protocol):
    """An output format: takes updates of the agent and notices of the engine."""

    def update(self, update: Update) -> None:
        """Print an update."""
        ...

    def notice(self, notice: Notice) -> None:
        """Print a notice."""
        ...

    def close(self) -> None:
        """Print what was kept for the end."""
        ...


class SilentOutput:
    """Nothing: `--init-only` has no answer."""

    def update(self, update: Update) -> None:
        """Ignore an update."""

    def notice(self, notice: Notice) -> None:
        """Ignore hooks."""

    def close(self) -> None:
        """Do nothing."""


#: Notes that are printed elsewhere: with the answer, and by the console for every format.
_PRINTED = frozenset({"prompt-blocked", "session-end", "option", HOOK_CHANGED})


class TextOutput:
    """The answers on stdout; what the user has to know about hooks and refused calls on stderr."""

    def __init__(self, file: TextIO | None = None, errors: TextIO | None = None) -> None:
        self._file = sys.stdout if file is None else file
        self._errors = sys.stderr if errors is None else errors
        #: Call → the beginning of its error.
        self._failed: dict[str, str] = {}
        self._warned: list[str] = []

    def update(self, update: Update) -> None:
        """Print the answer to a prompt, warnings as they come, and which calls were refused."""
        match update:
            case Note(text=text, level="warning" | "error", tag=tag) if tag not in _PRINTED:
                self._warn(text)
            case ToolEnded(block=block) if block.get("is_error"):
                self._failed[str(block.get("tool_use_id"))] = _first_line(block.get("content"))
            case Ended(result=result):
                text, reason = result.text, result.stop_reason
                say([text or reason or ""], self._file)
                if text and reason and reason not in text:
                    self._warn(f"stopped: {reason}")
                self._report_denials(result)
            case _:
                pass

    def _report_denials(self, result: Result) -> None:
        """Report the calls that rules and modes refused; what a hook refused was reported when it did."""
        errors = [
            (str(call.get("tool_name")), self._failed.get(str(call.get("tool_use_id")), "")) for call in result.denials
        ]
        refused = [f"{name}: {error}" for name, error in errors if not any(error in text for text in self._warned)]
        if refused:
            count = "1 call was" if len(refused) == 1 else f"{len(refused)} calls were"
            self._warn(f"{count} refused; --allowedTools, --permission-mode or a rule in the settings allows a call")
        for text in dict.fromkeys(refused):
            self._warn(f"  {text}")

    def _warn(self, text: str) -> None:
        self._warned.append(text)
        say([f"hookwright: {harmless(text)}"], self._errors)

    def notice(self, notice: Notice) -> None:
        """Ignore hooks; what the user reads of them comes as notes."""

    def close(self) -> None:
        """Do nothing; everything is printed already."""


def _first_line(content: Json) -> str:
    text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())
    return one_line(text.partition("\n")[0], 160)


class JsonOutput:
    """The last result as one object."""

    def __init__(self, file: TextIO = sys.stdout) -> None:
        self._file = file
        self._lines = ResultLines()
        self._result: Result | None = None
        self._warnings: list[str] = []

    def update(self, update: Update) -> None:
        """Keep the result, and which hooks a change switched off."""
        self._lines.count(update)
        if isinstance(update, Ended):
            self._result = update.result
        elif isinstance(update, Note) and update.tag == HOOK_CHANGED:
            self._warnings.append(update.text)

    def notice(self, notice: Notice) -> None:
        """Ignore hooks."""

    def close(self) -> None:
        """Print the result."""
        if self._result is not None:
            warnings = {"warnings": self._warnings} if self._warnings else {}
            line = {**self._lines.line(self._result), **warnings}
            print(encode(line).decode(), file=self._file, flush=True)


def output_for(name: str, options: StreamOptions) -> SessionOutput:
    """Return the output of a format."""
    match name:
        case "text":
            return TextOutput()
        case "json":
            return JsonOutput()
        case _:
            return StreamOutput(options)
