"""The laws of result lines and prices, apart from any session."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.agent.headless.result_line import ResultLines
from hookwright.agent.state.endings import ApiFailed, Finished, Interrupted, Result, TurnEnd, TurnRefused
from hookwright.agent.state.updates import Added, Opened, Said, ToolEnded, TurnBegan, Update
from hookwright.models.prices import total_usd, usd
from hookwright.models.types import Usage

SESSION = Opened(session_id="s", cwd="/", model="m", permission_mode="default", tools=())
SAID = Said({"role": "assistant", "content": []}, "")
TOOL = ToolEnded("Bash", {"type": "tool_result"})
STOP = Added("Stop hook feedback:\nmore", "Stop")
CONTEXT = Added("some context", "PreToolUse:Bash")
INNER = (Said({"role": "assistant", "content": []}, "", "call"), ToolEnded("Bash", {}, None, "call"))


def turns(updates: list[Update], ending: TurnEnd) -> int:
    lines = ResultLines()
    for update in (TOOL, SAID, TurnBegan(SESSION), *updates):
        lines.count(update)
    found = lines.line(Result(ending=ending, session_id="s"))["num_turns"]
    assert isinstance(found, int)
    return found


@given(st.integers(0, 5), st.integers(0, 3), st.integers(0, 3))
def test_turns_are_the_first_answer_and_every_user_message_after_it(tools: int, stops: int, others: int) -> None:
    inner: list[Update] = [CONTEXT, *INNER]
    updates: list[Update] = [SAID, *[TOOL] * tools, *[STOP] * stops, *inner * others]
    assert turns(updates, Finished("end")) == 1 + tools + stops


@pytest.mark.parametrize(
    ("updates", "ending", "count"),
    [
        ([], TurnRefused("no"), 0),
        ([], ApiFailed("unknown", "API Error: x"), 1),
        ([SAID, TOOL], Interrupted(), 3),
    ],
)
def test_turns_of_other_endings(updates: list[Update], ending: TurnEnd, count: int) -> None:
    assert turns(updates, ending) == count


def test_the_price_of_tokens() -> None:
    assert usd("claude-opus-5-5", Usage(1000, 10)) == pytest.approx(0.0042)
    assert usd("anthropic/claude-sonnet-4-5-20250929", Usage(1000, 10, 1000, 1000)) == pytest.approx(0.0072)
    assert usd("claude-haiku-5-5", Usage(100_000, 1000)) == pytest.approx(0.0105)
    assert usd("claude-haiku-5-5", Usage(100_000, 1000, 1)) == pytest.approx(0.0525, rel=0.001), "a long prompt"
    assert usd("gpt-6.1-terra", Usage(1000, 10, 0, 1000)) == pytest.approx(0.0011)
    assert usd("some-model", Usage(1, 1)) is None
    assert total_usd([0.5, None]) is None
    assert total_usd([0.5, 0.25]) == pytest.approx(0.75)
    assert total_usd([]) == 0
