"""`hookwright completion`: print a completion script for a shell."""

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
    parser.add_argument("shell", choices=list(_SHELLS), metavar="SHELL", help="bash, zsh or fish")
    parser.add_argument("--json", action="store_true", help="print the commands and their options as JSON")
    parser.epilog = (
        "bash: add `source <(hookwright completion bash)` to ~/.bashrc. "
        "zsh: add `source <(hookwright completion zsh)` to ~/.zshrc. "
        "fish: run `hookwright completion fish > ~/.config/fish/completions/hookwright.fish`."
    )


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    if args.json:
        print(json.dumps(msgspec.to_builtins(commands()), indent=1))
        return 0
    say(_SHELLS[args.shell](), sys.stdout)
    return 0
