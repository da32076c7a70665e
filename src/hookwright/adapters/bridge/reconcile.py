"""Which tool results in front of the model no hook was asked about."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class SeenResult(msgspec.Struct, frozen=True):
    """A tool result in a conversation; for a tool that the provider runs, the id of its call."""

    id: str
    name: str


class Ledger:
    """The calls of one conversation that PreToolUse was fired for.

    Law: a result is unhooked if no PreToolUse was fired for its id and the result was not in the history with which a
    turn began: what ran in another process or before the hooks were added is not judged. Each is returned once.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()

    def fired(self, call_id: str) -> None:
        """Note that hooks were asked about a call."""
        self._known.add(call_id)

    def history(self, results: Iterable[SeenResult]) -> None:
        """Accept the results with which a turn begins."""
        self._known.update(result.id for result in results)

    def unhooked(self, results: Iterable[SeenResult]) -> tuple[SeenResult, ...]:
        """Return the results that no hook was asked about."""
        found = {result.id: result for result in results if result.id not in self._known}
        self._known.update(found)
        return tuple(found.values())


def report(result: SeenResult) -> str:
    """Return what to tell the developer about a tool that ran without hooks."""
    return (
        f"`{result.name}` ran without hooks (call {result.id}): no PreToolUse was fired for it. The provider runs the "
        "tool itself, or an agent or a path of the framework that does not have these hooks ran it."
    )


def refused(names: Iterable[str]) -> str:
    """Return why the next model call is refused."""
    listed = ", ".join(f"`{name}`" for name in names)
    return f"the model is not called: {listed} ran without hooks, and a hook that must not be skipped guards it"
