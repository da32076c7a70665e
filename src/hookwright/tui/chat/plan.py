"""What a chat is started with: the command line read once, into options of the agent and wishes of the screen."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import msgspec

from hookwright.agent.headless.arguments import shared_options
from hookwright.agent.state.options import MODES, AgentOptions
from hookwright.errors import ConfigError

#: What `--resume` without an id stands for.
PICK = ""


class ChatPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One chat."""

    options: AgentOptions
    script: str | None = None
    #: What is said first, before anybody types.
    prompt: str | None = None
    #: Ask which conversation to go on with.
    picks: bool = False
    debug_file: str | None = None


def read_plan(args: argparse.Namespace, env: Mapping[str, str]) -> ChatPlan:
    """Turn arguments into a plan."""
    if args.permission_mode is not None and args.permission_mode not in (*MODES, "manual"):
        known = ", ".join(MODES)
        raise ConfigError(f"--permission-mode {args.permission_mode}: there is no such mode. Use one of {known}.")
    options = msgspec.structs.replace(shared_options(args, env), attended=True, one_shot=False)
    return ChatPlan(
        options=options,
        script=args.script,
        prompt=args.prompt,
        picks=args.resume == PICK,
        debug_file=args.debug_file,
    )
