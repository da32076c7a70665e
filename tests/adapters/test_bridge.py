"""The bridge with real hooks: from threads and loops, over conversations, processes and forks."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from hookwright import Hooks, Places, PostToolUse, PreToolUse, SessionEnd, SessionStart, Stop, UserPromptSubmit
from hookwright.adapters import Bridge, NativeCall, SeenResult, Tool
from hookwright.adapters.bridge.bridge import log_warning
from hookwright.agent.transcript import load
from hookwright.errors import ConfigError, HookwrightError
from support import hooks_for, open_fds, settings

CALL = NativeCall("shell", {"cmd": "ls"}, "c1")


def places(folder: Path) -> Places:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    project = folder / "project"
    project.mkdir(exist_ok=True)
    return Places(project=str(project), home=str(home), env={"PATH": os.environ["PATH"], "HOME": str(home)})


def user_hooks(folder: Path, value: Any) -> Places:
    """Write hooks into the user's settings, which need no trust."""
    where = places(folder)
    settings(folder / "home", value)
    return where


def shell(text: str, **fields: Any) -> dict[str, Any]:
    return {"type": "command", "command": text, **fields}


class Heard:
    """Hooks that answer from a table and keep what they read."""

    def __init__(self, **answers: Any) -> None:
        self.hooks = Hooks()
        self.events: list[Any] = []
        for kind in (SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop, SessionEnd):
            self.hooks.on(kind)(self._answer(kind.__name__, answers))
        self.hooks.on("SubagentStart")(self._answer("SubagentStart", answers))
        self.hooks.on("SubagentStop")(self._answer("SubagentStop", answers))
        self.hooks.on("PermissionRequest")(self._answer("PermissionRequest", answers))
        self.hooks.on("PostToolBatch")(self._answer("PostToolBatch", answers))
        self.hooks.on("PostToolUseFailure")(self._answer("PostToolUseFailure", answers))

    def _answer(self, name: str, answers: dict[str, Any]) -> Any:
        def hook(event: Any) -> Any:
            self.events.append(event)
            found = answers.get(name)
            return found(event) if callable(found) else found

        return hook

    @property
    def names(self) -> list[str]:
        return [event.event_name for event in self.events]


def specific(name: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": name, **fields}}


# ── threads and loops ──


def test_a_plain_function_and_a_coroutine_ask_the_same_hooks(tmp_path: Path) -> None:
    heard = Heard(PreToolUse=specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="no"))
    bridge = Bridge(places(tmp_path), hooks=heard.hooks)
    assert bridge.turn("s").pre(CALL).result().refusal == "PreToolUse:Callback hook error: no"

    async def main() -> str | None:
        return (await bridge.turn("s").pre(CALL)).refusal

    assert asyncio.run(main()) == asyncio.run(main()) == "PreToolUse:Callback hook error: no"
    bridge.close()
    assert heard.names == ["SessionStart", "PreToolUse", "PreToolUse", "PreToolUse", "SessionEnd"]


def test_background_hooks_survive_the_loop_of_their_caller(tmp_path: Path) -> None:
    said = json.dumps(specific("PreToolUse", additionalContext="done later"))
    late = shell(f"sleep 0.3; printf '%s' '{said}'", **{"async": True})
    bridge = Bridge(user_hooks(tmp_path, hooks_for("PreToolUse", late)))

    async def first() -> None:
        await bridge.turn("s").pre(CALL)

    asyncio.run(first())
    deadline = time.monotonic() + 10
    texts: tuple[str, ...] = ()
    while not texts and time.monotonic() < deadline:
        texts = bridge.turn("s").request().result().notes
        time.sleep(0.02)
    bridge.close()
    assert texts == ("<system-reminder>\ndone later\n</system-reminder>",)


def test_cancelling_the_caller_ends_the_hook(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    slow = shell(f"echo $$ > {mark}; sleep 30")
    bridge = Bridge(user_hooks(tmp_path, hooks_for("PreToolUse", slow)))

    async def main() -> None:
        task = asyncio.ensure_future(_awaited(bridge))
        while not mark.exists() or not mark.read_text().strip():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    pid = int(mark.read_text())
    deadline = time.monotonic() + 5
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists()
    bridge.close()


async def _awaited(bridge: Bridge) -> None:
    await bridge.turn("s").pre(CALL)


def test_hooks_run_in_the_callers_loop_on_request(tmp_path: Path) -> None:
    loops: list[object] = []
    hooks = Hooks()

    @hooks.on(PreToolUse)
    async def note(event: PreToolUse) -> None:
        loops.append(asyncio.get_running_loop())

    async def main() -> bool:
        bridge = Bridge(places(tmp_path), hooks=hooks, loop="caller")
        pending = bridge.turn("s").pre(CALL)
        with pytest.raises(HookwrightError, match="await"):
            pending.result()
        await pending
        await bridge.aclose()
        return loops == [asyncio.get_running_loop()]

    assert asyncio.run(main())
    with pytest.raises(HookwrightError, match="portal"):
        Bridge(places(tmp_path), loop="caller").turn("s").pre(CALL)


def test_a_hook_that_waits_for_its_own_bridge_fails_instead_of_hanging(tmp_path: Path) -> None:
    hooks = Hooks()
    said: list[str] = []

    @hooks.on(PreToolUse)
    async def nested(event: PreToolUse) -> None:
        bridge.turn("other").prompt("x").result()

    bridge = Bridge(places(tmp_path), hooks=hooks, on_message=said.append)
    bridge.turn("s").pre(CALL).result(20)
    bridge.close()
    assert any("cannot wait for the bridge" in text for text in said)


def test_many_conversations_share_one_bridge_and_stay_apart(tmp_path: Path) -> None:
    heard = Heard(UserPromptSubmit=lambda event: specific("UserPromptSubmit", additionalContext=event.session_id))
    bridge = Bridge(places(tmp_path), hooks=heard.hooks)
    found: dict[str, tuple[str, ...]] = {}

    def talk(name: str) -> None:
        found[name] = bridge.turn(name).prompt("hello").result().notes

    threads = [threading.Thread(target=talk, args=(f"s{number}",)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bridge.close()
    assert {name: name in notes[0] for name, notes in found.items()} == {f"s{number}": True for number in range(20)}
    assert heard.names.count("SessionStart") == heard.names.count("SessionEnd") == 20


# ── moments ──


def test_a_conversation_from_its_start_to_its_end(tmp_path: Path) -> None:
    heard = Heard(
        SessionStart=specific("SessionStart", additionalContext="welcome"),
        PreToolUse=specific("PreToolUse", updatedInput={"command": "ls -l"}, additionalContext="before"),
        PostToolUse=specific("PostToolUse", updatedToolOutput={"stdout": "hidden"}, additionalContext="after"),
    )
    bridge = Bridge(places(tmp_path), hooks=heard.hooks)
    turn = bridge.turn("s")
    assert [text.splitlines()[1] for text in turn.prompt("go").result().notes] == [
        "SessionStart hook additional context: welcome"
    ]
    before = turn.pre(CALL).result()
    assert (before.input, before.refusal, before.ask, before.notes) == ({"cmd": "ls -l"}, None, None, ())
    after = turn.post(CALL, "secret").result()
    assert (after.output, after.rewritten, len(after.notes)) == ("hidden", True, 2)
    assert turn.request([SeenResult("c1", "shell")]).result().refusal is None
    assert turn.stop("done").result().again == ()
    turn.end().result()
    bridge.close()
    assert heard.names == [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolBatch",
        "Stop",
        "SessionEnd",
    ]
    post = heard.events[3]
    assert (post.tool_name, post.tool_input, post.tool_response["stdout"]) == ("Bash", {"command": "ls -l"}, "secret")
    assert {event.session_id for event in heard.events} == {"s"}
    assert len({getattr(event, "prompt_id", None) for event in heard.events[1:6]}) == 1


def test_the_transcript_holds_the_conversation(tmp_path: Path) -> None:
    heard = Heard(PostToolUse=specific("PostToolUse", additionalContext="noted"))
    bridge = Bridge(places(tmp_path), hooks=heard.hooks)
    turn = bridge.turn("s")
    turn.prompt("go").result()
    turn.pre(CALL).result()
    turn.post(CALL, "out").result()
    turn.stop("done").result()
    path = heard.events[0].transcript_path
    lines = [json.loads(line) for line in Path(path).read_text().splitlines()]
    messages = [line["message"]["content"] for line in lines if "message" in line]
    assert messages[0] == "go"
    assert messages[1] == [{"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}]
    assert messages[2] == [{"type": "tool_result", "tool_use_id": "c1", "content": "out"}]
    assert messages[3] == [{"type": "text", "text": "done"}]
    assert any(line.get("attachment", {}).get("content") == ["noted"] for line in lines)
    bridge.close()
    again = Heard()
    later = Bridge(places(tmp_path), hooks=again.hooks)
    later.turn("s").start().result()
    later.close()
    assert again.events[0].source == "resume", "an earlier process wrote this conversation"


def test_a_transcript_is_one_chain_over_runs_and_processes_and_open_during_a_run_alone(tmp_path: Path) -> None:
    paths = []
    for _ in range(2):
        heard = Heard()
        bridge = Bridge(places(tmp_path), hooks=heard.hooks)
        bridge.turn("warm").prompt("x").result()
        bridge.turn("warm").stop("y").result()
        before = open_fds()
        for text in ("one", "two"):
            turn = bridge.turn("s")
            turn.prompt(text).result()
            turn.stop(f"answer to {text}").result()
        assert open_fds() == before
        paths.append(heard.events[-1].transcript_path)
        bridge.close()
    said = [message["content"] for message in load(paths[0]).messages()]
    assert paths[0] == paths[1]
    assert str(said).count("answer to one") == str(said).count("answer to two") == 2


@pytest.mark.parametrize("session", ["user/1", "../../x", "", "ä b"])
def test_any_id_is_a_conversation_and_none_leads_out_of_the_folder(tmp_path: Path, session: str) -> None:
    heard = Heard()
    bridge = Bridge(places(tmp_path), hooks=heard.hooks, transcripts=str(tmp_path / "talks"))
    bridge.turn(session).prompt("x").result()
    bridge.close()
    assert heard.events[0].session_id == session
    assert [path.parent for path in (tmp_path / "talks").iterdir()] == [tmp_path / "talks"]


def test_without_a_folder_nothing_is_written(tmp_path: Path) -> None:
    heard = Heard()
    bridge = Bridge(places(tmp_path), hooks=heard.hooks, transcripts="")
    bridge.turn("s").prompt("x").result()
    bridge.close()
    assert heard.events[0].transcript_path == ""
    assert not list(tmp_path.rglob("*.jsonl"))


def test_an_agent_inside_a_tool_call_is_a_subagent(tmp_path: Path) -> None:
    heard = Heard()
    bridge = Bridge(places(tmp_path), hooks=heard.hooks)
    turn = bridge.turn("s")
    turn.prompt("go").result()
    turn.pre(CALL).result()
    with turn.inside():
        inner = bridge.turn("other", agent="reviewer")
    inner.prompt("review").result()
    inner.pre(NativeCall("read_file", {"path": "a"}, "c2")).result()
    inner.stop("fine").result()
    outer = bridge.turn("s")
    outer.pre(NativeCall("read_file", {"path": "a"}, "c3")).result()
    bridge.close()
    assert heard.names[3:7] == ["SubagentStart", "PreToolUse", "SubagentStop", "PreToolUse"]
    start, pre, stop, last = heard.events[3:7]
    assert start.agent_type == pre.agent_type == stop.agent_type == "reviewer"
    assert start.agent_id == pre.agent_id == stop.agent_id
    assert not isinstance(last.agent_id, str)
    assert {event.session_id for event in heard.events} == {"s"}
    assert Path(stop.agent_transcript_path).read_text().count("\n") >= 3


def test_stop_hooks_send_the_agent_back_until_the_limit(tmp_path: Path) -> None:
    said: list[str] = []
    heard = Heard(Stop={"decision": "block", "reason": "more"})
    bridge = Bridge(places(tmp_path), hooks=heard.hooks, on_message=said.append)
    turn = bridge.turn("s")
    turn.prompt("go").result()
    orders = [turn.stop("done").result() for _ in range(9)]
    bridge.close()
    assert ["more" in "".join(order.again) for order in orders] == [True] * 8 + [False]
    assert any("overriding and ending turn" in text for text in said)
    stops = [event.stop_hook_active for event in heard.events if event.event_name == "Stop"]
    assert stops == [False] + [True] * 8


def test_a_refused_prompt_says_why_and_a_stop_ends_the_run(tmp_path: Path) -> None:
    blocked = Bridge(places(tmp_path), hooks=Heard(UserPromptSubmit={"decision": "block", "reason": "no"}).hooks)
    assert blocked.turn("s").prompt("x").result().refusal == "no"
    blocked.close()
    ended = Bridge(places(tmp_path), hooks=Heard(PreToolUse={"continue": False, "stopReason": "enough"}).hooks)
    turn = ended.turn("t")
    order = turn.pre(CALL).result()
    assert order.stop == "PreToolUse:Bash hook stopped continuation: enough"
    assert order.refusal is not None
    assert "enough" in ended.turn("t").request().result().notes[0], "the model reads it in the next run"
    ended.close()


# ── asking ──

ASK = specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="sure?", updatedInput={"command": "a"})


def test_a_question_waits_for_a_person_and_pretooluse_runs_once(tmp_path: Path) -> None:
    heard = Heard(PreToolUse=ASK)
    bridge = Bridge(places(tmp_path), hooks=heard.hooks)
    turn = bridge.turn("s")
    order = turn.pre(CALL).result()
    assert order.ask is not None
    assert "sure?" in order.ask
    resumed = bridge.turn("s").resume(CALL).result()
    assert (resumed.input, resumed.ask, resumed.refusal) == ({"cmd": "a"}, None, None)
    bridge.turn("s").post(CALL, "out").result()
    bridge.close()
    assert heard.names.count("PreToolUse") == heard.names.count("PermissionRequest") == 1
    assert next(e for e in heard.events if e.event_name == "PostToolUse").tool_input == {"command": "a"}


def test_a_call_of_another_process_is_asked_about_again(tmp_path: Path) -> None:
    heard = Heard(PreToolUse=ASK)
    bridge = Bridge(places(tmp_path), hooks=heard.hooks)
    assert bridge.turn("s").resume(CALL).result().ask is None
    refusing = Bridge(places(tmp_path), hooks=Heard(PreToolUse=specific("PreToolUse", permissionDecision="deny")).hooks)
    assert refusing.turn("s").resume(CALL).result().refusal is not None
    bridge.close()
    refusing.close()


@pytest.mark.parametrize(
    ("ask", "runs"), [("deny", False), (lambda call, text: True, True), (lambda call, text: False, False)]
)
def test_the_program_may_answer(tmp_path: Path, ask: Any, runs: bool) -> None:
    bridge = Bridge(places(tmp_path), hooks=Heard(PreToolUse=ASK).hooks, ask=ask)
    order = bridge.turn("s").pre(CALL).result()
    bridge.close()
    assert (order.refusal is None, order.ask) == (runs, None)


@pytest.mark.parametrize(
    ("decision", "runs", "native"),
    [
        ({"behavior": "allow"}, True, {"cmd": "a"}),
        ({"behavior": "allow", "updatedInput": {"command": "b"}}, True, {"cmd": "b"}),
        ({"behavior": "deny", "message": "no"}, False, {"cmd": "a"}),
    ],
)
def test_permission_hooks_may_answer(tmp_path: Path, decision: Any, runs: bool, native: Any) -> None:
    once = [ASK]
    heard = Heard(
        PreToolUse=lambda event: once.pop() if once else None,
        PermissionRequest=specific("PermissionRequest", decision=decision),
    )
    bridge = Bridge(places(tmp_path), hooks=heard.hooks)
    order = bridge.turn("s").pre(CALL).result()
    bridge.close()
    assert (order.refusal is None, order.ask, order.input) == (runs, None, native)


# ── what ran without hooks ──


def test_a_result_without_a_call_of_hooks_is_reported_once_per_tool(tmp_path: Path) -> None:
    said: list[str] = []
    bridge = Bridge(places(tmp_path), on_message=said.append)
    turn = bridge.turn("s")
    old = [SeenResult("c0", "web_search")]
    assert turn.request(old).result().refusal is None, "the history of a turn is not judged"
    turn.pre(CALL).result()
    turn.post(CALL, "x").result()
    for count in (1, 2):
        results = [*old, SeenResult("c1", "shell"), *(SeenResult(f"h{n}", "web_search") for n in range(count))]
        assert turn.request(results).result().refusal is None
    bridge.close()
    assert [text for text in said if "without hooks" in text] == [
        "`web_search` ran without hooks (call h0): no PreToolUse was fired for it. The provider runs the tool itself, "
        "or an agent or a path of the framework that does not have these hooks ran it."
    ]


def test_strict_and_a_guard_that_fails_closed_refuse_the_next_model_call(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.on(PreToolUse, "WebSearch", on_failure="block")(lambda event: None)
    quiet: list[str] = []
    for bridge, refused in (
        (Bridge(places(tmp_path), strict=True, on_message=quiet.append), True),
        (Bridge(places(tmp_path), hooks=hooks, on_message=quiet.append), True),
        (Bridge(places(tmp_path), on_message=quiet.append), False),
    ):
        turn = bridge.turn("s")
        turn.request().result()
        order = turn.request([SeenResult("h", "web_search")]).result()
        assert (order.refusal is not None) is refused
        assert order.refusal is None or "`web_search`" in order.refusal
        assert turn.request([SeenResult("h", "web_search")]).result().refusal is None, "it is refused once"
        bridge.close()


def test_what_the_provider_ran_in_the_last_answer_is_judged_at_the_stop(tmp_path: Path) -> None:
    bridge = Bridge(places(tmp_path), strict=True, on_message=lambda text: None)
    turn = bridge.turn("s")
    turn.request().result()
    turn.stop("done", [SeenResult("h", "web_search")]).result()
    assert bridge.turn("s").request([SeenResult("h", "web_search")]).result().refusal is not None
    bridge.close()


# ── what people read ──


def test_hooks_of_an_untrusted_project_are_named_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    where = places(tmp_path)
    settings(tmp_path / "project", hooks_for("PreToolUse", shell("exit 2")))
    bridge = Bridge(where)
    with caplog.at_level(logging.WARNING):
        assert bridge.turn("s").pre(CALL).result().refusal is None
        bridge.turn("s").pre(CALL).result()
    bridge.close()
    trust = [record for record in caplog.records if "hookwright trust" in record.getMessage()]
    assert [(record.levelname, record.name) for record in trust] == [("WARNING", "hookwright.adapters")]
    assert bridge.setup.on_message is log_warning


def test_a_hook_that_crashes_is_reported_and_does_not_look_like_an_approval(tmp_path: Path) -> None:
    said: list[str] = []
    bridge = Bridge(user_hooks(tmp_path, hooks_for("PreToolUse", shell("exit 7"))), on_message=said.append)
    assert bridge.turn("s").pre(CALL).result().refusal is None
    bridge.close()
    assert any("PreToolUse:Bash hook error" in text for text in said)
    closed = user_hooks(tmp_path, hooks_for("PreToolUse", shell("exit 7", onFailure="block")))
    guard = Bridge(closed, on_message=said.append)
    assert guard.turn("s").pre(CALL).result().refusal is not None
    guard.close()


def test_a_call_that_guards_could_misread_is_refused(tmp_path: Path) -> None:
    bridge = Bridge(places(tmp_path), hooks=Heard().hooks)
    given = {"path": ".env", "file_path": "notes.md", "content": "x"}
    order = bridge.turn("s").pre(NativeCall("write_file", given, "c1")).result()
    bridge.close()
    assert order.refusal is not None
    assert "both `path` and `file_path`" in order.refusal


def test_tools_that_look_like_claudes_are_reported_and_strict_refuses_to_start(tmp_path: Path) -> None:
    said: list[str] = []
    bridge = Bridge(places(tmp_path), on_message=said.append, tools={"sql": Tool("Bash", {"query": "command"})})
    tools = {"run_in_terminal": ["cmd"], "sql": ["command"], "add": ["a"]}
    bridge.check(tools)
    bridge.check(tools)
    assert len(said) == 1
    assert "`run_in_terminal` looks like Bash" in said[0]
    with pytest.raises(ConfigError, match="run_in_terminal"):
        Bridge(places(tmp_path), strict=True).check(tools)


def test_values_of_any_type_reach_hooks(tmp_path: Path) -> None:
    class Text(str):
        pass

    class Row:
        def __init__(self) -> None:
            self.id = 7

    copy = shell("cat > $CLAUDE_PROJECT_DIR/seen")
    bridge = Bridge(user_hooks(tmp_path, hooks_for("PostToolUse", copy)))
    turn = bridge.turn("s")
    call = NativeCall("query", {"q": Text("x"), "set": {1}}, "c9")
    assert turn.pre(call).result().input is call.input
    row = Row()
    assert turn.post(call, row).result().output is row
    bridge.close()
    seen = json.loads((tmp_path / "project" / "seen").read_text())
    assert (seen["tool_input"], seen["tool_response"]) == ({"q": "x", "set": [1]}, {"id": 7})


def test_env_files_of_session_start_are_offered(tmp_path: Path) -> None:
    bridge = Bridge(user_hooks(tmp_path, hooks_for("SessionStart", shell("echo 'export A=1' >> $CLAUDE_ENV_FILE"))))
    assert bridge.env_files() == []
    bridge.turn("s").start().result()
    ((_, path),) = bridge.env_files()
    assert Path(path).read_text() == "export A=1\n"
    bridge.close()


# ── processes ──

PROGRAM = """
import gc, os, sys
from hookwright import Hooks, Places, SessionEnd
from hookwright.adapters import Bridge

hooks = Hooks()

@hooks.on(SessionEnd)
def ended(event):
    print("ended", event.session_id, flush=True)

bridge = Bridge(Places(project=sys.argv[1], home=sys.argv[2], env=dict(os.environ, HOME=sys.argv[2])), hooks=hooks)
bridge.turn("parent").prompt("x").result()
if sys.argv[3] == "fork":
    if os.fork() == 0:
        bridge.turn("child").prompt("x").result()
        gc.collect()
        sys.exit()
    os.wait()
"""


@pytest.mark.parametrize(("mode", "ends"), [("exit", ["parent"]), ("fork", ["child", "parent"])])
def test_the_end_of_a_process_ends_its_conversations(tmp_path: Path, mode: str, ends: list[str]) -> None:
    note = shell("""sed 's/.*"session_id":"\\([a-z]*\\)".*/\\1/' >> $CLAUDE_PROJECT_DIR/ends""")
    user_hooks(tmp_path, hooks_for("SessionEnd", note))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, str(tmp_path / "project"), str(tmp_path / "home"), mode],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "project" / "ends").read_text().split() == ends, "a process hook"
    assert done.stdout.split() == [word for end in ends for word in ("ended", end)], "a hook in code"


# ── patches ──

PATCH = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Delete File: b.env\n*** End Patch"
PATCHED = NativeCall("apply_patch", {"patch": PATCH}, "p1")


def test_a_patch_is_judged_file_by_file_and_runs_if_no_hook_refuses_one(tmp_path: Path) -> None:
    heard = Heard(PostToolUse=specific("PostToolUse", additionalContext="formatted"))
    bridge = Bridge(places(tmp_path), hooks=heard.hooks)
    turn = bridge.turn("s")
    before = turn.pre(PATCHED).result()
    assert (before.refusal, before.input) == (None, PATCHED.input)
    after = turn.post(PATCHED, "patched").result()
    assert (after.output, len(after.notes)) == ("patched", 2)
    turn.request().result()
    tools = [(e.event_name, e.tool_name, Path(e.tool_input["file_path"]).name) for e in heard.events[1:5]]
    assert tools == [
        ("PreToolUse", "Write", "a.txt"),
        ("PreToolUse", "Edit", "b.env"),
        ("PostToolUse", "Write", "a.txt"),
        ("PostToolUse", "Edit", "b.env"),
    ]
    assert [one["tool_use_id"] for one in heard.events[5].tool_calls] == ["p1", "p1"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"decision": "block", "reason": "secrets stay"}, "secrets stay"),
        (specific("PreToolUse", updatedInput={"file_path": "/x"}), "cannot be changed file by file"),
    ],
)
def test_one_refused_or_rewritten_file_refuses_the_patch(tmp_path: Path, answer: Any, reason: str) -> None:
    heard = Heard(PreToolUse=lambda e: answer if e.tool_input["file_path"].endswith(".env") else None)
    order = Bridge(places(tmp_path), hooks=heard.hooks).turn("s").pre(PATCHED).result()
    assert reason in str(order.refusal)
    assert heard.names.count("PreToolUse") == 2


def test_a_patch_that_cannot_be_read_runs_only_where_no_hook_guards_files(tmp_path: Path) -> None:
    broken = NativeCall("apply_patch", {"patch": "--- a/x.env"}, "p1")
    hooks = Hooks()
    hooks.on("PreToolUse", "Write")(lambda event: None)
    refusal = Bridge(places(tmp_path), hooks=hooks).turn("s").pre(broken).result().refusal
    assert "the patch of `apply_patch` cannot be read" in str(refusal)
    assert Bridge(places(tmp_path), hooks=Hooks()).turn("s").pre(broken).result().refusal is None
