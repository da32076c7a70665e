"""What a chat starts with: the command line, read once into options of the agent and of the chat."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import msgspec

from hookwright.agent.headless.arguments import options_of
from hookwright.agent.state.options import MODES, AgentOptions
from hookwright.errors import ConfigError

#: The value of `--resume` without an ID: let the user choose.
PICK = ""


class ChatPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One chat."""

    options: AgentOptions
    script: str | None = None
    #: The first prompt.
    prompt: str | None = None
    #: Ask which conversation to resume.
    picks: bool = False
    debug_file: str | None = None


def read_plan(args: argparse.Namespace, env: Mapping[str, str]) -> ChatPlan:
    """Build a plan from the arguments."""
    options = msgspec.structs.replace(options_of(args, env), attended=True, one_shot=False)
    mode = options.permission_mode
    if mode is not None and mode not in (*MODES, "manual"):
        raise ConfigError(f"--permission-mode {mode}: not a permission mode; use one of {', '.join(MODES)}")
    return ChatPlan(
        options=options,
        script=args.script,
        prompt=args.prompt,
        picks=args.resume == PICK,
        debug_file=args.debug_file,
    )
