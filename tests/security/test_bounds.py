"""No pattern, name or address of somebody else costs more than its share or leads where it should not."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hookwright.config import Places
from hookwright.config.scripts import Reach, named_files
from hookwright.executors import _httpclient
from hookwright.matching.conditions import Reading, Where, parse_rule
from hookwright.matching.matchers import compile_matcher
from hookwright.protocol.handlers import CommandHandler
from hookwright.protocol.outcome import Deny, Outcome
from hookwright.protocol.sources import Scope, Source
from hookwright.session import open_session
from support import event, hooks_for

WHERE = Where(cwd="/w", home="/h", anchor="/w")
#: Very generous: the point is that none of these takes minutes.
SECONDS = 3.0


def quickly(work: Any) -> None:
    started = time.process_time()
    work()
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        ("^(a+)+$", "a" * 500 + "!"),
        ("(a|a)*b", "a" * 500),
        ("(.*)*x", "y" * 500),
        ("([a-z]+)*[A-Z]", "a" * 500),
        ("(a?){40}a{40}", "a" * 40),
        ("((a*)*)*b", "a" * 500),
        ("(?=(a+))+b", "a" * 500),
        ("^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 500),
        ("x{1,1000}{1,1000}y", "x" * 500),
    ],
)
def test_no_matcher_explodes(pattern: str, value: str) -> None:
    quickly(lambda: compile_matcher(pattern).matches(value))


@pytest.mark.parametrize(
    ("rule", "tool", "given"),
    [
        ("Bash(" + "a*" * 100 + "b)", "Bash", {"command": "a" * 5000}),
        ("Bash(* * * * * * * * * * x)", "Bash", {"command": "a " * 3000}),
        ("Edit(" + "**/" * 50 + "x)", "Edit", {"file_path": "/w/" + "a/" * 500}),
        ("Edit(" + "*a" * 60 + ")", "Edit", {"file_path": "/w/" + "a" * 2000 + "b"}),
        (
            "Edit({a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b})",
            "Edit",
            {"file_path": "x"},
        ),
        ("WebFetch(domain:" + "*a" * 40 + ".com)", "WebFetch", {"url": "https://" + "a" * 250 + ".org/"}),
        ("WebFetch(domain:" + "*." * 40 + "com)", "WebFetch", {"url": "https://" + "a." * 120 + "org/"}),
        ("mcp__" + "*a" * 60, "mcp__" + "a" * 3000 + "b", {}),
        ("Tool(x:" + "*a" * 60 + ")", "Tool", {"x": "a" * 3000 + "b"}),
    ],
)
def test_no_rule_explodes(rule: str, tool: str, given: dict[str, Any]) -> None:
    def work() -> None:
        read = parse_rule(rule)
        for reading in Reading:
            read.match(tool, given, WHERE, reading)

    quickly(work)


@pytest.mark.parametrize(
    "command",
    [
        "$(" * 5000,
        "`" * 5000,
        '"' * 20001,
        "\\" * 20000,
        "a=" * 10000,
        "${CLAUDE_PROJECT_DIR:-" * 2000,
        "$( git rev-parse --show-toplevel" * 2000,
        "* " * 5000,
        "cd " * 5000,
        ";" * 50000,
        "<" * 20000 + ">" * 20000,
    ],
)
def test_no_command_takes_long_to_bind(command: str, tmp_path: Path) -> None:
    handler = CommandHandler(source=Source(Scope.PROJECT, from_project=True), command=command)
    quickly(lambda: named_files(handler, Reach(str(tmp_path), str(tmp_path), str(tmp_path))))


@pytest.mark.parametrize(
    "command", ["(" * 20000, "$(" * 3000, "<<EOF\n" * 500, "'" * 9999, "{ " * 5000, "case x in " * 500]
)
def test_no_command_of_a_model_takes_long_to_judge(command: str) -> None:
    rule = parse_rule("Bash(rm *)")
    quickly(lambda: rule.matches_any("Bash", {"command": command}, WHERE))


# ── addresses ───────────────────────────────────────────────────────────────


class Nowhere(_httpclient._Connection):
    """Refuses to connect anywhere: these tests must not reach what they ask for."""

    tried: ClassVar[list[str]] = []

    @classmethod
    async def open(cls, address: str, *_: Any) -> Any:
        cls.tried.append(address)
        raise ConnectionRefusedError("refused by the test")


METADATA = (
    "http://169.254.169.254/latest/meta-data/",
    "http://[::ffff:169.254.169.254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[fd00:ec2::254]/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://169.254.169.254.:80/",
    "http://metadata.google.internal/",
    "http://user@169.254.169.254/",
    "http://169.254.169.254\\@good.example/",
)


def fire(folder: Path, handler: dict[str, Any], scope: str) -> Outcome:
    text = hooks_for("PreToolUse", handler)
    env = {"HOME": str(folder / "home"), "HOOKWRIGHT_MANAGED_SETTINGS": str(folder / "none"), "HOOKWRIGHT_TRUST": "1"}
    where = folder / ("project" if scope == "project" else "home") / ".claude" / "settings.json"
    where.parent.mkdir(parents=True, exist_ok=True)
    where.write_text(json.dumps(text))
    (folder / "project").mkdir(exist_ok=True)

    async def main() -> Outcome:
        async with open_session(Places(project=str(folder / "project"), env=env)) as session:
            return await session.fire(event("PreToolUse", cwd=str(folder / "project")))

    return asyncio.run(main())


@pytest.mark.parametrize("url", METADATA)
def test_a_trusted_project_hook_never_connects_to_metadata(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_httpclient, "_Connection", Nowhere)
    Nowhere.tried.clear()
    outcome = fire(tmp_path, {"type": "http", "url": url, "onFailure": "block"}, "project")
    assert Nowhere.tried == []
    assert isinstance(outcome.decision, Deny)


def test_the_guard_of_these_tests_is_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_httpclient, "_Connection", Nowhere)
    Nowhere.tried.clear()
    fire(tmp_path, {"type": "http", "url": "http://127.0.0.1:9/"}, "project")
    assert Nowhere.tried == ["127.0.0.1"]
