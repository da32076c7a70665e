"""Write a hook in Python in five lines.

    from hookwright.author import deny, hook

    @hook.pre_tool_use("Bash")
    def no_force(event):
        if "--force" in event.tool_input["command"]:
            return deny("Force pushes are not allowed here.")

    hook.run()

Only the answer goes to stdout; everything the handler prints goes to stderr. The exit status is 0 for an answer and 1
for an exception, or 2 with `hook.run(on_error="block")`, which makes the hook fail closed.

The same file, unchanged, answers one event per process, or many in one process when Hookwright starts it as a resident
worker (docs/workers.md). Importing this module imports nothing else: a hook only pays for Python and `json`.
"""

from __future__ import annotations

import os
import sys

from hookwright.author._tables import BASENAMES, EVENTS, OPTIONAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn

    from hookwright.author.decorators import Decorators, Handler, OnError, Returned
else:
    Decorators = object

__all__ = [
    "Answer",
    "Event",
    "Hook",
    "allow",
    "ask",
    "block",
    "context",
    "defer",
    "deny",
    "fields",
    "hook",
    "message",
    "rewrite",
    "rewrite_output",
    "run",
    "stop",
]


class Event:
    """An event: its fields as attributes, or as keys of `raw`."""

    __slots__ = ("raw",)

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw

    @property
    def event_name(self) -> str:
        """The name of the event."""
        return str(self.raw["hook_event_name"])

    def __getattr__(self, name: str) -> Any:
        try:
            return self.raw[name]
        except KeyError:
            if name in OPTIONAL:
                return None
            known = ", ".join(self.raw)
            raise AttributeError(f"{self.event_name} has no field {name!r}; it has {known}") from None

    def __getitem__(self, name: str) -> Any:
        return self.raw[name]

    def __contains__(self, name: object) -> bool:
        return name in self.raw

    def __repr__(self) -> str:
        return f"Event({self.raw!r})"


# ── answers ─────────────────────────────────────────────────────────────────


class Answer:
    """The answer of a hook; add answers to combine them."""

    __slots__ = ("parts",)

    def __init__(self, **parts: Any) -> None:
        self.parts = parts

    def __add__(self, other: Answer) -> Answer:
        both = {**self.parts, **other.parts}
        for name in ("context", "message"):
            if name in self.parts and name in other.parts:
                both[name] = f"{self.parts[name]}\n{other.parts[name]}"
        if "fields" in both:
            both["fields"] = {**self.parts.get("fields", {}), **other.parts.get("fields", {})}
        return Answer(**both)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answer) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Answer({', '.join(f'{name}={value!r}' for name, value in self.parts.items())})"


def deny(reason: str) -> Answer:
    """Refuse the call, the prompt or the action of the event."""
    return Answer(decision="deny", reason=reason)


def block(reason: str) -> Answer:
    """Refuse, or give the model feedback afterwards; the same as `deny`, under a name that suits more events."""
    return Answer(decision="deny", reason=reason)


def allow(reason: str | None = None) -> Answer:
    """Approve; deny and ask rules of the host still apply."""
    return Answer(decision="allow", reason=reason)


def ask(reason: str) -> Answer:
    """Ask the user to confirm."""
    return Answer(decision="ask", reason=reason)


def defer(reason: str | None = None) -> Answer:
    """Defer the call until the session is resumed."""
    return Answer(decision="defer", reason=reason)


def context(text: str) -> Answer:
    """Add context for the model."""
    return Answer(context=text)


def message(text: str) -> Answer:
    """Show the user a message."""
    return Answer(message=text)


def stop(reason: str | None = None) -> Answer:
    """End the turn."""
    return Answer(stop=reason)


def rewrite(tool_input: Mapping[str, Any]) -> Answer:
    """Call the tool with this input instead."""
    return Answer(updated_input=tool_input)


def rewrite_output(tool_output: Any) -> Answer:
    """Show the model this tool output instead."""
    return Answer(updated_tool_output=tool_output)


def fields(**values: Any) -> Answer:
    """Set other fields of the event's own output object: `watch_paths`, `session_title`, `worktree_path`, …"""
    return Answer(fields=values)


def to_wire(answer: Answer, name: str) -> dict[str, Any]:
    """Return an answer in the form an event reads; raise TypeError for a part it does not read."""
    reads = EVENTS[name].split()[1:]
    out: dict[str, Any] = {}
    specific = {_camel(field): value for field, value in answer.parts.get("fields", {}).items()}
    for part, value in answer.parts.items():
        if part in ("context", "message", "stop", "updated_input", "updated_tool_output") and part not in reads:
            raise TypeError(f"{name} does not read {part}: remove it from the answer")
        match part:
            case "context":
                specific["additionalContext"] = value
            case "message":
                out["systemMessage"] = value
            case "stop":
                out["continue"] = False
                out |= {"stopReason": value} if value is not None else {}
            case "updated_input" | "updated_tool_output":
                specific[_camel(part)] = value
    if "decision" in answer.parts:
        _decide(answer.parts["decision"], answer.parts["reason"], name, reads, (out, specific))
    if specific:
        out["hookSpecificOutput"] = {"hookEventName": name, **specific}
    return out


def _decide(
    word: str, reason: str | None, name: str, reads: list[str], into: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    out, specific = into
    if "permission" in reads and (word != "defer" or "defer" in reads):
        specific["permissionDecision"] = word
        if reason is not None:
            specific["permissionDecisionReason"] = reason
    elif "request" in reads and word in ("allow", "deny"):
        updated = specific.pop("updatedInput", None)
        rest = {"message": reason} if word == "deny" else {} if updated is None else {"updatedInput": updated}
        specific["decision"] = {"behavior": word, **rest}
    elif word == "deny" and "block" in reads:
        out.update(decision="block", reason=reason)
    else:
        raise TypeError(f"{word} has no meaning on {name}: this event has no such decision")


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join("MCP" if word == "mcp" else word.capitalize() for word in rest)


# ── handlers ────────────────────────────────────────────────────────────────


class Hook(Decorators):
    """Handlers by event, and the main program that runs them."""

    def __init__(self) -> None:
        self._handlers: list[tuple[str | None, tuple[str, ...], Callable[[Any], Returned]]] = []

    def any_event(self, handler: Handler[Any]) -> Handler[Any]:
        """Call this handler for every event."""
        self._handlers.append((None, (), handler))
        return handler

    def __getattr__(self, name: str) -> Callable[..., Any]:
        event = "".join(word.capitalize() for word in name.split("_"))
        if event not in EVENTS:
            raise AttributeError(f"{name} is not an event; write one in the form of pre_tool_use")

        def narrowed(*values: str) -> Any:
            if len(values) == 1 and callable(values[0]):
                raise TypeError(f"write @hook.{name}() with parentheses")
            if values and EVENTS[event].startswith("-"):
                raise TypeError(f"{event} cannot be narrowed: write @hook.{name}()")

            def register(handler: Handler[Any]) -> Handler[Any]:
                self._handlers.append((event, values, handler))
                return handler

            return register

        return narrowed

    def answer(self, event: Event) -> dict[str, Any]:
        """Return the answer of the first handler that gives one, in order of registration."""
        name = event.event_name
        for wanted, values, handler in self._handlers:
            if wanted is not None and (wanted != name or (values and _target(event) not in values)):
                continue
            returned = handler(event)
            if returned is None:
                continue
            if isinstance(returned, Answer):
                return to_wire(returned, name)
            if isinstance(returned, dict):
                return returned
            kind = type(returned).__name__
            raise TypeError(f"{handler.__name__} returned {kind}; return an answer, such as deny(…), a dict or None")
        return {}

    def run(self, on_error: OnError = "continue") -> None:
        """Answer the event on stdin and exit; as a resident worker, answer all events."""
        if os.environ.pop("HOOKWRIGHT_WORKER", "") == "1":  # not for processes the hook starts
            from hookwright.author._worker import Worker

            Worker(lambda event: _respond(self, on_error, event), _take_stdout()).serve()
        else:
            _answer_once(self, on_error)


#: The hook of this file.
hook = Hook()


def run(handler: Handler[Any], on_error: OnError = "continue") -> None:
    """Run one handler for every event."""
    single = Hook()
    single.any_event(handler)
    single.run(on_error)


def _target(event: Event) -> str:
    field = EVENTS[event.event_name].split()[0]
    value = str(getattr(event, field))
    return value.rsplit("/", 1)[-1] if event.event_name in BASENAMES else value


# ── the two main programs ───────────────────────────────────────────────────


def _answer_once(hook: Hook, on_error: OnError) -> NoReturn:
    answers = _take_stdout()
    status, text = _respond(hook, on_error, sys.stdin.buffer.read())
    _write(answers, text.encode())
    sys.exit(status)


def _respond(hook: Hook, on_error: OnError, data: bytes | dict[str, Any]) -> tuple[int, str]:
    """Return the exit status and the stdout for one event; an exception goes to stderr with its traceback."""
    import json

    try:
        raw = json.loads(data) if isinstance(data, bytes) else data
        output = hook.answer(Event(raw))
        return 0, json.dumps(output) + "\n" if output else ""
    except SystemExit as end:
        return _status_of(end), ""
    except Exception as error:  # the handler is its author's code; its failure becomes an exit status
        if on_error == "block":
            print(f"{_place(error)}{type(error).__name__}: {error}", file=sys.stderr)
            return 2, ""
        sys.excepthook(type(error), error, error.__traceback__)
        return 1, ""
    finally:
        sys.stdout.flush()


def _status_of(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return (end.code or 0) & 0xFF
    print(end.code, file=sys.stderr)
    return 1


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno} " if trace is not None else ""


def _take_stdout() -> int:
    """Reserve stdout for the answer; all other output, also of processes, goes to stderr."""
    answers = os.dup(1)
    os.dup2(2, 1)
    return answers


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
