"""Sessions of the Agent SDK: resumed, forked, cut, listed, and kept in a store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeSDKClient,
    InMemorySessionStore,
    ProcessError,
    get_session_messages,
    get_session_messages_from_store,
    list_sessions,
    project_key_for_directory,
)

from sdk.bench import Bench, Heard, bash, text, tool, turn, works


class Sessions:
    """A session of two prompts with a subagent, kept in a store, then resumed in every way."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.store = bench, InMemorySessionStore()
        self.config = {"CLAUDE_CONFIG_DIR": str(bench.home / ".claude")}
        task = tool("Agent", description="d", prompt="SUB", subagent_type="general-purpose", run_in_background=False)
        sub = {"name": "sub", "match": "SUB", "on": "first", "turns": [[text("done")]]}
        bench.play([text("one")], [bash("echo x")], [task], [text("two")], routes=[sub])
        allowed = ["Bash", "Agent"]
        self.first, self.second = bench.talk(
            self._talk, allowed_tools=allowed, session_store=self.store, env=self.config
        )
        self.id = self.first.result.session_id
        self.at = last_uuid(self.first)
        self.prompt = next(m.uuid for m in self.messages() if "SECOND" in str(m.message))

    @staticmethod
    async def _talk(client: ClaudeSDKClient) -> tuple[Heard, Heard]:
        return await turn(client, "FIRST"), await turn(client, "SECOND")

    def messages(self) -> list[Any]:
        """Return what the SDK reads from the transcript."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CLAUDE_CONFIG_DIR", self.config["CLAUDE_CONFIG_DIR"])
            return list(get_session_messages(self.id, directory=str(self.bench.project)))

    def resumed(self, prompt: str, when: str, **more: Any) -> Heard:
        """Resume with a model that answers `saw` only if its conversation matches, else `missed`."""
        route = {"name": "seen", "match": when, "turns": [[text("saw")]], "repeat": True}
        self.bench.play([text("missed")], routes=[route])
        return self.bench.ask(prompt, env=self.config, **more)


def last_uuid(heard: Heard) -> str:
    found = [message.uuid for message in heard.messages if isinstance(message, AssistantMessage)]
    assert found[-1] is not None
    return found[-1]


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Sessions:
    return Sessions(Bench(tmp_path_factory.mktemp("sessions")))


@works("list-sessions", "get-session-messages")
def test_the_readers_of_the_sdk_find_the_session(sessions: Sessions) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLAUDE_CONFIG_DIR", sessions.config["CLAUDE_CONFIG_DIR"])
        assert sessions.id in [found.session_id for found in list_sessions(directory=str(sessions.bench.project))]
    assert sessions.at in [message.uuid for message in sessions.messages()], "live uuids are those of the transcript"


@works("session-store")
def test_a_store_has_every_line_of_the_session_and_of_its_subagent(sessions: Sessions) -> None:
    project = str(sessions.bench.project)
    key = project_key_for_directory(project)

    async def read() -> tuple[Any, Any, Any]:
        entries = await sessions.store.load({"project_key": key, "session_id": sessions.id})
        below = await sessions.store.list_subkeys({"project_key": key, "session_id": sessions.id})
        messages = await get_session_messages_from_store(sessions.store, sessions.id, project)
        return entries, below, messages

    entries, below, messages = asyncio.run(read())
    (path,) = (sessions.bench.home / ".claude" / "projects").glob(f"*/{sessions.id}.jsonl")
    assert path.parent.name == key
    on_disk = path.read_text().splitlines()
    assert len(entries) >= len(on_disk) - 1, "what a SessionEnd hook adds comes last"
    assert [message.uuid for message in messages] == [message.uuid for message in sessions.messages()]
    assert len(below) == 1
    assert below[0].startswith("subagents/agent-")


@works("session-store-resume")
def test_a_session_can_be_resumed_from_its_store_alone(sessions: Sessions, tmp_path: Path) -> None:
    """The SDK writes the session into a new folder; the file of the first run is not there."""
    other = {"CLAUDE_CONFIG_DIR": str(tmp_path / "empty")}
    route = {"name": "seen", "match": "SECOND.*two.*THIRD", "turns": [[text("saw")]]}
    sessions.bench.play([text("missed")], routes=[route])
    heard = sessions.bench.ask("THIRD", resume=sessions.id, session_store=sessions.store, env=other)
    assert heard.texts == ["saw"]


@works("resume-session-at", "fork-session")
def test_a_fork_at_a_message_knows_nothing_of_what_came_after_it(sessions: Sessions) -> None:
    cut = {"resume": sessions.id, "fork_session": True, "resume_session_at": sessions.at}
    heard = sessions.resumed("OTHER", "SECOND", **cut, resume_drops_turn=sessions.prompt)
    assert heard.texts == ["missed"]
    assert heard.result.session_id != sessions.id
    assert sessions.resumed("OTHER", "FIRST.*one.*OTHER", **cut).texts == ["saw"]


@works("resume-drops-turn")
@pytest.mark.parametrize("drops", ["", "00000000-0000-4000-8000-000000000000"])
def test_a_resume_that_would_lose_something_else_is_rejected(sessions: Sessions, drops: str) -> None:
    lines: list[str] = []
    cut = {"resume": sessions.id, "resume_session_at": sessions.at, "resume_drops_turn": drops}
    with pytest.raises(ProcessError):
        sessions.resumed("OTHER", "x", **cut, stderr=lines.append)
    assert "Resume rejected by --resume-drops-turn:" in "\n".join(lines)


@works("resume", "continue-conversation")
def test_a_session_can_be_resumed_and_the_latest_continued(sessions: Sessions) -> None:
    """This one writes to the session, so it comes last."""
    heard = sessions.resumed("THIRD", "SECOND.*two.*THIRD", resume=sessions.id)
    assert (heard.texts, heard.result.session_id) == (["saw"], sessions.id)
    latest = sessions.resumed("FOURTH", "THIRD.*saw.*FOURTH", continue_conversation=True)
    assert (latest.texts, latest.result.session_id) == (["saw"], sessions.id)
