"""The tables read answers as the released agents did."""

from __future__ import annotations

import pytest

from dialects.recordings import MUST_STOP, recorded
from hookwright.dialects.export.files import TARGETS
from hookwright.dialects.model import AnswerEffect
from hookwright.dialects.native import NativeAnswer, read_before_call
from hookwright.dialects.table import BRIDGED, dialect, dialects
from hookwright.errors import ConfigError
from hookwright.protocol.events import CATALOGUE

WORDS = {
    "runs": AnswerEffect.RUNS,
    "refused": AnswerEffect.REFUSED,
    "ends": AnswerEffect.ENDS,
    "hangs": AnswerEffect.HANGS,
    "rewritten": AnswerEffect.REWRITTEN,
}
STOPPED = {"codex": 4, "gemini": 4, "qwen": 12, "kimi": 10}
RECORDED = [agent.name for agent in dialects() if agent.name in STOPPED]


@pytest.mark.parametrize("agent", RECORDED)
def test_every_recorded_answer_reads_as_it_was_recorded(agent: str) -> None:
    table = dialect(agent)
    read, seen = {}, {}
    for line in recorded(agent, "answer"):
        found = read_before_call(table, NativeAnswer(line["status"], line["stdout"], line["stderr"]))
        read[line["label"]], seen[line["label"]] = found.effect, WORDS[line["native"]]
    assert read == seen
    assert len(seen) == 17


@pytest.mark.parametrize("agent", RECORDED)
def test_of_fourteen_answers_that_must_stop_as_many_stop_as_in_the_study(agent: str) -> None:
    lines = recorded(agent, "answer")[:MUST_STOP]
    stopped = [
        read_before_call(dialect(agent), NativeAnswer(x["status"], x["stdout"], x["stderr"])).stops for x in lines
    ]
    assert sum(stopped) == STOPPED[agent]


def test_tables_name_events_of_the_catalogue_and_each_of_them_once() -> None:
    for table in dialects():
        named = [moment.claude for moment in table.moments if moment.claude]
        assert set(named) <= set(CATALOGUE), table.name
        assert len({moment.name for moment in table.moments}) == len(table.moments), table.name
        assert len({tool.name for tool in table.tools}) == len(table.tools), table.name


def test_an_unknown_agent_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ConfigError, match=r"`codx` is not an agent; use one of codex, .*Did you mean `codex`"):
        dialect("codx")


def test_the_agents_with_an_export_are_those_that_the_bridge_answers() -> None:
    assert tuple(table.name for table in dialects() if table.exported) == BRIDGED
    assert {name for name, _ in TARGETS} == set(BRIDGED)
