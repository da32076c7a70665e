"""Many ways to start the same file: a change of it is noticed, or the review said that it is not bound."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from attacks.test_trust import active, lay, trust
from worlds import World, hook

AREA = "trust: changes after trust"

#: Ways to run x.sh that a command line shows.
SHOWN = """
. ./x.sh|source x.sh|bash -c '. ./x.sh'|BASH_ENV=./x.sh bash -c true|timeout 5 ./x.sh|nohup ./x.sh|setsid ./x.sh
flock f ./x.sh|exec ./x.sh|! ./x.sh|if ./x.sh; then :; fi|coproc ./x.sh|echo $(./x.sh)|</dev/null ./x.sh
2>/dev/null ./x.sh|./x.sh&|trap ./x.sh EXIT|sudo ./x.sh|env -S './x.sh a'|xargs ./x.sh|parallel ./x.sh ::: a
watch ./x.sh|script -c ./x.sh|busybox sh x.sh|sh -c ./x.sh|sh -ec ./x.sh|bash -lc ./x.sh|bash -euo pipefail x.sh
bash -c "$(cat x.sh)"|sh -c "$(< x.sh)"|bash -c "`cat x.sh`"|sh -s < x.sh|f() { ./x.sh; }; f
case a in a) ./x.sh;; esac|sh *.sh|./*.sh|sh ./x.s?|sh x\\.sh|sh $PWD/x.sh|cd . && sh x.sh|X=x; sh $X.sh
"${CLAUDE_PROJECT_DIR:-.}"/x.sh|awk 'BEGIN{system("sh x.sh")}'|perl -e 'system("sh x.sh")'
git -c alias.x='!sh x.sh' x|tar xf a.tar --to-command=./x.sh|tar xf a.tar --checkpoint-action=exec=./x.sh
make -f x.sh|command ./x.sh|bash -O extglob x.sh|strace -f ./x.sh|source /dev/stdin < x.sh
""".replace("\n", "|")
FILES: list[tuple[str, dict[str, str], str]] = [
    ("cat *.sh | sh", {"x.sh": ""}, "y.sh"),
    ("git -c core.hooksPath=h commit", {"h/pre-commit": ""}, "h/pre-commit"),
    ("git -c core.hooksPath=h commit", {"h/other": ""}, "h/pre-commit"),
    ("NODE_OPTIONS=--require=./a.js node b.js", {"a.js": "", "b.js": ""}, "a.js"),
    ("NODE_OPTIONS='--require ./a.js' node b.js", {"a.js": "", "b.js": ""}, "a.js"),
    ("PATH=bin:$PATH tool", {"bin/tool": ""}, "bin/tool"),
    ("PATH=bin:$PATH tool", {"bin/other": ""}, "bin/tool"),
    ("export PATH=./bin:$PATH; tool", {"bin/tool": ""}, "bin/tool"),
    ("uv run x.py", {"x.py": "import y", "y.py": ""}, "y.py"),
    ("poetry run python x.py", {"x.py": "import y", "y.py": ""}, "y.py"),
    ("pytest -q", {"test_a.py": ""}, "conftest.py"),
    ("yarn lint", {"package.json": '{"scripts": {"lint": "true"}}'}, "package.json"),
    ("LD_PRELOAD=./x.so ls", {"x.so": ""}, "x.so"),
    ("node_modules/.bin/eslint .", {"node_modules/.bin/eslint": ""}, "node_modules/.bin/eslint"),
]
#: Commands whose own programs find the code; the review has to say so.
NOT_SHOWN: list[tuple[str, dict[str, str], str]] = [
    ("pytest -q tests", {"tests/test_a.py": ""}, "tests/conftest.py"),
    ("python3 -m unittest", {"test_a.py": ""}, "test_a.py"),
    ("ruby a.rb", {"a.rb": "require_relative 'b'", "b.rb": ""}, "b.rb"),
    ("perl -I. -Mfoo -e 1", {"foo.pm": ""}, "foo.pm"),
    ("cargo run", {"src/main.rs": ""}, "src/main.rs"),
    ("go run ./cmd", {"cmd/main.go": ""}, "cmd/main.go"),
    ("for f in *.sh; do sh $f; done", {"x.sh": ""}, "x.sh"),
    ("ls | xargs -I{} sh {}", {"x.sh": ""}, "x.sh"),
    ("sh x.{sh,}", {"x.sh": ""}, "x.sh"),
    ("node b.js", {"b.js": "require('x')", "node_modules/x/index.js": ""}, "node_modules/x/index.js"),
    ("jest", {"jest.config.js": ""}, "jest.config.js"),
    ("docker run -v .:/w img /w/x.sh", {"x.sh": ""}, "x.sh"),
]


def change(folder: Path, command: str, files: dict[str, str], changed: str) -> tuple[bool, list[str]]:
    """Trust a hook, change a file; return whether that was noticed, and what the review said is not bound."""
    world = World(Path(os.path.realpath(folder)))
    (world.project / ".git").mkdir()
    lay(world, files)
    world.write("project", hook(command))
    notes = trust(world)
    assert active(world) != []
    lay(world, {changed: "evil = 1\n"})
    return active(world) == [], notes


@pytest.mark.parametrize("command", [form.strip() for form in SHOWN.split("|") if form.strip()])
def test_a_script_that_a_command_line_shows_is_bound(command: str, tmp_path: Path) -> None:
    assert change(tmp_path, command, {"x.sh": "true\n"}, "x.sh")[0]


@pytest.mark.parametrize(("command", "files", "changed"), FILES)
def test_files_that_a_command_line_leads_to_are_bound(
    command: str, files: dict[str, str], changed: str, tmp_path: Path
) -> None:
    assert change(tmp_path, command, files, changed)[0]


@pytest.mark.parametrize(("command", "files", "changed"), NOT_SHOWN)
def test_the_review_says_what_it_does_not_bind(
    command: str, files: dict[str, str], changed: str, tmp_path: Path
) -> None:
    noticed, notes = change(tmp_path, command, files, changed)
    assert noticed or notes
