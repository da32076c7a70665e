"""Hooks that a program on the other end of `hookwright run` answers, as clients of the Agent SDK register them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agent.runs import Dialogue, Place, Ran, bash, control

ALLOW = ("--allowedTools", "Bash")
Answer = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


class Client(Dialogue):
    """A program that answers its callbacks: an object is the answer, a text an error, None no answer at all."""

    def __init__(self, place: Place, turns: list[Any], answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.asked: list[dict[str, Any]] = []
        self.given_up: list[str] = []
        self._sending = threading.Lock()
        super().__init__(place, {"turns": turns}, ALLOW)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            value = json.loads(line)
            if value["type"] == "control_request":
                self._answer(value)
            elif value["type"] == "control_cancel_request":
                self.given_up.append(value["request_id"])
            self._lines.append(line)

    def _answer(self, value: dict[str, Any]) -> None:
        request = value["request"]
        assert request["subtype"] == "hook_callback"
        self.asked.append(request)
        answer = self.answers[request["callback_id"]]
        if isinstance(answer, str):
            response = {"subtype": "error", "request_id": value["request_id"], "error": answer}
        else:
            response = {"subtype": "success", "request_id": value["request_id"], "response": answer}
        if answer is not None:
            self.send({"type": "control_response", "response": response})

    def send(self, value: Any) -> None:
        """Send a line at a time, from whichever thread."""
        with self._sending:
            super().send(value)


def decides(decision: str, **more: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}}


def registration(**hooks: Any) -> dict[str, Any]:
    return control("initialize", hooks=hooks)


def before_bash(name: str, **more: Any) -> dict[str, Any]:
    return registration(PreToolUse=[{"matcher": "Bash", "hookCallbackIds": [name], **more}])


TURNS: list[Any] = [[bash("touch ran.txt")], [{"text": "end"}]]


def denials(ran: Ran) -> list[str]:
    return [one["tool_name"] for one in ran.results[-1]["permission_denials"]]


def test_a_callback_reads_the_event_and_denies(place: Place) -> None:
    client = Client(place, TURNS, {"guard": decides("deny", permissionDecisionReason="not here")})
    ran = client.hold([before_bash("guard"), "go"])
    (asked,) = client.asked
    assert asked["input"]["hook_event_name"] == "PreToolUse"
    assert asked["input"]["tool_input"]["command"] == "touch ran.txt"
    assert asked["tool_use_id"] == asked["input"]["tool_use_id"]
    assert denials(ran) == ["Bash"]
    assert not (place.project / "ran.txt").exists()


def test_callbacks_of_other_tools_are_not_asked_and_all_of_one_event_are(place: Place) -> None:
    others = {"matcher": "Write", "hookCallbackIds": ["other"]}
    every = {"hookCallbackIds": ["first", "second"], "timeout": 30}
    client = Client(place, TURNS, {"first": {}, "second": decides("allow"), "stop": {"decision": None}})
    stop = [{"matcher": None, "hookCallbackIds": ["stop"]}]
    ran = client.hold([registration(PreToolUse=[others, every], Stop=stop), "go"])
    assert [one["callback_id"] for one in client.asked] == ["first", "second", "stop"]
    assert denials(ran) == []
    assert (place.project / "ran.txt").exists()


def test_a_callback_and_a_hook_of_a_file_decide_together(place: Place) -> None:
    place.hook("PreToolUse", "exit 2", matcher="Bash")
    client = Client(place, TURNS, {"guard": decides("allow", updatedInput={"command": "touch other.txt"})})
    assert denials(client.hold([before_bash("guard"), "go"])) == ["Bash"]


def test_an_input_that_a_callback_rewrote_is_what_runs(place: Place) -> None:
    rewritten = decides("allow", updatedInput={"command": "touch other.txt", "description": "x"})
    client = Client(place, TURNS, {"guard": rewritten})
    client.hold([before_bash("guard"), "go"])
    assert (place.project / "other.txt").exists()
    assert not (place.project / "ran.txt").exists()


@pytest.mark.parametrize(("more", "refused"), [({}, False), ({"onFailure": "block"}, True)])
def test_a_callback_that_fails_is_an_error_and_refuses_only_where_it_was_told_to(
    place: Place, more: dict[str, Any], refused: bool
) -> None:
    client = Client(place, TURNS, {"guard": "it broke"})
    ran = client.hold([before_bash("guard", **more), "go"])
    (response,) = ran.of("system", "hook_response")
    assert response["outcome"] == "error"
    assert "it broke" in json.dumps(response)
    assert (denials(ran) == ["Bash"]) is refused
    assert (place.project / "ran.txt").exists() is not refused


def test_a_callback_that_takes_too_long_is_given_up_and_told_so(place: Place) -> None:
    client = Client(place, TURNS, {"guard": None})
    ran = client.hold([before_bash("guard", timeout=0.2), "go"])
    assert len(client.given_up) == 1
    assert denials(ran) == ["Bash"]  # on PreToolUse a callback that never answers blocks
    assert not (place.project / "ran.txt").exists()
    assert [line["outcome"] for line in ran.of("system", "hook_response")] == ["cancelled"]


@pytest.mark.parametrize("more", [{}, {"onFailure": "block"}])
def test_a_program_that_goes_away_holds_nothing_up_and_approves_nothing(place: Place, more: dict[str, Any]) -> None:
    client = Client(place, TURNS, {"guard": None})

    def leaves(dialogue: Dialogue) -> None:
        dialogue.send(before_bash("guard", **more))
        dialogue.send("go")
        dialogue.wait_for(lambda line: line["type"] == "control_request")
        assert dialogue.process.stdin is not None
        dialogue.process.stdin.close()
        dialogue.wait_for(lambda line: line["type"] == "result")

    ran = client.hold([leaves])
    assert denials(ran) == ["Bash"]
    assert not (place.project / "ran.txt").exists()


@pytest.mark.parametrize(
    ("hooks", "said"),
    [
        ({"PreTool": []}, "hooks.PreTool: not an event"),
        ({"Stop": {}}, "hooks.Stop: {} is not a list"),
        ({"Stop": ["x"]}, "hooks.Stop[0]: 'x' is not an object"),
        ({"Stop": [{"hookCallbackIds": "x"}]}, "hooks.Stop[0].hookCallbackIds: 'x' is not a list"),
        ({"Stop": [{"matcher": 1, "hookCallbackIds": []}]}, "hooks.Stop[0].matcher: 1 is not a string"),
        ({"Stop": [{"timeout": -1, "hookCallbackIds": []}]}, "hooks.Stop[0].timeout: -1 is not a positive number"),
        ({"Stop": [{"onFailure": "x", "hookCallbackIds": []}]}, "hooks.Stop[0].onFailure"),
        ("x", "hooks: 'x' is not an object"),
    ],
)
def test_a_registration_that_cannot_be_read_is_refused_with_its_place(place: Place, hooks: Any, said: str) -> None:
    ran = Client(place, [[{"text": "end"}]], {}).hold([control("initialize", hooks=hooks), "go"])
    (response,) = ran.of("control_response")
    assert response["response"]["subtype"] == "error"
    assert said in response["response"]["error"]
    assert ran.text == "end"
