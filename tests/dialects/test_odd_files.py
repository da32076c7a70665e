"""Export and removal on files as people have them: every byte, every link and every mode comes back."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hookwright.cli import main

SETTINGS = {
    "theme": "dark",
    "hooks": {"BeforeTool": [{"matcher": "x", "hooks": [{"type": "command", "command": "y"}]}]},
}
PRETTY = json.dumps(SETTINGS, indent=2)
FILES = {
    "comments": b'{\n  // mine\n  "theme": "dark", /* and\n  more */\n  "hooks": {}, // none yet\n}\n',
    "CRLF": PRETTY.replace("\n", "\r\n").encode() + b"\r\n",
    "no newline at the end": PRETTY.encode(),
    "one line": json.dumps(SETTINGS).encode(),
    "tabs": json.dumps(SETTINGS, indent="\t").encode() + b"\n\n\n",
    "a byte order mark": b"\xef\xbb\xbf" + PRETTY.encode() + b"\n",
    "other letters": json.dumps({"greeting": "żółć 🌍 \u2028"}, ensure_ascii=False).encode(),
    "a key twice": b'{"hooks": {}, "a": 1, "hooks": {"BeforeTool": []}}\n',
    "nothing but space": b"{ \n\n }",
}
TOML = {
    "comments": b"# mine\nmodel = 'x'  # here\n",
    "CRLF": b'model = "x"\r\n[a]\r\nb = 1\r\n',
    "no newline at the end": b'model = "x"',
    "its own hooks": b'[[hooks]]\nevent = "Stop"\ncommand = "mine"\n',
    "empty": b"",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "HOOKWRIGHT_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": "guard --strict"}]}]}
    (tmp_path / "home" / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    return tmp_path / "home"


def export(*words: str) -> int:
    return main(["export", *words])


def there_and_back(agent: str, file: Path) -> None:
    """Export, export again, check, remove; the bytes and the mode are those of the beginning."""
    before, mode = file.read_bytes(), file.stat().st_mode
    assert export("--to", agent) == 0
    exported = file.read_bytes()
    assert b"hook --from" in exported
    assert export("--to", agent) == 0
    assert file.read_bytes() == exported
    assert export("--to", agent, "--check") == 0
    assert export("--to", agent, "--remove") == 0
    assert (file.read_bytes(), file.stat().st_mode) == (before, mode)
    assert export("--to", agent, "--check") == 1


@pytest.mark.parametrize("odd", FILES)
def test_a_settings_file_comes_back_byte_for_byte(home: Path, odd: str) -> None:
    file = home / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_bytes(FILES[odd])
    file.chmod(0o640)
    there_and_back("gemini", file)


@pytest.mark.parametrize("odd", TOML)
def test_a_toml_file_comes_back_byte_for_byte(home: Path, odd: str) -> None:
    file = home / ".kimi-code" / "config.toml"
    file.parent.mkdir()
    file.write_bytes(TOML[odd])
    there_and_back("kimi", file)


def test_a_link_stays_a_link_and_its_target_comes_back(home: Path) -> None:
    target = home / "dotfiles" / "gemini.json"
    target.parent.mkdir()
    target.write_bytes(FILES["CRLF"])
    (home / ".gemini").mkdir()
    file = home / ".gemini" / "settings.json"
    file.symlink_to("../dotfiles/gemini.json")
    there_and_back("gemini", file)
    assert os.readlink(file) == "../dotfiles/gemini.json"


def test_a_read_only_file_is_neither_changed_nor_replaced(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / ".qwen" / "settings.json"
    file.parent.mkdir()
    file.write_bytes(FILES["one line"])
    file.chmod(0o444)
    before = file.stat()
    assert export("--to", "qwen") == 2
    assert f"{file}: it is read-only. Run `chmod u+w {file}` first; nothing was changed." in capsys.readouterr().err
    assert file.read_bytes() == FILES["one line"]
    assert file.stat().st_ino == before.st_ino
    file.chmod(0o644)
    assert export("--to", "qwen") == 0
    exported = file.read_bytes()
    file.chmod(0o444)
    assert export("--to", "qwen", "--remove") == 2
    assert file.read_bytes() == exported


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("latin", b'{"a": "\xe9"}', "cannot be read"),
        ("torn", b'{"hooks": {', "line 1 is not valid JSON"),
        ("a list", b"[]", "the file is not an object"),
        ("hooks of another shape", b'{"hooks": []}', "`hooks` is not an object"),
    ],
)
def test_a_file_that_cannot_be_edited_is_refused_and_stays(
    home: Path, name: str, data: bytes, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_bytes(data)
    assert export("--to", "gemini") == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert str(file) in shown
    assert file.read_bytes() == data


def test_double_firing_is_refused_on_a_file_with_comments_and_a_linked_one(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.json"
    mine.write_text('{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "guard --strict"}]}]}} // a\n')
    (tmp_path / "project" / ".gemini").mkdir()
    (tmp_path / "project" / ".gemini" / "settings.json").symlink_to(mine)
    assert export("--to", "gemini") == 2
    assert "already has this command: guard --strict" in capsys.readouterr().err
    assert not (home / ".gemini").exists()
    mine.write_text("{}\n")
    assert export("--to", "gemini", "--scope", "project") == 0
    assert export("--to", "gemini") == 2
    assert "already calls Hookwright, so every hook would run twice" in capsys.readouterr().err
    assert export("--to", "gemini", "--scope", "project", "--remove") == 0
    assert mine.read_text() == "{}\n"
