"""What workers read is what this machine reads: any cut, any kills."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as some

from hookwright.replay.choice import Choice
from hookwright.replay.fleet.fleet import Fleet, FleetReaders
from hookwright.replay.fleet.reading import LEAST, cut_evenly, read_by
from hookwright.replay.past import Coverage, Past
from hookwright.replay.pool import process_pool
from hookwright.replay.sources import ReadApart, past_events
from hookwright.replay.transcripts.files import SourceFile, SourceKind
from hookwright.replay.transcripts.sessions import Reader
from replay.histories import call, prompt, result, write
from replay.test_index import PAIRS
from replay.test_reading_laws import STEPS, Step, lines_for


class Killed(Executor):
    """Makes calls here, and loses workers: of some calls when they are first made, and of a deadly file each time."""

    def __init__(self, lost: Collection[int] = (), deadly: str = "no such file") -> None:
        self._lost = lost
        self._deadly = deadly
        self._seen: list[object] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        _, work, home, sources = args
        first = sources not in self._seen
        self._seen.append(sources)
        if (first and len(self._seen) in self._lost) or any(self._deadly in source.path for source in sources):
            future.set_exception(BrokenExecutor("a worker was killed"))
        else:
            future.set_result(work(home, sources))
        return future


def _apart(executor: Executor, least: int) -> ReadApart:
    def read(sources: Sequence[SourceFile], otherwise: Reader) -> Reader:
        return read_by(FleetReaders(Fleet(executor, 2)), sources, otherwise, least)

    return read


def _events(folder: Path, choice: Choice, apart: ReadApart | None = None) -> tuple[list[Past], Coverage]:
    coverage = Coverage()
    return list(past_events([str(folder)], choice, coverage, apart=apart)), coverage


@given(STEPS, STEPS, STEPS, some.integers(0, 14), PAIRS, some.integers(0, 5000), some.sets(some.integers(1, 6)))
@settings(max_examples=25, deadline=None)
def test_events_and_counts_are_those_of_one_reader(
    one: list[Step],
    two: list[Step],
    inner: list[Step],
    cut: int,
    pairs: set[tuple[str, str]],
    least: int,
    lost: set[int],
) -> None:
    first = lines_for(one, "s1", 0)
    copied = [entry if isinstance(entry, bytes) else {**entry, "sessionId": "s2"} for entry in first[:cut]]
    agent = [entry for entry in lines_for(inner, "s3", 50) if isinstance(entry, bytes) or entry["type"] != "progress"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "s1.jsonl", first)
        write(folder / "s2.jsonl", [*copied, *lines_for(two, "s2", 100)])
        write(folder / "s1" / "subagents" / "agent-x1.jsonl", agent)
        choice = Choice(wanted=lambda event, tool: (event, tool) in pairs)
        assert _events(folder, choice, _apart(Killed(lost), least)) == _events(folder, choice)


def _history(folder: Path) -> None:
    for name in ("s1", "s2", "s3"):
        own = f"toolu_{name}_0123456789"
        lines = [prompt("go", 1, session=name), call(own, 2, session=name), result(own, 3, session=name)]
        write(folder / f"{name}.jsonl", lines)


def test_a_file_that_kills_its_reader_is_refused_and_its_neighbours_are_read(tmp_path: Path) -> None:
    _history(tmp_path)
    pasts, coverage = _events(tmp_path, Choice(), _apart(Killed(deadly="s2"), LEAST))
    assert {past.event.session_id for past in pasts} == {"s1", "s3"}
    assert coverage.refused == 1
    assert coverage.files == 2


def test_processes_of_a_pool_read(tmp_path: Path) -> None:
    _history(tmp_path)
    with process_pool(1) as pool:
        found = _events(tmp_path, Choice(), _apart(pool, LEAST))
    assert found == _events(tmp_path, Choice())
    assert len(found[0]) > 6


@given(some.lists(some.integers(0, 50), max_size=20), some.integers(1, 100))
@settings(max_examples=30, deadline=None)
def test_every_source_is_in_one_task_and_tasks_are_as_small_as_allowed(sizes: list[int], least: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        sources = []
        for number, size in enumerate(sizes):
            path = Path(name) / f"{number}.jsonl"
            path.write_bytes(b"x" * size)
            sources.append(SourceFile(path=str(path), kind=SourceKind.TRANSCRIPT, age=(0.0, False, 0.0, str(path))))
        tasks = cut_evenly(sources, least)
        assert [source for task in tasks for source in task] == sources
        weights = [[Path(source.path).stat().st_size for source in task] for task in tasks]
        assert all(sum(weight) >= least > sum(weight[:-1]) for weight in weights[:-1])
