"""Short ways to write the samples of rules."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hookwright.lint.model import Sample
from hookwright.protocol.jsontext import Json

SETTINGS = ".claude/settings.json"
HOOKS = ".claude/hooks/"

Hooks = Mapping[str, Json]


def settings(hooks: Hooks, **keys: Json) -> str:
    """Write a settings file."""
    return json.dumps({**keys, "hooks": hooks}, indent=2, ensure_ascii=False) + "\n"


def command(text: str, **fields: Json) -> dict[str, Json]:
    """Make a command handler."""
    return {"type": "command", "command": text, **fields}


def group(*handlers: Hooks, matcher: Json = None) -> dict[str, Json]:
    """Make a group."""
    return {**({} if matcher is None else {"matcher": matcher}), "hooks": list(handlers)}


def conf(
    hooks: Hooks, at: str = "", *, target: str = "", files: Mapping[str, str] | None = None, **keys: Json
) -> Sample:
    """Make a sample that is a settings file."""
    return Sample({SETTINGS: settings(hooks, **keys), **(files or {})}, at, target=target)


def one(event: str, handler: Json, at: str = "", *, matcher: Json = None, **rest: Json) -> Sample:
    """Make a sample that is one handler in a settings file."""
    return conf({event: [group(handler, matcher=matcher)]}, at, **rest)


def script(
    name: str, body: str, at: str = "", *, event: str = "PreToolUse", matcher: Json = None, handler: Json | None = None
) -> Sample:
    """Make a sample that is one script, with the settings that run it."""
    fields = dict(handler or {})
    if event in ("PreToolUse", "PermissionRequest"):
        matcher = "Bash|PowerShell" if matcher is None else matcher
        fields = {"timeout": 10, "onFailure": "block", **fields}
    run = command(f'"$CLAUDE_PROJECT_DIR"/{HOOKS}{name}', **fields)
    files = {HOOKS + name: body.lstrip("\n"), SETTINGS: settings({event: [group(run, matcher=matcher)]})}
    ordinary = at in body and not handler
    on = f"{event}, matcher `{matcher}`" if matcher is not None else event
    return Sample(files, at, event=on if ordinary else "")


def plugin(files: Mapping[str, str], at: str = "", name: str = "tools") -> Sample:
    """Make a sample that is a plugin's folder."""
    manifest = {".claude-plugin/plugin.json": json.dumps({"name": name, "version": "1.0.0"}, indent=2) + "\n"}
    return Sample({**manifest, **files}, at)


def bash(body: str) -> str:
    """Write a bash script."""
    return "#!/usr/bin/env bash\n" + body.lstrip("\n")


def python(body: str) -> str:
    """Write a Python script."""
    return "#!/usr/bin/env python3\n" + body.lstrip("\n")


def node(body: str) -> str:
    """Write a JavaScript script."""
    return "#!/usr/bin/env node\n" + body.lstrip("\n")
