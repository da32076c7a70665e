"""What a project would run if it were trusted, and how that differs from what was trusted before."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator

import msgspec

from hookwright.config.frontmatter import component_groups
from hookwright.config.load import Loaded
from hookwright.config.trust import ABSENT, Changed, Item, State, Trusted
from hookwright.config.truststore import FileCopy, Record, TrustStore
from hookwright.protocol.diagnostics import Diagnostic
from hookwright.text import short_path


class Reviewed(msgspec.Struct, frozen=True):
    """One thing to trust and its state."""

    item: Item
    state: State

    @property
    def pending(self) -> bool:
        """Whether it has no effect until the user accepts it."""
        return not isinstance(self.state, Trusted)

    def diff(self) -> str:
        """What changed since it was trusted, or all of it if it is new; empty if it is trusted."""
        if not self.pending:
            return ""
        before = self.state.previous if isinstance(self.state, Changed) else Record("", "", "")
        old = {file.path: file for file in before.files}
        new = {file.path: file for file in self.item.files}
        parts = list(_lines("entry", before.entry, self.item.entry))
        for path in sorted(old.keys() | new.keys()):
            parts += _lines(path, _text(old.get(path)), _text(new.get(path)))
        return "\n".join(parts)


class Review(msgspec.Struct, frozen=True):
    """The items of a project, settings first, and what was trusted and no longer exists."""

    project: str
    items: tuple[Reviewed, ...]
    removed: tuple[Record, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def pending(self) -> tuple[Reviewed, ...]:
        """The items that have no effect until the user accepts them."""
        return tuple(item for item in self.items if item.pending)


def review(loaded: Loaded, cwd: str = "") -> Review:
    """Return everything the project supplies, skills and agents included, for the user to accept."""
    reports: list[Diagnostic] = []
    for file in loaded.components():
        if file.from_project:
            found = component_groups(file, short_path(file.path, cwd or os.getcwd()))
            loaded.gate.admit(found.groups)
            reports += found.diagnostics
    items = tuple(Reviewed(item, state) for item, state in loaded.gate.items())
    return Review(loaded.project_dir, items, tuple(loaded.gate.removed()), tuple(reports))


def accept(store: TrustStore, project: str, chosen: Iterable[Reviewed]) -> None:
    """Trust the chosen items as they were shown; their files are checked again before they run."""
    chosen = list(chosen)
    superseded = [item.state.previous.digest for item in chosen if isinstance(item.state, Changed)]
    store.record(project, [item.item.record for item in chosen], superseded)


def _text(file: FileCopy | None) -> str:
    if file is None or file.digest == ABSENT:
        return ""
    return file.text if file.text is not None else f"({file.digest[:16]}…, {file.real})\n"


def _lines(name: str, old: str, new: str) -> Iterator[str]:
    if old == new:
        return iter(())
    return difflib.unified_diff(old.splitlines(), new.splitlines(), f"{name} (trusted)", f"{name} (now)", lineterm="")
