"""Sessions that Claude Code 2.1.325 was recorded with: each expectation is what it printed and sent."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.runs import Place, bash, tool
from hookwright.agent import AgentOptions, open_agent
from hookwright.agent.headless.stream_lines import StreamOptions, StreamOutput
from hookwright.agent.state.options import ContinueLatest
from hookwright.models.script import parse_script
from hookwright.models.scripted import ScriptedModel
from hookwright.models.types import Request, Retrying


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


class Model(ScriptedModel):
    """A scripted model that keeps every request."""

    def __init__(self, turns: Sequence[Any], routes: Sequence[Any] = ()) -> None:
        super().__init__(parse_script({"turns": list(turns), "routes": list(routes)}))
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Any:
        self.requests.append(request)
        return await super().complete(request)


def lines(place: Place, model: ScriptedModel, *prompts: str, **options: Any) -> list[dict[str, Any]]:
    """Run prompts in one session; give the lines of its stream."""
    place.command({"turns": []})
    given = {"allowed_tools": ("Bash", "Read", "Write", "Edit"), **options}
    chosen = AgentOptions(cwd=str(place.project), home=str(place.home), **{"env": place.env, **given})
    file = io.StringIO()
    output = StreamOutput(StreamOptions(hook_events=True), file)

    async def whole() -> None:
        async with open_agent(
            chosen, model=model, on_message_update=output.update, observers=(output.notice,)
        ) as agent:
            for prompt in prompts or ("PROMPT",):
                await agent.run(prompt)

    asyncio.run(whole())
    return [json.loads(line) for line in file.getvalue().splitlines()]


def of(found: Sequence[dict[str, Any]], subtype: str) -> list[dict[str, Any]]:
    return [line for line in found if line.get("subtype") == subtype]


def responses(found: Sequence[dict[str, Any]], event: str) -> list[dict[str, Any]]:
    return [line for line in of(found, "hook_response") if line["hook_event"] == event]


END = [{"text": "Finished."}]


# ── hook lines ──────────────────────────────────────────────────────────────


def test_stderr_says_why_an_answer_is_unusable_and_no_other_line_repeats_it(place: Place) -> None:
    place.hook("PostToolUse", "echo '{\"continue\": true,}'; echo STDERR >&2")
    found = lines(place, Model([[bash("echo OUT")], END]))
    (line,) = responses(found, "PostToolUse")
    assert (line["outcome"], line["exit_code"], line["stdout"]) == ("error", 0, '{"continue": true,}\n')
    assert line["stderr"].startswith("Hook output looks like a JSON object but is not valid JSON — ")
    assert of(found, "informational") == []


def test_an_answer_for_another_event_leaves_its_failure_alone(place: Place) -> None:
    place.answer("PostToolUse", {"hookSpecificOutput": {"hookEventName": "Stop"}})
    (line,) = responses(lines(place, Model([[bash("echo OUT")], END])), "PostToolUse")
    said = "Failed to run: Hook returned incorrect event name: expected 'PostToolUse' but got 'Stop'. Full stdout: "
    said += '{\n  "hookSpecificOutput": {\n    "hookEventName": "Stop"\n  }\n}'
    assert (line["exit_code"], line["stdout"], line["stderr"], line["output"]) == (1, "", said, said)


def test_a_hook_that_leaves_calls_unchecked_is_named_once(place: Place) -> None:
    place.hook("PreToolUse", "echo '{\"continue\": }'")
    place.hook("PreToolUse", "echo '{\"decision\": 5}'")
    found = lines(place, Model([[bash("echo a")], [bash("echo b")], END]))
    unchecked = "A hook gave no usable answer, so it didn't check this action."
    assert [line["content"] for line in of(found, "informational")] == [unchecked, unchecked]


def test_a_message_is_a_notice_but_not_at_the_start_of_a_session(place: Place) -> None:
    for event in ("SessionStart", "PreToolUse", "PostToolUse"):
        place.answer(event, {"systemMessage": f"SAYS-{event}"})
    found = of(lines(place, Model([[bash("echo a")], END])), "informational")
    said = [("PreToolUse:Bash says: SAYS-PreToolUse", "notice"), ("PostToolUse:Bash says: SAYS-PostToolUse", "notice")]
    assert [(line["content"], line["level"]) for line in found] == said


@pytest.mark.parametrize(
    ("body", "noted"),
    [
        ("exit 3", 2),
        ("echo '{\"continue\": 5}'", 2),
        ('echo \'{"hookSpecificOutput": {"hookEventName": "PreToolUse"}}\'', 1),
        ("echo '{}'; exit 3", 0),
        ('grep -q \'"stop_hook_active":true\' <<< "$payload" || { echo AGAIN >&2; exit 2; }', 2),
    ],
)
def test_a_stop_hook_is_noted_once_per_turn_and_one_for_another_event_once(place: Place, body: str, noted: int) -> None:
    place.hook("Stop", body)
    found = lines(place, Model([END] * 4), "first", "second")
    assert [line["key"] for line in of(found, "notification")] == ["stop-hook-error"] * noted


def test_a_blocked_expansion_says_its_reason_once(place: Place) -> None:
    place.file(".claude/commands/greet.md", "Hello $ARGUMENTS\n")
    place.answer("UserPromptExpansion", {"decision": "block", "reason": "REASON"})
    (line,) = of(lines(place, Model([END]), "/greet Bob"), "informational")
    assert line["content"] == "UserPromptExpansion operation blocked by hook:\nREASON\n\nOriginal prompt: /greet Bob"
    assert "prompt_submit_outcome" not in line


def test_a_prompt_blocked_at_exit_2_keeps_the_line_end_of_the_reason(place: Place) -> None:
    hook = place.hook("UserPromptSubmit", "echo STDERR >&2; exit 2")
    found = lines(place, Model([END]), "hi")
    text = f"UserPromptSubmit operation blocked by hook:\n[{hook}]: STDERR\n\n\nOriginal prompt: hi"
    assert [line["content"] for line in of(found, "informational")] == [text]
    assert found[-1]["result"] == text


def test_a_question_of_a_hook_is_in_the_line_of_its_denial_alone(place: Place) -> None:
    answer = {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "SURE?"}
    place.answer("PreToolUse", {"hookSpecificOutput": answer})
    found = lines(place, Model([[bash("echo a")], END]))
    assert of(found, "informational") == []
    (denied,) = of(found, "permission_denied")
    assert (denied["decision_reason_type"], denied["decision_reason"], denied["message"]) == ("hook", "SURE?", "SURE?")


def test_a_prompt_blocked_by_a_failure_is_not_repeated(place: Place) -> None:
    hook = place.hook("UserPromptSubmit", "exit 3", onFailure="block")
    (line,) = of(lines(place, Model([END]), "hi"), "informational")
    failure = f'[{hook}]: failed; blocking because onFailure is "block"\nNo stderr output'
    assert line["content"] == f"UserPromptSubmit operation blocked by hook:\n{failure}"
    outcome = {"kind": "no_verdict", "prompt_kept": False, "no_verdict_kind": "hook_failed"}
    assert line["prompt_submit_outcome"] == outcome


def test_a_stop_hook_over_the_cap_is_named_in_two_lines_and_has_the_last_word(place: Place) -> None:
    place.hook("Stop", "echo AGAIN >&2; exit 2")
    found = lines(place, Model([END] * 3), env={**place.env, "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1"})
    text = (
        "A hook blocked the turn from ending 2 consecutive times — overriding and ending turn. For Stop/SubagentStop "
        "hooks, check stop_hook_active in the input and return success while it's true. Set "
        "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP to raise this limit."
    )
    assert [line["content"] for line in of(found, "informational")] == [text]
    assert [line["text"] for line in of(found, "notification") if line["key"] == "stop-hook-block-cap"] == [text]
    assert [line["key"] for line in of(found, "notification")].count("stop-hook-error") == 1
    assert (found[-1]["result"], found[-1]["terminal_reason"]) == ("", "completed")


def test_failures_at_the_end_of_a_session_are_not_in_the_stream(place: Place) -> None:
    place.hook("SessionEnd", "echo '{\"continue\": 5}'")
    place.answer("SubagentStop", {"systemMessage": "SAYS"})
    assert of(lines(place, Model([END])), "informational") == []


def test_a_request_that_is_sent_again_has_a_line(place: Place) -> None:
    class Busy(Model):
        async def stream(self, request: Request) -> Any:
            yield Retrying(attempt=1, most=10, delay=0.621, status=529, error="overloaded")
            async for delta in super().stream(request):
                yield delta

    found = lines(place, Busy([END]))
    names = [line.get("subtype") or line["type"] for line in found if not str(line.get("subtype")).startswith("hook_")]
    assert names == ["init", "api_retry", "assistant", "success"]
    line = {key: value for key, value in of(found, "api_retry")[0].items() if key not in ("uuid", "session_id", "type")}
    count = {"subtype": "api_retry", "attempt": 1, "max_retries": 10, "retry_delay_ms": 621}
    assert line == {**count, "error_status": 529, "error": "overloaded"}


# ── messages and results ────────────────────────────────────────────────────


def test_the_text_of_a_skill_is_a_line_and_a_turn(place: Place) -> None:
    place.file(".claude/skills/sk/SKILL.md", "---\nname: sk\ndescription: d\n---\nDo the skill.\n")
    found = lines(place, Model([[tool("Skill", skill="sk")], END]))
    said = [line for line in found if line["type"] == "user" and line.get("isSynthetic")]
    folder = place.project / ".claude" / "skills" / "sk"
    assert [line["message"]["content"][0]["text"] for line in said] == [
        f"Base directory for this skill: {folder}\n\nDo the skill.\n"
    ]
    assert found[-1]["num_turns"] == 3


def test_a_skill_with_hooks_needs_permission(place: Place) -> None:
    place.hook("PermissionRequest")
    hooks = json.dumps({"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]})
    place.file(".claude/skills/sk/SKILL.md", f"---\nname: sk\ndescription: d\nhooks: {hooks}\n---\nDo it.\n")
    found = lines(place, Model([[tool("Skill", skill="sk")], END]))
    (asked,) = place.got("PermissionRequest")
    rules = [update["rules"] for update in asked["permission_suggestions"]]
    assert rules == [[{"toolName": "Skill", "ruleContent": name}] for name in ("sk", "sk:*")]
    assert [denial["tool_name"] for denial in found[-1]["permission_denials"]] == ["Skill"]
    (denied,) = of(found, "permission_denied")
    way_out = "The user can add the allow rule Skill(sk) to .claude/settings.local.json to let it run without asking."
    assert denied["message"] == f"Execute skill: sk. {way_out}"
    allowed = lines(place, Model([[tool("Skill", skill="sk")], END]), allowed_tools=("Skill(sk)",))
    assert allowed[-1]["permission_denials"] == []


def test_a_call_is_printed_with_its_defaults_and_denied_with_its_whole_path(place: Place) -> None:
    place.answer("PreToolUse", {"decision": "block", "reason": "NO"})
    place.file("f.txt", "a\n")
    calls = [
        tool("Edit", file_path="f.txt", old_string="a", new_string="b"),
        tool("Agent", description="d", prompt="p"),
    ]
    found = lines(place, Model([calls, END]))
    printed = [line["message"]["content"][0] for line in found if line["type"] == "assistant"]
    assert printed[0]["input"]["replace_all"] is False
    denials = found[-1]["permission_denials"]
    assert [denial["tool_name"] for denial in denials] == ["Edit", "Task"]
    assert denials[0]["tool_input"]["file_path"] == str(place.project / "f.txt")


def test_a_call_that_a_file_rule_refuses_is_listed(place: Place) -> None:
    place.settings = {"permissions": {"deny": ["Read(secret.txt)"]}}
    place.file("secret.txt", "s\n")
    found = lines(place, Model([[tool("Read", file_path="secret.txt")], END]))
    assert [denial["tool_name"] for denial in found[-1]["permission_denials"]] == ["Read"]


def test_a_subagent_names_its_tools_and_what_it_is_doing(place: Place) -> None:
    place.hook("PostToolUse", matcher="Agent")
    call = tool("Agent", description="d", prompt="SUB", subagent_type="general-purpose", run_in_background=False)
    place.file("sub/f.txt", "a\n")
    turns = [[tool("Read", file_path="sub/f.txt")], [bash("exit 3")], END]
    inner = {"name": "s", "match": "SUB", "on": "first", "turns": turns}
    found = lines(place, Model([[call], END], [inner]))
    assert [line["description"] for line in of(found, "task_progress")] == ["Reading sub/f.txt", "Running run"]
    (payload,) = place.got("PostToolUse")
    response = payload["tool_response"]
    assert response["toolsUsed"] == ["Read", "Bash"]
    note = "<tools-used-before-summary>Read, Bash</tools-used-before-summary>\n"
    assert [block["text"] for block in response["content"]] == [note, "Finished."]


@pytest.mark.parametrize(("called", "named"), [([bash("true")], []), ([], ["Bash"])])
def test_a_report_names_the_tools_that_its_reader_has_not_called(
    place: Place, called: list[Any], named: list[str]
) -> None:
    place.hook("PostToolUse", matcher="Agent")
    call = tool("Agent", description="d", prompt="SUB", subagent_type="general-purpose", run_in_background=False)
    inner = {"name": "s", "match": "SUB", "on": "first", "turns": [[bash("exit 3")], END]}
    lines(place, Model([*([one] for one in called), [bash("true"), call] if not called else [call], END], [inner]))
    response = place.got("PostToolUse")[0]["tool_response"]
    assert response["toolsUsed"] == ["Bash"]
    note = [f"<tools-used-before-summary>{name}</tools-used-before-summary>\n" for name in named]
    assert [block["text"] for block in response["content"]] == [*note, "Finished."]


def test_calls_of_agent_hooks_have_no_lines(place: Place) -> None:
    place.hooks["Stop"] = [{"hooks": [{"type": "agent", "prompt": "VERIFY"}]}]
    verify = {"name": "v", "match": "VERIFY", "on": "first", "turns": [[tool("StructuredOutput", ok=True)]]}
    found = lines(place, Model([END], [verify]))
    assert [line["type"] for line in found if line["type"] in ("user", "assistant")] == ["assistant"]


def test_what_hooks_print_at_a_compaction_is_read_with_the_next_prompt(place: Place) -> None:
    before = place.hook("PreCompact")
    after = place.hook("PostCompact", "echo PRINTED")
    place.hook("SubagentStop")
    summary = {"name": "c", "match": "detailed summary", "on": "last", "turns": [[{"text": "<summary>S</summary>"}]]}
    model = Model([END, END], [summary])
    lines(place, model, "first", "/compact", "second")
    said = (
        f"Compacted PreCompact [{before}] completed successfully\nPostCompact [{after}] completed successfully: PRINTED"
    )
    texts = [message["content"] for message in model.requests[-1].messages]
    assert f"<local-command-stdout>{said}</local-command-stdout>" in texts
    (payload,) = place.got("SubagentStop")
    assert payload["agent_id"][0] == "a"
    assert len(payload["agent_id"]) == 17


def test_what_a_hook_prints_before_a_compaction_is_an_instruction(place: Place) -> None:
    place.hook("PreCompact", "echo KEEP-NAMES")
    summary = {"name": "c", "match": "detailed summary", "on": "last", "turns": [[{"text": "<summary>S</summary>"}]]}
    model = Model([END], [summary])
    lines(place, model, "first", "/compact briefly")
    asked = str(model.requests[-1].messages[-1]["content"])
    assert asked.endswith("Additional instructions:\nbriefly\n\nKEEP-NAMES")


def test_a_blocked_compaction_names_every_hook_that_blocked(place: Place) -> None:
    first = place.answer("PreCompact", {"decision": "block", "reason": "REASON"})
    second = place.hook("PreCompact", "echo STDERR >&2; exit 2")
    found = lines(place, Model([END]), "first", "/compact")
    assert found[-1]["result"] == f"Compaction blocked by PreCompact hook: [{first}]: REASON\n[{second}]: STDERR"


def test_a_title_that_stays_the_same_has_one_line(place: Place) -> None:
    answer = {"hookEventName": "UserPromptSubmit", "sessionTitle": "TITLE"}
    place.answer("UserPromptSubmit", {"hookSpecificOutput": answer})
    assert len(of(lines(place, Model([END] * 2), "first", "second"), "session_title_changed")) == 1


# ── permissions ─────────────────────────────────────────────────────────────


def test_plan_mode_asks_about_files_and_denies_commands(place: Place) -> None:
    for event in ("PermissionRequest", "PermissionDenied"):
        place.hook(event)
    write = tool("Write", file_path="n.txt", content="x")
    found = lines(place, Model([[write], [bash("touch a.txt")], END]), permission_mode="plan")
    assert [payload["tool_name"] for payload in place.got("PermissionRequest")] == ["Write"]
    assert "permission_suggestions" not in place.got("PermissionRequest")[0]
    assert [payload["tool_name"] for payload in place.got("PermissionDenied")] == ["Bash"]
    results = [line["message"]["content"][0] for line in found if line["type"] == "user"]
    assert results[0]["content"] == f"Cannot write to {place.project / 'n.txt'} while in plan mode."
    assert not list(place.project.glob("*.txt"))


def test_a_file_emptied_by_a_write_has_a_patch_from_line_1(place: Place) -> None:
    place.hook("PostToolUse")
    place.file("f.txt", "a\nb\n")
    lines(place, Model([[tool("Write", file_path="f.txt", content="")], END]))
    (hunk,) = place.got("PostToolUse")[0]["tool_response"]["structuredPatch"]
    assert (hunk["oldStart"], hunk["newStart"], hunk["newLines"]) == (1, 1, 0)


def test_a_subagent_works_in_the_background_unless_the_model_waits(place: Place) -> None:
    place.hook("PostToolUse", matcher="Agent")
    call = tool("Agent", description="d", prompt="SUB", subagent_type="general-purpose")
    inner = {"name": "s", "match": "SUB", "on": "first", "turns": [END]}
    found = lines(place, Model([[call], END], [inner]))
    assert [line["is_backgrounded"] for line in of(found, "task_started")] == [True]
    assert place.got("PostToolUse")[0]["tool_response"]["status"] == "async_launched"


def test_a_context_that_a_resumed_conversation_has_is_not_added_again(place: Place) -> None:
    place.answer("SessionStart", {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "SAME"}})
    lines(place, Model([END]), "first")
    model = Model([END])
    lines(place, model, "second", start=ContinueLatest())
    assert str(model.requests[0].messages).count("SAME") == 1


def test_a_command_that_reads_elsewhere_runs_beside_others_and_a_bare_cd_alone(place: Place) -> None:
    place.file("sub/f.txt", "a")
    place.hook("PreToolUse")
    calls = [bash("cd sub && pwd"), bash("cd sub && ls"), bash("cd sub"), bash("pwd")]
    found = lines(place, Model([calls, END]))
    places = [payload["cwd"] for payload in sorted(place.got("PreToolUse"), key=lambda one: one["tool_use_id"])]
    project, below = str(place.project), str(place.project / "sub")
    assert places == [project, project, below, below]
    results = [line["message"]["content"][0] for line in found if line["type"] == "user"]
    assert {result["content"] for result in results[:2]} == {below, "f.txt"}
    assert results[2]["content"] == f"Exit code 1\n{shutil.which('bash')}: line 1: cd: sub: No such file or directory"


def test_an_empty_condition_is_none_on_every_event(place: Place) -> None:
    place.hook("Stop", **{"if": ""})
    place.hook("PreToolUse", **{"if": ""})
    lines(place, Model([[bash("echo a")], END]))
    assert place.order == ["PreToolUse", "Stop"]


def test_a_session_whose_prompts_were_blocked_can_be_continued(place: Place) -> None:
    place.answer("UserPromptSubmit", {"decision": "block", "reason": "NO"})
    (first,) = [line["session_id"] for line in lines(place, Model([END]), "one") if line["type"] == "result"]
    (second,) = [
        line["session_id"]
        for line in lines(place, Model([END]), "two", start=ContinueLatest())
        if line["type"] == "result"
    ]
    assert first == second
