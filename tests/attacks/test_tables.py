"""The tables of commands that need no question: what only looks like reading, and what leaves the workspace.

Each attack is decided in the modes that could let it pass, in a project with links and hostile names in it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hookwright.agent.permissions import Mode, Permit, Rules, ToolCall, Workspace, decide
from hookwright.agent.tools import TOOLS
from hookwright.protocol.outcome import NO_OPINION

MODES = [Mode.DEFAULT, Mode.PLAN, Mode.DONT_ASK, Mode.ACCEPT_EDITS]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    home, root = tmp_path / "home", tmp_path / "project"
    for folder in ("home/.ssh", "home/Documents", "project/sub", "project/docs", "project/.claude/agents"):
        (tmp_path / folder).mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_text("SECRET")
    repository(root / ".git")
    (root / ".git" / "hooks").mkdir()
    (root / ".git" / "hooks" / "pre-commit.sample").write_text("#!/bin/sh\n")
    (root / ".claude" / "agents" / "e.json").write_text("{}")
    (root / "link").symlink_to(home / ".ssh" / "id_rsa")
    (root / "sub" / "x").symlink_to(home / ".ssh" / "id_rsa")
    (root / "tree").mkdir()
    (root / "tree" / "link").symlink_to(home)
    (root / "f.txt").write_text("x\n")
    (root / "docs" / "a.md").write_text("x\n")
    (root / "evil.sh").write_text("touch PWNED\n")
    (root / "-exec").touch()
    return Workspace(root=str(root), home=str(home))


def repository(folder: Path) -> None:
    """Make an empty repository as `git init` does, without needing git."""
    for name in ("objects", "refs/heads"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")


def git(folder: Path, *words: str) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "GIT_CONFIG_GLOBAL": "/dev/null"}
    subprocess.run(["git", *words], cwd=folder, env=environment, check=True, capture_output=True)


def permits(workspace: Workspace, command: str, mode: Mode, cwd: str = "") -> bool:
    call = ToolCall.of(TOOLS["Bash"], {"command": command}, cwd or workspace.root)
    return isinstance(decide(call, mode, Rules(), NO_OPINION, workspace), Permit)


READING = [
    "cd && cat .ssh/id_rsa",
    "cd",
    "cd -",
    "cd ~",
    "cd ..",
    "cd sub && cat x",
    "cd sub; cat x",
    "pushd sub && cat x",
    "(cd sub && cat x)",
    "cat lin*",
    "cat l?nk",
    "cat [l]ink",
    "cat {link,f.txt}",
    "cat link",
    "cat sub/x",
    "grep -R . tree",
    "grep -Rn . .",
    "grep -nR . .",
    "grep --dereference-recursive . tree",
    "rg -L . tree",
    "rg --follow . tree",
    "rg --pre ./evil.sh . f.txt",
    "rg --pre=./evil.sh . f.txt",
    "diff -r docs tree",
    "diff docs tree",
    "find . -exe? touch PWNED \\;",
    "find -L . -name id_rsa",
    "find . -follow -name x",
    "find . -fprintf out x",
    "find . -files0-from list",
    "find . -newer /etc/passwd",
    "cat -- ../home/.ssh/id_rsa",
    "head --lines=5 ../home/.ssh/id_rsa",
    "wc --files0-from=../home/list",
    "sort -o out f.txt",
    "sort --output=out f.txt",
    "sort --compress-program=./evil.sh f.txt",
    "sort -T /tmp f.txt",
    "uniq f.txt out",
    "tree -o out",
    "tree -l",
    "file -C -m f.txt",
    "file -f list",
    "grep -f ../home/.ssh/id_rsa f.txt",
    "grep --file=../home/.ssh/id_rsa f.txt",
    "grep -e x -f../home/.ssh/id_rsa f.txt",
    "sed -n 1e f.txt",
    "sed -n '1p;w out' f.txt",
    "sed -n -e 1p -i f.txt",
    "sed -n 1p -i f.txt",
    "sed 's/a/b/w out' f.txt",
    "printf -v x y",
    "date -s now",
    "env",
    "command cat link",
    "command -p cat link",
    "git -C sub status",
    "git -c core.pager=./evil.sh log",
    "git --git-dir=x status",
    "git --exec-path=. status",
    "git diff --output=out",
    "git diff --ext-diff",
    "git diff --textconv",
    "git diff --no-index a b",
    "git diff -Oorder",
    "git log --output out",
    "git log --show-signature",
    "git log --format=%G?",
    "git blame --contents ../home/.ssh/id_rsa f.txt",
    "git blame -S../home/x f.txt",
    "git ls-files -X../home/x",
    "git branch new",
    "git branch -D main",
    "git remote add x y",
    "git remote -v update",
    "git grep -O./evil.sh x",
    "git help status",
    "git foo",
    "ls <> f.txt",
    "ls > /dev/null/../../tmp/x",
    "cat < ~/.ssh/id_rsa",
    "cat < link",
    "cat < lin*",
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("command", READING)
def test_what_only_looks_like_reading_is_asked_about(workspace: Workspace, command: str, mode: Mode) -> None:
    assert not permits(workspace, command, mode)


ORDINARY = [
    "ls",
    "ls -la docs",
    "cat f.txt",
    "cat docs/a.md | head -n 20",
    "head -20 f.txt",
    "tail -n +5 f.txt",
    "grep -rn 'def main' docs",
    "grep -rn --include='*.md' x .",
    "rg -n 'def main' docs",
    "rg TODO",
    "find . -name '*.md' -not -path './.git/*'",
    "wc -l f.txt",
    "sed -n '1,20p' f.txt",
    "git status",
    "git status --short",
    "git --no-pager log --oneline -5",
    "git diff",
    "git diff HEAD --stat",
    "git diff --cached -- docs",
    "git log --oneline -n 10 -- f.txt",
    "git show HEAD",
    "git branch --show-current",
    "git rev-parse --abbrev-ref HEAD",
    "git blame -L 1,5 f.txt",
    "pwd",
    "cd docs",
    "echo done",
    "true",
    "command -v git",
    "ls && git status && pwd",
    "sort f.txt | uniq -c | sort -rn | head",
    "cut -d: -f1 < f.txt",
    "stat -c %s f.txt",
    "du -sh docs",
    "diff f.txt docs/a.md",
]


@pytest.mark.parametrize("command", ORDINARY)
def test_ordinary_reading_inside_the_workspace_needs_no_question(workspace: Workspace, command: str) -> None:
    assert permits(workspace, command, Mode.DEFAULT)
    assert permits(workspace, command, Mode.PLAN)


# ── git ─────────────────────────────────────────────────────────────────────

HOSTILE = {
    "fsmonitor": "[core]\n\tfsmonitor = ./evil.sh\n",
    "hooks": "[core]\n\thooksPath = .\n",
    "pager": "[core]\npager=./evil.sh\n",
    "external": "[diff]\n\texternal = ./evil.sh\n",
    "driver": '[diff "x"]\n\ttextconv = ./evil.sh\n',
    "filter": '[filter "x"]\n\tclean = ./evil.sh\n',
    "one line": "[core] fsmonitor = ./evil.sh\n",
    "capitals": "[CORE]\n\tFSMonitor = ./evil.sh\n",
    "continued": "[user]\n\tname = a\\\n[core]\n",
    "include": "[include]\n\tpath = ../evil\n",
    "include if": '[includeIf "gitdir:."]\n\tpath = ../evil\n',
    "worktree": "[core]\n\tworktree = ../../home\n",
    "bare": "[core]\n\tbare = true\n",
    "gpg": "[gpg]\n\tprogram = ./evil.sh\n",
    "signature": "[log]\n\tshowSignature = true\n",
    "promisor": '[remote "x"]\n\tpromisor = true\n',
    "dotted": "[diff.x]\n\tcommand = ./evil.sh\n",
    "carriage return": "[core]\r\n\tfsmonitor = ./evil.sh\r\n",
    "sub-section": '[core "x"]\n\tfsmonitor = ./evil.sh\n',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_repository_that_names_a_program_is_asked_about(workspace: Workspace, name: str) -> None:
    config = Path(workspace.root) / ".git" / "config"
    assert permits(workspace, "git status", Mode.DEFAULT)
    config.write_text(config.read_text() + HOSTILE[name], newline="")
    for command in ("git status", "git diff", "git log"):
        assert not permits(workspace, command, Mode.DEFAULT)


@pytest.mark.needs("git")
def test_a_folder_that_is_a_bare_repository_is_asked_about(workspace: Workspace) -> None:
    bare = Path(workspace.root) / "bare"
    git(Path(workspace.root), "init", "-q", "--bare", "bare")
    assert not permits(workspace, "git status", Mode.DEFAULT, str(bare))
    assert not permits(workspace, "git log", Mode.DEFAULT, str(bare / "refs"))
    assert permits(workspace, "git log", Mode.DEFAULT, str(Path(workspace.root) / "docs"))


def test_a_hook_that_reading_would_start_is_asked_about(workspace: Workspace) -> None:
    (Path(workspace.root) / ".git" / "hooks" / "post-index-change").write_text("#!/bin/sh\ntouch PWNED\n")
    assert not permits(workspace, "git status", Mode.DEFAULT)


def test_a_worktree_configuration_is_read_as_well(workspace: Workspace) -> None:
    (Path(workspace.root) / ".git" / "config.worktree").write_text(HOSTILE["fsmonitor"])
    assert not permits(workspace, "git status", Mode.DEFAULT)


@pytest.mark.needs("git")
def test_a_pointer_to_another_repository_is_asked_about(workspace: Workspace, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    inner = Path(workspace.root) / "inner"
    inner.mkdir()
    (inner / ".git").write_text(f"gitdir: {other / '.git'}\n")
    assert not permits(workspace, "git log", Mode.DEFAULT, str(inner))


@pytest.mark.needs("git")
def test_a_work_tree_of_the_project_needs_no_question(workspace: Workspace, tmp_path: Path) -> None:
    root = Path(workspace.root)
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    git(root, *author, "commit", "-q", "--allow-empty", "-m", "x")
    git(root, "worktree", "add", "-q", str(root / "wt"))
    assert permits(workspace, "git log", Mode.DEFAULT, str(root / "wt"))
    (root / ".git" / "config").write_text(HOSTILE["fsmonitor"])
    assert not permits(workspace, "git log", Mode.DEFAULT, str(root / "wt"))


@pytest.mark.needs("git")
def test_a_repository_inside_the_index_is_asked_about(workspace: Workspace) -> None:
    root = Path(workspace.root)
    (root / "nested").mkdir()
    git(root / "nested", "init", "-q")
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    git(root / "nested", *author, "commit", "-q", "--allow-empty", "-m", "x")
    git(root, "add", "nested")
    assert not permits(workspace, "git status", Mode.DEFAULT)
    assert permits(workspace, "git log", Mode.DEFAULT)


# ── acceptEdits ─────────────────────────────────────────────────────────────

MOVING = [
    "cd && rm -rf Documents",
    "cd .git/hooks && mv pre-commit.sample pre-commit",
    "cd .git; echo x >> config",
    "cd .claude && cp agents/e.json settings.json",
    "cp -t.git evil.sh",
    "cp -t .git evil.sh",
    "cp --target-directory=.git evil.sh",
    "cp --target=.git evil.sh",
    "mv -t.git evil.sh",
    "rm -rf .gi*",
    "rm -rf .[g]it",
    "rm -rf {.git,docs}",
    "rm -rf .",
    "rm -rf ./",
    "rm -rf ../project",
    "rm -rf tree/link/Documents",
    "rm -rf .git",
    "rm -rf .claude",
    "cp evil.sh .git/hooks/pre-commit",
    "cp evil.sh ./docs/../.git/hooks/pre-commit",
    "cp -r .claude x",
    "mv .claude x",
    "mv docs .claude",
    "mv f.txt .envrc",
    "mv f.txt .bash_login",
    "cp f.txt .zshenv",
    "touch .zlogin",
    "echo x > .bash_aliases",
    "echo x > link",
    "echo x > sub/x",
    "cp f.txt link",
    "cp f.txt tree/link",
    "cp -r tree copy",
    "mv tree other && echo x > other/link/f",
    "cp -L link copy",
    "cp -H link copy",
    "cp --parents ../home/x .",
    "cp -S x f.txt g.txt",
    "cp --suffix=x f.txt g.txt",
    "ln -s /etc x",
    "touch -r ../home/.ssh/id_rsa f.txt",
    "mkdir -p ~/x",
    "rm -rf ~",
    "mv docs/../../home/Documents x",
    "mv f.txt g.txt && rm g.txt/../../home",
    "chmod +x evil.sh",
    "./evil.sh",
    "tee .git/config < f.txt",
    "dd if=f.txt of=.git/config",
    "install evil.sh .git/hooks/pre-commit",
]


@pytest.mark.parametrize("command", MOVING)
def test_accept_edits_does_not_leave_the_workspace_or_change_what_is_protected(
    workspace: Workspace, command: str
) -> None:
    assert not permits(workspace, command, Mode.ACCEPT_EDITS)


def test_a_copy_does_not_write_through_a_link_in_its_target(workspace: Workspace) -> None:
    root = Path(workspace.root)
    (root / "target").mkdir()
    (root / "target" / "f.txt").symlink_to(root.parent / "home" / ".bashrc")
    (root / "source").mkdir()
    (root / "source" / "f.txt").write_text("x")
    for command in ("cp f.txt target", "cp -r source/. target", "cp -r source target"):
        expected = command == "cp -r source target"  # becomes target/source
        assert permits(workspace, command, Mode.ACCEPT_EDITS) is expected, command


def test_a_folder_with_settings_in_it_is_not_copied_or_removed(workspace: Workspace) -> None:
    root = Path(workspace.root)
    (root / "evil" / ".claude").mkdir(parents=True)
    (root / "evil" / ".claude" / "settings.json").write_text("{}")
    for command in ("cp -r evil/. .", "cp -r evil x", "mv evil x", "rm -rf evil"):
        assert not permits(workspace, command, Mode.ACCEPT_EDITS), command


@pytest.mark.parametrize(
    "command",
    [
        "mkdir -p new/dir",
        "touch new.txt",
        "mv f.txt g.txt",
        "cp f.txt docs",
        "cp -r docs copy",
        "rm -rf docs",
        "rm f.txt",
        "mkdir -p a && touch a/b && echo x > a/c",
        "cat f.txt > g.txt",
        "cat <<'E' > notes.md\n$(hello) `x`\nE",
    ],
)
def test_ordinary_work_on_files_is_accepted(workspace: Workspace, command: str) -> None:
    assert permits(workspace, command, Mode.ACCEPT_EDITS)
    assert not permits(workspace, command, Mode.DEFAULT)
