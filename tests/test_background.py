"""Hooks that outlive their event."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from hookwright.engine import HookEngine, Options
from hookwright.observers import EventEnded, LateEnded, Notice, RunEnded, RunStarted
from hookwright.protocol.outcome import NO_OPINION, Ending
from hookwright.protocol.replies import Backgrounded, Failed, TimedOut
from hookwright.protocol.wire import AsyncRequest, async_request
from support import child_processes, command
from test_engine import at, engine, group

CONTEXT = '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"LATE"},"systemMessage":"SM"}'


@pytest.mark.req("R-169", "R-170")
def test_the_event_goes_on_at_once_and_the_result_comes_later(tmp_path: Path) -> None:
    made = engine(tmp_path, group("PostToolUse", command(f"sleep 0.4; echo '{CONTEXT}'", is_async=True)))

    async def main() -> None:
        started = time.monotonic()
        outcome = await made.fire(at("PostToolUse", tmp_path))
        assert time.monotonic() - started < 0.35
        assert [run.label for run in outcome.runs] == ["async"]
        assert (outcome.context, outcome.system_messages) == ((), ())
        assert made.background is not None
        assert made.background.collect() == ()
        await made.background.wait()
        (late,) = made.background.collect()
        assert (late.context, late.system_message, late.rewake) == ("LATE", "SM", None)
        assert made.background.collect() == ()

    asyncio.run(main())


@pytest.mark.req("R-171")
@pytest.mark.parametrize(
    "body",
    [
        'echo \'{"decision":"block","reason":"x"}\'',
        "echo '{\"continue\":false}'",
        "exit 2",
        "echo plain text",
    ],
)
def test_background_hooks_decide_nothing(body: str, tmp_path: Path) -> None:
    made = engine(tmp_path, group("PreToolUse", command(body, is_async=True)))

    async def main() -> None:
        outcome = await made.fire(at("PreToolUse", tmp_path))
        assert (outcome.decision, outcome.stop, outcome.errors) == (NO_OPINION, None, 0)
        assert made.background is not None
        await made.background.wait()
        (late,) = made.background.collect()
        assert (late.context, late.system_message, late.rewake) == (None, None, None)

    asyncio.run(main())


@pytest.mark.req("R-172", "R-176", "R-174")
def test_a_first_line_asks_for_the_background(tmp_path: Path) -> None:
    body = f"echo '{{\"async\":true}}'; sleep 0.4; echo '{CONTEXT}'"
    made = engine(tmp_path, group("PostToolUse", command(body)))

    async def main() -> None:
        started = time.monotonic()
        outcome = await made.fire(at("PostToolUse", tmp_path))
        assert time.monotonic() - started < 0.35
        assert outcome.runs[0].label == "async"
        assert made.background is not None
        (name,) = made.background.running
        assert name.startswith("PostToolUse-")
        assert name.split("-")[1].isdigit()
        await made.background.wait()
        (late,) = made.background.collect()
        assert (late.context, late.system_message) == ("LATE", "SM")

    asyncio.run(main())


@pytest.mark.req("R-175", "R-174")
@pytest.mark.parametrize("first", ["{oops", '{"async": false}', '{"async": "yes"}', "text", '{"a": 1}'])
def test_any_other_first_line_stays_in_the_foreground(first: str, tmp_path: Path) -> None:
    made = engine(tmp_path, group("PostToolUse", command(f"echo '{first}'; echo '{{\"async\":true}}'; sleep 0.1")))
    assert asyncio.run(made.fire(at("PostToolUse", tmp_path))).runs[0].label != "async"


@pytest.mark.req("R-173", "R-238")
@pytest.mark.parametrize(
    ("line", "limit"),
    [
        (b'{"async": true}', AsyncRequest(None)),
        (b'{"async": true, "asyncTimeout": 500}', AsyncRequest(0.5)),
        (b'{"async": true, "asyncTimeout": -1}', AsyncRequest(None)),
        (b'{"async": true, "asyncTimeout": true}', AsyncRequest(None)),
        (b'{"async": 1}', None),
        (b"[" * 100_000, None),
    ],
)
def test_reading_the_request(line: bytes, limit: AsyncRequest | None) -> None:
    assert async_request(line) == limit


@pytest.mark.req("R-173", "R-177")
@pytest.mark.parametrize("how", ["asyncTimeout", "timeout"])
def test_limits_hold_in_the_background(how: str, tmp_path: Path) -> None:
    if how == "timeout":
        handler = command("sleep 20; touch late", is_async=True, timeout=0.3)
    else:
        handler = command('echo \'{"async":true,"asyncTimeout":300}\'; sleep 20; touch late')
    made = engine(tmp_path, group("PostToolUse", handler))

    async def main() -> None:
        await made.fire(at("PostToolUse", tmp_path))
        assert made.background is not None
        await made.background.wait()
        (late,) = made.background.collect()
        assert isinstance(late.reply, TimedOut)

    asyncio.run(main())
    assert not (tmp_path / "late").exists()


@pytest.mark.req("R-171")
def test_async_rewake_wakes_on_exit_2_only(tmp_path: Path) -> None:
    made = engine(
        tmp_path,
        group("PostToolUse", command("echo wake up >&2; exit 2", async_rewake=True)),
        group("PostToolUse", command("echo on stdout; exit 2", async_rewake=True)),
        group("PostToolUse", command("echo quiet >&2; exit 1", async_rewake=True)),
    )

    async def main() -> list[str | None]:
        await made.fire(at("PostToolUse", tmp_path))
        assert made.background is not None
        await made.background.wait()
        return [late.rewake for late in made.background.collect()]

    assert asyncio.run(main()) == ["wake up", "on stdout", None]


@pytest.mark.req("R-171")
def test_in_a_one_shot_run_async_rewake_is_awaited(tmp_path: Path) -> None:
    handler = command("echo no >&2; exit 2", async_rewake=True)
    made = engine(tmp_path, group("PostToolUse", handler), options=Options(await_rewake=True))
    outcome = asyncio.run(made.fire(at("PostToolUse", tmp_path)))
    assert outcome.blocked


@pytest.mark.req("R-178")
def test_the_end_of_a_session_ends_them_all(tmp_path: Path) -> None:
    made = engine(tmp_path, group("PostToolUse", command("echo $$ > pid; sleep 30", is_async=True)))

    async def main() -> None:
        await made.fire(at("PostToolUse", tmp_path))
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            await asyncio.sleep(0.01)
        assert made.background is not None
        await made.background.aclose()
        (late,) = made.background.collect()
        assert isinstance(late.reply, Failed)
        assert made.background.running == ()

    asyncio.run(main())
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.req("R-178")
def test_a_session_that_ends_at_once_ends_a_hook_that_just_went_to_the_background(tmp_path: Path) -> None:
    body = "echo $$ > pid; echo '{\"async\":true}'; sleep 30"
    made = engine(tmp_path, group("PostToolUse", command(body)))

    async def main() -> None:
        await made.fire(at("PostToolUse", tmp_path))
        assert made.background is not None
        await made.background.aclose()

    asyncio.run(main())
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.req("R-170", "R-176")
def test_a_thousand_over_a_hundred_turns_are_each_delivered_once_in_order(tmp_path: Path) -> None:
    """What has ended by a turn is delivered in the order of its start; what has not is delivered on a later one."""
    handlers = [
        command(f"[ {n} = 3 ] && sleep 0.02; printf '%s' '{{\"systemMessage\":\"{n}\"}}'", is_async=True)
        for n in range(10)
    ]
    made = engine(tmp_path, group("PostToolUse", *handlers))
    children = child_processes()

    async def main() -> list[list[tuple[int, str | None]]]:
        assert made.background is not None
        turns = []
        for _ in range(100):
            await made.fire(at("PostToolUse", tmp_path))
            turns.append(made.background.collect())
        await made.background.wait()
        turns.append(made.background.collect())
        assert made.background.running == ()
        return [[(int(late.id.rsplit("-", 1)[1]), late.system_message) for late in turn] for turn in turns]

    turns = asyncio.run(main())
    assert all(turn == sorted(turn) for turn in turns)
    got = [late for turn in turns for late in turn]
    assert sorted(number for number, _ in got) == list(range(1, 1001))
    assert all(said == str((number - 1) % 10) for number, said in got)
    assert child_processes() <= children


# ── how they ended ──


@pytest.mark.req("R-171", "R-191")
@pytest.mark.parametrize(
    ("body", "ending", "label"),
    [
        ("exit 0", Ending.SUCCESS, "success"),
        ("echo broken >&2; exit 7", Ending.ERROR, "error"),
        ("exit 2", Ending.ERROR, "error"),
        ("sleep 9", Ending.CANCELLED, "cancelled"),
    ],
)
@pytest.mark.parametrize("how", ["async", "first line"])
def test_observers_hear_how_a_background_hook_ended(
    how: str, body: str, ending: Ending, label: str, tmp_path: Path
) -> None:
    if how == "async":
        handler = command(body, is_async=True, timeout=0.3)
    else:
        handler = command(f"echo '{{\"async\":true}}'; sleep 0.1; {body}", timeout=0.5)
    heard: list[Notice] = []
    made = engine(tmp_path, group("PostToolUse", handler), observers=[heard.append])

    async def main() -> None:
        await made.fire(at("PostToolUse", tmp_path))
        assert made.background is not None
        await made.background.wait()

    asyncio.run(main())
    assert [type(notice) for notice in heard] == [RunStarted, RunEnded, EventEnded, LateEnded]
    last = heard[-1]
    assert isinstance(last, LateEnded)
    assert isinstance(heard[1], RunEnded)
    assert isinstance(heard[1].run.reply, Backgrounded)
    assert (last.late.id, last.job) == (heard[1].run.reply.id, heard[1].job)
    assert (last.late.ending, last.late.label) == (ending, label)
    assert last.timing.seconds > heard[1].run.timing.seconds


def test_the_end_of_a_session_is_the_end_observers_hear(tmp_path: Path) -> None:
    heard: list[Notice] = []
    made = engine(tmp_path, group("PostToolUse", command("sleep 30", is_async=True)), observers=[heard.append])

    async def main() -> None:
        await made.fire(at("PostToolUse", tmp_path))
        assert made.background is not None
        await made.background.aclose()

    asyncio.run(main())
    (late,) = [notice.late for notice in heard if isinstance(notice, LateEnded)]
    assert (late.ending, [note.code for note in late.diagnostics]) == (Ending.CANCELLED, ["interrupted"])


def test_an_engine_hears_of_its_own_hooks_only(tmp_path: Path) -> None:
    mine: list[Notice] = []
    theirs: list[Notice] = []
    made = engine(tmp_path, group("PostToolUse", command("true", is_async=True)), observers=[mine.append])
    other = HookEngine(
        made.hooks, host=made.host, executors=made.executors, background=made.background, observers=[theirs.append]
    )

    async def main() -> None:
        await other.fire(at("PostToolUse", tmp_path))
        assert made.background is not None
        await made.background.wait()

    asyncio.run(main())
    assert mine == []
    assert [type(notice) for notice in theirs][-1] is LateEnded
