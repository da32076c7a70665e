"""The life of a chat without a screen: a host that answers, real hooks, a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from hookwright.agent.state.options import AgentOptions, NewSession
from hookwright.agent.state.session import Permission, PermissionQuestion
from hookwright.config import Review, Reviewed
from hookwright.mcp.values import ElicitationRequest, Elicited
from hookwright.observers import Notice
from hookwright.tui.chat.chat import Chat as ChatSession
from hookwright.tui.chat.choices import ByRule, reply
from hookwright.tui.chat.plan import ChatPlan
from hookwright.tui.feed.feed import Feed
from hookwright.tui.feed.items import (
    AddedText,
    AnswerText,
    Banner,
    CallItem,
    CallState,
    FiringItem,
    Hooked,
    Item,
    Level,
    PromptItem,
    Remark,
)
from support import settings
from tui.chats import Chat, bash, text, write


class Host:
    """A view that answers from a list and looks at every change."""

    def __init__(self, chat: Chat, *answers: Permission, **options: Any) -> None:
        self.can_ask = True
        self.answers = list(answers)
        self.questions: list[PermissionQuestion] = []
        self.delay = 0.0
        self.trusts: Callable[[Reviewed], bool] = lambda item: True
        self.seen: list[Item] = []
        self.changes = asyncio.Event()
        chosen = AgentOptions(
            cwd=str(chat.project), env=chat.env, home=str(chat.home), attended=True, one_shot=False, **options
        )
        self.feed = Feed(chosen.cwd)
        plan = ChatPlan(options=chosen, script=str(chat.project.parent / "script.json"))
        self.chat = ChatSession(plan, self.feed, self)

    def changed(self) -> None:
        self.changes.set()

    def observe(self, notice: Notice) -> None:
        pass

    async def permit(self, question: PermissionQuestion) -> Permission:
        self.questions.append(question)
        await asyncio.sleep(self.delay)
        return self.answers.pop(0)

    async def fill_in(self, asked: ElicitationRequest) -> Elicited:
        return Elicited("cancel")

    async def review(self, found: Review) -> Sequence[Reviewed]:
        return [item for item in found.pending if self.trusts(item)]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for a change after which something holds."""
        async with asyncio.timeout(30):
            while not holds():
                self.changes.clear()
                try:
                    await asyncio.wait_for(self.changes.wait(), 0.05)
                except TimeoutError:
                    continue

    async def talk(self, *prompts: str, meanwhile: Callable[[], bool] | None = None) -> list[Item]:
        """Say something, wait for the answers, end; give what then stands on the screen."""
        running = asyncio.ensure_future(self.chat.run())
        await self.until(lambda: self.chat.agent is not None or running.done())
        for prompt in prompts:
            self.chat.submit(prompt)
            await self.until(lambda: not self.chat.queued and not self.feed.busy)
        if meanwhile is not None:
            await self.until(meanwhile)
        self.chat.leave()
        await running
        return self.feed.items


def kinds(items: Sequence[Item]) -> list[str]:
    """Name what an ordinary view shows."""
    return [type(item).__name__ for item in items if not isinstance(item, FiringItem | AddedText)]


def test_a_turn_becomes_prompt_answer_call_and_a_quiet_line(chat: Chat) -> None:
    chat.hook("UserPromptSubmit", "echo context")
    chat.hook("PreToolUse", "", matcher="Bash")
    chat.hook("PostToolUse", "", matcher="Bash")
    chat.hook("Stop", "")
    chat.script([text("I look."), bash("echo found")], [text("It is there.")])

    async def run() -> None:
        items = await Host(chat).talk("look")
        assert kinds(items) == ["Banner", "PromptItem", "AnswerText", "CallItem", "AnswerText", "Hooked"]
        prompt, call = items[1], next(item for item in items if isinstance(item, CallItem))
        assert isinstance(prompt, PromptItem)
        assert [firing.event.event_name for firing in prompt.firings] == ["UserPromptSubmit"]
        assert (call.state, call.result) == (CallState.DONE, "found")
        assert [firing.event.event_name for firing in call.firings] == ["PreToolUse", "PostToolUse"]
        assert isinstance(items[-1], Hooked)
        assert [firing.event.event_name for firing in items[-1].firings] == ["Stop"]
        assert sum(isinstance(item, FiringItem) for item in items) == 4
        assert [item.hook_name for item in items if isinstance(item, AddedText)] == ["UserPromptSubmit"]

    asyncio.run(run())


@pytest.mark.req("R-335")
def test_a_message_that_a_hook_adds_is_there_before_the_model_answers(chat: Chat) -> None:
    chat.hook("UserPromptSubmit", "echo a word")
    chat.script([{"delay": 60}, text("Too late.")])

    async def run() -> None:
        host = Host(chat)
        running = asyncio.ensure_future(host.chat.run())
        await host.until(lambda: host.chat.agent is not None)
        host.chat.submit("go")
        await host.until(lambda: any(isinstance(item, AddedText) for item in host.feed.items))
        assert not any(isinstance(item, AnswerText) for item in host.feed.items)
        assert host.chat.interrupt()
        await host.until(lambda: not host.feed.busy)
        host.chat.leave()
        await running
        assert Remark(text="Interrupted.", level=Level.WARNING, tag="interrupted") in host.feed.items

    asyncio.run(run())


NOTIFIED = 'sed "s/.*\\"notification_type\\":\\"\\([a-z_]*\\)\\".*/type-\\1/" >> "$TRACE"'


@pytest.mark.req("R-345")
def test_a_question_left_waiting_becomes_a_notification_and_a_quick_answer_none(chat: Chat) -> None:
    chat.hook("Notification", NOTIFIED)
    chat.script([bash("mkdir one")], [bash("mkdir two")], [text("Done.")])

    async def run() -> None:
        host = Host(chat, Permission(allow=True), Permission(allow=False), question_notice=0.3)
        await host.talk("go")
        assert chat.traced == []
        host = Host(chat, Permission(allow=True), Permission(allow=False), question_notice=0.05)
        host.delay = 0.4
        await host.talk("go", meanwhile=lambda: len(chat.traced) >= 4)
        assert set(chat.traced) == {"Notification", "type-permission_prompt"}

    asyncio.run(run())


@pytest.mark.req("R-346")
def test_nobody_says_anything_for_a_while(chat: Chat) -> None:
    chat.hook("Notification", NOTIFIED)
    chat.script([text("Hello.")])

    async def run() -> None:
        await Host(chat, idle_notice=0.05).talk("go", meanwhile=lambda: "type-idle_prompt" in chat.traced)

    asyncio.run(run())


def test_a_rule_of_the_person_is_kept_and_trusted_with_the_settings_that_were_trusted_before(chat: Chat) -> None:
    settings(chat.project, {"permissions": {"deny": ["Read(./.env)"]}})
    chat.script([write("src/a.txt", "a")], [write("src/b.txt", "b")], [text("Done.")])

    async def run() -> None:
        host = Host(chat, reply(ByRule("Write(/src/**)")))
        await host.talk("go")
        assert len(host.questions) == 1
        again = Host(chat)
        again.trusts = lambda item: pytest.fail(f"asked again about {item.item.label}")
        await again.talk()

    asyncio.run(run())
    local = json.loads((chat.project / ".claude" / "settings.local.json").read_text())
    assert local == {"permissions": {"allow": ["Write(/src/**)"]}}


def test_a_rule_of_the_person_lends_no_trust_to_what_somebody_else_changed(chat: Chat) -> None:
    settings(chat.project, {"permissions": {"deny": ["Read(./.env)"]}})
    chat.script([write("src/a.txt", "a")], [text("Done.")])

    async def run() -> None:
        host = Host(chat, reply(ByRule("Write(/src/**)")))
        answer = host.permit

        async def tampered(question: PermissionQuestion) -> Permission:
            settings(chat.project, {"permissions": {"allow": ["Bash"]}})
            return await answer(question)

        host.permit = tampered  # type: ignore[method-assign]
        await host.talk("go")
        asked: list[str] = []
        again = Host(chat)
        again.trusts = lambda item: asked.append(item.item.label) is not None  # type: ignore[func-returns-value]
        await again.talk()
        assert asked == ["permissions"]

    asyncio.run(run())


def test_what_nobody_trusts_does_not_run_and_is_told_in_one_line(chat: Chat) -> None:
    chat.hook("UserPromptSubmit", "", place="project")
    chat.hook("Stop", "", place="project")
    chat.script([text("Hello.")])

    async def run() -> None:
        host = Host(chat)
        host.trusts = lambda item: False
        items = await host.talk("go")
        told = [item.text for item in items if isinstance(item, Remark)]
        assert told == [
            "2 items of the project not trusted: off until you trust them in /hooks or with: hookwright trust"
        ]
        assert isinstance(items[0], Banner)
        assert items[0].hooks == "0 hooks active from 1 file, 2 off (untrusted)"
        assert chat.traced == []

    asyncio.run(run())


def test_settings_trusted_in_the_middle_of_a_session_count_at_once(chat: Chat) -> None:
    settings(chat.project, {"permissions": {"allow": ["Bash(mkdir:*)"]}})
    chat.script([bash("mkdir one")], [text("Denied.")], [bash("mkdir two")], [text("Made.")])

    async def run() -> None:
        host = Host(chat, Permission(allow=False))
        host.trusts = lambda item: False
        running = asyncio.ensure_future(host.chat.run())
        await host.until(lambda: host.chat.agent is not None)
        host.chat.submit("one")
        await host.until(lambda: not host.chat.queued and not host.feed.busy)
        host.trusts = lambda item: True
        await host.chat.review_trust()
        host.chat.submit("two")
        await host.until(lambda: not host.chat.queued and not host.feed.busy)
        host.chat.leave()
        await running
        assert len(host.questions) == 1

    asyncio.run(run())
    assert [path.name for path in chat.project.iterdir() if path.name != ".claude"] == ["two"]


def test_text_is_held_back_while_hooks_may_rewrite_what_is_displayed(chat: Chat) -> None:
    body = """echo '{"hookSpecificOutput": {"hookEventName": "MessageDisplay", "displayContent": "a *** word"}}'"""
    chat.hook("MessageDisplay", body)
    chat.script([text("a secret word")], pace=0.01)

    async def run() -> None:
        host = Host(chat)
        seen: set[str] = set()
        changed = host.changed

        def look() -> None:
            seen.update(item.text for item in host.feed.items if isinstance(item, AnswerText))
            changed()

        host.changed = look  # type: ignore[method-assign]
        await host.talk("go")
        assert seen == {"a *** word"}

    asyncio.run(run())


def test_a_model_that_cannot_be_asked_is_told_and_the_session_goes_on(chat: Chat) -> None:
    chat.script([{"error": 401, "etype": "authentication_error", "message": "bad key"}], [text("Better.")])

    async def run() -> None:
        items = await Host(chat).talk("one", "two")
        errors = [item for item in items if isinstance(item, Remark) and item.level is Level.ERROR]
        assert ["bad key" in error.text for error in errors] == [True]
        assert any(isinstance(item, AnswerText) and item.text == "Better." for item in items)

    asyncio.run(run())


def test_a_hook_in_the_background_is_told_quietly_and_its_words_with_the_next_prompt(chat: Chat) -> None:
    body = """echo '{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "checked late"}}'"""
    command = str(chat.hook("PostToolUse", body, matcher="Bash"))
    hook = {"type": "command", "command": command, "async": True}
    settings(chat.home, {"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [hook]}]}})
    chat.script([bash("echo hi")], [text("One.")], [text("Two.")])

    async def run() -> None:
        host = Host(chat)
        running = asyncio.ensure_future(host.chat.run())
        await host.until(lambda: host.chat.agent is not None)
        host.chat.submit("go")
        await host.until(lambda: any(isinstance(item, Remark) and item.tag == "background" for item in host.feed.items))
        await host.until(lambda: not host.feed.busy and not host.chat.queued)
        host.chat.submit("and now")
        await host.until(lambda: not host.feed.busy and not host.chat.queued)
        host.chat.leave()
        await running
        [told] = [item for item in host.feed.items if isinstance(item, Remark)]
        assert told == Remark(
            text="PostToolUse:Bash hook posttooluse-0.sh ended in the background: exit 0",
            level=Level.QUIET,
            tag="background",
        )
        assert any(isinstance(item, AddedText) and item.text == "checked late" for item in host.feed.items)

    asyncio.run(run())


def test_a_chat_left_before_its_session_is_open_ends_at_once(chat: Chat) -> None:
    chat.hook("SessionStart", "sleep 20")
    chat.script([text("Hello.")])

    async def run() -> None:
        host = Host(chat)
        running = asyncio.ensure_future(host.chat.run())
        await host.until(lambda: "SessionStart" in chat.traced)
        assert host.chat.agent is None
        assert host.chat.resume(NewSession()) is False
        host.chat.leave()
        async with asyncio.timeout(10):
            await running

    asyncio.run(run())


def test_another_session_follows_and_leaving_while_it_is_about_to_start_ends_the_chat(chat: Chat) -> None:
    chat.hook("SessionEnd", 'sed "s/.*\\"reason\\":\\"\\([a-z_]*\\)\\".*/because-\\1/" >> "$TRACE"')
    chat.script([text("Hello.")])

    async def run() -> None:
        host = Host(chat)
        running = asyncio.ensure_future(host.chat.run())
        await host.until(lambda: host.chat.agent is not None)
        first = host.chat.agent
        assert host.chat.resume(NewSession())
        await host.until(lambda: host.chat.agent not in (None, first))
        assert host.chat.resume(NewSession())
        host.chat.leave()
        async with asyncio.timeout(20):
            await running
        assert host.chat.agent is None

    asyncio.run(run())
    assert [word for word in chat.traced if word.startswith("because")] == [
        "because-resume",
        "because-prompt_input_exit",
    ]
