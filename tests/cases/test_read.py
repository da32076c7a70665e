"""Files of cases: what they may contain, and how mistakes are reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.cases.case import Absent, Case, Exactly, Matching, Without
from hookwright.cases.firing import absolute, fill, make_event
from hookwright.cases.inject import Fault, read_fault
from hookwright.cases.read import find_files, read_cases
from hookwright.errors import InvalidCase
from hookwright.protocol.wire import payload

GOOD = """\
# beside the hook
defaults: {event: PreToolUse, tool: Bash, expect: {ran: 1}}
cases:
  - name: refused
    input: {command: rm -rf /}
    expect: {decision: deny, reason: [rm, not here], context: null, system_message: {not: hello}, stop: false}
  - name: other event
    event: SessionStart
    tool: resume
    env: {N: 1}
    files: {a/b.txt: hello}
    inject: [crash, "slow=2s:x.sh"]
    model: {ok: false}
    expect:
      env_file: {is: "export A=1\\n"}
      skipped: {guard: matcher}
      files: {out.txt: null}
      codes: timeout
      max_ms: 150
  - event: Stop
    tool: null
    expect: {decision: null, ran: [a.sh, b.sh], skipped: [c.sh], fields: {session_title: x}}
"""


def cases_of(folder: Path, text: str, name: str = "cases.yaml") -> list[Case]:
    (folder / name).write_text(text)
    return read_cases(str(folder / name), str(folder))


def test_every_key_is_read(tmp_path: Path) -> None:
    first, second, third = cases_of(tmp_path, GOOD)
    assert (first.name, first.event, first.variant, first.line, first.path) == (
        "refused",
        "PreToolUse",
        "Bash",
        4,
        "cases.yaml",
    )
    assert first.fields == {"tool_input": {"command": "rm -rf /"}}
    assert first.expect is not None
    assert second.expect is not None
    assert third.expect is not None
    assert isinstance(first.expect.reason, Matching)
    assert [pattern.pattern for pattern in first.expect.reason.patterns] == ["rm", "not here"]
    assert (first.expect.context, first.expect.ran, first.expect.stop) == (Absent(), 1, False)
    assert isinstance(first.expect.system_message, Without)
    assert second.faults == (Fault("crash"), Fault("slow", "x.sh", 2.0))
    assert (second.env, second.files, second.model) == ({"N": "1"}, {"a/b.txt": "hello"}, '{"ok":false}')
    assert second.expect.env_file == Exactly("export A=1\n")
    assert (second.expect.skipped, second.expect.codes, second.expect.max_ms) == (
        {"guard": "matcher"},
        ("timeout",),
        150,
    )
    assert (third.name, third.expect.decision, third.expect.ran) == ("case 3", "none", ("a.sh", "b.sh"))
    assert third.expect.skipped == {"c.sh": ""}
    assert third.expect.fields == {"session_title": "x"}


def test_json_says_the_same(tmp_path: Path) -> None:
    case = {"name": "a", "event": "Stop", "expect": {"decision": "block"}}
    listed = cases_of(tmp_path, json.dumps([case]), "cases.json")
    wrapped = cases_of(tmp_path, json.dumps({"cases": [case]}), "more.json")
    assert listed[0].expect == wrapped[0].expect
    assert listed[0].event == "Stop"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("- {event: Stop, exept: {}}", 1, "unknown key `exept`. Did you mean `expect`?"),
        ("- name: a\n  event: PreTool\n", 2, "`PreTool` is not an event. Did you mean `PreToolUse`?"),
        ("- name: a\n", 1, "`event` is missing"),
        ("- event: Stop\n  expect:\n    decision: blocked\n", 3, "`blocked` is not one of allow, deny"),
        ("- event: Stop\n  expect:\n    reason: '('\n", 3, "`(` is not a valid regular expression"),
        ("- event: Stop\n  expect:\n    reason: {in: x}\n", 3, "write a pattern"),
        ("- event: Stop\n  expect: {errors: many}\n", 2, "`errors` must be a number"),
        ("- event: Stop\n  expect: deny\n", 2, "`expect` is an object"),
        ("- event: PreToolUse\n  tool: Wriet\n", 1, "Did you mean `Write`?"),
        ("- event: PreToolUse\n  input: ls\n", 2, "`input` must be an object"),
        ("- event: Stop\n  inject: crush\n", 2, "cannot be injected"),
        ("- event: Stop\n  fields: {stop_hook_active: maybe}\n", 1, "stop_hook_active"),
        ("- {name: a, event: Stop}\n- {name: a, event: Stop}\n", 2, "two cases are named `a`"),
        ("cases: 7", 1, "write a list of cases"),
        ("defaults: {evnt: Stop}\ncases: []", 1, "Did you mean `event`?"),
        ("- a: [", 1, "not valid YAML"),
        ("- 7", 1, "a case is an object"),
    ],
)
def test_a_mistake_is_reported_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(InvalidCase) as caught:
        cases_of(tmp_path, text)
    assert str(caught.value).startswith(f"cases.yaml:{line}: ")
    assert message in str(caught.value)


def test_broken_json_and_absent_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidCase, match=r"cases\.json:2"):
        cases_of(tmp_path, '[\n{"event": }]', "cases.json")
    with pytest.raises(InvalidCase, match="cannot be read"):
        read_cases(str(tmp_path / "none.yaml"))
    with pytest.raises(InvalidCase, match="no such file or folder"):
        find_files([str(tmp_path / "none")])


def test_files_are_found_in_a_stable_order_and_once(tmp_path: Path) -> None:
    for name in ("b.yml", "a.yaml", "c.json", "notes.md"):
        (tmp_path / name).write_text("[]")
    found = find_files([str(tmp_path / "c.json"), str(tmp_path)])
    assert [Path(path).name for path in found] == ["c.json", "a.yaml", "b.yml"]


def test_an_unknown_tool_needs_its_own_input(tmp_path: Path) -> None:
    case = cases_of(tmp_path, "- {event: PreToolUse, tool: Teleport, input: {to: Mars}}")[0]
    fields = payload(make_event(case, "/project", "/tmp/x"))
    assert (fields["tool_name"], fields["tool_input"]) == ("Teleport", {"to": "Mars"})


def test_events_are_complete_with_absolute_paths_and_filled_placeholders(tmp_path: Path) -> None:
    text = """\
- {event: PreToolUse, tool: Write, input: {file_path: src/a.py, content: "{project}"}}
- {event: PostToolUse, tool: Read, input: {file_path: /etc/passwd}, fields: {permission_mode: plan}}
- {event: UserPromptSubmit, prompt: hi}
"""
    write, read, prompt = (payload(make_event(case, "/project", "/tmp/x")) for case in cases_of(tmp_path, text))
    assert write["tool_input"] == {"file_path": "/project/src/a.py", "content": "/project"}
    assert (read["tool_input"]["file_path"], read["permission_mode"]) == ("/etc/passwd", "plan")
    assert prompt["prompt"] == "hi"
    assert {fields["cwd"] for fields in (write, read, prompt)} == {"/project"}
    assert len({fields["session_id"] for fields in (write, read, prompt)}) == 3


TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)


@given(st.recursive(TEXTS | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
def test_filling_in_leaves_everything_else_alone(value: object) -> None:
    filled = fill(value, "/project")
    assert filled == value or "{project}" in repr(value)


@given(st.dictionaries(st.sampled_from(["file_path", "path", "command", "pattern"]), TEXTS))
def test_absolute_paths_stay_and_only_paths_change(tool_input: dict[str, str]) -> None:
    done = absolute(tool_input, "/project")
    assert absolute(done, "/elsewhere") == done
    assert all(done[key] == tool_input[key] for key in ("command", "pattern") if key in tool_input)


@given(st.sampled_from(["timeout", "crash", "garbage", "missing", "huge"]), TEXTS)
def test_faults_read_back(name: str, pattern: str) -> None:
    assert read_fault(f"{name}:{pattern}") == Fault(name, pattern)
