"""The real claude-agent-sdk on one end, `hookwright run --script` on the other."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookContext,
    HookInput,
    HookJSONOutput,
    HookMatcher,
    Message,
    ResultMessage,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    query,
)

LIMIT = 60.0
#: The installed program, which the SDK can start as its `cli_path`.
PROGRAM = str(Path(sys.executable).with_name("hookwright"))


def works(*rows: str) -> pytest.MarkDecorator:
    """Mark a test that shows that rows of docs/sdk.md work."""
    return pytest.mark.sdk("works", *rows)


def said(*rows: str) -> pytest.MarkDecorator:
    """Mark a test that shows that rows of docs/sdk.md have no effect, or another one, and that this is said."""
    return pytest.mark.sdk("said", *rows)


def refused(*rows: str) -> pytest.MarkDecorator:
    """Mark a test that shows that rows of docs/sdk.md are refused."""
    return pytest.mark.sdk("refused", *rows)


class Bench:
    """A home, a project, a scripted model, and a program that stands for the SDK's own."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "project"
        for folder in (self.home, self.project / ".claude"):
            folder.mkdir(parents=True)
        self.script = root / "script.json"
        self.seen = root / "seen.jsonl"
        self.cli = root / "cli"
        words = shlex.join([sys.executable, "-m", "hookwright.cli", "run", "--script", str(self.script)])
        self.cli.write_text(f'#!/bin/sh\nunset ANTHROPIC_API_KEY OPENAI_API_KEY\nexec {words} "$@"\n')
        self.cli.chmod(0o755)

    def options(self, **more: Any) -> ClaudeAgentOptions:
        """Return options for this bench; `env` is added to its own."""
        env = {"HOME": str(self.home), "HOOKWRIGHT_TRUST": "1", "TMPDIR": str(self.home), **more.pop("env", {})}
        cli = more.pop("cli_path", str(self.cli))
        return ClaudeAgentOptions(cli_path=cli, cwd=str(self.project), env=env, **more)

    def play(self, *turns: Any, **more: Any) -> None:
        """Write the model's script."""
        self.script.write_text(json.dumps({"turns": list(turns), **more}))

    def settings(self, value: Mapping[str, Any]) -> None:
        """Write the project's settings."""
        (self.project / ".claude" / "settings.json").write_text(json.dumps(value))

    def file(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def exists(self, name: str) -> bool:
        """Return whether the project has a file."""
        return (self.project / name).exists()

    def ask(self, prompt: str | Sequence[Mapping[str, Any]], **more: Any) -> Heard:
        """Send a prompt, or a stream of them, with `query()`; return every message."""

        async def run() -> list[Message]:
            given: Any = prompt if isinstance(prompt, str) else _stream(prompt)
            return [message async for message in query(prompt=given, options=self.options(**more))]

        return Heard(asyncio.run(asyncio.wait_for(run(), LIMIT)))

    def talk(self, work: Callable[[ClaudeSDKClient], Awaitable[Any]], **more: Any) -> Any:
        """Connect a `ClaudeSDKClient` and work with it."""

        async def run() -> Any:
            async with ClaudeSDKClient(self.options(**more)) as client:
                return await work(client)

        return asyncio.run(asyncio.wait_for(run(), LIMIT))


async def _stream(lines: Sequence[Mapping[str, Any]]) -> AsyncIterator[Mapping[str, Any]]:
    for line in lines:
        yield line


async def turn(client: ClaudeSDKClient, prompt: str) -> Heard:
    """Send a prompt and return its messages up to the result."""
    await client.query(prompt)
    return Heard([message async for message in client.receive_response()])


class Heard:
    """The messages of a run."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = list(messages)

    @property
    def results(self) -> list[ResultMessage]:
        """The results, in order."""
        return [message for message in self.messages if isinstance(message, ResultMessage)]

    @property
    def result(self) -> ResultMessage:
        """The last result."""
        return self.results[-1]

    @property
    def texts(self) -> list[str]:
        """The texts of the model."""
        said = [message for message in self.messages if isinstance(message, AssistantMessage)]
        return [block.text for message in said for block in message.content if isinstance(block, TextBlock)]

    @property
    def tool_results(self) -> list[ToolResultBlock]:
        """The results of tool calls, in the order of the calls: calls that change nothing end in any order."""
        said = [message for message in self.messages if isinstance(message, AssistantMessage)]
        calls = [block.id for message in said for block in message.content if isinstance(block, ToolUseBlock)]
        users = [message for message in self.messages if isinstance(message, UserMessage)]
        blocks = [block for message in users if isinstance(message.content, list) for block in message.content]
        results = [block for block in blocks if isinstance(block, ToolResultBlock)]
        return sorted(results, key=lambda result: calls.index(result.tool_use_id))

    def system(self, subtype: str) -> list[dict[str, Any]]:
        """Return the system messages of one kind."""
        found = [message for message in self.messages if isinstance(message, SystemMessage)]
        return [message.data for message in found if message.subtype == subtype]


#: An answer, what to raise, or a function from the event to the answer.
Answer = Mapping[str, Any] | Exception | Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Guard:
    """A callback that notes what it is asked and gives one answer."""

    def __init__(self, answer: Answer | None = None) -> None:
        self.answer: Answer = answer if answer is not None else {}
        self.asked: list[dict[str, Any]] = []

    async def __call__(self, given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
        """Answer, or raise."""
        self.asked.append(dict(given))
        if isinstance(self.answer, Exception):
            raise self.answer
        answer = self.answer(dict(given)) if callable(self.answer) else self.answer
        return dict(answer)  # type: ignore[return-value]  # one dict for every event

    @property
    def commands(self) -> list[str]:
        """The Bash commands it was asked about."""
        return [asked["tool_input"]["command"] for asked in self.asked if asked.get("tool_name") == "Bash"]

    def on(self, event: str, matcher: str | None = None, **more: Any) -> dict[Any, list[HookMatcher]]:
        """Return `hooks=` with this callback on one event."""
        return {event: [HookMatcher(matcher=matcher, hooks=[self], **more)]}


def decides(decision: str, **more: Any) -> dict[str, Any]:
    """Return a PreToolUse answer."""
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}}


def user(content: Any) -> dict[str, Any]:
    """Return a line of a prompt stream."""
    return {"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": None}


def tool(name: str, /, **arguments: Any) -> dict[str, Any]:
    """Return the block of a tool call."""
    return {"tool": name, "input": arguments}


def bash(command: str, **more: Any) -> dict[str, Any]:
    """Return the block of a Bash call."""
    return tool("Bash", command=command, description="run", **more)


def text(words: str) -> dict[str, Any]:
    """Return a block of text."""
    return {"text": words}
