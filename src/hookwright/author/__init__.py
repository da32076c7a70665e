"""Write a hook in Python in five lines.

    from hookwright.author import deny, hook

    @hook.pre_tool_use("Bash")
    def no_force(event):
        if "--force" in event.tool_input["command"]:
            return deny("Force pushes are not allowed here.")

    hook.run()

The answer alone goes to stdout, whatever the handler prints goes to stderr, and the exit status is right: 0 for an
answer, 1 for a handler that broke, or 2 if it is to fail closed (`hook.run(on_error="block")`).

The same file, unchanged, answers one event per process, or many in one process when Hookwright starts it as a resident
worker (docs/workers.md). Importing this module imports nothing else: a hook pays for Python and `json` alone.
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
    """What happened: the fields of the event as attributes, or as keys of `raw`."""

    __slots__ = ("raw",)

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw

    @property
    def event_name(self) -> str:
        """Tell the name of the event."""
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
    """What a hook says; add answers to say several things."""

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
    """Refuse the call, the prompt or whatever else the event is about."""
    return Answer(decision="deny", reason=reason)


def block(reason: str) -> Answer:
    """Refuse, or after the fact give the model feedback; the same as `deny`, under the name that fits more events."""
    return Answer(decision="deny", reason=reason)


def allow(reason: str | None = None) -> Answer:
    """Approve; deny and ask rules of the host still apply."""
    return Answer(decision="allow", reason=reason)


def ask(reason: str) -> Answer:
    """Have a person confirm."""
    return Answer(decision="ask", reason=reason)


def defer(reason: str | None = None) -> Answer:
    """Put the call off until somebody resumes the session."""
    return Answer(decision="defer", reason=reason)


def context(text: str) -> Answer:
    """Tell the model something."""
    return Answer(context=text)


def message(text: str) -> Answer:
    """Tell the user something."""
    return Answer(message=text)


def stop(reason: str | None = None) -> Answer:
    """End the turn."""
    return Answer(stop=reason)


def rewrite(tool_input: Mapping[str, Any]) -> Answer:
    """Have the tool called with this input instead."""
    return Answer(updated_input=tool_input)


def rewrite_output(tool_output: Any) -> Answer:
    """Have the model see this output of the tool instead."""
    return Answer(updated_tool_output=tool_output)


def fields(**values: Any) -> Answer:
    """Set further fields of the event's own output object: `watch_paths`, `session_title`, `worktree_path`, …"""
    return Answer(fields=values)


def to_wire(answer: Answer, name: str) -> dict[str, Any]:
    """Write an answer in the form that an event reads; raise TypeError for what it does not read."""
    reads = EVENTS[name].split()[1:]
    out: dict[str, Any] = {}
    specific = {_camel(field): value for field, value in answer.parts.get("fields", {}).items()}
    for part, value in answer.parts.items():
        if part in ("context", "message", "stop", "updated_input", "updated_tool_output") and part not in reads:
            raise TypeError(f"{name} reads no {part}: leave it out of the answer")
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
        raise TypeError(f"{word} has no meaning on {name}: it decides nothing of that kind")


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join("MCP" if word == "mcp" else word.capitalize() for word in rest)


# ── handlers ────────────────────────────────────────────────────────────────


class Hook(Decorators):
    """Handlers by event, and the main program around them."""

    def __init__(self) -> None:
        self._handlers: list[tuple[str | None, tuple[str, ...], Callable[[Any], Returned]]] = []

    def any_event(self, handler: Handler[Any]) -> Handler[Any]:
        """Call this handler for every event."""
        self._handlers.append((None, (), handler))
        return handler

    def __getattr__(self, name: str) -> Callable[..., Any]:
        event = "".join(word.capitalize() for word in name.split("_"))
        if event not in EVENTS:
            raise AttributeError(f"{name} is not an event; the events are those of the protocol, as in pre_tool_use")

        def narrowed(*values: str) -> Any:
            if len(values) == 1 and callable(values[0]):
                raise TypeError(f"write @hook.{name}() with parentheses")
            if values and EVENTS[event].startswith("-"):
                raise TypeError(f"{event} has nothing to be narrowed by: write @hook.{name}()")

            def register(handler: Handler[Any]) -> Handler[Any]:
                self._handlers.append((event, values, handler))
                return handler

            return register

        return narrowed

    def answer(self, event: Event) -> dict[str, Any]:
        """Ask the handlers of an event, in order; the first that answers counts."""
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
        """Answer the event on stdin and exit, or all of them where Hookwright asks for a resident worker."""
        if os.environ.pop("HOOKWRIGHT_WORKER", "") == "1":  # not for what the hook starts itself
            from hookwright.author._worker import Worker

            Worker(lambda event: _respond(self, on_error, event), _take_stdout()).serve()
        else:
            _answer_once(self, on_error)


#: The hook of this file.
hook = Hook()


def run(handler: Handler[Any], on_error: OnError = "continue") -> None:
    """Run one handler for every event that comes."""
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
    """Give the exit status and the stdout of one event; a handler that broke shows its traceback on stderr."""
    import json

    try:
        raw = json.loads(data) if isinstance(data, bytes) else data
        output = hook.answer(Event(raw))
        return 0, json.dumps(output) + "\n" if output else ""
    except SystemExit as end:
        return _status_of(end), ""
    except Exception as error:  # the handler is its author's code: here its failure becomes a status
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
    """Keep stdout for the answer and send everything else that is printed, by processes too, to stderr."""
    answers = os.dup(1)
    os.dup2(2, 1)
    return answers


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
