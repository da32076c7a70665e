"""Rules a person keeps never switch off the project settings they trusted, whichever host they answer through."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agent.runs import Dialogue, Place, Ran, bash, tool
from hookwright import Places
from hookwright.agent import AgentOptions, Permission, PermissionQuestion, Person, open_agent
from hookwright.config import review
from hookwright.models.script import parse_script
from hookwright.models.scripted import ScriptedModel

DENY = ["Read(secret.txt)"]
Update = Mapping[str, Any]


def rules(kind: str, *contents: str, behavior: str = "allow", destination: str = "localSettings") -> Update:
    listed = [{"toolName": "Bash", "ruleContent": content} for content in contents]
    return {"type": kind, "rules": listed, "behavior": behavior, "destination": destination}


ALLOW = rules("addRules", "touch:*")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.settings = {"permissions": {"deny": DENY, "allow": ["Bash(echo:*)"]}}
    place.file("secret.txt", "SECRET")
    return place


def turns(place: Place) -> list[Any]:
    read = tool("Read", file_path=str(place.project / "secret.txt"))
    return [[bash("touch one")], [bash("touch two")], [read], [{"text": "end"}]]


def pending(place: Place) -> list[str]:
    """Return the entries of project settings that are not trusted."""
    found = review(Places(project=str(place.project), env=place.env).load())
    return [item.item.entry for item in found.pending if not item.item.event]


# ── through the control protocol ────────────────────────────────────────────


def answer_each(place: Place, updates: list[Update], tamper: Callable[[], None] = lambda: None) -> Ran:
    """Allow every call; the first answer carries the updates."""

    def talk(dialogue: Dialogue) -> None:
        dialogue.send("go")
        for number in itertools.count(1):
            dialogue.wait_for(lambda line: line["type"] in ("control_request", "result"), number)
            asked = [json.loads(line) for line in dialogue._lines if '"control_request"' in line]
            if len(asked) < number:
                return
            if number == 1:
                tamper()
            answer = {"behavior": "allow", "updatedPermissions": updates if number == 1 else []}
            response = {"subtype": "success", "request_id": asked[-1]["request_id"], "response": answer}
            dialogue.send({"type": "control_response", "response": response})

    return place.talk({"turns": turns(place)}, [talk], "--permission-prompt-tool", "stdio")


@pytest.mark.req("R-245", "R-366")
def test_a_reply_of_the_control_protocol_keeps_the_projects_deny_rules(place: Place) -> None:
    place.trust_as_it_is()
    ran = answer_each(place, [ALLOW])
    assert len(ran.of("control_request")) == 1
    assert (place.project / "two").exists()
    assert "SECRET" not in ran.stdout
    assert "setting-ignored" not in ran.stdout + ran.stderr
    local = json.loads((place.project / ".claude" / "settings.local.json").read_text())
    assert local == {"permissions": {"allow": ["Bash(touch:*)"]}}
    assert pending(place) == []


def test_a_reply_of_the_control_protocol_lends_no_trust_to_what_someone_else_changed(place: Place) -> None:
    place.trust_as_it_is()
    changed = {"permissions": {"allow": ["Bash"]}}

    def tamper() -> None:
        place.file(".claude/settings.json", json.dumps(changed))

    answer_each(place, [ALLOW], tamper)
    (entry,) = pending(place)
    assert json.loads(entry) == {"project": changed, "local": {"permissions": {"allow": ["Bash(touch:*)"]}}}


# ── through an embedder's person ────────────────────────────────────────────


class Asked:
    """A person who allows everything; the first answer carries the updates."""

    def __init__(self, updates: tuple[Update, ...]) -> None:
        self.updates = updates
        self.questions: list[str] = []

    async def permit(self, question: PermissionQuestion) -> Permission:
        self.questions.append(str(question.tool_input.get("command")))
        updates, self.updates = self.updates, ()
        return Permission(allow=True, updated_permissions=updates)


def embedded(place: Place, *updates: Update) -> tuple[list[str], list[str], str]:
    """Return what the person was asked, the deny rules at the end, and what the model read."""
    person = Asked(updates)
    given = AgentOptions(cwd=str(place.project), env=place.env, home=str(place.home))
    model = ScriptedModel(parse_script({"turns": turns(place)}))

    async def run() -> tuple[list[str], list[str], str]:
        async with open_agent(given, model=model, person=Person(person.permit)) as agent:
            result = await agent.run("go")
            listed = agent.session.permissions.rules.listed
            denied = [rule.rule.text for rule in listed if rule.behavior.value == "deny"]
            return person.questions, denied, str(result.messages)

    return asyncio.run(run())


@pytest.mark.req("R-245", "R-366")
@pytest.mark.parametrize(
    "update",
    [
        ALLOW,
        rules("addRules", "touch:*", destination="projectSettings"),
        rules("replaceRules", "touch:*", destination="projectSettings"),
        rules("removeRules", "echo:*", destination="projectSettings"),
        rules("removeRules", "no such rule"),
        {"type": "addDirectories", "directories": ["/usr"], "destination": "localSettings"},
        {"type": "removeDirectories", "directories": ["/usr"], "destination": "projectSettings"},
        {"type": "setMode", "mode": "acceptEdits", "destination": "localSettings"},
        {"type": "setMode", "mode": "bypassPermissions", "destination": "localSettings"},
        {"type": "addRules", "rules": "none", "behavior": "allow", "destination": "localSettings"},
        rules("addRules", "touch:*", destination="userSettings"),
        rules("addRules", "touch:*", destination="session"),
    ],
    ids=lambda update: f"{update['type']}-{update.get('mode', '')}-{update['destination']}",
)
def test_a_person_of_a_program_keeps_the_projects_deny_rules_with_every_kind_of_update(
    place: Place, update: Update
) -> None:
    place.trust_as_it_is()
    _, denied, messages = embedded(place, update)
    assert denied == DENY
    assert "SECRET" not in messages
    assert pending(place) == []


def test_several_updates_in_one_answer_are_kept_together(place: Place) -> None:
    place.trust_as_it_is()
    asked, denied, _ = embedded(place, ALLOW, rules("addRules", "curl:*", behavior="deny"), rules("addRules", "a"))
    assert asked == ["touch one"]
    assert denied == [*DENY, "Bash(curl:*)"]
    assert pending(place) == []


def test_a_person_of_a_program_lends_no_trust_to_settings_that_were_not_trusted(place: Place) -> None:
    place.trust_as_it_is()
    place.settings = {"permissions": {"allow": ["Bash"]}}
    place.command({"turns": []})
    asked, denied, _ = embedded(place, ALLOW)
    assert (asked, denied) == (["touch one", "touch two"], [])
    assert len(pending(place)) == 1


def test_a_rule_of_a_person_is_trusted_in_a_project_that_had_no_settings(place: Place) -> None:
    place.settings = {}
    place.trust_as_it_is()
    embedded(place, ALLOW)
    assert pending(place) == []


def test_settings_trusted_elsewhere_in_the_meantime_stay_trusted(place: Place) -> None:
    """Another terminal may change and trust the settings while this session waits for an answer."""
    place.trust_as_it_is()
    person = Asked((ALLOW,))
    permit = person.permit

    async def meanwhile(question: PermissionQuestion) -> Permission:
        place.settings = {"permissions": {"deny": [*DENY, "Bash(curl:*)"]}}
        place.trust_as_it_is()
        return await permit(question)

    person.permit = meanwhile  # type: ignore[method-assign]
    given = AgentOptions(cwd=str(place.project), env=place.env, home=str(place.home))
    model = ScriptedModel(parse_script({"turns": turns(place)}))

    async def run() -> str:
        async with open_agent(given, model=model, person=Person(person.permit)) as agent:
            return str((await agent.run("go")).messages)

    assert "SECRET" not in asyncio.run(run())
    assert pending(place) == []
