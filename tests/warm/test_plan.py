"""Which commands are plain Python hooks; everything else is started the ordinary way."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from hookwright.executors.command import arguments
from hookwright.processes.spawn import Command
from hookwright.protocol.handlers import CommandHandler
from hookwright.protocol.sources import Scope, Source
from hookwright.warm.plan import Unusual, WarmPlan, plan
from support import script

BIN = str(Path(sys.executable).parent)


def planned(
    folder: Path, text: str, args: tuple[str, ...] | None = None, shell: str | None = None, **env: str
) -> WarmPlan | Unusual:
    handler = CommandHandler(source=Source(Scope.USER), command=text, args=args, shell=shell)
    surroundings = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(folder), **env}
    return plan(handler, Command(argv=arguments(handler, surroundings), cwd=str(folder), env=surroundings))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hook.py").write_text("")
    script(tmp_path / "env.py", "#!/usr/bin/env python\n")
    script(tmp_path / "direct.py", f"#!{sys.executable}\n")
    script(tmp_path / "options.py", f"#!{sys.executable} -I\n")
    script(tmp_path / "crlf.py", "#!/usr/bin/env python\r\n")
    script(tmp_path / "relative.py", "#!python\n")
    script(tmp_path / "shell.sh", "#!/bin/sh\n")
    script(tmp_path / "shim" / "python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    return tmp_path


@pytest.mark.parametrize(
    ("text", "argv", "local"),
    [
        ("python hook.py", ("python", "hook.py"), True),
        ("python -u -B hook.py -x", ("python", "-u", "-B", "hook.py", "-x"), True),
        ("python ~/hook.py", ("python", "{here}/hook.py"), False),
        (f"{sys.executable} hook.py", (sys.executable, "hook.py"), True),
        ("./env.py a", ("python", "./env.py", "a"), True),
        ("./direct.py", (sys.executable, "./direct.py"), True),
    ],
)
def test_plain_hooks(text: str, argv: tuple[str, ...], local: bool, folder: Path) -> None:
    found = planned(folder, text)
    assert isinstance(found, WarmPlan)
    assert found.argv == tuple(word.replace("{here}", str(folder)) for word in argv)
    assert (found.local, found.shell) == (local, True)
    assert os.path.isabs(found.program)


def test_the_exec_form_has_no_shell(folder: Path) -> None:
    found = planned(folder, "python", args=("hook.py", "$x"))
    assert isinstance(found, WarmPlan)
    assert (found.argv, found.shell) == (("python", "hook.py", "$x"), False)


def test_a_relative_search_path_depends_on_the_directory(folder: Path) -> None:
    found = planned(folder, "python ~/hook.py", PYTHONPATH="lib")
    assert isinstance(found, WarmPlan)
    assert found.local


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("python hook.py | cat", "needs a shell"),
        ("python hook.py 2>/dev/null", "needs a shell"),
        ("MODE=1 python hook.py", "needs a shell"),
        ("python -c pass", "plain form"),
        ("python -m hook", "plain form"),
        ("python -I hook.py", "plain form"),
        ("python -S hook.py", "plain form"),
        ("python -X dev hook.py", "plain form"),
        ("python -", "plain form"),
        ("python", "plain form"),
        ("python missing.py", "not a file"),
        ("python .", "not a file"),
        ("python /dev/null", "not a file"),
        ("no-such-program hook.py", "not found"),
        ("uv run hook.py", "not found"),
        ("node hook.js", "neither python"),
        ("./shell.sh", "neither python"),
        ("./options.py", "neither python"),
        ("./crlf.py", "neither python"),
        ("./relative.py", "neither python"),
        ("./hook.py", "neither python"),
        ("./shim/python hook.py", "not found in an absolute PATH folder"),
    ],
)
def test_anything_else_is_unusual(text: str, reason: str, folder: Path) -> None:
    script(folder / "bin" / "node", "true")
    found = planned(folder, text, PATH=f"{BIN}:{folder}/bin")
    assert isinstance(found, Unusual), found
    assert reason in found.reason


@pytest.mark.parametrize(
    ("env", "reason"),
    [
        ({"PATH": "{here}/shim:/usr/bin"}, "is a script, not an interpreter"),
        ({"PATH": ".:/usr/bin"}, "absolute PATH"),
        ({"CLAUDE_CODE_SHELL_PREFIX": "nice"}, "not started by plain /bin/sh"),
        ({"BASH_FUNC_python%%": "() { :; }"}, "shell functions"),
        ({"PYTHONPATH": "a\nb"}, "line break"),
    ],
)
def test_surroundings_can_be_unusual(env: dict[str, str], reason: str, folder: Path) -> None:
    here = {name: text.replace("{here}", str(folder)) for name, text in env.items()}
    found = planned(folder, "python hook.py", None, None, **here)
    assert isinstance(found, Unusual), found
    assert reason in found.reason


def test_powershell_is_unusual(folder: Path) -> None:
    assert isinstance(planned(folder, "python hook.py", shell="powershell"), Unusual)
