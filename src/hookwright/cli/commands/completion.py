"""Print a completion script."""

from __future__ import annotations

import argparse
import json
import sys

import msgspec

from hookwright.cli.completion import bash, commands, fish, zsh
from hookwright.text import say

_SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("shell", choices=list(_SHELLS), help="for which shell")
    parser.add_argument("--json", action="store_true", help="print the commands and options themselves")
    parser.epilog = (
        "bash: add `source <(hookwright completion bash)` to ~/.bashrc. zsh: the same with zsh in ~/.zshrc. "
        "fish: hookwright completion fish > ~/.config/fish/completions/hookwright.fish"
    )


def run(args: argparse.Namespace) -> int:
    """Print it."""
    if args.json:
        print(json.dumps(msgspec.to_builtins(commands()), indent=1))
        return 0
    say(_SHELLS[args.shell](), sys.stdout)
    return 0
