"""Completion scripts in the shells that they are for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from detent.cli import COMMANDS
from detent.cli.completion import bash, commands, fish, zsh


def test_every_command_and_its_options_are_known() -> None:
    found = {command.name: command for command in commands()}
    assert list(found) == list(COMMANDS)
    names = {name for option in found["fire"].options for name in option.names}
    assert {"--tool", "--inject", "--watch", "--as-model", "--help"} <= names
    assert "PreToolUse" in found["fire"].words
    assert "shell-guard" in found["new"].words
    tools = next(option for option in found["fire"].options if "--tool" in option.names)
    assert "Write" in (tools.values or ())


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "chat"])
def test_every_command_speaks_json(name: str) -> None:
    options = {option for command in commands() if command.name == name for o in command.options for option in o.names}
    assert options & {"--json", "--output-format"}


def replies(tmp_path: Path, line: str) -> list[str]:
    """Ask bash what it would offer behind a line."""
    script = tmp_path / "detent.bash"
    script.write_text("\n".join(bash()))
    words = line.split(" ")
    ask = (
        f"source {script}; COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; "
        '_detent; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True, cwd=tmp_path)
    return done.stdout.split()


def test_bash_offers_commands_options_and_values(tmp_path: Path) -> None:
    assert replies(tmp_path, "detent tr") == ["trace", "trust"]
    assert replies(tmp_path, "detent fire PreTool") == ["PreToolUse"]
    assert replies(tmp_path, "detent fire --as") == ["--as-model"]
    assert replies(tmp_path, "detent fire Stop --tool Wr") == ["Write"]
    assert replies(tmp_path, "detent test --format j") == ["junit", "json"]
    (tmp_path / "cases.yaml").write_text("")
    assert "cases.yaml" in replies(tmp_path, "detent test cas")


def test_zsh_takes_the_script_and_offers_commands(tmp_path: Path) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    script = tmp_path / "_detent"
    script.write_text("\n".join(zsh()))
    check = (
        f"autoload -Uz compinit && compinit -u -d {tmp_path}/dump; source {script}; "
        "print -r -- ${_comps[detent]}; _describe() { print -rl -- ${(P)2} }; words=(detent t); CURRENT=2; _detent; "
        "_arguments() { print -rl -- $@ }; words=(detent test -); CURRENT=3; _detent"
    )
    done = subprocess.run(["zsh", "-f", "-c", check], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "_detent"
    assert any(line.startswith("trace:") for line in lines)
    assert "*--format[how results are told (default\\: pretty)]:value:(pretty tap junit json)" in lines


def test_fish_takes_the_script_and_offers_commands(tmp_path: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    script = tmp_path / "detent.fish"
    script.write_text("\n".join(fish()))
    for line, word in (
        ("detent tra", "trace"),
        ("detent fire --as", "--as-model"),
        ("detent test --format ju", "junit"),
    ):
        ask = f"source {script}; complete -C '{line}'"
        done = subprocess.run(
            ["fish", "--no-config", "-c", ask], capture_output=True, text=True, check=True, env={"HOME": str(tmp_path)}
        )
        assert next(row.split("\t")[0] for row in done.stdout.splitlines()) == word


def test_the_command_prints_them() -> None:
    argv = [sys.executable, "-m", "detent.cli", "completion", "fish"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == list(fish())
