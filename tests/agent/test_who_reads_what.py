"""What the model reads of a hook: the live conversation, the resumed one, `fire --as-model` and the page agree.

Every event is fired by a real agent with a real hook, once for every kind of answer. The conversation is then
compared with the one read back from the transcript, with the law in `hookwright.visibility`, and with the table in
docs/reference/visibility.md.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.runs import Place, bash, route, tool
from agent.transcripts import transcript
from hookwright.agent import Agent, AgentOptions, Permission, PermissionQuestion, Person, open_agent
from hookwright.agent.state.dialogue import Dialogue
from hookwright.agent.transcript import closed, load
from hookwright.aggregate import aggregate
from hookwright.interpret import interpret
from hookwright.models.script import parse_script
from hookwright.models.scripted import ScriptedModel
from hookwright.models.types import Request
from hookwright.observers import EventEnded, Notice
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.handlers import Handler, PromptHandler
from hookwright.protocol.outcome import Outcome, Run, Timing
from hookwright.protocol.replies import Exited, Judged, Reply, TimedOut
from hookwright.protocol.sources import Scope, Source
from hookwright.visibility import Place as ReadingPlace
from hookwright.visibility import Reader, as_sent, for_reader, messages, model_texts
from support import command, event

MARK = "MARK-7f3a"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "visibility.md"


# ── every kind of answer ────────────────────────────────────────────────────


class Said(msgspec.Struct, frozen=True):
    """What a command hook prints and how it ends; `kind` names the few that are no ordinary command."""

    stdout: Any = ""
    stderr: str = ""
    status: int = 0
    kind: str = "command"


def own(**fields: Any) -> Callable[[str], dict[str, Any]]:
    """Make the event's own output object."""
    return lambda name: {"hookSpecificOutput": {"hookEventName": name, **fields}}


STOP = {"continue": False, "stopReason": MARK}
ANSWERS: dict[str, Said] = {
    "silence": Said(),
    "plain stdout, exit 0": Said(MARK),
    "stderr, exit 0": Said(stderr=MARK),
    "stderr, exit 1": Said(stderr=MARK, status=1),
    "stderr, exit 2": Said(stderr=MARK, status=2),
    "exit 2 with a block": Said({"decision": "block", "reason": MARK}, "stderr", 2),
    "exit 2 with context": Said(own(additionalContext=MARK), "stderr", 2),
    "exit 1 with context": Said(own(additionalContext=MARK), "stderr", 1),
    "`reason` of a block": Said({"decision": "block", "reason": MARK}),
    "block without a reason": Said({"decision": "block"}),
    "block with context": Said(lambda name: {"decision": "block", "reason": "B", **own(additionalContext=MARK)(name)}),
    "deny": Said(own(permissionDecision="deny", permissionDecisionReason=MARK)),
    "allow": Said(own(permissionDecision="allow", permissionDecisionReason=MARK)),
    "ask": Said(own(permissionDecision="ask", permissionDecisionReason=MARK)),
    "defer": Said(own(permissionDecision="defer", permissionDecisionReason=MARK)),
    "deny a request": Said(own(decision={"behavior": "deny", "message": MARK})),
    "retry": Said(own(retry=True)),
    "`additionalContext`": Said(own(additionalContext=MARK)),
    "suppressed context": Said(lambda name: {"suppressOutput": True, **own(additionalContext=MARK)(name)}),
    "`systemMessage`": Said({"systemMessage": MARK}),
    "`stopReason`": Said(STOP),
    "stop without a reason": Said({"continue": False}),
    "stop with a block": Said({**STOP, "decision": "block", "reason": "B"}),
    "stop with context": Said(lambda name: {**STOP, **own(additionalContext="C")(name)}),
    "broken JSON": Said("{bad " + MARK + "}"),
    "wrong type": Said({"continue": "no", "stopReason": MARK}),
    "a timeout": Said(kind="timeout"),
    "a prompt hook's no": Said(MARK, kind="prompt"),
}


def printed(said: Said, name: str) -> str:
    """Return what the hook prints on stdout."""
    value = said.stdout(name) if callable(said.stdout) else said.stdout
    return value if isinstance(value, str) else json.dumps(value)


def configure(place: Place, name: str, said: Said) -> None:
    """Configure a hook that answers once and is silent from then on."""
    once = f"if [ -e '{place.root}/answered' ]; then exit 0; fi; touch '{place.root}/answered'\n"
    if said.kind == "timeout":
        place.hook(name, once + "sleep 20", timeout=0.2)
    elif said.kind == "prompt":
        place.hooks[name] = [{"hooks": [{"type": "prompt", "prompt": "JUDGE $ARGUMENTS"}]}]
    else:
        text = f"cat <<'EOJ'\n{printed(said, name)}\nEOJ\n" if said.stdout else ""
        place.hook(name, f"{once}{text}printf '%s' '{said.stderr}' >&2\nexit {said.status}")


# ── every event that reaches a conversation ─────────────────────────────────


class Model(ScriptedModel):
    """A scripted model that keeps its requests; a prompt hook's question is refused once."""

    def __init__(self, turns: Sequence[Any], routes: Sequence[Any] = ()) -> None:
        answers = [[{"text": json.dumps({"ok": False, "reason": MARK})}], *[[{"text": '{"ok": true}'}]] * 20]
        judge = {"name": "judge", "match": "JUDGE", "on": "last", "turns": answers, "tools": False}
        super().__init__(parse_script({"turns": [*turns, *[[{"text": "ok"}]] * 6], "routes": [judge, *routes]}))
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Any:
        self.requests.append(request)
        return await super().complete(request)


class Scene(msgspec.Struct, frozen=True):
    """How an event comes about: what the model does, and what the host and the user do before the last prompt."""

    turns: Sequence[Any] = ()
    routes: Sequence[Any] = ()
    options: Mapping[str, Any] = msgspec.field(default_factory=dict)
    act: Callable[[Agent], Awaitable[Any]] = lambda agent: agent.run("FIRST")
    #: The first words of the conversation that the event belongs to.
    first: str = ""


async def nothing(agent: Agent) -> None:
    """Do nothing before the last prompt."""


async def switch(agent: Agent) -> None:
    await agent.run("FIRST")
    await agent.switch_model("other-model")


async def compact(agent: Agent) -> None:
    await agent.run("FIRST")
    await agent.run("/compact")


async def add_directory(agent: Agent) -> None:
    await agent.run(f"/add-dir {agent.session.home}")
    await agent.session.settle()


async def notify(agent: Agent) -> None:
    agent.notify("hello", "idle_prompt")
    await agent.session.settle()


TASK = tool("Agent", description="d", prompt="SUBTASK", subagent_type="general-purpose", run_in_background=False)
MATE = tool("Agent", description="d", prompt="SUBTASK", name="ada")
SUBTASK = route("subagent", "SUBTASK", [[{"text": "sub"}]] * 4)
SUMMARY = route("compact", "detailed summary", [[{"text": "<summary>SUM</summary>"}]], on="last")
CREATE = tool("TaskCreate", subject="Do A", description="all of A")
DONE = tool("TaskUpdate", taskId="1", status="completed")


async def permit(question: PermissionQuestion) -> Permission:
    return Permission(allow=True)


async def greet(agent: Agent) -> Any:
    return await agent.run("/greet Bob")


async def with_mate(agent: Agent) -> None:
    await agent.run("FIRST")
    async with asyncio.timeout(10):
        while any(task["status"] == "running" for task in agent.session.background_tasks()):
            await asyncio.sleep(0.02)


SCENES: dict[str, Scene] = {
    "SessionStart": Scene(act=nothing),
    "Setup": Scene(options={"setup": "init"}, act=nothing),
    "UserPromptSubmit": Scene(),
    "UserPromptExpansion": Scene(act=greet),
    "MessageDisplay": Scene(),
    "PreToolUse": Scene([[bash("echo OUT")]]),
    "PermissionRequest": Scene([[bash("touch x")]], options={"allowed_tools": ()}),
    "PermissionDenied": Scene([[bash("touch x")]], options={"allowed_tools": (), "permission_mode": "auto"}),
    "PostToolUse": Scene([[bash("echo OUT")]]),
    "PostToolUseFailure": Scene([[bash("exit 3")]]),
    "PostToolBatch": Scene([[bash("echo OUT"), bash("echo TWO")]]),
    "Notification": Scene(act=notify),
    "SubagentStart": Scene([[TASK]], [SUBTASK], first="SUBTASK"),
    "SubagentStop": Scene([[TASK]], [SUBTASK], first="SUBTASK"),
    "TaskCreated": Scene([[CREATE]]),
    "TaskCompleted": Scene([[CREATE], [DONE]]),
    "Stop": Scene(),
    "TeammateIdle": Scene([[MATE]], [SUBTASK], first="SUBTASK", act=with_mate),
    "CwdChanged": Scene([[bash("cd /")]]),
    "DirectoryAdded": Scene(options={"attended": True}, act=add_directory),
    "PreCompact": Scene(routes=[SUMMARY], act=compact),
    "PostCompact": Scene(routes=[SUMMARY], act=compact),
    "PreModelSwitch": Scene(act=switch),
    "PostModelSwitch": Scene(act=switch),
    "SessionEnd": Scene(act=nothing),
}


class Lived(msgspec.Struct, frozen=True):
    """One session: what the model read last, the same read back from disk, and what the hook's firing came to."""

    live: list[dict[str, Any]]
    resumed: list[dict[str, Any]]
    outcome: Outcome | None


async def live(place: Place, name: str, scene: Scene) -> Lived:
    """Let a real agent fire the event and continue to a last prompt."""
    fired: list[Outcome] = []

    def observe(notice: Notice) -> None:
        if isinstance(notice, EventEnded) and notice.outcome.event == name and notice.outcome.runs:
            fired.append(notice.outcome)

    model = Model(scene.turns, scene.routes)
    given = {"allowed_tools": ("Bash", "Agent"), "watchdog": False, **scene.options}
    options = AgentOptions(cwd=str(place.project), env=place.env, home=str(place.home), one_shot=False, **given)
    async with open_agent(options, model=model, observers=[observe], person=Person(permit)) as agent:
        await agent.begin()
        await scene.act(agent)
        await agent.run("LAST")
        path = agent.session.state.transcript_path
    if scene.first:
        (path,) = map(str, Path(path.removesuffix(".jsonl")).glob("subagents/*.jsonl"))
    requests = [request for request in model.requests if _is(request, scene.first)]
    read = [dict(message) for message in requests[-1].messages]
    return Lived(read, closed(load(path).messages())[: len(read)], fired[0] if fired else None)


def _is(request: Request, first: str) -> bool:
    text = str(request.messages[0]["content"])
    return (
        (first in text if first else "SUBTASK" not in text)
        and request.purpose == "conversation"
        and "JUDGE" not in text
    )


def _texts(messages: Sequence[Mapping[str, Any]], role: str) -> list[str]:
    return [m["content"] for m in messages if m["role"] == role and isinstance(m["content"], str)]


def _results(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    blocks = [block for m in messages if isinstance(m["content"], list) for block in m["content"]]
    return [str(block["content"]) for block in blocks if block["type"] == "tool_result"]


#: Conversations that a hook's stop ends for good, so that nothing asks their model again.
_OVER = {"SubagentStop", "TeammateIdle", "TaskCompleted"}


def compare(name: str, lived: Lived) -> None:
    """Assert that live, resumed and the law agree, word for word and place by place."""
    assert lived.live == lived.resumed
    if lived.outcome is None:
        return
    law = {place: list(model_texts(lived.outcome, place)) for place in ReadingPlace}
    if name in _OVER and lived.outcome.stop is not None:
        law[ReadingPlace.REMINDER] = []
    notes = [text for text in _texts(lived.live, "system") if not text.startswith("# Environment update")]
    assert "\n\n".join(notes) == "\n\n".join(law[ReadingPlace.REMINDER])
    # What a refused /compact or /model prints is the command's own output, not a text of the law.
    own_words = r"FIRST|LAST|SUBTASK|<command-name>|<command-message>|<local-command-std(?:out|err)>|This"
    spoken = [text for text in _texts(lived.live, "user") if not re.match(own_words, text)]
    assert spoken == law[ReadingPlace.USER]
    results = _results(lived.live)
    expected = [*law[ReadingPlace.ERROR], *law[ReadingPlace.RESULT]]
    assert set(expected) <= set(results)
    assert [text for text in results if MARK in text] == [text for text in expected if MARK in text]


@pytest.mark.req("R-229")
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("name", SCENES)
def test_live_resumed_and_law_agree(tmp_path: Path, name: str, answer: str) -> None:
    place = Place(tmp_path)
    place.file(".claude/commands/greet.md", "Say hello to $ARGUMENTS\n")
    configure(place, name, ANSWERS[answer])
    place.command({})
    compare(name, asyncio.run(live(place, name, SCENES[name])))


def test_a_block_at_the_cap_is_read_with_the_next_prompt(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.answer("Stop", {"decision": "block", "reason": MARK})
    place.command({})

    async def talk() -> Lived:
        model = Model([])
        env = {**place.env, "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1"}
        options = AgentOptions(cwd=str(place.project), env=env, home=str(place.home), watchdog=False)
        async with open_agent(options, model=model) as agent:
            await agent.run("FIRST")
            await agent.run("LAST")
            read = [dict(message) for message in model.requests[2].messages]
            return Lived(read, load(agent.session.state.transcript_path).messages()[: len(read)], None)

    lived = asyncio.run(talk())
    assert lived.live == lived.resumed
    over_the_cap, last = lived.live[-2:]
    assert over_the_cap["role"] == "system"
    assert over_the_cap["content"].startswith("Stop hook blocking error from command: ")
    assert over_the_cap["content"].endswith(f": {MARK}")
    assert last == {"role": "user", "content": "LAST"}
    assert len(re.findall(f"Stop hook feedback:.{{1,2}}{MARK}", str(lived.live))) == 2


def test_parallel_calls_are_read_alike_whichever_ended_first(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.hook(
        "PreToolUse",
        f"""case "$payload" in *SLOW*) sleep 0.3;; esac
cat <<EOJ
{json.dumps(own(additionalContext=MARK)("PreToolUse"))}
EOJ""",
    )
    place.command({})
    scene = Scene([[bash("echo SLOW"), bash("echo FAST")]])
    lived = asyncio.run(live(place, "PreToolUse", scene))
    assert lived.live == lived.resumed
    assert _results(lived.live) == ["SLOW", "FAST"]


# ── every event, without an agent ───────────────────────────────────────────


def outcome_of(name: str, *said: Said) -> Outcome:
    """Combine the answers of several hooks of one event."""
    moment = event(name, teammate_name="ada") if name == "TaskCompleted" else event(name)
    runs = []
    for number, one in enumerate(said):
        handler: Handler = command(f"hook-{number}")
        reply: Reply = Exited(one.status, printed(one, name).encode(), one.stderr.encode())
        if one.kind == "timeout":
            reply = TimedOut(1.0)
        if one.kind == "prompt":
            handler = PromptHandler(source=Source(Scope.USER), prompt=f"hook-{number}")
            reply = Judged(False, MARK)
        runs.append(Run(handler, reply, interpret(reply, handler, moment), Timing(0.0, 0.0)))
    return aggregate(moment, runs)


@given(st.sampled_from(sorted(CATALOGUE)), st.lists(st.sampled_from(sorted(ANSWERS)), min_size=1, max_size=4))
def test_a_recorded_firing_is_read_back_as_it_was_delivered(name: str, answers: list[str]) -> None:
    outcome = outcome_of(name, *(ANSWERS[answer] for answer in answers))
    with tempfile.TemporaryDirectory() as folder:
        dialogue = Dialogue(transcript(Path(folder)))
        dialogue.user("FIRST")
        dialogue.record_firing(outcome)
        dialogue.user("LAST")
        dialogue.transcript.close()
        assert load(dialogue.transcript.path).messages() == dialogue.messages
    read = "\n\n".join(message["content"] for message in dialogue.messages if message["role"] == "system")
    law = [message.text for message in for_reader(outcome, Reader.MODEL) if message.place is ReadingPlace.REMINDER]
    assert read == "\n\n".join(law)
    sent = [part.text for part in as_sent(messages(outcome)) if part.place == ReadingPlace.REMINDER.value]
    assert sent == [f"<system-reminder>\n{text}\n</system-reminder>" for text in law]


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_page_names_the_model_where_it_reads(name: str) -> None:
    readers, places = PAGE.read_text().split("## Where the model reads it")
    for title, cell in _row(readers, name).items():
        assert ("model" in cell.split(", ")) == bool(_places(name, title)), title
    for title, cell in _row(places, name).items():
        assert cell == (", ".join(place.value for place in _places(name, title)) or "—"), title


def _row(text: str, name: str) -> dict[str, str]:
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    found = [row[1:] for row in rows if row[0].startswith(f"[{name}]")]
    return dict(zip(rows[0][1:], found[0], strict=True)) if found else {}


def _places(name: str, title: str) -> list[ReadingPlace]:
    """Name the places in which the model reads the mark of an answer."""
    read = {
        message.place for message in for_reader(outcome_of(name, ANSWERS[title]), Reader.MODEL) if MARK in message.text
    }
    return [place for place in ReadingPlace if place in read]
