"""Observers in Claude Code's settings: the file comes back byte for byte, and only an open console gets events."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookwright.cli.bridges.observe import observer
from hookwright.config import Places
from hookwright.observers.live import LIVE
from hookwright.protocol.events import CATALOGUE
from hookwright.web.traffic import Traffic
from hookwright.web.views import Console, detail, explained
from hookwright.web.wires import Wires

ODD = """{
   // mine, keep it
   "model": "opus" ,
\t"hooks" : { "PreToolUse":[ {"matcher":"Bash","hooks":[{"type":"command","command":"guard.sh"}]} ],
     "Stop": [],  /* nothing yet */
   },
}"""


def observe(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "HOOKWRIGHT_STATE_DIR": str(home / "state")}
    command = [sys.executable, "-m", "hookwright.cli", "observe", *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("text", [ODD, ODD.replace("\n", "\r\n"), "{}", '{"a": 1}\n', None])
def test_the_file_comes_back_byte_for_byte(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    if text is not None:
        path.write_bytes(text.encode())
    assert "nothing was written" in observe(tmp_path, "install").stderr
    assert observe(tmp_path, "install", "--dry-run").stdout.count("# hookwright observe") == len(CATALOGUE)
    assert (path.read_bytes() if path.exists() else None) == (None if text is None else text.encode())
    assert observe(tmp_path, "install", "--yes").returncode == 0
    assert path.read_text().count("# hookwright observe") == len(CATALOGUE)
    assert "nothing to change" in observe(tmp_path, "install", "--yes").stderr
    assert observe(tmp_path, "uninstall", "--yes").returncode == 0
    assert (path.read_bytes() if path.exists() else None) == (None if text is None else text.encode())


def test_a_file_that_cannot_be_read_stays(tmp_path: Path) -> None:
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"hooks": ')
    done = observe(tmp_path, "install", "--yes")
    assert done.returncode == 2
    assert f"{path}: line 1 is not valid JSON" in done.stderr
    assert path.read_text() == '{"hooks": '


def hand_over(state: Path, event: dict[str, object]) -> subprocess.CompletedProcess[bytes]:
    """Run an observer as Claude Code does."""
    (handler,) = observer(str(state))["hooks"]
    data = json.dumps(event).encode()
    return subprocess.run(["/bin/sh", "-c", handler["command"]], input=data, capture_output=True, check=False)


def test_an_event_reaches_an_open_console_and_its_decision_is_not_known(tmp_path: Path) -> None:
    state = tmp_path / "state with 'quotes'"
    event: dict[str, object] = {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "transcript_path": "",
        "cwd": str(tmp_path),
    }
    event |= {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}
    assert hand_over(state, event).returncode == 0
    assert not state.exists()
    wires, traffic = Wires(str(state)), Traffic(str(state))
    found = hand_over(state, event)
    assert (found.returncode, found.stdout, found.stderr) == (0, b"", b"")
    for record in wires.observed():
        traffic.observe(record)
    assert list((state / LIVE).glob(".event*")) == []
    console = Console(Places(project=str(tmp_path), home=str(tmp_path), env={"PATH": ""}), traffic, wires)
    shown = detail(console, 0)
    assert (shown["observed"], shown["runs"], shown["badge"]["word"]) == (True, [], "expected")
    assert '"command":"ls"' in shown["input"]
    assert explained(console, 0)["note"] == ""
    wires.close()
    assert hand_over(state, event).returncode == 0
    assert not (state / LIVE).exists()
    traffic.close()
