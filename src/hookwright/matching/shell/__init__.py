"""Shell commands, analysed without running them: the sub-commands of a Bash or PowerShell command."""

from typing import TYPE_CHECKING

from hookwright.matching.shell.commands import Analysis, Redirection, SubCommand, Word
from hookwright.matching.shell.patterns import CommandPattern, Wildcard, allowed

if TYPE_CHECKING:
    from hookwright.matching.shell.bash import analyse_bash
    from hookwright.matching.shell.powershell import analyse_powershell, canonical

__all__ = [
    "Analysis",
    "CommandPattern",
    "Redirection",
    "SubCommand",
    "Wildcard",
    "Word",
    "allowed",
    "analyse_bash",
    "analyse_powershell",
    "canonical",
]


def __getattr__(name: str) -> object:
    """Load the readers at their first use: a hook without `if` needs none."""
    if name == "analyse_bash":
        from hookwright.matching.shell import bash

        return bash.analyse_bash
    if name in ("analyse_powershell", "canonical"):
        from hookwright.matching.shell import powershell

        return getattr(powershell, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
