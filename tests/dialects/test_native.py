"""The tables read answers as the released agents did."""

from __future__ import annotations

import pytest

from dialects.recordings import MUST_STOP, recorded
from hookwright.dialects.export.files import TARGETS
from hookwright.dialects.native import NativeAnswer, read_before_call
from hookwright.dialects.table import BRIDGED, dialect, dialects
from hookwright.errors import ConfigError
from hookwright.protocol.events import CATALOGUE

#: How many of the fourteen answers that must stop a call stop it in the agent itself.
STOPPED = {"codex": 4, "gemini": 4, "qwen": 12, "kimi": 10, "copilot": 12}


@pytest.mark.parametrize("agent", STOPPED)
def test_of_fourteen_answers_that_must_stop_as_many_stop_as_were_recorded(agent: str) -> None:
    lines = recorded(agent, "answer")[:MUST_STOP]
    read = [read_before_call(dialect(agent), NativeAnswer(x["status"], x["stdout"], x["stderr"])) for x in lines]
    assert sum(reading.stops for reading in read) == STOPPED[agent]
    assert sum(line["native"] in ("refused", "ends") for line in lines) == STOPPED[agent]


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
