"""What every tool has: a schema that is enforced, paths made absolute, outputs that hooks may rewrite."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hookwright.agent.tools import TOOLS, Effect, cut_middle, failed, interrupted, never_ran, unknown_tool
from hookwright.agent.tools.schema import problems
from hookwright.agent.tools.tool import IN_CONTEXT

#: Tool, input, and what is said of it.
INVALID: list[tuple[str, Any, str]] = [
    ("Bash", {"description": "x"}, "The required parameter `command` is missing"),
    ("Bash", {"command": 5}, "The parameter `command` type is expected as `string` but provided as `number`"),
    ("Bash", {"command": "x", "foo": 1}, "An unexpected parameter `foo` was provided"),
    ("Bash", {"command": "x", "timeout": ""}, "type is expected as `number` but provided as `string`"),
    ("Bash", {"command": "x", "timeout": True}, "expected as `number` but provided as `boolean`"),
    ("Bash", {"command": "x", "run_in_background": "yes"}, "expected as `boolean`"),
    ("Bash", {"command": None}, "provided as `null`"),
    ("Bash", [], "expected as `object` but provided as `array`"),
    ("Bash", "ls", "expected as `object` but provided as `string`"),
    ("Read", {"file_path": "f", "limit": 1.5}, "expected as `integer`"),
    ("Read", {"file_path": "f", "limit": "x"}, "expected as `number` but provided as `string`"),
    ("Read", {"file_path": "f", "offset": -1}, "the least value is 0"),
    ("Grep", {"pattern": "x", "output_mode": "all"}, "one of content, files_with_matches, count"),
    ("TaskUpdate", {"taskId": "1", "addBlocks": ["2", 3]}, "`addBlocks[1]` type is expected as `string`"),
]


@pytest.mark.parametrize(("tool", "arguments", "said"), INVALID)
def test_an_input_that_does_not_fit_is_named(tool: str, arguments: Any, said: str) -> None:
    problem = TOOLS[tool].problem(arguments)
    assert problem is not None
    assert problem.startswith(f"InputValidationError: {tool} failed due to the following issue:\n")
    assert said in problem


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"timeout": "5000"}, {"timeout": 5000}),
        ({"timeout": " 5.5 "}, {"timeout": 5.5}),
        ({"timeout": "-1"}, {"timeout": -1}),
        ({"timeout": "abc"}, {"timeout": "abc"}),
        ({"timeout": ""}, {"timeout": ""}),
        ({"timeout": "1e3"}, {"timeout": "1e3"}),
        ({"run_in_background": "true"}, {"run_in_background": True}),
        ({"run_in_background": "false"}, {"run_in_background": False}),
        ({"run_in_background": "true "}, {"run_in_background": "true "}),
        ({"run_in_background": 0}, {"run_in_background": 0}),
        ({"command": "5000", "unknown": "5"}, {"command": "5000", "unknown": "5"}),
        ([], []),
    ],
)
def test_numbers_and_truth_values_may_be_written_as_text(written: Any, meant: Any) -> None:
    assert TOOLS["Bash"].coerced(written) == meant
    assert repr(TOOLS["Bash"].coerced(written)) == repr(meant)


def test_the_input_of_an_mcp_tool_is_left_as_it_is() -> None:
    tool = msgspec.structs.replace(TOOLS["Bash"], name="mcp__s__t")
    assert tool.coerced({"timeout": "5000"}) == {"timeout": "5000"}


def test_all_that_is_wrong_is_said_at_once() -> None:
    problem = TOOLS["Write"].problem({"content": 1, "x": 2})
    assert problem is not None
    assert problem.splitlines()[0].endswith("issues:")
    assert len(problem.splitlines()) == 4


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(-2, 2)
    | st.sampled_from(["", "a", "content", "pending"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["command", "timeout", "pattern", "output_mode", "-i", "taskId", "status", "addBlocks"]),
            inner,
        )
    ),
    max_leaves=6,
)


@given(st.sampled_from(sorted(TOOLS)), JSON)
def test_law_the_validator_agrees_with_json_schema(tool: str, value: Any) -> None:
    schema = TOOLS[tool].parameters
    assert (not list(problems(schema, value))) == Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_definitions_are_what_a_model_api_takes(tool: Any) -> None:
    assert set(tool.definition()) == {"name", "description", "input_schema"}
    Draft202012Validator.check_schema(tool.parameters)
    Draft202012Validator.check_schema(tool.output)


def test_the_table_names_the_tools() -> None:
    assert list(TOOLS) == [
        *("Bash", "Read", "Write", "Edit", "Glob", "Grep", "WebFetch", "TaskCreate", "TaskUpdate", "TaskList")
    ]
    assert [tool.name for tool in TOOLS.values() if not tool.by_default] == ["WebFetch"]
    edits = [tool.name for tool in TOOLS.values() if tool.effect is Effect.EDIT]
    assert edits == ["Write", "Edit"]


#: What the model wrote, and what hooks see.
PATHS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("Read", {"file_path": "rel.txt"}, {"file_path": "/p/rel.txt"}),
    ("Read", {"file_path": "~/x"}, {"file_path": "/home/me/x"}),
    ("Read", {"file_path": "~"}, {"file_path": "/home/me"}),
    ("Read", {"file_path": "./a/../b"}, {"file_path": "/p/b"}),
    ("Write", {"file_path": "/abs", "content": "~/x"}, {"file_path": "/abs", "content": "~/x"}),
    ("Grep", {"pattern": "rel"}, {"pattern": "rel"}),
    ("Glob", {"pattern": "rel", "path": "sub"}, {"pattern": "rel", "path": "sub"}),
    ("Bash", {"command": "cat rel"}, {"command": "cat rel"}),
]


@pytest.mark.parametrize(("tool", "given_", "expected"), PATHS)
def test_hooks_see_the_path_of_a_file_absolute_and_any_other_as_written(
    tool: str, given_: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert TOOLS[tool].normalise(given_, "/p", "/home/me") == expected


@pytest.mark.parametrize(("path", "expected"), [("sub", "/p/sub"), ("~/sub", "/home/me/sub"), ("/abs", "/abs")])
def test_rules_and_the_tool_see_every_path_absolute(path: str, expected: str) -> None:
    found = TOOLS["Grep"].resolve({"pattern": "x", "path": path}, "/p", "/home/me")
    assert found == {"pattern": "x", "path": expected}


def test_edit_is_filled_in_and_keeps_what_was_said() -> None:
    edit = TOOLS["Edit"]
    said = {"file_path": "f", "old_string": "a", "new_string": "b"}
    assert next(iter(edit.with_defaults(said).items())) == ("replace_all", False)
    assert edit.with_defaults({**said, "replace_all": True})["replace_all"] is True
    assert edit.normalise(said, "/p", "/h")["file_path"] == "/p/f"
    assert said == {"file_path": "f", "old_string": "a", "new_string": "b"}


BASH_OUTPUT = {"stdout": "REPLACED", "stderr": "", "interrupted": False, "isImage": False}

#: Rewritten outputs that fit, with what the model reads.
FITTING: list[tuple[str, Any, str]] = [
    ("Bash", BASH_OUTPUT, "REPLACED"),
    ("Bash", {**BASH_OUTPUT, "more": 1}, "REPLACED"),
    ("Bash", {"stdout": "", "stderr": "", "interrupted": False}, "(Bash completed with no output)"),
    (
        "Read",
        {"type": "text", "file": {"filePath": "f", "content": "x", "numLines": 1, "startLine": 7, "totalLines": 9}},
        "7\tx",
    ),
    (
        "Write",
        {"type": "update", "filePath": "/f", "content": ""},
        f"The file /f has been updated successfully.{IN_CONTEXT}",
    ),
    ("TaskList", {"tasks": [{"id": "1", "subject": "s", "status": "pending"}]}, "#1 [pending] s"),
]


@pytest.mark.parametrize(("tool", "output", "text"), FITTING)
def test_a_rewritten_output_that_fits_is_what_the_model_reads(tool: str, output: Any, text: str) -> None:
    assert TOOLS[tool].fits(output) is None
    assert TOOLS[tool].render(output) == text


@pytest.mark.parametrize("output", ["REPLACED", {"foo": 1}, None, [], {"stdout": 1, "stderr": "", "interrupted": 0}])
@pytest.mark.parametrize("tool", ["Bash", "Read", "Edit", "Grep"])
def test_an_output_of_another_shape_is_refused(tool: str, output: Any) -> None:
    assert str(TOOLS[tool].fits(output)).startswith(f"the output does not match the schema of {tool}: ")


def test_results_of_calls_that_gave_none() -> None:
    assert unknown_tool("NoSuch").text == ("<tool_use_error>Error: No such tool available: NoSuch</tool_use_error>")
    assert (never_ran("why").is_error, never_ran("why").response) == (True, "Error: why")
    assert (failed("why").text, failed("why").interrupted) == ("why", False)
    assert (interrupted().is_error, interrupted().interrupted) == (True, True)


@given(st.text(max_size=60), st.integers(2, 40))
def test_law_a_cut_text_keeps_both_ends_and_counts_what_is_gone(text: str, limit: int) -> None:
    cut = cut_middle(text, limit)
    if len(text) <= limit:
        assert cut == text
    else:
        assert cut.startswith(text[: limit // 2])
        assert cut.endswith(text[-(limit - limit // 2) :])
        assert f"[{len(text) - limit} characters truncated]" in cut
