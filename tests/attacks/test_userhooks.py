"""A guard of the user's own does not run the code of a project that is not trusted, and is not silenced by it."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from hookwright import Places, open_session
from hookwright.config.review import accept, review
from hookwright.protocol.outcome import Deny, Outcome
from support import event, hooks_for, script, settings

AREA = "user hooks: files of the project that they reach"

PATH = os.environ["PATH"]
ONE_LINER = (
    'python3 -c "import json, sys; data=json.load(sys.stdin); '
    "p=data.get('tool_input',{}).get('file_path',''); sys.exit(2 if p.endswith('.env') else 0)\""
)


class Clone:
    """A user with guards of their own, in somebody else's repository."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self.home, self.repo = self.root / "home", self.root / "repo"
        self.home.mkdir()
        (self.repo / ".git").mkdir(parents=True)

    def put(self, name: str, text: str) -> Path:
        """Write a file of the repository."""
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def guard(self, command: str, **fields: Any) -> None:
        """Configure the user's guard."""
        settings(self.home, hooks_for("PreToolUse", {"type": "command", "command": command, **fields}))

    @property
    def places(self) -> Places:
        """The places of a session in the repository."""
        env = {"PATH": PATH, "HOME": str(self.home), "HOOKWRIGHT_MANAGED_SETTINGS": str(self.root / "none")}
        return Places(project=str(self.repo), env=env, home=str(self.home), cwd=str(self.repo))

    def trust(self) -> None:
        """Trust everything that a review shows."""
        loaded = self.places.load()
        accept(loaded.gate.store, loaded.project_dir, review(loaded, str(self.repo)).pending)

    def fire(self, cwd: Path | None = None) -> Outcome:
        """Fire a call that the guard must refuse."""

        async def firing() -> Outcome:
            async with open_session(self.places) as session:
                call = {"file_path": str(self.repo / ".env"), "content": ""}
                where = str(cwd or self.repo)
                return await session.fire(event("PreToolUse", tool_name="Write", tool_input=call, cwd=where))

        return asyncio.run(firing())

    @property
    def pwned(self) -> bool:
        """Whether code of the repository ran."""
        return (self.root / "PWNED").exists()


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def _evil_python(clone: Clone) -> str:
    return f"open({str(clone.root / 'PWNED')!r}, 'w')\nimport os\nos._exit(0)\n"


@pytest.mark.parametrize("name", ["json.py", "re.py", "codecs.py", "json/__init__.py", "enum.py", "sitecustomize.py"])
@pytest.mark.parametrize("fields", [{}, {"onFailure": "block"}])
def test_a_module_in_the_project_does_not_replace_one_that_a_one_liner_imports(
    name: str, fields: dict[str, str], clone: Clone
) -> None:
    clone.guard(ONE_LINER, **fields)
    clone.put(name, _evil_python(clone))
    assert isinstance(clone.fire().decision, Deny)
    assert not clone.pwned


@pytest.mark.parametrize("options", ["-E -c", "-Ec", "-u -E -c", "-sE -c"])
@pytest.mark.parametrize("name", ["json.py", "re.py"])
def test_a_one_liner_that_ignores_its_environment_is_held(options: str, name: str, clone: Clone) -> None:
    clone.guard(ONE_LINER.replace("-c", options), onFailure="block")
    assert isinstance(clone.fire().decision, Deny)
    clone.put(name, _evil_python(clone))
    assert isinstance(clone.fire().decision, Deny)
    assert not clone.pwned


def test_a_module_in_a_folder_that_the_session_moves_to_does_not_either(clone: Clone) -> None:
    clone.guard(ONE_LINER)
    clone.put("sub/json.py", _evil_python(clone))
    assert isinstance(clone.fire(clone.repo / "sub").decision, Deny)
    assert not clone.pwned


def test_a_one_liner_in_the_users_own_script_is_protected_as_well(clone: Clone) -> None:
    body = f"{ONE_LINER}\nexit $?"
    path = script(clone.home / ".claude" / "hooks" / "guard.sh", body)
    clone.guard(f"bash {path}")
    clone.put("json.py", _evil_python(clone))
    assert isinstance(clone.fire().decision, Deny)
    assert not clone.pwned


def test_a_module_by_name_is_the_installed_one(clone: Clone) -> None:
    clone.guard("python3 -m json.tool > /dev/null && exit 2")
    clone.put("json.py", _evil_python(clone))
    assert isinstance(clone.fire().decision, Deny)
    assert not clone.pwned


REACHING = {
    "a script by a relative path": ("bash .claude/hooks/x.sh", ".claude/hooks/x.sh"),
    "a script by the project's variable": ('"$CLAUDE_PROJECT_DIR"/.claude/hooks/x.sh', ".claude/hooks/x.sh"),
    "a script in a variable": ("D=.claude; bash $D/hooks/x.sh", ".claude/hooks/x.sh"),
    "a reader before a shell": ("cat tools/x.txt | sh", "tools/x.txt"),
    "a sourced file": ("test -f env.sh && . ./env.sh; true", "env.sh"),
    "make": ("make fmt", "Makefile"),
    "npm": ("npm run lint --silent", "package.json"),
    "npx": ("npx prettier --version", "node_modules/.bin/prettier"),
    "node with a path": ("node -e \"require('./x.js')\"", "x.js"),
    "node with a package": ("node -e \"require('dep')\"", "node_modules/dep/index.js"),
    "a program in the project": ("./bin/tool", "bin/tool"),
    "after cd": ("cd tools && ./x.sh", "tools/x.sh"),
}


@pytest.mark.parametrize("attack", REACHING)
def test_a_hook_that_reaches_into_an_untrusted_project_is_held(attack: str, clone: Clone) -> None:
    """It does not run the project's code, it is reported, and one that fails closed refuses."""
    command, name = REACHING[attack]
    evil = f"touch {clone.root / 'PWNED'}"
    text = {"Makefile": f"fmt:\n\t{evil}\n", "package.json": f'{{"scripts": {{"lint": "{evil}"}}}}'}.get(name)
    if name.endswith(".js"):
        text = f"require('fs').writeFileSync({str(clone.root / 'PWNED')!r}, '')"
    path = clone.put(name, text or f"#!/bin/sh\n{evil}\n")
    path.chmod(0o755)
    clone.guard(command)
    loaded = clone.places.load()
    assert [note.code for note in loaded.diagnostics] == ["untrusted"]
    assert "of the project, which is not trusted" in loaded.diagnostics[0].message
    clone.fire()
    assert not clone.pwned
    clone.guard(command, onFailure="block")
    assert clone.fire().blocked
    assert not clone.pwned


def test_a_file_that_appears_later_is_held_too(clone: Clone) -> None:
    clone.guard("test -f env.sh && . ./env.sh; true")

    async def firing() -> list[Outcome]:
        async with open_session(clone.places) as session:
            call = event("PreToolUse", tool_name="Bash", tool_input={"command": "x"}, cwd=str(clone.repo))
            before = await session.fire(call)
            clone.put("env.sh", f"touch {clone.root / 'PWNED'}")
            return [before, await session.fire(call)]

    before, after = asyncio.run(firing())
    assert (len(before.runs), len(after.runs)) == (1, 0)
    assert not clone.pwned


def test_a_reaching_hook_runs_when_it_is_trusted_and_stops_when_the_file_changes(clone: Clone) -> None:
    clone.put("check.sh", "exit 2")
    clone.guard("bash ./check.sh")
    (item,) = review(clone.places.load(), str(clone.repo)).items
    assert item.item.borrowed
    clone.trust()
    assert isinstance(clone.fire().decision, Deny)
    clone.put("check.sh", f"touch {clone.root / 'PWNED'}")
    clone.fire()
    assert not clone.pwned


def test_a_trusted_module_of_the_project_is_imported(clone: Clone) -> None:
    clone.put("rules.py", "import sys\nsys.exit(2)")
    clone.guard("python3 -m rules")
    assert not isinstance(clone.fire().decision, Deny)
    clone.trust()
    assert isinstance(clone.fire().decision, Deny)


@pytest.mark.parametrize(
    "command",
    [
        "bash {home}/.claude/hooks/x.sh",
        "{home}/.claude/hooks/x.sh",
        "~/.claude/hooks/x.sh",
        '"$HOME"/.claude/hooks/x.sh',
        "python3 {home}/.claude/hooks/x.py",
        "python3 -u {home}/.claude/hooks/x.py package.json",
        "jq . package.json > /dev/null; exit 2",
        "cat README.md > /dev/null; exit 2",
        "grep -q x src/app.py; exit 2",
        "git status > /dev/null; exit 2",
    ],
)
def test_hooks_that_only_work_in_the_project_are_untouched(command: str, clone: Clone) -> None:
    """A guard outside the project, with helpers beside it, and programs that only read."""
    folder = clone.home / ".claude" / "hooks"
    script(folder / "x.sh", "python3 ~/.claude/hooks/x.py; exit 2")
    (folder / "x.py").write_text("import sys, helper\nsys.exit(helper.CODE)\n")
    (folder / "helper.py").write_text("CODE = 2\n")
    for name in ("package.json", "README.md", "src/app.py", "x.sh", "helper.py", "hooks/x.sh"):
        clone.put(name, "touch ../PWNED")
    clone.guard(command.format(home=clone.home))
    assert clone.places.load().diagnostics == ()
    assert isinstance(clone.fire().decision, Deny)
    assert not clone.pwned


def test_a_script_with_a_one_liner_still_finds_helpers_beside_the_scripts_that_it_runs(clone: Clone) -> None:
    folder = clone.home / ".claude" / "hooks"
    body = 'python3 -c "import json" || exit 0\npython3 "$(dirname "$0")/x.py"; exit $?'
    script(folder / "x.sh", body)
    (folder / "x.py").write_text("import sys, helper\nsys.exit(helper.CODE)\n")
    (folder / "helper.py").write_text("CODE = 2\n")
    clone.put("json.py", _evil_python(clone))
    clone.guard(f"{folder}/x.sh")
    assert isinstance(clone.fire().decision, Deny)
    assert not clone.pwned


def test_home_itself_is_the_users_own(clone: Clone) -> None:
    """Started in a home directory that is a repository, for dotfiles, nothing is other people's."""
    (clone.home / ".git").mkdir()
    script(clone.home / "check.sh", "exit 2")
    clone.guard("bash ./check.sh")
    shutil.rmtree(clone.repo)
    clone.repo = clone.home
    assert isinstance(clone.fire().decision, Deny)
