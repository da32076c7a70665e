"""Every recipe under examples/recipes does what it says, with its real scripts."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hookwright import Allow, Block, Deny, Options, Outcome, Places, open_session
from hookwright.config import TrustPolicy, component_groups
from hookwright.models.script import parse_script
from hookwright.models.scripted import ScriptedModel
from hookwright.session import HookSession
from hookwright.wiring import Powers
from support import event

RECIPES = Path(__file__).parents[2] / "examples" / "recipes"
needs_jq = pytest.mark.needs("jq")


class Recipe:
    """A copy of a recipe's project, and sessions in it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.folder = folder / "project"
        shutil.copytree(RECIPES / name, self.folder)
        self.home = folder / "home"
        self.home.mkdir()
        self.options = Options()
        self.powers = Powers()
        self.hooks: Any = None
        self.env: dict[str, str] = {}

    def fire(self, name: str, /, **fields: Any) -> Outcome:
        outcome = self.session(lambda session: session.fire(self.event(name, **fields)))
        assert isinstance(outcome, Outcome)
        assert outcome.errors == 0, [run.verdict.error for run in outcome.runs]
        return outcome

    def event(self, name: str, /, **fields: Any) -> Any:
        return event(name, cwd=str(self.folder), transcript_path=str(self.home / "t.jsonl"), **fields)

    def session(self, body: Callable[[HookSession], Awaitable[Any]]) -> Any:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "HOOKWRIGHT_MANAGED_SETTINGS": str(self.home / "none"),
            **self.env,
        }
        places = Places(project=str(self.folder), env=env, trust=TrustPolicy.EVERYTHING)

        async def main() -> Any:
            opened = open_session(places, hooks=self.hooks, powers=self.powers, options=self.options)
            async with opened as session:
                problems = [d for d in session.loaded.diagnostics if d.severity.value != "info"]
                assert not problems
                return await body(session)

        return asyncio.run(main())


@pytest.fixture
def recipe(request: pytest.FixtureRequest, tmp_path: Path) -> Recipe:
    return Recipe(request.param, tmp_path)


def using(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("recipe", [name], indirect=True)


def bash(command: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command, "description": "d"}}


def test_every_recipe_is_tested() -> None:
    text = Path(__file__).read_text()
    assert [name for name in os.listdir(RECIPES) if f'"{name}"' not in text] == []


@needs_jq
@pytest.mark.req("R-391")
@using("lint-on-edit")
def test_lint_after_every_edit(recipe: Recipe) -> None:
    (recipe.folder / "bad.py").write_text("def (:\n")
    (recipe.folder / "good.py").write_text("x = 1\n")
    for tool in ("Edit", "Write"):
        bad = recipe.fire("PostToolUse", tool_name=tool, tool_input={"file_path": str(recipe.folder / "bad.py")})
        good = recipe.fire("PostToolUse", tool_name=tool, tool_input={"file_path": str(recipe.folder / "good.py")})
        assert (bad.blocked, good.blocked) == (True, False)
        assert "SyntaxError" in (bad.reason or "")


@needs_jq
@pytest.mark.req("R-392")
@using("protect-secrets")
def test_secrets_are_protected(recipe: Recipe) -> None:
    for name in (".env", ".git/config", "secrets/key.txt", "server.pem", "config/.env.local"):
        outcome = recipe.fire("PreToolUse", tool_name="Write", tool_input={"file_path": f"{recipe.folder}/{name}"})
        assert isinstance(outcome.decision, Deny), name
    fine = recipe.fire("PreToolUse", tool_name="Write", tool_input={"file_path": f"{recipe.folder}/src/app.py"})
    assert not fine.blocked


@needs_jq
@pytest.mark.req("R-393")
@using("deny-rm-rf")
def test_rm_rf_is_denied(recipe: Recipe) -> None:
    for text in ("rm -rf /tmp/x", "rm -fr x", "rm -r -f x", "cd a && rm -Rf b", "rm --verbose -rf x"):
        outcome = recipe.fire("PreToolUse", **bash(text))
        assert isinstance(outcome.decision, Deny), text
        assert "one by one" in outcome.decision.reason
    for text in ("rm file.txt", "rm -r dir", "echo hello"):
        assert not recipe.fire("PreToolUse", **bash(text)).blocked, text


@needs_jq
@pytest.mark.req("R-394")
@using("desktop-notices")
def test_notices(recipe: Recipe) -> None:
    for kind in ("permission_prompt", "idle_prompt", "auth_success"):
        recipe.fire("Notification", message=f"about {kind}", notification_type=kind)
    assert (recipe.folder / ".claude" / "notices.log").read_text() == (
        "needs your permission: about permission_prompt\nis waiting for you: about idle_prompt\n"
    )


@needs_jq
@pytest.mark.req("R-395")
@using("tests-in-background")
def test_tests_run_in_the_background(recipe: Recipe) -> None:
    async def body(session: HookSession) -> Any:
        outcome = await session.fire(recipe.event("PostToolUse", tool_name="Write", tool_input={"file_path": "x"}))
        assert [run.label for run in outcome.runs] == ["async"]
        assert outcome.runs[0].handler.timeout == 300
        await session.background.wait()
        return [late.context for late in session.background.collect()]

    assert recipe.session(body) == ["tests pass"]
    (recipe.folder / "test_sum.py").write_text("import unittest\nraise SystemExit('red')\n")
    assert "tests fail" in recipe.session(body)[0]


def answering(route: str, *turns: list[dict[str, Any]]) -> Powers:
    script = {"routes": [{"name": route, "match": ".", "on": "any", "turns": list(turns)}]}
    return Powers(
        model=ScriptedModel(parse_script(script, "test")), messages=lambda: [{"role": "user", "content": "go"}]
    )


@pytest.mark.req("R-396")
@using("model-judged-stop")
def test_a_model_judges_the_stop(recipe: Recipe) -> None:
    recipe.powers = answering("prompt-hook", [{"text": '{"ok": false, "reason": "tests were not run"}'}])
    outcome = recipe.fire("Stop")
    assert isinstance(outcome.decision, Block)
    assert "tests were not run" in outcome.decision.reason
    recipe.powers = answering("prompt-hook", [{"text": '{"ok": true}'}])
    assert not recipe.fire("Stop").blocked


def sourced(recipe: Recipe, expression: str) -> str:
    """Fire SessionStart, then run a shell that sources what the hooks persisted."""

    async def body(session: HookSession) -> list[str]:
        await session.fire(recipe.event("SessionStart"))
        return [path for _, path in session.env_files()]

    preamble = "".join(f". '{path}'; " for path in recipe.session(body))
    env = {"PATH": os.environ["PATH"], "HOME": str(recipe.home)}
    done = subprocess.run(["bash", "-c", preamble + expression], env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.req("R-397")
@using("persist-env")
def test_variables_persist(recipe: Recipe) -> None:
    assert sourced(recipe, 'echo "$NODE_ENV ${PATH##*:}"') == "development ./node_modules/.bin"


@pytest.mark.req("R-398", "R-312")
@using("persist-env-diff")
def test_an_environment_difference_persists(recipe: Recipe) -> None:
    assert sourced(recipe, 'echo "$TOOL_VERSION $TOOL_HOME"') == f"20.1 {recipe.home}/tools/20.1"


@needs_jq
@pytest.mark.req("R-399", "R-352")
@using("skill-guard")
def test_a_skills_guard_holds_while_it_is_active(recipe: Recipe) -> None:
    async def body(session: HookSession) -> list[bool]:
        call = recipe.event("PreToolUse", **bash("ssh production reboot"))
        before = (await session.fire(call)).blocked
        (skill,) = session.loaded.components()
        session.activate(component_groups(skill, skill.path).groups)
        return [before, (await session.fire(call)).blocked]

    assert recipe.session(body) == [False, True]


@pytest.mark.req("R-400")
@using("git-context")
@pytest.mark.needs("git")
def test_git_context(recipe: Recipe) -> None:
    git = ["git", "-C", str(recipe.folder)]
    subprocess.run([*git, "init", "-q", "-b", "topic"], check=True)
    (recipe.folder / "new.txt").write_text("x")
    (text,) = recipe.fire("SessionStart").plain
    assert "Branch: topic" in text
    assert "?? new.txt" in text
    assert recipe.fire("SessionStart", source="resume").plain == ()


@pytest.mark.req("R-401")
@using("startup-and-resume")
def test_startup_and_resume(recipe: Recipe) -> None:
    assert "fresh session" in recipe.fire("SessionStart", source="startup").plain[0]
    assert "Welcome back" in recipe.fire("SessionStart", source="resume").plain[0]
    assert recipe.fire("SessionStart", source="clear").plain == ()


@pytest.mark.req("R-402")
@using("format-on-write")
def test_a_file_is_formatted_on_write(recipe: Recipe) -> None:
    path = recipe.folder / "a.md"
    path.write_text("one  \ntwo\t\n")
    outcome = recipe.fire("PostToolUse", tool_name="Write", tool_input={"file_path": str(path)})
    assert path.read_text() == "one\ntwo\n"
    assert outcome.context == ("a.md was formatted; read it again before editing.",)
    assert recipe.fire("PostToolUse", tool_name="Write", tool_input={"file_path": str(path)}).context == ()


@pytest.mark.req("R-403")
@using("stop-on-red")
def test_red_tests_stop_the_agent(recipe: Recipe) -> None:
    call = {"tool_name": "Edit", "tool_input": {"file_path": "x"}}
    assert recipe.fire("PostToolUse", **call).stop is None
    (recipe.folder / "broken").touch()
    outcome = recipe.fire("PostToolUse", **call)
    assert outcome.stop is not None
    assert outcome.stop.reason == "the tests fail"
    assert "FAILED" in outcome.context[0]


@pytest.mark.req("R-404", "R-289")
@using("format-then-test")
def test_format_then_test(recipe: Recipe) -> None:
    recipe.options = Options(sequential=True)
    outcome = recipe.fire("PostToolUse", tool_name="Write", tool_input={"file_path": "x"})
    assert not outcome.blocked
    assert (recipe.folder / "order.log").read_text() == "formatted\ntested\n"


@pytest.mark.req("R-405")
@using("rewrite-input")
def test_an_input_is_rewritten_whole(recipe: Recipe) -> None:
    outcome = recipe.fire("PreToolUse", **bash("npm test"))
    assert outcome.updated_input == {"command": "./scripts/npm.sh test", "description": "d"}
    assert recipe.fire("PreToolUse", **bash("ls")).updated_input is None


@needs_jq
@pytest.mark.req("R-406")
@using("task-gate")
def test_a_task_is_gated(recipe: Recipe) -> None:
    assert not recipe.fire("TaskCompleted").blocked
    (recipe.folder / "failing").touch()
    outcome = recipe.fire("TaskCompleted", task_subject="Login")
    assert "not done yet: the check for 'Login' fails" in (outcome.reason or "")


@pytest.mark.req("R-407")
@using("keep-working")
def test_the_agent_is_sent_back_once(recipe: Recipe) -> None:
    first = recipe.fire("Stop", stop_hook_active=False)
    assert first.reason == "Still open:\n- [ ] write its tests"
    assert not recipe.fire("Stop", stop_hook_active=True).blocked


@needs_jq
@pytest.mark.req("R-408")
@using("audit-config")
def test_configuration_changes_are_audited(recipe: Recipe) -> None:
    recipe.fire("ConfigChange", source="user_settings", file_path="/home/u/.claude/settings.json")
    line = json.loads((recipe.folder / ".claude" / "audit.jsonl").read_text())
    assert (line["source"], line["file"]) == ("user_settings", "/home/u/.claude/settings.json")


@needs_jq
@pytest.mark.req("R-409")
@using("worktree-without-git")
def test_worktrees_without_git(recipe: Recipe) -> None:
    made = recipe.fire("WorktreeCreate", name="topic").fields["worktree_path"]
    assert Path(made, "notes.txt").read_text() == "a file of the project\n"
    recipe.fire("WorktreeRemove", worktree_path=made)
    assert not Path(made).exists()
    assert recipe.fire("WorktreeRemove", worktree_path="/tmp").blocked


@pytest.mark.req("R-410")
@using("validate-input")
def test_input_is_validated(recipe: Recipe) -> None:
    refused = ["../outside", "/etc/passwd", ".env", "sub/../../x", ".git/config", "id_rsa"]
    for name in refused:
        assert recipe.fire("PreToolUse", tool_name="Write", tool_input={"file_path": name}).blocked, name
    assert recipe.fire("PreToolUse", tool_name="Write", tool_input={"file_path": 7}).blocked
    assert recipe.fire("PreToolUse", tool_name="Write", tool_input={}).blocked
    assert not recipe.fire("PreToolUse", tool_name="Write", tool_input={"file_path": "src/a.py"}).blocked


@needs_jq
@pytest.mark.req("R-411")
@using("message-after-write")
def test_a_message_after_a_write(recipe: Recipe) -> None:
    outcome = recipe.fire("PostToolUse", tool_name="Write", tool_input={"file_path": "/a b.txt"})
    assert outcome.system_messages == ("written: /a b.txt",)
    handler = outcome.runs[0].handler
    assert (handler.timeout, handler.status_message) == (5, "Noting the change")


@pytest.mark.req("R-412")
@using("judge-bash")
def test_a_model_judges_a_command(recipe: Recipe) -> None:
    recipe.powers = answering("prompt-hook", [{"text": '{"ok": false, "reason": "it deletes data"}'}])
    outcome = recipe.fire("PreToolUse", **bash("dropdb prod"))
    assert isinstance(outcome.decision, Deny)
    assert outcome.stop is not None
    assert "it deletes data" in (outcome.stop.reason or "")


@pytest.mark.req("R-413")
@using("verify-tests")
def test_an_agent_verifies_that_tests_passed(recipe: Recipe) -> None:
    log = str(recipe.folder / "test-output.log")
    recipe.powers = answering(
        "agent-hook",
        [{"tool": "Read", "input": {"file_path": log}}],
        [{"tool": "StructuredOutput", "input": {"ok": False, "reason": "only 2 tests ran"}}],
    )
    outcome = recipe.fire("Stop")
    assert isinstance(outcome.decision, Block)
    assert "only 2 tests ran" in outcome.decision.reason


@pytest.mark.req("R-414")
@using("callbacks")
def test_callbacks_approve_and_refuse_to_stop(recipe: Recipe) -> None:
    spec = importlib.util.spec_from_file_location("recipe_hooks", recipe.folder / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    recipe.hooks = module.hooks
    outcome = recipe.fire("PreToolUse", tool_name="Read", tool_input={"file_path": "x"})
    assert (outcome.decision, outcome.system_messages) == (Allow("reading is fine"), ("Read approved",))
    failed = {"type": "tool_result", "tool_use_id": "t", "content": "boom", "is_error": True}
    recipe.powers = Powers(messages=lambda: [{"role": "user", "content": [failed]}])
    assert "Find out why" in (recipe.fire("Stop").reason or "")
    recipe.powers = Powers(messages=lambda: [{"role": "user", "content": [{**failed, "is_error": False}]}])
    assert not recipe.fire("Stop").blocked


@pytest.mark.req("R-415", "R-307")
@using("remote-or-local")
def test_remote_and_local_sessions_differ(recipe: Recipe) -> None:
    assert "Local session" in recipe.fire("SessionStart").plain[0]
    recipe.env = {"CLAUDE_CODE_REMOTE": "true"}
    assert "Remote session" in recipe.fire("SessionStart").plain[0]


@needs_jq
@pytest.mark.req("R-416", "R-042")
@using("mcp-guard")
def test_mcp_tools_are_guarded(recipe: Recipe) -> None:
    call: dict[str, Any] = {"tool_input": {"a": 1}}
    assert not recipe.fire("PreToolUse", tool_name="mcp__memory__read", **call).blocked
    assert recipe.fire("PreToolUse", tool_name="mcp__files__write_file", **call).blocked
    assert not recipe.fire("PreToolUse", tool_name="mcp__files__read_file", **call).blocked
    assert json.loads((recipe.folder / "mcp.jsonl").read_text())["tool"] == "mcp__memory__read"


def test_scripts_are_executable_and_start_with_a_shebang() -> None:
    for path in RECIPES.rglob(".claude/hooks/*"):
        first = path.read_text().splitlines()[0]
        if first.startswith("#!"):
            assert os.access(path, os.X_OK), path
    assert sys.version_info >= (3, 11)
