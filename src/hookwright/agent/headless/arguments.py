"""Command-line arguments as options of the agent."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import msgspec

from hookwright.agent.state.options import AgentOptions, ContinueLatest, NewSession, ResumeSession, Start


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
