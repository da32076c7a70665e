"""Print how many small changes of the pure core the tests notice, as `make mutants` does.

`python -m mutants [--only TEXT] [--match TEXT]` tries every mutant of each module and writes the record; `--sample N`
tries N of them, `--rows` the changes by hand, each on the tests of its own requirement row, and `--prove` mutants of
further modules on the tests of rows that nothing proves yet.
"""

from __future__ import annotations

import argparse
import functools
import gc
import random
import sys
from collections import Counter
from collections.abc import Sequence

import pytest

from mutants import rows
from mutants.campaign import Campaign, Tried, by_file
from mutants.ledger import Proof, Record, all_mutants, listed, read_record
from mutants.mutant import Mutant
from mutants.runner import End, apply, collected, fate, reach
from mutants.targets import PROVING, TARGETS

#: The part of the mutants that the tests must notice, in per cent.
SCORE = 95
#: Processor seconds that the tests of one sampled mutant take at most; the sample does not measure them first.
_SAMPLED = 30


def main() -> None:
    """Run what the arguments say; exit 1 where too much was not noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="only modules whose path contains this")
    parser.add_argument(
        "--match", default="", metavar="TEXT", help="only mutants whose id contains this; keeps no record"
    )
    parser.add_argument(
        "--sample", type=int, metavar="N", help="try N mutants; exit 1 unless each is noticed or listed"
    )
    parser.add_argument("--seed", type=int, default=1, help="the seed of the sample")
    parser.add_argument("--rows", action="store_true", help="try the changes by hand of rows.toml")
    parser.add_argument("--prove", action="store_true", help="look for proofs of the other rows in further modules")
    args = parser.parse_args()
    files = [file for file in TARGETS if args.only in file]
    if args.rows:
        sys.exit(rows.run())
    if args.prove:
        sys.exit(prove())
    if args.sample is not None:
        sys.exit(sample(files, args.sample, args.seed))
    sys.exit(score(files, args.match))


def _tests(files: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(test for file in files for test in TARGETS[file]))


# ── all of them ─────────────────────────────────────────────────────────────


def score(files: Sequence[str], match: str) -> int:
    """Try all mutants of modules and print the table; return 1 below the score that is asked for."""
    results: list[Tried] = []
    # A run of everything starts without old proofs; the changes by hand are tried again after it.
    record = Record() if list(files) == list(TARGETS) else read_record()

    def job(items: Sequence[pytest.Item]) -> None:
        gc.freeze()
        campaign = Campaign(items, reach(items, files))
        for file in files:
            chosen = [mutant for mutant in all_mutants([file]) if match in mutant.id]
            mine = []
            for tried in campaign.try_all(chosen, TARGETS[file]):
                mine.append(tried)
                if tried.fate.end is not End.KILLED:
                    print(_line(tried), flush=True)
            print(_summary(file, mine), flush=True)
            results.extend(mine)
            if not match:
                proofs = {row: Proof(*proof) for row, proof in campaign.proven.items()}
                record.note(file, mine, {row: proof for row, proof in proofs.items() if proof.mutant.startswith(file)})
                record.write()

    collected(_tests(files), job)
    print(_summary("all", results))
    return 0 if _percent(results) >= SCORE else 1


def _line(tried: Tried) -> str:
    known = listed().get(tried.mutant.id)
    text = f"{tried.fate.end.value}: {tried.mutant.place} {tried.mutant.name}: {tried.mutant.change}"
    return f"{text}\n    listed: {known.reason}" if known and tried.fate.end is End.SURVIVED else text


def _percent(results: Sequence[Tried]) -> float:
    """Return the part that was noticed; a mutant that runs into its time limit was noticed."""
    return 100 * sum(tried.fate.end is not End.SURVIVED for tried in results) / max(1, len(results))


def _summary(name: str, results: Sequence[Tried]) -> str:
    ends = Counter(tried.fate.end for tried in results)
    known = sum(tried.fate.end is End.SURVIVED and tried.mutant.id in listed() for tried in results)
    counts = f"{ends[End.KILLED]} killed, {ends[End.TIMEOUT]} by time-out, {ends[End.SURVIVED]} survived"
    return f"{name}: {len(results)} mutants, {counts} ({known} with a reason): {_percent(results):.1f} %"


# ── further proofs ──────────────────────────────────────────────────────────


def prove() -> int:
    """Try mutants of modules outside the core on tests with rows that nothing proves yet; they have no score."""
    files = list(PROVING)
    tests = list(dict.fromkeys(test for names in PROVING.values() for test in names))

    def job(items: Sequence[pytest.Item]) -> None:
        gc.freeze()
        record = read_record()
        known = {row: (proof.mutant, proof.test) for row, proof in record.rows.items()}
        campaign = Campaign(items, reach(items, files), known)
        for file in files:
            before = len(campaign.proven)
            campaign.prove(all_mutants([file]), PROVING[file])
            print(f"{file}: {len(campaign.proven) - before} further rows are proven", flush=True)
            record.rows = dict(sorted((row, Proof(*proof)) for row, proof in campaign.proven.items()))
            record.write()

    collected(tests, job)
    return 0


# ── a sample ────────────────────────────────────────────────────────────────


def sample(files: Sequence[str], count: int, seed: int) -> int:
    """Try some mutants on the tests that noticed others of their function, then on all tests of their module."""
    chosen = random.Random(seed).sample(all_mutants(files), count)
    survived: list[str] = []

    def job(items: Sequence[pytest.Item]) -> None:
        gc.freeze()
        killers = read_record().killers
        for mutant in chosen:
            if mutant.id in listed():
                continue
            tests = _killers_first(mutant, items, killers.get(f"{mutant.file}::{mutant.name}", []))
            if fate(functools.partial(apply, mutant), tests, _SAMPLED).end is End.SURVIVED:
                survived.append(f"{mutant.place} {mutant.name}: {mutant.change}")

    collected(_tests(sorted({mutant.file for mutant in chosen}, key=files.index)), job)
    known = sum(mutant.id in listed() for mutant in chosen)
    print(f"{count} mutants: {count - len(survived) - known} noticed, {known} listed, {len(survived)} survived")
    print("\n".join(survived))
    return 1 if survived else 0


def _killers_first(mutant: Mutant, items: Sequence[pytest.Item], killers: Sequence[str]) -> list[pytest.Item]:
    mine = by_file(items, TARGETS[mutant.file])
    rank = {name: number for number, name in enumerate(killers)}
    return sorted(mine, key=lambda item: rank.get(item.nodeid, len(rank)))


if __name__ == "__main__":
    main()
