from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.config.scripts import MAX_FILES, Reach, Runs, TooManyFiles, named_files, what_runs
from hookwright.protocol.handlers import CommandHandler, HttpHandler, PromptHandler
from hookwright.protocol.sources import Scope, Source
from worlds import World

HERE = Source(Scope.PROJECT)


def files_of(world: World, command: str, args: list[str] | None = None, start: Path | None = None) -> list[str]:
    """List what a command names, relative to the project."""
    reach = Reach(str(world.project), str(start or world.project), str(world.home), str(world.root / "plugin"))
    handler = CommandHandler(source=HERE, command=command, args=tuple(args) if args is not None else None)
    return [str(Path(path).relative_to(world.root)).removeprefix("project/") for path in named_files(handler, reach)]


def runs(world: World, command: str) -> Runs:
    """Return everything that a command runs, when it starts in the project."""
    reach = Reach(str(world.project), str(world.project), str(world.home))
    return what_runs(CommandHandler(source=HERE, command=command), reach)


@pytest.fixture
def tree(world: World) -> World:
    for name in ("hooks/a.sh", "hooks/b.py", "hooks/c.js", "hooks/tool", "data.log", "rules.json", "run.sh"):
        world.write(world.project / name, "")
    world.write("plugin/p.sh", "")
    world.write(world.home / "mine.sh", "")
    return world


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo hi", []),
        ("jq -r .tool_input.command", []),
        ("./run.sh", ["run.sh"]),
        ("hooks/a.sh --flag", ["hooks/a.sh"]),
        ("bash hooks/a.sh", ["hooks/a.sh"]),
        ("python3 -u hooks/b.py x y", ["hooks/b.py"]),
        ("node hooks/c.js", ["hooks/c.js"]),
        ('"$CLAUDE_PROJECT_DIR"/hooks/a.sh', ["hooks/a.sh"]),
        ('"$CLAUDE_PROJECT_DIR/hooks/a.sh"', ["hooks/a.sh"]),
        ("${CLAUDE_PROJECT_DIR}/hooks/a.sh", ["hooks/a.sh"]),
        ("${CLAUDE_PROJECT_DIR:-.}/hooks/a.sh", ["hooks/a.sh"]),
        ("'$CLAUDE_PROJECT_DIR/hooks/a.sh'", ["hooks/a.sh"]),
        ('"$(git rev-parse --show-toplevel)/hooks/a.sh"', ["hooks/a.sh"]),
        ("`git rev-parse --show-toplevel`/hooks/a.sh", ["hooks/a.sh"]),
        ("$PWD/run.sh", ["run.sh"]),
        ("FOO=1 ./run.sh", ["run.sh"]),
        ("env FOO=1 bash hooks/a.sh", ["hooks/a.sh"]),
        ("timeout 5 ./run.sh", ["run.sh"]),
        ("timeout -k 1 2.5s python3 hooks/b.py", ["hooks/b.py"]),
        ("exec hooks/tool", ["hooks/tool"]),
        ("cat | hooks/a.sh | tee out.json", ["hooks/a.sh"]),
        ("test -f x && ./run.sh || hooks/a.sh", ["run.sh", "hooks/a.sh"]),
        ("cd hooks && ./a.sh", ["hooks/a.sh", "a.sh"]),
        ("bash -c 'hooks/a.sh; python3 hooks/b.py'", ["hooks/a.sh", "hooks/b.py"]),
        ("OUT=$(python3 hooks/b.py); echo $OUT", ["hooks/b.py"]),
        ("if hooks/a.sh; then ./run.sh; fi", ["hooks/a.sh", "run.sh"]),
        ("hooks/a.sh --config=rules.json", ["hooks/a.sh", "rules.json"]),
        ("hooks/a.sh >> data.log 2>&1", ["hooks/a.sh"]),
        ("hooks/a.sh data.log", ["hooks/a.sh"]),
        ("echo x >> rules.json", []),
        ("for f in hooks/*.sh; do . $f; done", ["hooks/a.sh", "hooks"]),
        ("terraform fmt src/*.ts", []),
        ("/usr/bin/env python3 hooks/b.py", ["hooks/b.py"]),
        ("${CLAUDE_PLUGIN_ROOT}/p.sh", ["plugin/p.sh"]),
        ("~/mine.sh", ["home/mine.sh"]),
        ("$HOME/mine.sh", ["home/mine.sh"]),
        ("bash hooks/gone.sh", ["hooks/gone.sh"]),
        ("./gone", ["gone"]),
        ("$CLAUDE_PROJECT_DIR/../plugin/p.sh", ["plugin/p.sh"]),
        ("hooks", []),
        ("ls hooks", []),
        ('echo "unclosed', []),
        ("$UNKNOWN/hooks/a.sh", ["hooks/a.sh"]),
        ("", []),
    ],
)
def test_files_that_a_shell_line_names(tree: World, command: str, expected: list[str]) -> None:
    assert sorted(set(files_of(tree, command))) == sorted(expected)


@pytest.mark.parametrize(
    ("command", "args", "expected"),
    [
        ("python3", ["${CLAUDE_PROJECT_DIR}/hooks/b.py", "x"], ["hooks/b.py"]),
        ("${CLAUDE_PROJECT_DIR}/hooks/tool", [], ["hooks/tool"]),
        ("hooks/a.sh", ["--rules", "rules.json"], ["hooks/a.sh", "rules.json"]),
        ("echo", ["hooks/a.sh"], []),
    ],
)
def test_files_that_the_exec_form_names(tree: World, command: str, args: list[str], expected: list[str]) -> None:
    assert files_of(tree, command, args) == expected


def test_project_paths_with_spaces(world: World) -> None:
    spaced = world.root / "my project"
    world.write(spaced / "hook.sh", "")
    handler = CommandHandler(source=HERE, command='"$CLAUDE_PROJECT_DIR"/hook.sh')
    assert named_files(handler, Reach(str(spaced), str(spaced), str(world.home))) == (str(spaced / "hook.sh"),)


def test_relative_paths_may_start_at_the_start_directory(tree: World) -> None:
    world_sub = tree.project / "sub"
    tree.write(world_sub / "check.sh", "")
    assert files_of(tree, "./check.sh", start=world_sub) == ["check.sh", "sub/check.sh"]


def test_runners_hang_on_their_files(tree: World) -> None:
    tree.write(tree.project / "package.json", "{}")
    tree.write(tree.project / "Makefile", "")
    assert "package.json" in files_of(tree, "npm run check")
    assert ".npmrc" in files_of(tree, "npm run check")
    assert files_of(tree, "make check") == ["GNUmakefile", "makefile", "Makefile"]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("s.sh", "source lib.sh", ["lib.sh"]),
        ("s.sh", '. "$(dirname "$0")/lib.sh"', ["lib.sh"]),
        ("s.sh", 'DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\nsource "$DIR/lib.sh"', ["lib.sh"]),
        ("s.sh", "if true; then\n  . ./lib.sh\nfi", ["lib.sh"]),
        ("s.sh", 'exec python3 "$HERE/helper.py" "$@"', ["helper.py"]),
        ("s.sh", 'timeout 5 python3 "$HERE/helper.py"', ["helper.py"]),
        ("s.sh", '"$CLAUDE_PROJECT_DIR/h/helper.py" < input', ["helper.py"]),
        ("s.sh", "# source lib.sh\necho helper.py", []),
        ("s.sh", "grep -q x helper.py && cat lib.sh", []),
        ("bare", "#!/bin/bash\nsource lib.sh", ["lib.sh"]),
        ("s.py", "import helper", ["helper.py"]),
        ("s.py", "from helper import x", ["helper.py"]),
        ("s.py", "from . import helper", ["helper.py"]),
        ("s.py", "from package.part import x", ["package/__init__.py", "package/part.py"]),
        ("s.py", "import package.part as p", ["package/__init__.py", "package/part.py"]),
        ("s.py", "from package import part", ["package/__init__.py", "package/part.py"]),
        ("s.py", "def broken(:", []),
        ("bare", "#!/usr/bin/env python3\nimport helper", ["helper.py"]),
        ("s.js", 'const x = require("./lib")', ["lib.js"]),
        ("s.mjs", "import x from './lib.js'\nimport('./more.mjs')", ["lib.js", "more.mjs"]),
        ("bare", "#!/usr/bin/env node\nrequire('./lib')", ["lib.js"]),
        ("s.txt", "source lib.sh", []),
    ],
)
def test_what_a_script_runs(world: World, name: str, text: str, expected: list[str]) -> None:
    folder = world.project / "h"
    for other in ("lib.sh", "helper.py", "lib.js", "more.mjs", "package/__init__.py", "package/part.py"):
        world.write(folder / other, "")
    world.write(folder / name, text)
    found = files_of(world, f"./h/{name}")
    assert found[0] == f"h/{name}"
    existing = [path for path in found[1:] if (world.project / path).is_file()]
    assert sorted(path.removeprefix("h/") for path in existing) == sorted(expected)


def test_as_deep_as_it_goes(world: World) -> None:
    world.write(world.project / "a.sh", ". ./b.sh")
    world.write(world.project / "b.sh", "python3 c.py")
    world.write(world.project / "c.py", "import d")
    world.write(world.project / "d.py", "import a")
    assert files_of(world, "./a.sh") == ["a.sh", "b.sh", "c.py", "d.py"]


def test_a_module_that_could_be_put_beside_a_script_is_watched(world: World) -> None:
    """Not only those that it imports itself: the standard library imports others."""
    world.write(world.project / "guard.py", "import json, helper")
    world.write(world.project / "helper.py", "")
    found = runs(world, "python3 guard.py")
    wanted = found.modules[str(world.project)]
    assert wanted is not None
    assert {"json", "helper", "re", "codecs"} <= wanted
    assert "unrelated" not in wanted


def test_an_installed_package_may_import_anything_beside_the_script(world: World) -> None:
    world.write(world.project / "guard.py", "import somewhere_else")
    assert runs(world, "python3 guard.py").modules[str(world.project)] is None


def test_modules_that_are_run_by_name(world: World) -> None:
    world.write(world.project / "guard" / "__init__.py", "")
    world.write(world.project / "guard" / "__main__.py", "")
    assert files_of(world, "python3 -m guard") == ["guard/__init__.py", "guard/__main__.py"]
    assert "guard" in (runs(world, "python3 -m guard").modules[str(world.project)] or ())


def test_beside_a_link_and_beside_its_target(world: World) -> None:
    world.write("elsewhere/real.py", "import helper")
    world.write("elsewhere/helper.py", "")
    (world.project / "link.py").symlink_to(world.root / "elsewhere" / "real.py")
    assert "elsewhere/helper.py" in files_of(world, "python3 link.py")


def test_more_files_than_anybody_can_review(world: World) -> None:
    for number in range(MAX_FILES + 1):
        (world.project / f"{number}.sh").write_text("")
    with pytest.raises(TooManyFiles):
        files_of(world, "for f in ./*.sh; do . $f; done")


def test_other_kinds_name_no_files(world: World) -> None:
    reach = Reach(str(world.project), str(world.project), str(world.home))
    assert named_files(HttpHandler(source=HERE, url="http://x/run.sh"), reach) == ()
    assert named_files(PromptHandler(source=HERE, prompt="run run.sh"), reach) == ()


@given(st.text(alphabet="ab/.$(){}'\"`\\ \n;|&<>*?[]=~-#0\x00é", max_size=60))
def test_any_command_can_be_looked_at(command: str) -> None:
    named_files(CommandHandler(source=HERE, command=command), Reach("/nowhere", "/nowhere", "/nowhere"))


@pytest.mark.parametrize("text", ["${" * 50_000, "$(" * 50_000, '"' * 99_999, "`" * 99_999, "import" + " " * 99_999])
def test_hostile_scripts_are_searched_in_reasonable_time(world: World, text: str) -> None:
    for name in ("s.sh", "s.js"):
        world.write(world.project / name, text)
        assert files_of(world, f"./{name}") == [name]
