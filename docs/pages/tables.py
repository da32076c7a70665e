"""The pages on exit codes and visibility: tables over all events, and the rules that hold for all of them."""

from __future__ import annotations

from pages.markdown import PLAIN, page, table
from pages.probes import EFFECTS, NOBODY, PLACES, VISIBILITY, stderr_of_exit_2

from hookwright.protocol.events import CATALOGUE

_STATUS = (
    ("0", "Success. stdout is read: one JSON object is an answer, anything else is plain text."),
    (
        "2",
        "The event's own refusal, see the table. stderr is the reason. JSON on stdout cannot lift it; "
        "if the JSON itself denies or blocks, its reason is used instead of stderr.",
    ),
    (
        "any other",
        "If stdout is a valid answer, it is obeyed. Otherwise it is a non-blocking error and the action proceeds: "
        "exit 1 does not block.",
    ),
    ("126, 127", "Like any other status, and reported as a launch failure: the hook checked nothing."),
    ("a signal", "Like any other status (128 + number)."),
    ("timeout", "The process group gets TERM, then KILL. What was printed is discarded. No decision."),
)
_STDOUT = (
    ("does not begin with `{`, or does not end with `}`", "plain text"),
    ("one valid JSON object that fits the schema", "an answer"),
    ("one valid JSON object with a wrong type or value", "void: a non-blocking error that names every problem"),
    ("begins `{`, ends `}`, is not valid JSON", "void: a non-blocking error that names the offset"),
    ("several lines of JSON, none with a known field", "plain text"),
)


def exit_codes() -> str:
    """Write the page about exit codes and JSON."""
    rows = [
        (f"[{name}](events.md#{name.lower()})", cls.rules.exit_2.value, stderr_of_exit_2(name), PLAIN[cls.rules.plain])
        for name, cls in CATALOGUE.items()
    ]
    return page(
        "Exit codes and JSON",
        "What a command hook's exit status and stdout mean. The tables by event come from the engine's own functions.",
        "## Status",
        table(("status", "meaning"), _STATUS),
        'With `onFailure: "block"` a launch failure, a crash, a signal, a timeout or a void answer also blocks, on the '
        "events whose section in [events.md](events.md) says that it applies. WorktreeCreate and WorktreeRemove fail "
        "at every status but 0.",
        "## stdout",
        "Surrounding white space and a byte order mark are ignored. Print nothing but the answer on stdout.",
        table(("stdout", "is"), _STDOUT),
        "## Exit 2 by event",
        table(("event", "exit 2", "readers of its stderr", "plain stdout at exit 0"), rows),
        "## Other effects by event",
        f"{NOBODY} means that the action proceeds.",
        table(("event", *(title for title, _ in EFFECTS)), [_row(name, EFFECTS) for name in CATALOGUE]),
    )


def visibility() -> str:
    """Write the page about readers."""
    return page(
        "Who reads what",
        "What a hook says has four readers: the user, the model, the verbose view and the debug log. "
        "This table is made by giving every event each of these answers and asking `hookwright.messages` who reads it.",
        table(("event", *(title for title, _ in VISIBILITY)), [_row(name, VISIBILITY) for name in CATALOGUE]),
        "## Rules",
        "- The verbose view also has all of stdout, unless the hook says `suppressOutput: true`. That hides stdout "
        "there and in the transcript; it hides no effect.\n"
        "- stderr of every run is in the debug log.\n"
        "- The reason of an ask is in the user's permission prompt; where there is no one to ask, the call is denied "
        "with it. The reason of an allow or a defer is in the debug log only.\n"
        "- `stopReason` stays in the conversation: the model reads it with its next request, if there is one. A "
        "stopped subagent or teammate makes none.\n"
        "- When a prompt is blocked, no hook's context reaches the model. When a call is deferred, its hooks run again "
        "on resume, and the model reads what they say then.\n"
        "- A block that the limit of stop hooks overrides is not read by the model.\n"
        "- `systemMessage` on DirectoryAdded goes to the model after `/add-dir` and to the user otherwise.\n"
        "- A resumed conversation has the same texts in the same places as the live one.\n"
        "- Texts over 10,000 characters are saved to a private file; the model gets the first 2,000 and the path. "
        "Reasons are never cut.\n"
        "- `hookwright.messages(outcome)` gives a host the same texts with their readers; `hookwright fire` prints "
        "them, and `hookwright fire --as-model` prints exactly what the model reads.",
        "## Where the model reads it",
        "A reminder is a message with the role `system` after the tool results or the prompt; a model without that "
        "role reads it in `<system-reminder>` tags.",
        table(("event", *(title for title, _ in PLACES)), [_row(name, PLACES) for name in CATALOGUE if _read(name)]),
    )


def _read(name: str) -> bool:
    """Whether the model reads anything of the event's hooks."""
    return any(probe(name) != NOBODY for _, probe in PLACES)


def _row(name: str, columns: object) -> tuple[str, ...]:
    assert isinstance(columns, tuple)
    return (f"[{name}](events.md#{name.lower()})", *(probe(name) for _, probe in columns))
