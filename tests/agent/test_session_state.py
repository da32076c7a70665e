"""What changes while a session runs, and the parts that do not."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path

import pytest

from agent.runs import Place
from hookwright.agent import AgentOptions, open_agent
from hookwright.agent.state.session_state import SessionState
from hookwright.models.script import parse_script
from hookwright.models.scripted import ScriptedModel


def test_each_transition_changes_what_it_names() -> None:
    state = SessionState("one", "/t/one.jsonl", "/project", "Title")
    state.begin("prompt-1")
    state.move("/project/src")
    state.rename("Other")
    state.watch(path for path in ("/a", "/b"))
    assert (state.prompt_id, state.cwd, state.title, state.watch_paths) == (
        "prompt-1",
        "/project/src",
        "Other",
        ("/a", "/b"),
    )


def test_a_restart_drops_what_belonged_to_the_old_conversation_and_stays_where_it_is() -> None:
    state = SessionState("one", "/t/one.jsonl", "/project", "Title")
    state.move("/elsewhere")
    state.restart("two", "/t/two.jsonl")
    assert (state.id, state.transcript_path, state.title, state.cwd) == ("two", "/t/two.jsonl", None, "/elsewhere")


def test_denials_of_one_prompt_are_not_those_of_the_next() -> None:
    state = SessionState("one", "/t/one.jsonl", "/project")
    state.deny({"tool_name": "Bash"})
    listed = state.denials
    state.forget_denials()
    assert (listed, state.denials) == (({"tool_name": "Bash"},), ())


def test_the_parts_of_a_session_cannot_be_replaced(tmp_path: Path) -> None:
    place = Place(tmp_path)
    options = AgentOptions(cwd=str(place.project), env=place.env, home=str(place.home))

    async def run() -> None:
        async with open_agent(options, model=ScriptedModel(parse_script({"turns": []}))) as agent:
            for field in dataclasses.fields(agent.session):
                with pytest.raises(dataclasses.FrozenInstanceError):
                    setattr(agent.session, field.name, None)

    asyncio.run(run())
