"""Cases against real hooks: every expectation can hold and can fail, and the project is not touched."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hookwright.cases.case import CaseResult
from hookwright.cases.files import inside, put_files
from hookwright.cases.read import read_cases
from hookwright.cases.run import Runner, need_trust
from hookwright.config import Places
from hookwright.config.trust import TrustPolicy
from hookwright.errors import InvalidCase
from support import hooks_for, script, settings, specific


class Bench:
    """A project with hooks, and cases that are run against it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "project"
        self.home = root / "home"
        self.project.mkdir()
        self.home.mkdir()

    def places(self, trust: TrustPolicy = TrustPolicy.EVERYTHING, start: str = "") -> Places:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "HOOKWRIGHT_MANAGED_SETTINGS": str(self.root / "none"),
            "HOOKWRIGHT_STATE_DIR": str(self.root / "state"),
        }
        return Places(project=str(self.project / start), env=env, home=str(self.home), trust=trust)

    def run(self, *cases: dict[str, Any], start: str = "", scratch: bool = False) -> list[CaseResult]:
        path = self.root / "cases.json"
        path.write_text(json.dumps([{"name": str(number), **case} for number, case in enumerate(cases)]))

        async def main() -> list[CaseResult]:
            async with Runner(self.places(start=start), always_scratch=scratch) as runner:
                return await runner.run_all(read_cases(str(path)), 4)

        return asyncio.run(main())

    def problems(self, *cases: dict[str, Any], **more: Any) -> list[list[str]]:
        return [[problem.key for problem in result.problems] for result in self.run(*cases, **more)]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def says(value: Any, status: int = 0) -> dict[str, str]:
    return {"type": "command", "command": f"echo '{json.dumps(value)}'; exit {status}"}


def plain(command: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": command, **more}


PRE = {"event": "PreToolUse", "tool": "Bash"}
DENY = hooks_for("PreToolUse", plain("echo use a branch >&2; exit 2"), matcher="Bash")


@pytest.mark.parametrize(
    ("hook", "event", "right"),
    [
        (plain("echo no >&2; exit 2"), "PreToolUse", "deny"),
        (says(specific("PreToolUse", permissionDecision="allow")), "PreToolUse", "allow"),
        (says(specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="?")), "PreToolUse", "ask"),
        (says(specific("PreToolUse", permissionDecision="defer")), "PreToolUse", "defer"),
        (says({"decision": "block", "reason": "tests"}), "Stop", "block"),
        (says({"continue": False, "stopReason": "over"}), "PostToolUse", "stop"),
        (plain("true"), "PreToolUse", "none"),
    ],
)
def test_every_decision_has_its_word(bench: Bench, hook: dict[str, Any], event: str, right: str) -> None:
    settings(bench.project, hooks_for(event, hook))
    words = ("allow", "deny", "ask", "defer", "block", "stop", "none")
    found = bench.problems(*({"event": event, "expect": {"decision": word}} for word in words))
    assert [word for word, keys in zip(words, found, strict=True) if not keys] == [right]


#: A project's hook, and for each expectation one that holds and one that does not.
WISHES: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (DENY, PRE, {"reason": "branch$"}, {"reason": "^branch"}),
    (DENY, PRE, {"reason": ["use", "branch"]}, {"reason": ["use", "trunk"]}),
    (DENY, PRE, {"reason": {"not": "trunk"}}, {"reason": {"not": "branch"}}),
    (DENY, PRE, {"context": None}, {"reason": None}),
    (DENY, PRE, {"ran": 1}, {"ran": 0}),
    (DENY, PRE, {"ran": ["exit 2"]}, {"ran": ["exit 2", "guard.sh"]}),
    (DENY, PRE, {"ran": ["*branch*"]}, {"ran": []}),
    (DENY, {**PRE, "tool": "Write"}, {"skipped": ["exit 2"]}, {"ran": 1}),
    (DENY, {**PRE, "tool": "Write"}, {"skipped": {"exit 2": "matcher"}}, {"skipped": {"exit 2": "untrusted"}}),
    (DENY, PRE, {"max_ms": 60000}, {"max_ms": 0.001}),
    (hooks_for("SessionStart", plain("echo hello")), {"event": "SessionStart"}, {"context": "hello"}, {"context": "x"}),
    (
        hooks_for("Stop", says({"systemMessage": "careful"})),
        {"event": "Stop"},
        {"system_message": {"is": "careful"}},
        {"system_message": {"is": "carefu"}},
    ),
    (
        hooks_for("PreToolUse", says(specific("PreToolUse", updatedInput={"command": "rg x"}))),
        PRE,
        {"updated_input": {"command": "rg x"}},
        {"updated_input": {"command": "grep x"}},
    ),
    (DENY, PRE, {"updated_input": None}, {"updated_input": {}}),
    (
        hooks_for("PostToolUse", says(specific("PostToolUse", updatedToolOutput={"stdout": "gone"}))),
        {"event": "PostToolUse"},
        {"updated_output": {"stdout": "gone"}},
        {"updated_output": {"stdout": "here"}},
    ),
    (
        hooks_for("PostToolUse", says(specific("PostToolUse", updatedToolOutput={"stdout": "gone"}))),
        {"event": "PostToolUse"},
        {"updated_output": '"go+ne"'},
        {"updated_output": "here"},
    ),
    (
        hooks_for("UserPromptSubmit", says(specific("UserPromptSubmit", sessionTitle="t"))),
        {"event": "UserPromptSubmit"},
        {"fields": {"session_title": "t"}},
        {"fields": {"session_title": "u"}},
    ),
    (hooks_for("PreToolUse", plain("exit 1")), PRE, {"errors": 1}, {"decision": "none"}),
    (
        hooks_for("PreToolUse", plain("exit 1")),
        PRE,
        {"errors": 1, "codes": ["exit-status"]},
        {"errors": 1, "codes": ["timeout"]},
    ),
    (
        hooks_for("PostToolUse", says({"continue": False, "stopReason": "over"})),
        {"event": "PostToolUse"},
        {"stop": "ov.r"},
        {"stop": "again"},
    ),
    (hooks_for("PostToolUse", says({"continue": False})), {"event": "PostToolUse"}, {"stop": True}, {"stop": False}),
    (
        hooks_for("SessionStart", plain('echo "export A=1" >> "$CLAUDE_ENV_FILE"')),
        {"event": "SessionStart"},
        {"env_file": "^export A=1$"},
        {"env_file": None},
    ),
    (
        hooks_for("PreToolUse", plain("cp in.txt out.txt")),
        {**PRE, "files": {"in.txt": "hello"}},
        {"files": {"out.txt": "hello", "none.txt": None}},
        {"files": {"out.txt": "bye"}},
    ),
]


@pytest.mark.parametrize(("hooks", "case", "good", "bad"), WISHES)
def test_every_expectation_can_hold_and_can_fail(
    bench: Bench, hooks: dict[str, Any], case: dict[str, Any], good: dict[str, Any], bad: dict[str, Any]
) -> None:
    settings(bench.project, hooks)
    holds, fails = bench.problems({**case, "expect": good}, {**case, "expect": bad})
    assert holds == []
    assert len(fails) == 1


def test_a_case_without_expectations_is_no_success(bench: Bench) -> None:
    settings(bench.project, DENY)
    assert bench.problems(PRE) == [["expect"]]


def test_a_crashed_guard_fails_a_case_that_expects_nothing_of_it(bench: Bench) -> None:
    settings(bench.project, hooks_for("PreToolUse", plain("kill -9 $$"), matcher="Bash"))
    assert bench.problems({**PRE, "expect": {"decision": "none"}}) == [["errors"]]


def test_a_case_in_which_no_hook_ran_is_marked(bench: Bench) -> None:
    settings(bench.project, DENY)
    silent, said, ran = bench.run(
        {"event": "Stop", "expect": {"decision": "none"}},
        {"event": "Stop", "expect": {"decision": "none", "ran": 0}},
        {**PRE, "expect": {"decision": "deny"}},
    )
    assert (silent.vacuous, said.vacuous, ran.vacuous) == (True, False, False)


def test_an_overlay_adds_hooks_and_variables_for_one_case_alone(bench: Bench) -> None:
    settings(bench.project, DENY)
    overlay = {**hooks_for("PreToolUse", plain('echo "$WORD" >&2; exit 2')), "env": {"WORD": "more"}}
    assert bench.problems(
        {**PRE, "settings": overlay, "expect": {"ran": 2, "reason": ["branch", "more"]}},
        {**PRE, "expect": {"ran": 1, "reason": {"not": "more"}}},
    ) == [[], []]


def test_variables_of_a_case_reach_the_hook(bench: Bench) -> None:
    settings(bench.project, hooks_for("PreToolUse", plain('echo "$WORD $CLAUDE_PROJECT_DIR" >&2; exit 2')))
    case = {**PRE, "env": {"WORD": "hello"}, "expect": {"reason": "hello {project}$"}}
    assert bench.problems(case, {**case, "files": {"a": ""}}) == [[], []]


def test_injected_faults_and_a_scripted_model(bench: Bench) -> None:
    settings(
        bench.project,
        {
            "hooks": {
                "PreToolUse": [{"hooks": [plain("exit 2", onFailure="block")]}],
                "Stop": [{"hooks": [{"type": "prompt", "prompt": "Done? $ARGUMENTS"}]}],
            }
        },
    )
    assert bench.problems(
        {**PRE, "inject": "crash", "expect": {"decision": "deny", "reason": "Segmentation"}},
        {**PRE, "inject": "crash:other", "expect": {"decision": "deny", "reason": {"not": "Segmentation"}}},
        {"event": "Stop", "model": {"ok": False, "reason": "tests are red"}, "expect": {"reason": "tests are red"}},
        {"event": "Stop", "model": {"ok": True}, "expect": {"decision": "none", "ran": 1}},
    ) == [[], [], [], []]


def test_background_hooks_end_before_the_files_are_looked_at(bench: Bench) -> None:
    settings(bench.project, hooks_for("PostToolUse", plain("sleep 0.2; touch done", **{"async": True})))
    assert bench.problems({"event": "PostToolUse", "expect": {"files": {"done": True}}}) == [[]]


# ── scratch copies ──────────────────────────────────────────────────────────


def test_what_a_case_writes_stays_in_its_own_copy(bench: Bench) -> None:
    guard = script(bench.project / ".claude" / "hooks" / "count.sh", 'ls >> seen.txt; echo "$PWD"')
    settings(bench.project, hooks_for("PreToolUse", plain('"$CLAUDE_PROJECT_DIR"/.claude/hooks/count.sh')))
    (bench.project / "kept.txt").write_text("kept")
    cases = [
        {**PRE, "files": {f"own-{n}.txt": ""}, "expect": {"files": {"seen.txt": [f"own-{n}", "kept"]}}}
        for n in range(3)
    ]
    assert bench.problems(*cases) == [[], [], []]
    results = bench.run({**PRE, "expect": {"decision": "none"}}, scratch=True)
    assert results[0].cwd != str(bench.project)
    assert not os.path.exists(results[0].cwd)
    assert sorted(path.name for path in bench.project.iterdir()) == [".claude", "kept.txt"]
    assert guard.exists()


@pytest.mark.needs("git")
def test_a_case_starts_in_the_same_subfolder_of_the_copy(bench: Bench) -> None:
    (bench.project / "sub").mkdir()
    subprocess.run(["git", "init", "-q", bench.project], check=True)
    settings(bench.project, hooks_for("PreToolUse", plain("cp here.txt ../up.txt; pwd > out.txt")))
    case = {**PRE, "files": {"here.txt": "x"}, "expect": {"files": {"out.txt": "/sub$"}}}
    assert bench.problems(case, start="sub") == [[]]


def test_files_of_a_case_stay_inside_the_copy(tmp_path: Path) -> None:
    target = tmp_path / "copy"
    target.mkdir()
    (target / "a.txt").write_text("a")
    (target / "link").symlink_to("a.txt")
    (target / "away").symlink_to(tmp_path)
    with pytest.raises(InvalidCase, match="leads out"):
        inside(str(target), "../x")
    with pytest.raises(InvalidCase, match="through a link"):
        put_files(str(target), {"away/x": "gone"})
    put_files(str(target), {"link": "new"})
    assert ((target / "link").read_text(), (target / "link").is_symlink()) == ("new", False)
    assert (target / "a.txt").read_text() == "a"


# ── trust ───────────────────────────────────────────────────────────────────


def test_cases_do_not_run_without_trust(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(
        json.dumps(
            [
                {"name": "plain", **PRE},
                {"name": "overlay", **PRE, "settings": DENY},
                {"name": "script", **PRE, "files": {".claude/hooks/x.sh": "#!/bin/sh\n"}},
                {"name": "data", **PRE, "files": {"x.txt": ""}, "settings": {"env": {"A": "1"}}},
            ]
        )
    )
    cases = read_cases(str(path))
    assert [case.brings_code for case in cases] == [False, True, True, False]
    stored = bench.places(TrustPolicy.STORED).load()
    assert need_trust(cases[:1], stored) is None
    assert "brings its own hooks" in str(need_trust(cases, stored))
    assert need_trust(cases, bench.places().load()) is None
    settings(bench.project, DENY)
    assert "not trusted" in str(need_trust(cases[:1], bench.places(TrustPolicy.STORED).load()))


def test_the_hooks_of_200_cases_are_started_in_one_process(bench: Bench) -> None:
    settings(bench.project, hooks_for("PreToolUse", plain("echo $PPID >&2; exit 2")))
    results = bench.run(*({**PRE, "expect": {"decision": "deny"}} for _ in range(200)))
    assert all(result.passed for result in results)
    parents = {result.outcome.reason for result in results}
    assert parents == {f"[echo $PPID >&2; exit 2]: {os.getpid()}"}
