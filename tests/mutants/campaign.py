"""Try every mutant of a module on the tests that run its lines."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
import pytest

from mutants.mutant import ROOT, Mutant
from mutants.runner import Fate, Reach, apply, fate


class Tried(msgspec.Struct, frozen=True):
    """A mutant and its end."""

    mutant: Mutant
    fate: Fate


class Campaign:
    """Tests with what they reach, and the rows that have been proven so far."""

    def __init__(
        self, items: Sequence[pytest.Item], known: dict[str, Reach], proven: Mapping[str, tuple[str, str]] | None = None
    ) -> None:
        self._items = {item.nodeid: item for item in items}
        self._known = known
        self._order = {item.nodeid: number for number, item in enumerate(items)}
        #: Requirement rows, each with the mutant and the marked test whose expectation failed.
        self.proven: dict[str, tuple[str, str]] = dict(proven or {})

    def try_all(self, mutants: Iterable[Mutant], files: Sequence[str]) -> Iterator[Tried]:
        """Try mutants one after the other on the tests of some files."""
        names = [item.nodeid for item in by_file(list(self._items.values()), files)]
        for mutant in mutants:
            yield self._try(mutant, self.tests(mutant, names))

    def prove(self, mutants: Iterable[Mutant], files: Sequence[str]) -> None:
        """Try mutants on the tests whose rows are not proven yet, until none of these is left."""
        names = [item.nodeid for item in by_file(list(self._items.values()), files)]
        for mutant in mutants:
            tests = [test for test in self.tests(mutant, names) if not self._is_proven(test)]
            if tests:
                self._try(mutant, tests)

    def _try(self, mutant: Mutant, tests: Sequence[pytest.Item]) -> Tried:
        seconds = sum(self._known[test.nodeid].seconds for test in tests)
        end = fate(functools.partial(apply, mutant), tests, seconds)
        if end.asserted and end.killer in self._items:
            for row in rows_of(self._items[end.killer]):
                self.proven.setdefault(row, (mutant.id, end.killer))
        return Tried(mutant, end)

    def _is_proven(self, test: pytest.Item) -> bool:
        return all(row in self.proven for row in rows_of(test))

    def tests(self, mutant: Mutant, names: Sequence[str]) -> list[pytest.Item]:
        """Return the tests that run a mutant's lines: those with unproven rows first."""
        found = [name for name in names if self._reaches(mutant, self._known[name])]
        # What runs at import, as constants do, is run by no test: then any of them may notice the change.
        return [self._items[name] for name in sorted(found or names, key=self._rank)]

    def _reaches(self, mutant: Mutant, known: Reach) -> bool:
        return any(line in mutant.lines for line in known.lines.get(mutant.file, ()))

    def _rank(self, name: str) -> tuple[bool, int]:
        return self._is_proven(self._items[name]), self._order[name]


def by_file(items: Sequence[pytest.Item], files: Sequence[str]) -> list[pytest.Item]:
    """Return the tests of some files below `tests`, in the order of the files."""
    return [item for file in files for item in items if item.path == ROOT / "tests" / file]


def rows_of(item: pytest.Item) -> list[str]:
    """Return the requirement rows that a test names."""
    return [row for mark in item.iter_markers("req") for row in mark.args]
