"""Print what each agent does with each answer of a hook: by itself, and through the bridge.

python -m dialects [agent …]: needs `npm`, and the agents that it can install; runs in a network of its own that has
nothing but loopback. A cell that differs from the recordings in tests/dialects is marked.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn

from dialects.model import Model
from dialects.rigs import RIGS, Rig, install, installed, start

ROOT = Path(__file__).parent.parent.parent
MUST_STOP = 14
INSIDE = "HOOKWRIGHT_DIALECTS_INSIDE"
LIMIT = 180.0


def answers(rig: Rig) -> list[dict[str, Any]]:
    """Return the recorded answers of an agent."""
    file = ROOT / "tests" / "dialects" / rig.name / f"{rig.version}.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return [line for line in lines if line["kind"] == "answer"]


#: A guard of files as people write it, and a patch that adds the file it protects.
GUARD = """case "$(cat)" in *'"file_path":"'*'/.env"'*) echo protected >&2; exit 2;; esac"""
PATCH = "*** Begin Patch\n*** Add File: ok.txt\n+1\n*** Add File: .env\n+K=1\n*** End Patch"


def cell(rig: Rig, line: dict[str, Any], bridged: bool) -> str:
    """Run one agent with one answer; return what became of the command that the model asked for."""
    out, err = shlex.quote(line["stdout"]), shlex.quote(line["stderr"])
    return fate(rig, f"printf %s {out}\nprintf %s {err} >&2\nexit {line['status']}\n", "", bridged)


def fate(rig: Rig, script: str, patch: str, bridged: bool) -> str:
    """Run one agent with one hook; return what became of the command or the patch that the model asked for."""
    folder = Path(tempfile.mkdtemp(prefix="dialects-"))
    home, project = folder / "home", folder / "project"
    (home / ".claude").mkdir(parents=True)
    project.mkdir()
    said = folder / "hook.sh"
    said.write_text(f"#!/bin/sh\ntouch {folder}/fired\n{script}")
    said.chmod(0o755)
    made = project / (".env" if patch else "made.txt")
    model = Model(patch or f"echo hi > {made}")
    try:
        if bridged:
            hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": str(said)}]}]}
            (home / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
            rig.prepare(home, model.url, None)
            export(rig, home, project)
        else:
            rig.prepare(home, model.url, str(said))
        printed = start(rig, home, project, model.url, LIMIT)
        if not (folder / "fired").exists():
            return f"the hook did not fire: {printed.strip()[-200:]!r}"
        if made.exists():
            return "runs"
        return "hangs" if printed == "hung" else "stopped"
    finally:
        model.close()
        shutil.rmtree(folder, ignore_errors=True)


def export(rig: Rig, home: Path, project: Path) -> None:
    """Run `hookwright export` as a user would."""
    program = [sys.executable, "-m", "hookwright.cli", "export", "--to", rig.name, "--project", str(project)]
    subprocess.run(program, env={**os.environ, "HOME": str(home)}, check=True, capture_output=True)


def main(chosen: list[str]) -> int:
    """Print the table; return 1 if a call that must stop ran through the bridge, or a recorded cell changed."""
    failed = 0
    for rig in RIGS:
        if chosen and rig.name not in chosen:
            continue
        if not installed(rig):
            print(f"{rig.name}: not installed, so not run")
            continue
        print(f"{rig.name} {rig.version}: answer · by itself (recorded) · through the bridge")
        for at, line in enumerate(answers(rig)):
            native = cell(rig, line, bridged=False)
            bridged = cell(rig, line, bridged=True)
            recorded = {"refused": "stopped", "ends": "stopped"}.get(line["native"], line["native"])
            wrong = (at < MUST_STOP and bridged != "stopped") or recorded not in (native, "rewritten")
            failed += wrong
            print(f"  {line['label']:36} {native:10} ({recorded}) {bridged:10} {'!' if wrong else ''}", flush=True)
        if rig.name == "codex":
            guarded = fate(rig, GUARD, PATCH, bridged=True)
            failed += guarded != "stopped"
            print(
                f"  {'guard of .env, a patch of two files':36} {fate(rig, GUARD, PATCH, bridged=False):10} {guarded:10}"
            )
    return 1 if failed else 0


def entry() -> NoReturn:
    """Install what can be installed, then run again in a network with nothing but loopback."""
    if os.environ.get(INSIDE) == "1":
        raise SystemExit(main(sys.argv[1:]))
    for rig in RIGS:
        if not installed(rig):
            problem = install(rig)
            print(f"{rig.name} {rig.version}: " + (f"cannot be installed: {problem}" if problem else "installed"))
    again = shlex.join([sys.executable, "-m", "dialects", *sys.argv[1:]])
    os.environ[INSIDE] = "1"
    os.execvp("unshare", ["unshare", "-rn", "sh", "-c", f"ip link set lo up && exec {again}"])


if __name__ == "__main__":
    entry()
