"""What a chat is started with: the command line read once, into options of the agent and wishes of the screen."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping

import msgspec

from detent.agent.options import MODES, AgentOptions, ContinueLatest, NewSession, ResumeSession, Start
from detent.config.trust import TrustPolicy
from detent.errors import ConfigError
from detent.wiring import Places

#: What `--resume` without an id stands for.
PICK = ""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One chat."""

    options: AgentOptions
    script: str | None = None
    #: What is said first, before anybody types.
    prompt: str | None = None
    #: Ask which conversation to go on with.
    picks: bool = False
    debug_file: str | None = None


def read_plan(args: argparse.Namespace, env: Mapping[str, str]) -> Plan:
    """Turn arguments into a plan."""
    if args.permission_mode is not None and args.permission_mode not in (*MODES, "manual"):
        known = ", ".join(MODES)
        raise ConfigError(f"--permission-mode {args.permission_mode}: there is no such mode. Use one of {known}.")
    options = AgentOptions(
        env=dict(env),
        start=_start(args),
        model=args.model,
        permission_mode=args.permission_mode,
        allowed_tools=tuple(args.allowedTools),
        disallowed_tools=tuple(args.disallowedTools),
        settings=tuple(args.settings),
        setting_sources=_listed(args.setting_sources),
        plugin_dirs=tuple(args.plugin_dir),
        mcp_config=tuple(args.mcp_config),
        strict_mcp_config=args.strict_mcp_config,
        append_system_prompt=args.append_system_prompt,
        add_dirs=tuple(os.path.abspath(path) for path in args.add_dir),
        trust=True if args.trust else None,
        safe_mode=args.safe_mode,
        attended=True,
        one_shot=False,
    )
    if args.context_limit is not None:
        options = msgspec.structs.replace(options, context_limit=args.context_limit or None)
    return Plan(
        options=options,
        script=args.script,
        prompt=args.prompt,
        picks=args.resume == PICK,
        debug_file=args.debug_file,
    )


def _start(args: argparse.Namespace) -> Start:
    if args.resume:
        return ResumeSession(args.resume, args.fork_session)
    return ContinueLatest(args.fork_session) if args.continue_ else NewSession()


def _listed(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(word.strip() for word in text.split(",") if word.strip())


def places_of(options: AgentOptions) -> Places:
    """Say where the hooks of a session are looked for, as the session itself does."""
    return Places(
        project=options.cwd,
        env=options.env,
        home=options.home,
        settings=options.settings,
        sources=options.setting_sources,
        plugin_dirs=options.plugin_dirs,
        trust=TrustPolicy.EVERYTHING if options.trust else None,
        managed_only=options.safe_mode,
    )
