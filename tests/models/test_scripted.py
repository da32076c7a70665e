"""The scripted model: routes, conditions, faults, and what a wrong script is told."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hookwright.errors import ConfigError
from hookwright.models.script import load_script, parse_script
from hookwright.models.scripted import ScriptedModel
from hookwright.models.types import ApiError, Delta, Request, Response, TextDelta, ToolDefinition, ToolUseDelta

BASH = ToolDefinition("Bash", "Run a command", {"type": "object"})


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def asked(text: str, **fields: Any) -> Request:
    return Request(messages=[user(text)], **fields)


def play(script: Any, *requests: Request) -> list[Response]:
    """Ask a scripted model one question after the other."""

    async def main() -> list[Response]:
        model = ScriptedModel(parse_script(script))
        return [await model.complete(request) for request in requests]

    return asyncio.run(main())


def said(script: Any, *requests: Request) -> list[str]:
    return [response.text for response in play(script, *requests)]


def test_turns_are_played_in_order_and_then_it_is_done() -> None:
    script = [[{"text": "one"}], [{"text": "two"}, {"tool": "Bash", "input": {"command": "ls"}, "id": "t9"}]]
    first, second, third = play(script, asked("a"), asked("b"), asked("c"))
    assert (first.text, first.stop_reason, third.text) == ("one", "end_turn", "Done.")
    assert second.content[1] == {"type": "tool_use", "id": "t9", "name": "Bash", "input": {"command": "ls"}}
    assert second.stop_reason == "tool_use"


def test_tool_calls_get_ids_of_their_own() -> None:
    responses = play([[{"tool": "A"}, {"tool": "B"}], [{"tool": "C"}]], asked("a"), asked("b"))
    ids = [use["id"] for response in responses for use in response.tool_uses]
    assert len(set(ids)) == 3


def test_the_model_reacts_to_a_denial() -> None:
    script = [
        [{"tool": "Bash", "input": {"command": "rm -rf build"}}],
        [{"when": "(?i)denied"}, {"text": "I may not do that."}],
        [{"when": "removed"}, {"text": "It is gone."}],
        [{"text": "Bye."}],
    ]
    start = user("Clean up")
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]}

    def after(result: str) -> Request:
        block = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": result}]}
        return Request(messages=[start, call, {"role": "user", "content": [block]}])

    first = Request(messages=[start])
    assert said(script, first, after("Denied by hook"), asked("x"))[1:] == ["I may not do that.", "Bye."]
    assert said(script, first, after("removed 3 files"), asked("x"))[1:] == ["It is gone.", "Bye."]
    # Only what is new counts: the word of an earlier result does not come back.
    old = [start, call, user("denied"), {"role": "assistant", "content": "ok"}, user("go on")]
    assert said(script, first, Request(messages=old))[1] == "Bye."


def test_a_repeating_route_chooses_anew_each_time() -> None:
    turns = [[{"when": "rm "}, {"text": "no"}], [{"text": "yes"}]]
    script = {"routes": [{"match": "JUDGE", "turns": turns, "repeat": True}]}
    questions = [asked(f"JUDGE {command}", purpose="prompt-hook") for command in ("ls", "rm x", "ls", "rm y", "ls")]
    assert said(script, *questions) == ["yes", "no", "yes", "no", "yes"]


@pytest.mark.parametrize(
    ("route", "request_", "taken"),
    [
        ({"match": "MARK", "on": "first"}, Request(messages=[user("MARK"), user("b")]), True),
        ({"match": "MARK", "on": "first"}, Request(messages=[user("a"), user("MARK")]), False),
        ({"match": "MARK", "on": "last"}, Request(messages=[user("a"), user("MARK")]), True),
        ({"match": "MARK", "on": "system"}, asked("a", system="MARK"), True),
        ({"match": "MARK", "on": "system"}, asked("MARK"), False),
        ({"match": "MARK"}, Request(messages=[user("a"), user("MARK"), user("b")]), True),
        ({"match": "MARK", "tools": True}, asked("MARK"), False),
        ({"match": "MARK", "tools": True}, asked("MARK", tools=[BASH]), True),
        ({"match": "MARK", "tools": False}, asked("MARK", tools=[BASH]), False),
    ],
)
def test_a_route_takes_requests_by_their_content(route: dict[str, Any], request_: Request, taken: bool) -> None:
    script = {"turns": [[{"text": "main"}]], "routes": [{**route, "turns": [[{"text": "route"}]]}]}
    assert said(script, request_) == ["route" if taken else "main"]


def test_a_hook_without_a_route_is_an_error_and_never_a_yes() -> None:
    with pytest.raises(ApiError, match=r"'prompt-hook' request; add an entry under `routes`"):
        play([[{"text": '{"ok": true}'}]], asked("check", purpose="prompt-hook"))


def test_a_fault_has_status_and_kind() -> None:
    script = [[{"error": 529, "etype": "overloaded_error", "message": "busy"}], [{"text": "now"}]]

    async def main() -> str:
        model = ScriptedModel(parse_script(script))
        with pytest.raises(ApiError, match="529: busy") as caught:
            await model.complete(asked("a"))
        assert (caught.value.kind, caught.value.status) == ("overloaded", 529)
        return (await model.complete(asked("a"))).text

    assert asyncio.run(main()) == "now"


def test_usage_is_as_written_or_estimated() -> None:
    script = [[{"usage_in": 12345}, {"text": "a"}], [{"text": "b"}]]
    written, estimated = play(script, asked("x"), asked("x" * 4000))
    assert written.usage.input_tokens == 12345
    assert 1000 <= estimated.usage.input_tokens < 1100


def test_a_stream_goes_word_by_word_and_ends_with_the_answer() -> None:
    async def main() -> list[Delta]:
        model = ScriptedModel(parse_script({"turns": [[{"text": " Two  words\n"}, {"tool": "A"}]], "pace": 0.001}))
        return [delta async for delta in model.stream(asked("a"))]

    *deltas, last = asyncio.run(main())
    words = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    assert (words, "".join(words)) == ([" Two", "  words\n"], " Two  words\n")
    assert "".join(delta.partial_json for delta in deltas if isinstance(delta, ToolUseDelta)) == "{}"
    assert isinstance(last, Response)


def test_a_delay_can_be_cancelled() -> None:
    async def main() -> None:
        model = ScriptedModel(parse_script([[{"delay": 30}, {"text": "late"}]]))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await model.complete(asked("a"))

    asyncio.run(main())


def test_a_file_may_be_yaml_or_json(tmp_path: Path) -> None:
    yaml = tmp_path / "a.yaml"
    yaml.write_text("model: demo\nturns:\n  - - text: hello\n    - tool: Bash\n      input: {command: ls}\n")
    json_file = tmp_path / "a.json"
    blocks = [{"text": "hello"}, {"tool": "Bash", "input": {"command": "ls"}}]
    json_file.write_text(json.dumps({"model": "demo", "turns": [blocks]}))
    one, other = load_script(yaml), load_script(json_file)
    assert (one.main, one.model) == (other.main, other.model)


def test_the_models_of_the_conformance_kit_are_scripts() -> None:
    kit = Path(__file__).parents[1] / "conformance" / "kit"
    cases = [json.loads(path.read_text()) for path in [*kit.glob("engine/*.json"), *kit.glob("session/*.json")]]
    models = [case["model"] for case in cases if "model" in case]
    assert len(models) > 100
    for model in models:
        parse_script(model)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("hello", "s: the script: expected an object with turns, routes, repeat, pace, model, got 'hello'"),
        ({"turn": []}, "s: turn is not a valid key. Did you mean `turns`?"),
        ({"turns": {}}, "s: turns: expected a list of turns, got {}"),
        ([[{"text": "a"}], []], "s: turns[1]: expected a list of blocks, got []"),
        ([{"text": "a"}], "s: turns[0]: expected a list of blocks, got {'text': 'a'}"),
        (
            [[{"txt": "a"}]],
            "s: turns[0][0]: expected a block with one of text, tool, when, delay, error, usage_in, got {'txt': 'a'}",
        ),
        ([[{"text": 1}]], "s: turns[0][0].text: expected text, got 1"),
        ([[{"tool": "A", "inputs": {}}]], "s: turns[0][0].inputs is not a valid key. Did you mean `input`?"),
        ([[{"tool": "A", "input": []}]], "s: turns[0][0].input: expected an object, got []"),
        ([[{"delay": -1}]], "s: turns[0][0].delay: expected a number that is not negative, got -1"),
        ([[{"error": 200}]], "s: turns[0][0].error: expected an HTTP status from 400 to 599, got 200"),
        ([[{"when": "("}]], "s: turns[0][0].when: '(' is not a regular expression: "),
        ({"routes": {}}, "s: routes: expected a list of routes, got {}"),
        ({"routes": [{"turns": []}]}, "s: routes[0]: `match` is missing"),
        (
            {"routes": [{"match": "a", "on": "all"}]},
            "s: routes[0].on: expected first or last or system or any, got 'all'",
        ),
        ({"routes": [{"match": "a", "tools": 1}]}, "s: routes[0].tools: expected true or false, got 1"),
        ({"routes": [{"match": "a", "turns": [[{"text": None}]]}]}, "s: routes[0].turns[0][0].text: expected text"),
        ({"repeat": "yes"}, "s: repeat: expected true or false, got 'yes'"),
    ],
)
def test_a_wrong_script_is_told_with_its_place(script: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_script(script, "s")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "turns:\n  - - text: 'open\n", r"a\.yaml:\d+: the script is not valid YAML"),
        ("a.json", '{"turns": [}', r"a\.json: the script is not valid JSON: .*line 1, column"),
        ("a.yaml", "- - text: 1", r"a\.yaml: turns\[0\]\[0\]\.text"),
    ],
)
def test_a_broken_file_is_told_with_its_name(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_script(tmp_path / name)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: the model script cannot be read"):
        load_script(tmp_path / "none.yaml")
