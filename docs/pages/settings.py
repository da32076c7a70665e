"""The settings reference: handler keys from the parser's own table, settings keys and variables from the sources."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pages.markdown import code, page, table, ticked

import hookwright
from hookwright.config import fields
from hookwright.config.fields import NOTES, SPECS
from hookwright.config.settings import PRECEDENCE
from hookwright.protocol.sources import Scope

SOURCES = Path(hookwright.__file__).parent

#: Handler keys; `kind.key` goes before `key`.
KEYS = {
    "command": "The shell line, run by `/bin/sh -c`. With `args` the program, run without a shell.",
    "args": "Arguments, each passed as it is. `${CLAUDE_PROJECT_DIR}`, `${CLAUDE_PLUGIN_ROOT}` and "
    "`${CLAUDE_PLUGIN_DATA}` are filled in. Present, even empty, means: no shell.",
    "shell": "`bash` changes nothing: the line runs in `/bin/sh`. `powershell` runs it in `pwsh`.",
    "async": "Run in the background, without waiting. Later `additionalContext` and `systemMessage` go to the model.",
    "asyncRewake": "As `async`, and exit 2 wakes the model with stderr.",
    "worker": "Python hooks: `warm` uses an interpreter that is held ready, `resident` one process that stays.",
    "url": "Gets the event as a POST. Only a 2xx response with a JSON object is an answer.",
    "headers": "Further headers. `$NAME` and `${NAME}` are filled in from `allowedEnvVars`.",
    "allowedEnvVars": "Names of variables that headers may use.",
    "server": "The MCP server.",
    "tool": "The tool. Its text is read like stdout at exit 0.",
    "input": "The tool's input. `${tool_input.file_path}` and the like are filled in from the event.",
    "prompt": "A yes/no question to a model. `$ARGUMENTS` becomes the event's JSON; without it the JSON is appended.",
    "agent.prompt": "What a small agent has to verify. `$ARGUMENTS` as in prompt handlers.",
    "model": "Another model than the default.",
    "continueOnBlock": "`ok: false` feeds the reason back instead of ending the turn.",
    "if": "One permission rule, for example `Bash(git *)`. Tool events only. In doubt the handler runs.",
    "timeout": "Seconds, fractions allowed. Defaults by event: see [events.md](events.md).",
    "statusMessage": "Shown while the hook runs.",
    "once": "Skill frontmatter only: at most one successful run per session.",
    "mode": "`shadow`: the hook runs and decides nothing; what it would have decided is recorded. Other agents ignore "
    "the key and obey the hook. Default `enforce`.",
    "onFailure": "`block`: a launch failure, crash, signal, timeout or void answer blocks. Default `continue`.",
    "failClosed": 'Another name: `true` is `onFailure: "block"`.',
    "fail_closed": 'Another name: `true` is `onFailure: "block"`.',
}
SETTINGS = {
    "hooks": "Event → list of groups `{matcher, hooks}` → list of handlers.",
    "disableAllHooks": "`true` switches hooks off. Managed hooks still run, unless a managed file sets it.",
    "allowManagedHooksOnly": "Managed files only: no other hooks run.",
    "allowedHttpHookUrls": "URL patterns that HTTP hooks may use; `*` within a part. Absent: all. Lists join.",
    "httpHookAllowedEnvVars": "Variables that headers of HTTP hooks may use, on top of their own `allowedEnvVars`.",
    "env": "Variables for hooks and tools.",
    "enabledPlugins": "Plugin → `true` or `false`.",
    "pluginConfigs": "Plugin → `{options}`, given to its hooks as `CLAUDE_PLUGIN_OPTION_<NAME>`.",
    "permissions": "`allow`, `ask`, `deny`, `additionalDirectories`, `defaultMode`; for the host.",
    "model": "The session's model; for the host.",
}
#: Variables that Hookwright reads, or sets for hooks.
READ = {
    "CLAUDE_CONFIG_DIR": "A folder to use instead of `~/.claude`.",
    "HOOKWRIGHT_MANAGED_SETTINGS": "Another managed file, or a folder with `managed-settings.json` and "
    "`managed-settings.d/`.",
    "HOOKWRIGHT_TRUST": "`1` trusts whatever project files say, for this process.",
    "HOOKWRIGHT_RECORD": "A private file that receives every event with its payload, for `hookwright record`.",
    "HOOKWRIGHT_STATE_DIR": "Where the trust store and the journal are kept.",
    "HOOKWRIGHT_JOURNAL_DAYS": "Days the journal is kept; 90 if unset.",
    "HOOKWRIGHT_JOURNAL_MB": "Megabytes of the journal that are kept; 64 if unset.",
    "XDG_STATE_HOME": "Base of that folder: `$XDG_STATE_HOME/hookwright`, else `~/.local/state/hookwright`.",
    "XDG_RUNTIME_DIR": "Where the socket of the [daemon](../daemon.md) is: `$XDG_RUNTIME_DIR/hookwright`, else `run` "
    "in the folder for the trust store.",
    "CLAUDE_CODE_SDK_READS_SESSION_STATE": "`1`, set by a client of the Agent SDK that waits for the session's state: "
    "`hookwright run` reports it.",
    "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "`true`, set by a client of the Agent SDK that wants to rewind files: "
    "`hookwright run` says that it cannot.",
    "CLAUDE_AGENT_SDK_CLIENT_APP": "Set by a client of the Agent SDK: its name, sent to model APIs in the User-Agent. "
    "(agent)",
    "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS": "The time limit of all SessionEnd hooks, in milliseconds.",
    "CLAUDE_CODE_SHELL_PREFIX": "Put in front of shell-form commands: `<prefix> '<command>'`.",
    "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "`1` keeps credentials such as `ANTHROPIC_*`, `AWS_*`, `*_API_KEY`, `*_TOKEN` "
    "from hooks.",
    "CLAUDE_CODE_REMOTE": "`true`: the session runs in the cloud. Passed on to hooks.",
    "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "How often in a row a stop hook may block. Default 8. (agent)",
    "CLAUDE_CODE_EFFORT_LEVEL": "The effort level. (agent)",
    "CLAUDE_CODE_PROJECT_DIR_NAME": "Another name for the project's transcript folder. (agent)",
    "ANTHROPIC_API_KEY": "Use the Messages API for prompt and agent hooks.",
    "ANTHROPIC_AUTH_TOKEN": "The same, with a bearer token.",
    "ANTHROPIC_BASE_URL": "Another address of that API.",
    "ANTHROPIC_MODEL": "The main model.",
    "CLAUDE_CODE_MAX_RETRIES": "How often a failing call of that API is tried again; 10 by default.",
    "ANTHROPIC_SMALL_FAST_MODEL": "The model of prompt and agent hooks without a `model`.",
    "OPENAI_API_KEY": "Use an OpenAI-compatible API, when no Anthropic key is set.",
    "OPENAI_BASE_URL": "Another address of that API.",
    "OPENAI_MODEL": "The main model of that API.",
    "MCP_TIMEOUT": "Milliseconds to wait for an MCP server to connect.",
}
GIVEN = {
    "CLAUDE_PROJECT_DIR": "The directory whose `.claude` was found, else the start directory.",
    "CLAUDE_CODE_SESSION_ID": "The session.",
    "CLAUDE_ENV_FILE": "On SessionStart, Setup, CwdChanged and FileChanged: write `export NAME=value` lines there.",
    "HOOKWRIGHT_REPLAY": "`1` while a past event is replayed.",
    "CLAUDE_EFFORT": "The effort level, where the event has one.",
    "CLAUDE_PLUGIN_ROOT": "The plugin's folder, for hooks of plugins.",
    "CLAUDE_PLUGIN_DATA": "A folder for the plugin's data, for hooks of plugins.",
    "HOOKWRIGHT_RUN": "Names this run; the part after the last dot is its id in the journal.",
    "HOOKWRIGHT_WORKER": "Set when the hook runs as a resident worker.",
    "CLAUDECODE": "`1`.",
    "CLAUDE_CODE_ENTRYPOINT": "The host's name.",
    "CLAUDE_CODE_CHILD_SESSION": "`1`.",
    "CLAUDE_CODE_SESSION_ATTENDED": "`1` when a person can answer, else `0`.",
    "CLAUDE_PID": "The host's process id.",
    "AI_AGENT": "`hookwright`.",
}
#: Set by Hookwright for its own processes and taken away before a hook's code runs, and for an MCP server that the
#: gateway has to find again.
INTERNAL = frozenset({"HOOKWRIGHT_WARM", "HOOKWRIGHT_MCP_SERVER", "HOOKWRIGHT_ELAPSED"})
_PLACES = {
    Scope.MANAGED: "`/etc/claude-code/managed-settings.json`, then `managed-settings.d/*.json` by name "
    "(macOS: `/Library/Application Support/ClaudeCode`)",
    Scope.USER: "`~/.claude/settings.json`",
    Scope.PROJECT: "`.claude/settings.json`, searched from the start directory up to the repository root",
    Scope.PLUGIN: "`hooks/hooks.json` and `plugin.json` of enabled plugins, and `--plugin-dir`",
    Scope.LOCAL: "`.claude/settings.local.json`, next to the project file",
    Scope.FLAG: "`--settings FILE|JSON`",
    Scope.COMPONENT: "frontmatter of skills and agents, while they are active",
    Scope.PROGRAM: "hooks that a program registered with `Hooks`",
}
_EXAMPLE = """
{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "command": "\\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/guard.sh",
            "timeout": 10,
            "onFailure": "block"
          }
        ]
      }
    ]
  }
}
"""


def settings() -> str:
    """Write the page."""
    return page(
        "Settings",
        "Hooks live under `hooks` in a settings file: event, then groups with a matcher, then handlers.",
        code(_EXAMPLE, "json"),
        "## Where settings are read",
        "In this order, which is also the order in which results are combined. Hooks of all scopes add up.",
        table(("scope", "place"), [(scope.value, _PLACES[scope]) for scope in Scope]),
        f"A scalar key is taken from the strongest scope that sets it, weakest first: "
        f"{ticked(scope.value for scope in PRECEDENCE)}. Lists join. "
        "`env` follows that rule variable by variable, `enabledPlugins` plugin by plugin. "
        "Nothing in a project or local file takes effect until it is trusted, see [security](../security.md).",
        "## Keys",
        table(("key", "meaning"), [(f"`{key}`", text) for key, text in SETTINGS.items()]),
        "## Matchers",
        'Absent, `""` and `"*"` match everything. Letters, digits, `_`, `-`, space, `,` and `|` alone make a list '
        "of exact names, separated by `|` or `,`. Anything else is a JavaScript regular expression, unanchored and "
        "case-sensitive. So `Edit|Write` is exact, `Edi` matches nothing, `mcp__memory` matches no tool and "
        "`mcp__memory__.*` matches all tools of that server.",
        "## Handlers",
        f"Every handler has a `type`. {ticked(sorted(NOTES))} are allowed everywhere and ignored.",
        *(_kind(kind) for kind in SPECS),
        "## Variables that are read",
        table(("variable", "meaning"), [(f"`{name}`", text) for name, text in READ.items()]),
        "## Variables that hooks get",
        "The inherited environment without `OTEL_*`, then `env` of the settings, then:",
        table(("variable", "meaning"), [(f"`{name}`", text) for name, text in GIVEN.items()]),
    )


def _kind(kind: str) -> str:
    rows = []
    for key, field in SPECS[kind].fields.items():
        need = "yes" if field.required else ""
        rows.append((f"`{key}`", _shape(field.shape), need, KEYS.get(f"{kind}.{key}") or KEYS[key]))
    return f"### {kind} handlers\n\n" + table(("key", "type", "required", "meaning"), rows)


_SHAPES: dict[Callable[..., Any], str] = {
    fields.text: "string",
    fields.rule_text: "string",
    fields.filled_text: "string",
    fields.seconds: "number",
    fields.flag: "boolean",
    fields.texts: "array of strings",
    fields.text_map: "object of strings",
    fields.mapping: "object",
    fields.mode: '"enforce" | "shadow"',
    fields.failure_mode: '"continue" | "block"',
    fields.closed_flag: "boolean",
}


def _shape(shape: Callable[..., Any]) -> str:
    if shape in _SHAPES:
        return _SHAPES[shape]
    return " | ".join(f'"{name}"' for name in inspect.getclosurevars(shape).nonlocals["names"])


def undescribed_variables() -> set[str]:
    """Find variables that the sources read or set and that this page is silent about."""
    return variables_in_sources() - READ.keys() - GIVEN.keys() - INTERNAL


def variables_in_sources() -> set[str]:
    """Find variables that the sources name as literals; those of the linter are about other people's hooks."""
    name = re.compile(r"(?:HOOKWRIGHT|CLAUDE|ANTHROPIC|OPENAI|MCP|XDG)_[A-Z_]+[A-Z]")
    found = set()
    for path in SOURCES.rglob("*.py"):
        if path.is_relative_to(SOURCES / "lint"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and name.fullmatch(node.value):
                found.add(node.value)
    return found
