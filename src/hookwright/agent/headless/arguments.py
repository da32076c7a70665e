"""The flags that the agent has on a screen and without one, as options."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping

import msgspec

from hookwright.agent.state.options import AgentOptions, ContinueLatest, NewSession, ResumeSession


def shared_options(args: argparse.Namespace, env: Mapping[str, str]) -> AgentOptions:
    """Turn the shared arguments into options; what only one of both commands has stays as it is by default."""
    options = AgentOptions(
        env=dict(env),
        start=ContinueLatest(args.fork_session) if args.continue_ else NewSession(),
        model=args.model,
        permission_mode=args.permission_mode,
        allowed_tools=tuple(args.allowedTools),
        disallowed_tools=tuple(args.disallowedTools),
        settings=tuple(args.settings),
        setting_sources=listed(args.setting_sources),
        plugin_dirs=tuple(args.plugin_dir),
        mcp_config=tuple(args.mcp_config),
        strict_mcp_config=args.strict_mcp_config,
        append_system_prompt=args.append_system_prompt,
        add_dirs=tuple(os.path.abspath(path) for path in args.add_dir),
        trust=True if args.trust else None,
        safe_mode=args.safe_mode,
    )
    if args.resume:
        options = msgspec.structs.replace(options, start=ResumeSession(args.resume, args.fork_session))
    if args.context_limit is not None:
        options = msgspec.structs.replace(options, context_limit=args.context_limit or None)
    return options


def listed(text: str | None) -> tuple[str, ...] | None:
    """Read words between commas; None where nothing was said."""
    return None if text is None else tuple(word.strip() for word in text.split(",") if word.strip())
