"""What is kept of mutants between runs: survivors with their reasons, and the tests that noticed the others."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from mutants.campaign import Tried
from mutants.mutant import SOURCE, Mutant, mutants
from mutants.runner import End

HERE = Path(__file__).parent
SURVIVORS = HERE / "survivors.toml"
RECORD = HERE / "record.json"
ROWS = HERE / "rows.toml"


class Survivor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mutant that no test can notice, and why."""

    file: str
    name: str
    change: str
    reason: str

    @property
    def id(self) -> str:
        """The id of the mutant."""
        return f"{self.file}::{self.name}: {self.change}"


class RowMutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change by hand that the tests of one requirement row must notice."""

    row: str
    file: str
    before: str
    after: str

    def source(self) -> str:
        """Return the changed source; raise where the text before the change is not there exactly once."""
        text = (SOURCE / self.file).read_text()
        if text.count(self.before) != 1:
            found = text.count(self.before)
            raise ValueError(
                f"rows.toml, {self.row}: {self.file} has `{self.before}` {found} times; write what it has now"
            )
        return text.replace(self.before, self.after)


class Proof(msgspec.Struct, frozen=True):
    """A mutant and the marked test that noticed it."""

    mutant: str
    test: str


class Record(msgspec.Struct):
    """What the last complete run found."""

    #: The tests that noticed mutants of a function, by `file::name`: a sample tries these first.
    killers: dict[str, list[str]] = msgspec.field(default_factory=dict)
    #: Requirement rows, each with one proof.
    rows: dict[str, Proof] = msgspec.field(default_factory=dict)

    def note(self, file: str, tried: Iterable[Tried], proven: Mapping[str, Proof]) -> None:
        """Replace what is known about one module."""
        mine = {name: tests for name, tests in self.killers.items() if not name.startswith(f"{file}::")}
        for one in tried:
            if one.fate.end is End.KILLED and "::" in one.fate.killer:
                tests = mine.setdefault(f"{file}::{one.mutant.name}", [])
                if one.fate.killer not in tests:
                    tests.append(one.fate.killer)
        self.killers = dict(sorted(mine.items()))
        kept = {row: proof for row, proof in self.rows.items() if not proof.mutant.startswith(f"{file}::")}
        self.rows = dict(sorted({**proven, **kept}.items()))

    def write(self) -> None:
        """Write the record for the next sample and for the map of rows."""
        RECORD.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n")


def read_record() -> Record:
    """Read the record of the last run."""
    return msgspec.json.decode(RECORD.read_bytes(), type=Record) if RECORD.exists() else Record()


@functools.cache
def listed() -> Mapping[str, Survivor]:
    """Return the survivors that have a reason, by mutant."""
    table = tomllib.loads(SURVIVORS.read_text())
    return {one.id: one for one in msgspec.convert(table.get("survivor", []), list[Survivor])}


def row_mutants() -> list[RowMutant]:
    """Return the changes by hand."""
    return msgspec.convert(tomllib.loads(ROWS.read_text()).get("mutant", []), list[RowMutant])


def all_mutants(files: Iterable[str]) -> list[Mutant]:
    """Return the mutants of modules, in order."""
    return [mutant for file in files for mutant in mutants(file)]
