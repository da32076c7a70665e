"""A trusted hook that would run other bytes than those that were trusted does not run."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookwright.config.review import accept, review
from worlds import World, hook, runnable

AREA = "trust: changes after trust"
H = ".claude/hooks"


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(Path(os.path.realpath(tmp_path)))
    (made.project / ".git").mkdir()
    return made


def lay(world: World, files: dict[str, str]) -> None:
    """Write files below the project."""
    for name, text in files.items():
        path = world.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def trust(world: World) -> list[str]:
    """Trust everything; return what the review says is not bound."""
    loaded = world.load(trust=None)
    shown = review(loaded, str(world.project))
    accept(loaded.gate.store, loaded.project_dir, shown.pending)
    return [note for item in shown.items for note in item.item.notes]


def active(world: World) -> list[str]:
    return runnable(world.load(trust=None))


GUARD = "import json, sys\njson.load(sys.stdin)\nsys.exit(2)\n"

#: What is attacked → (files, command, file to change or add, its new text).
CHANGES: dict[str, tuple[dict[str, str], str, str, str]] = {
    "a module that the standard library imports": (
        {f"{H}/guard.py": GUARD},
        f"python3 {H}/guard.py",
        f"{H}/re.py",
        "import os; os._exit(0)",
    ),
    "a compiled module beside the script": (
        {f"{H}/guard.py": GUARD},
        f"python3 {H}/guard.py",
        f"{H}/json.pyc",
        "x",
    ),
    "a compiled package beside the script": (
        {f"{H}/guard.py": "import helper", f"{H}/helper.py": ""},
        f"python3 {H}/guard.py",
        f"{H}/helper/__init__.pyc",
        "x",
    ),
    "an extension module beside the source": (
        {f"{H}/guard.py": "import helper", f"{H}/helper.py": ""},
        f"python3 {H}/guard.py",
        f"{H}/helper.cpython-311-x86_64-linux-gnu.so",
        "x",
    ),
    "a module of a module": (
        {f"{H}/guard.py": "import a", f"{H}/a.py": "import b", f"{H}/b.py": "pass"},
        f"python3 {H}/guard.py",
        f"{H}/b.py",
        "evil",
    ),
    "a package with a dotted name": (
        {f"{H}/guard.py": "import a.b", f"{H}/a/__init__.py": "", f"{H}/a/b.py": ""},
        f"python3 {H}/guard.py",
        f"{H}/a/b.so",
        "evil",
    ),
    "a submodule that did not exist": (
        {f"{H}/guard.py": "try:\n import a.b\nexcept ImportError: pass", f"{H}/a/__init__.py": ""},
        f"python3 {H}/guard.py",
        f"{H}/a/b.py",
        "evil",
    ),
    "a relative import": (
        {f"{H}/p/__init__.py": "", f"{H}/p/__main__.py": "from .x import y", f"{H}/p/x.py": "y=1"},
        f"cd {H} && python3 -m p",
        f"{H}/p/x.py",
        "y=2",
    ),
    "a folder that code puts on the path": (
        {
            f"{H}/guard.py": "import sys, os\nsys.path[:0] = [os.path.dirname(__file__) + '/lib']\nimport h",
            f"{H}/lib/h.py": "",
        },
        f"python3 {H}/guard.py",
        f"{H}/lib/h.py",
        "evil",
    ),
    "after a hash in quotes": ({f"{H}/g.sh": "true"}, f"echo 'a # b'; bash {H}/g.sh", f"{H}/g.sh", "evil"),
    "after a hash in double quotes": (
        {f"{H}/g.sh": "true"},
        f'echo "a # b" && bash {H}/g.sh',
        f"{H}/g.sh",
        "evil",
    ),
    "after a hash in a script's quotes": (
        {f"{H}/g.sh": f"echo ' # '; . {H}/lib.sh", f"{H}/lib.sh": ""},
        f"bash {H}/g.sh",
        f"{H}/lib.sh",
        "evil",
    ),
    "a folder that Python runs": ({f"{H}/__main__.py": "pass"}, f"python3 {H}", f"{H}/__main__.py", "evil"),
    "a folder that Node runs": ({f"{H}/index.js": "1"}, f"node {H}", f"{H}/index.js", "evil"),
    "the main of a folder that Node runs": (
        {f"{H}/package.json": '{"main": "m.js"}', f"{H}/m.js": "1"},
        f"node {H}",
        f"{H}/m.js",
        "evil",
    ),
    "make in a folder": ({"tools/Makefile": "x:\n\ttrue"}, "make -C tools x", "tools/Makefile", "x:\n\tevil"),
    "make in a folder, glued": ({"tools/Makefile": "x:\n\ttrue"}, "make -Ctools x", "tools/Makefile", "x:\n\tevil"),
    "a makefile that comes before": ({"Makefile": "x:\n\ttrue"}, "make x", "GNUmakefile", "x:\n\tevil"),
    "what a makefile includes": ({"Makefile": "include x.mk", "x.mk": "y:"}, "make y", "x.mk", "evil"),
    "what a makefile runs": ({"Makefile": "x:\n\tbash tools/a.sh", "tools/a.sh": ""}, "make x", "tools/a.sh", "evil"),
    "npm in a folder": (
        {"tools/package.json": "{}"},
        "npm --prefix tools run x",
        "tools/package.json",
        '{"scripts":{"x":"evil"}}',
    ),
    "what npm runs": (
        {"package.json": '{"scripts": {"x": "node tools/x.js"}}', "tools/x.js": "1"},
        "npm run x",
        "tools/x.js",
        "evil",
    ),
    "npm's settings": ({"package.json": "{}"}, "npm run x", ".npmrc", "script-shell=./evil"),
    "a folder whose files are run": ({"d/a": "#!/bin/sh\ntrue"}, "run-parts d", "d/a", "#!/bin/sh\nevil"),
    "a new file in a folder whose files are run": ({"d/a": "#!/bin/sh\ntrue"}, "run-parts d", "d/b", "#!/bin/sh\nevil"),
    "find and exec": ({"d/a.x": "true"}, "find d -name '*.x' -exec sh {} \\;", "d/a.x", "evil"),
    "a reader before a shell": ({f"{H}/g.sh": "true"}, f"cat {H}/g.sh | sh", f"{H}/g.sh", "evil"),
    "a reader of a text file before a shell": (
        {f"{H}/g.txt": "true"},
        f"cat {H}/g.txt | bash -s",
        f"{H}/g.txt",
        "evil",
    ),
    "a process substitution": (
        {f"{H}/g.sh": "true"},
        f"bash -c 'source <(cat {H}/g.sh)'",
        f"{H}/g.sh",
        "evil",
    ),
    "an input redirection": ({f"{H}/g.txt": "true"}, f"sh < {H}/g.txt", f"{H}/g.txt", "evil"),
    "xargs": ({f"{H}/g.sh": "true"}, f"echo {H}/g.sh | xargs bash", f"{H}/g.sh", "evil"),
    "eval": ({f"{H}/g.md": "true"}, f'eval "$(cat {H}/g.md)"', f"{H}/g.md", "evil"),
    "no extension, Python": (
        {f"{H}/g": "import helper", f"{H}/helper.py": ""},
        f"python3 {H}/g",
        f"{H}/helper.py",
        "evil",
    ),
    "no extension, shell": (
        {f"{H}/g": f". {H}/lib", f"{H}/lib": ""},
        f"bash {H}/g",
        f"{H}/lib",
        "evil",
    ),
    "an option with a value, shell": (
        {f"{H}/g.md": "true"},
        f"bash -o pipefail {H}/g.md",
        f"{H}/g.md",
        "evil",
    ),
    "a file that has the name of an option's value": (
        {f"{H}/g.md": "true", "pipefail": ""},
        f"bash -o pipefail {H}/g.md",
        f"{H}/g.md",
        "evil",
    ),
    "an option with a value, Python": (
        {f"{H}/g.txt": "1"},
        f"python3 -W ignore {H}/g.txt",
        f"{H}/g.txt",
        "evil",
    ),
    "an option with a value in a script": (
        {f"{H}/g.sh": f"python3 -X dev {H}/p.txt", f"{H}/p.txt": ""},
        f"bash {H}/g.sh",
        f"{H}/p.txt",
        "evil",
    ),
    "a module by name in a script": (
        {f"{H}/g.sh": "python3 -m helper", "helper.py": ""},
        f"bash {H}/g.sh",
        "helper.py",
        "evil",
    ),
    "a start file of the shell": ({f"{H}/rc": ""}, f"bash --rcfile {H}/rc -i -c true", f"{H}/rc", "evil"),
    "what Node requires first": ({"a.js": "", "b.js": "1"}, "node -r ./a.js b.js", "a.js", "evil"),
    "a long word": (
        {f"{H}/g.sh": "true"},
        f"bash {'./' * 600}{H}/g.sh",
        f"{H}/g.sh",
        "evil",
    ),
    "a long script": (
        {f"{H}/g.sh": "# " + "x" * 300_000 + f"\n. {H}/lib.sh", f"{H}/lib.sh": ""},
        f"bash {H}/g.sh",
        f"{H}/lib.sh",
        "evil",
    ),
    "quotes in quotes": (
        {f"{H}/g.sh": "true"},
        f"""sh -c "sh -c 'sh -c \\"sh -c \\\\\\"bash {H}/g.sh\\\\\\"\\"'\"""",
        f"{H}/g.sh",
        "evil",
    ),
    "env in a folder": ({f"{H}/g.sh": "true"}, f"env -C {H} bash g.sh", f"{H}/g.sh", "evil"),
    "PYTHONPATH": ({"lib/m.py": ""}, "PYTHONPATH=lib python3 -m m", "lib/m.py", "evil"),
    "a new name on PYTHONPATH": ({"lib/m.py": ""}, "PYTHONPATH=lib python3 -m m", "lib/sitecustomize.py", "evil"),
    "a variable": ({f"{H}/g.sh": "true"}, "D=.claude; bash $D/hooks/g.sh", f"{H}/g.sh", "evil"),
    "a variable in braces": ({f"{H}/g.sh": "true"}, "D=.claude; bash ${D}/hooks/g.sh", f"{H}/g.sh", "evil"),
    "a comment in an import": (
        {f"{H}/g.mjs": "import/**/'./x.mjs'", f"{H}/x.mjs": ""},
        f"node {H}/g.mjs",
        f"{H}/x.mjs",
        "evil",
    ),
    "a file that Node tries first": (
        {f"{H}/g.js": "require('./cfg')", f"{H}/cfg.json": "{}"},
        f"node {H}/g.js",
        f"{H}/cfg.js",
        "evil",
    ),
    "a package nearer to the script": (
        {f"{H}/g.js": "require('dep')", "node_modules/dep/package.json": "{}"},
        f"node {H}/g.js",
        f"{H}/node_modules/dep",
        "evil",
    ),
    "what Python starts": (
        {f"{H}/g.py": f"import subprocess\nsubprocess.run(['bash', '{H}/x.sh'])", f"{H}/x.sh": ""},
        f"python3 {H}/g.py",
        f"{H}/x.sh",
        "evil",
    ),
    "what Node starts": (
        {f"{H}/g.js": "require('child_process').execSync('bash ./x.sh')", "x.sh": ""},
        f"node {H}/g.js",
        "x.sh",
        "evil",
    ),
    "inline code that reads a file": (
        {f"{H}/g.py": "pass"},
        f"python3 -c \"exec(open('{H}/g.py').read())\"",
        f"{H}/g.py",
        "evil",
    ),
    "a module that inline code imports": ({"helper.py": ""}, 'python3 -c "import helper"', "helper.py", "evil"),
    "a module before one that inline code imports": ({}, 'python3 -c "import json"', "json.py", "evil"),
}


@pytest.mark.parametrize("attack", CHANGES)
def test_a_changed_file_is_noticed(attack: str, world: World) -> None:
    """What runs after trust is what was trusted, or the hook does not run."""
    files, command, changed, text = CHANGES[attack]
    lay(world, files)
    world.write("project", hook(command))
    trust(world)
    assert active(world) == [command]
    lay(world, {changed: text})
    assert active(world) == []


@pytest.mark.parametrize("attack", CHANGES)
def test_a_changed_file_is_noticed_in_a_running_session(attack: str, world: World) -> None:
    """Also where nothing was written for a while, so that only stamps are compared."""
    files, command, changed, text = CHANGES[attack]
    lay(world, files)
    world.write("project", hook(command))
    trust(world)
    loaded = world.load(trust=None)
    (handler,) = (entry.handler for entry in loaded.hooks)
    assert loaded.gate.check(handler) is None
    _grow_old(loaded)
    assert loaded.gate.check(handler) is None
    lay(world, {changed: text})
    assert loaded.gate.check(handler) is not None


def _grow_old(loaded: Any) -> None:
    """Let a gate believe that what it saw was not young when it looked."""
    for admitted in loaded.gate._admitted.values():
        bound, seen = admitted._seen
        admitted._seen = (bound, seen + 3_000_000_000)


def test_the_exec_form_of_a_shell_is_read_like_a_command(world: World) -> None:
    lay(world, {f"{H}/g.sh": "true"})
    world.write("project", hook("bash", args=["-c", f"bash {H}/g.sh"]))
    trust(world)
    assert active(world) != []
    lay(world, {f"{H}/g.sh": "evil"})
    assert active(world) == []


def test_ordinary_work_beside_a_guard_is_not_a_change(world: World) -> None:
    """Files that the guard does not load may come and go, compiled files of its own modules included."""
    lay(world, {f"{H}/guard.py": "import json, helper", f"{H}/helper.py": ""})
    world.write("project", hook(f"python3 {H}/guard.py"))
    trust(world)
    lay(
        world,
        {
            "src/new.py": "x",
            "new_module.py": "x",
            f"{H}/other_guard.py": "x",
            f"{H}/notes.md": "x",
            f"{H}/__pycache__/helper.cpython-311.pyc": "x",
            "README.md": "x",
        },
    )
    assert active(world) != []


def test_a_forged_compiled_file_is_not_run(world: World) -> None:
    """A compiled file beside a module may claim to fit any source; a hook of the project reads none from there."""
    lay(world, {f"{H}/guard.py": "import helper", f"{H}/helper.py": "", "evil.py": "open('PWNED', 'w')"})
    target = importlib.util.cache_from_source(str(world.project / H / "helper.py"))
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(world.project / "evil.py"), target, invalidation_mode=mode)
    world.write("project", hook(f"{sys.executable} {H}/guard.py"))
    trust(world)
    loaded = world.load(trust=None)
    (handler,) = (entry.handler for entry in loaded.hooks)
    env = {**os.environ, **loaded.gate.environment(handler, {})}
    argv = [sys.executable, f"{H}/guard.py"]
    subprocess.run(argv, cwd=world.project, env=os.environ, check=True)
    assert (world.project / "PWNED").exists(), "the attack works without protection"
    (world.project / "PWNED").unlink()
    subprocess.run(argv, cwd=world.project, env=env, check=True)
    assert not (world.project / "PWNED").exists()


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({}, 'bash "$WHERE/$NAME"'),
        ({f"{H}/g.sh": 'for f in "$@"; do bash "$f$g"; done'}, f"bash {H}/g.sh"),
        ({f"{H}/g.py": "import importlib\nimportlib.import_module(name)"}, f"python3 {H}/g.py"),
        ({f"{H}/g.py": "import sys\nsys.path.append(x)\nimport y"}, f"python3 {H}/g.py"),
        ({f"{H}/g.sh": "x" * 5_000_000}, f"bash {H}/g.sh"),
        ({f"{H}/g.js": "require('dep')", "node_modules/dep/package.json": "{}"}, f"node {H}/g.js"),
    ],
)
def test_what_cannot_be_bound_is_said_in_the_review(files: dict[str, str], command: str, world: World) -> None:
    lay(world, files)
    world.write("project", hook(command))
    assert trust(world)


# ── generated trees ─────────────────────────────────────────────────────────

NAMES = ("a", "b", "lib", "re", "json", "tool")
ENDINGS = (".py", ".sh", ".js", "", ".md", "/__init__.py", "/__main__.py", ".pyc")
FOLDERS = ("", "d/", "d/e/")


def _contents(ending: str) -> st.SearchStrategy[str]:
    names = st.sampled_from(NAMES)
    places = st.sampled_from(FOLDERS)
    if ending.endswith(".py"):
        return st.builds("import {}\n".format, names)
    if ending == ".js":
        return st.builds("try {{ require('./{}') }} catch {{}}\n".format, names)
    return st.builds(". ./{1}{0}.sh 2>/dev/null || python3 {1}{0}.py\n".format, names, places)


FILES = st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES), st.sampled_from(ENDINGS)).map("".join)
COMMANDS = st.one_of(
    st.builds("{} ./{}".format, st.sampled_from(("bash", "python3", "node", "sh -e", "bash -o pipefail")), FILES),
    st.builds("cat {} | sh".format, FILES),
    st.builds("sh < {}".format, FILES),
    st.builds("python3 -m {}".format, st.sampled_from(NAMES)),
    st.builds("cd d && bash -c '. ./{}.sh'".format, st.sampled_from(NAMES)),
    st.builds("D=d; bash $D/{}.sh # {}".format, st.sampled_from(NAMES), FILES),
)
MARK = "TRACE"


@pytest.mark.skipif(shutil.which("strace") is None and not Path("/proc/self").exists(), reason="needs Linux")
@settings(
    max_examples=int(os.environ.get("HOOKWRIGHT_TRUST_TREES", "25")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.data())
def test_no_edit_of_a_generated_project_runs_unnoticed(tmp_path_factory: Any, data: st.DataObject) -> None:
    """Random trees and commands; after trust one file changes or appears; if its bytes run, the hook must be held."""
    made = World(Path(os.path.realpath(tmp_path_factory.mktemp("tree"))))
    (made.project / ".git").mkdir()
    names = data.draw(st.lists(FILES, min_size=1, max_size=6, unique=True))
    for name in names:
        _put(made, name, data.draw(_contents(os.path.splitext(name)[1] or name)))
    command = data.draw(COMMANDS)
    made.write("project", hook(command))
    trust(made)
    changed = data.draw(FILES)
    _put(made, changed, _marking(changed, made.project / MARK))
    held = active(made) == []
    loaded = made.load(trust=None)
    (handler,) = (entry.handler for entry in loaded.hooks)
    env = {**os.environ, **loaded.gate.environment(handler, {})}
    subprocess.run(["sh", "-c", command], cwd=made.project, env=env, capture_output=True, timeout=60, check=False)
    ran = (made.project / MARK).exists()
    assert held or not ran, (command, changed)


def _put(world: World, name: str, text: str) -> None:
    path = world.project / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".pyc"):
            source = world.root / "source.py"
            source.write_text(text if "open" in text else "pass")
            py_compile.compile(str(source), str(path))
        else:
            path.write_text(text)
    except (FileExistsError, NotADirectoryError, IsADirectoryError, FileNotFoundError):
        pass


def _marking(name: str, mark: Path) -> str:
    """Return code that leaves a mark if it is run, in the language that a file of this name is probably run in."""
    if name.endswith((".py", ".pyc")):
        return f"open({str(mark)!r}, 'w')\n"
    if name.endswith(".js"):
        return f"require('fs').writeFileSync({str(mark)!r}, '')\n"
    return f"touch {mark}\n"
