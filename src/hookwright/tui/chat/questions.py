"""What the user reads before permitting a call."""

from __future__ import annotations

from collections.abc import Iterator

from hookwright.agent.state.session import PermissionQuestion
from hookwright.text import flat, harmless
from hookwright.tui.chat.choices import HOOK_ASKS, asked_by_hook
from hookwright.tui.feed.diffs import change, input_diff
from hookwright.tui.feed.items import CallItem
from hookwright.tui.feed.words import Line, call_argument


def question_lines(question: PermissionQuestion, call: CallItem | None, cwd: str) -> Iterator[Line]:
    """Write what a call would do, what a hook changed in it, and why permission is needed."""
    arguments = question.tool_input
    main = call_argument(question.tool_name, arguments, cwd)
    for line in harmless(main).expandtabs(4).splitlines():
        yield (("bold", line),)
    described = arguments.get("description")
    if isinstance(described, str) and described != main:
        yield (("dim", flat(described)),)
    yield from change(question.tool_name, arguments)
    rewritten = call.rewritten if call is not None else None
    if rewritten is not None:
        yield ()
        yield (("warn", "A hook rewrote the input:"),)
        yield from input_diff(*rewritten)
    if question.reason:
        yield ()
        for line in harmless(question.reason).splitlines():
            yield (("warn", line),)
    if asked_by_hook(call):
        yield (("dim", HOOK_ASKS),)
