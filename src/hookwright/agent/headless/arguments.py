"""Command-line arguments as options of the agent; what cannot be done is refused before anything runs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping

import msgspec

from hookwright.agent.permissions import InvalidUpdate, read_mode
from hookwright.agent.permissions.rules import split_rules
from hookwright.agent.state.components import given_agents
from hookwright.agent.state.options import AgentOptions, ContinueLatest, NewSession, ResumeSession, Start
from hookwright.agent.state.session_model import resolve
from hookwright.agent.subagents.toolset import TOOL_NAMES
from hookwright.errors import ConfigError
from hookwright.matching.conditions import InvalidRule, parse_rule
from hookwright.models.prices import PRICES
from hookwright.models.types import Tuning
from hookwright.protocol.jsontext import Json, parse_json
from hookwright.protocol.matched import canonical_model
from hookwright.text import did_you_mean

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
    )
    if args.system_prompt_file is not None:
        options = msgspec.structs.replace(options, system_prompt=_text_of(args.system_prompt_file))
    return options


def check(options: AgentOptions) -> None:
    """Refuse what is mistyped or cannot be done.

    Law: a restriction that cannot be read never becomes no restriction: a wrong rule, mode or tool, a budget without
    a price and a sandbox are errors, before anything runs.
    """
    _check_rules("--allowedTools", options.allowed_tools)
    _check_rules("--disallowedTools", options.disallowed_tools)
    _check_mode(options.permission_mode)
    _check_tools(options.tools or ())
    for text in options.settings:
        _check_sandbox(text)
    if options.max_budget_usd is not None:
        _check_price(options)


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
    value, _ = parse_json(text) if text.lstrip().startswith("{") else (None, None)
    sandbox = value.get("sandbox") if isinstance(value, dict) else None
    if isinstance(sandbox, dict) and sandbox.get("enabled"):
        raise ConfigError(
            "--settings: sandbox.enabled: commands cannot be run in a sandbox here; remove it, and run the whole "
            "program in a container instead"
        )


def _check_price(options: AgentOptions) -> None:
    name = canonical_model(resolve(options.model)) if options.model is not None else None
    if name is not None and name not in PRICES:
        known = ", ".join(PRICES)
        raise ConfigError(f"--max-budget-usd: the price of {name} is not known, so a budget cannot be kept ({known})")


def _tuning(args: argparse.Namespace) -> Tuning:
    tokens = 0 if args.thinking == "disabled" else args.max_thinking_tokens
    return Tuning(thinking_tokens=tokens, effort=args.effort, betas=tuple(args.betas))


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
    if args.resume:
        return ResumeSession(args.resume, args.fork_session)
    if args.continue_:
        return ContinueLatest(args.fork_session)
    return NewSession(getattr(args, "session_id", None))
