"""Completion scripts in the shells that they are for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookwright.cli import COMMANDS
from hookwright.cli.completion import bash, commands, fish, zsh


def test_every_command_and_its_options_are_known() -> None:
    found = {command.name: command for command in commands()}
    assert list(found) == list(COMMANDS)
    names = {name for option in found["fire"].options for name in option.names}
    assert {"--tool", "--inject", "--watch", "--as-model", "--help"} <= names
    assert "PreToolUse" in found["fire"].words
    assert "shell-guard" in found["new"].words
    tools = next(option for option in found["fire"].options if "--tool" in option.names)
    assert "Write" in (tools.values or ())


#: They show something to a person or write a file; the output of `mcp` and `hook` is what their caller reads.
NO_REPORT = ("chat", "demo", "export", "hook", "mcp", "observe", "web", "worker")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in NO_REPORT])
def test_every_command_speaks_json(name: str) -> None:
    options = {option for command in commands() if command.name == name for o in command.options for option in o.names}
    assert options & {"--json", "--output-format"}


def replies(tmp_path: Path, line: str) -> list[str]:
    """Return what bash would offer after a line."""
    script = tmp_path / "hookwright.bash"
    script.write_text("\n".join(bash()))
    words = line.split(" ")
    ask = (
        f"source {script}; COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; "
        '_hookwright; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True, cwd=tmp_path)
    return done.stdout.split()


def test_bash_offers_commands_options_and_values(tmp_path: Path) -> None:
    assert replies(tmp_path, "hookwright tr") == ["trace", "trust"]
    assert replies(tmp_path, "hookwright fire PreTool") == ["PreToolUse"]
    assert replies(tmp_path, "hookwright fire --as") == ["--as-model"]
    assert replies(tmp_path, "hookwright fire Stop --tool Wr") == ["Write"]
    assert replies(tmp_path, "hookwright test --format j") == ["junit", "json"]
    (tmp_path / "cases.yaml").write_text("")
    assert "cases.yaml" in replies(tmp_path, "hookwright test cas")


def test_zsh_takes_the_script_and_offers_commands(tmp_path: Path) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    script = tmp_path / "_hookwright"
    script.write_text("\n".join(zsh()))
    check = (
        f"autoload -Uz compinit && compinit -u -d {tmp_path}/dump; source {script}; "
        "print -r -- ${_comps[hookwright]}; _describe() { print -rl -- ${(P)2} }; "
        "words=(hookwright t); CURRENT=2; _hookwright; "
        "_arguments() { print -rl -- $@ }; words=(hookwright test -); CURRENT=3; _hookwright"
    )
    done = subprocess.run(["zsh", "-f", "-c", check], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "_hookwright"
    assert any(line.startswith("trace:") for line in lines)
    assert any(line.startswith("*--format[") and line.endswith("]:value:(pretty tap junit json)") for line in lines)


def test_fish_takes_the_script_and_offers_commands(tmp_path: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    script = tmp_path / "hookwright.fish"
    script.write_text("\n".join(fish()))
    for line, word in (
        ("hookwright tra", "trace"),
        ("hookwright fire --as", "--as-model"),
        ("hookwright test --format ju", "junit"),
    ):
        ask = f"source {script}; complete -C '{line}'"
        done = subprocess.run(
            ["fish", "--no-config", "-c", ask], capture_output=True, text=True, check=True, env={"HOME": str(tmp_path)}
        )
        assert next(row.split("\t")[0] for row in done.stdout.splitlines()) == word


def test_the_command_prints_them() -> None:
    argv = [sys.executable, "-m", "hookwright.cli", "completion", "fish"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == list(fish())
