"""Command-line arguments as options of the agent; what cannot be done is refused before anything runs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping

import msgspec

from hookwright.agent.permissions import InvalidUpdate, read_mode
from hookwright.agent.permissions.rules import split_rules
from hookwright.agent.state.components import given_agents
from hookwright.agent.state.options import AgentOptions, ContinueLatest, NewSession, ResumeSession, Start
from hookwright.agent.state.unsupported import INSTEAD, NO_SANDBOX, wants_sandbox
from hookwright.agent.subagents.toolset import TOOL_NAMES
from hookwright.errors import ConfigError
from hookwright.matching.conditions import InvalidRule, parse_rule
from hookwright.models.types import AdaptiveThinking, NoThinking, Thinking, ThinkingBudget, Tuning
from hookwright.protocol.jsontext import Json, parse_json
from hookwright.text import did_you_mean

#: The value of `--permission-prompt-tool` that asks the host program.
ASK_HOST = "stdio"
#: Tools of Claude Code that this agent does not have; naming them restricts nothing.
ELSEWHERE = frozenset(
    {
        *("AskUserQuestion", "BashOutput", "CronCreate", "CronDelete", "CronList", "ExitPlanMode", "KillShell", "LSP"),
        *("ListMcpResourcesTool", "Monitor", "NotebookEdit", "ReadMcpResourceTool", "Task", "TaskGet", "TaskOutput"),
        *("TaskStop", "TodoWrite", "ToolSearch", "WebSearch"),
    }
)


def read_options(args: argparse.Namespace, env: Mapping[str, str]) -> AgentOptions:
    """Return the options that the arguments ask for; raise ConfigError for a value that cannot be applied."""
    if args.resume == "":
        raise ConfigError("--resume: name the conversation, or use --continue for the last one")
    options = msgspec.structs.replace(
        options_of(args, env),
        agents=given_agents(args.agents_json) if args.agents_json is not None else {},
        setup="init" if args.init or args.init_only else "maintenance" if args.maintenance else None,
        one_shot=args.input_format != "stream-json",
        json_schema=_schema(args.json_schema_text) if args.json_schema_text is not None else None,
        tuning=_tuning(args),
        permission_tool=_permission_tool(args.permission_prompt_tool),
    )
    if args.system_prompt_file is not None:
        options = msgspec.structs.replace(options, system_prompt=_text_of(args.system_prompt_file))
    return options


def check(options: AgentOptions) -> None:
    """Refuse what is mistyped or cannot be done.

    Law: a restriction that cannot be read never becomes no restriction: a wrong rule, mode or tool and a sandbox are
    errors, before anything runs.
    """
    _check_rules("--allowedTools", options.allowed_tools)
    _check_rules("--disallowedTools", options.disallowed_tools)
    _check_mode(options.permission_mode)
    _check_tools(options.tools or ())
    for text in options.settings:
        _check_sandbox(text)


def _check_rules(flag: str, texts: Iterable[str]) -> None:
    for rule in (rule for text in texts for rule in split_rules(text)):
        try:
            parse_rule(rule)
        except InvalidRule as error:
            raise ConfigError(f"{flag} {rule!r}: {error}") from None


def _check_mode(name: str | None) -> None:
    try:
        if name is not None:
            read_mode(name)
    except InvalidUpdate as error:
        raise ConfigError(f"--permission-mode {name}: {error}") from None


def _check_tools(names: Iterable[str]) -> None:
    for name in names:
        if name not in TOOL_NAMES and name not in ELSEWHERE and not name.startswith("mcp__"):
            known = ", ".join(sorted(TOOL_NAMES))
            hint = did_you_mean(name, TOOL_NAMES)
            raise ConfigError(f"--tools: there is no tool {name}. The tools are {known}{hint}")


def _check_sandbox(text: str) -> None:
    """Refuse a sandbox in additional settings; a file that cannot be read is reported where it is loaded."""
    inline = text.lstrip().startswith("{")
    if not inline:
        try:
            with open(text, encoding="utf-8-sig") as file:
                text, place = file.read(), text
        except (OSError, UnicodeDecodeError):
            return
    value, _ = parse_json(text)
    if wants_sandbox(value):
        where = "--settings" if inline else f"--settings {place}"
        raise ConfigError(f"{where}: sandbox.enabled: {NO_SANDBOX}; {INSTEAD}")


def _permission_tool(name: str | None) -> str | None:
    if name is None or name == ASK_HOST:
        return None
    if not name.startswith("mcp__"):
        raise ConfigError(f"--permission-prompt-tool {name}: write `stdio`, or a tool of an MCP server (mcp__…__…)")
    return name


def _tuning(args: argparse.Namespace) -> Tuning:
    return Tuning(
        thinking=_thinking(args.thinking, args.max_thinking_tokens),
        thinking_display=args.thinking_display,
        effort=args.effort,
        betas=tuple(args.betas),
        task_budget=args.task_budget,
    )


def _thinking(kind: str | None, tokens: int | None) -> Thinking | None:
    """Return what is asked for; `--thinking` outranks a number of tokens."""
    if kind is not None:
        return NoThinking() if kind == "disabled" else AdaptiveThinking()
    if tokens is None:
        return None
    if tokens < 0:
        raise ConfigError(f"--max-thinking-tokens {tokens}: write 0 to turn thinking off, or a number of tokens")
    return ThinkingBudget(tokens) if tokens else NoThinking()


def _schema(text: str) -> Mapping[str, Json]:
    value, problem = parse_json(text)
    if problem is not None or not isinstance(value, dict):
        raise ConfigError(f"--json-schema: expected a JSON object: {problem or 'got something else'}")
    if value.get("type") != "object":
        raise ConfigError('--json-schema: the schema must have `"type": "object"`; wrap other values in an object')
    return value


def _text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--system-prompt-file {path}: cannot be read: {error}") from None


def options_of(args: argparse.Namespace, env: Mapping[str, str]) -> AgentOptions:
    """Return the options that the arguments ask for.

    Law: an argument with the name of an option is that option, and an option without an argument keeps its default.
    Only `start` is made of several arguments.
    """
    given = {name: value for name, value in vars(args).items() if name in AgentOptions.__struct_fields__}
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return msgspec.structs.replace(AgentOptions(env=dict(env), start=_start(args)), **values)


def _start(args: argparse.Namespace) -> Start:
    at, drops = getattr(args, "resume_session_at", None), getattr(args, "resume_drops_turn", None)
    if args.resume and (drops is None or at is not None):
        return ResumeSession(args.resume, args.fork_session, at, drops)
    if at is not None or drops is not None:
        raise ConfigError("--resume-session-at needs --resume, and --resume-drops-turn needs both")
    if args.continue_:
        return ContinueLatest(args.fork_session)
    return NewSession(getattr(args, "session_id", None))
