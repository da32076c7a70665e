"""Shell commands, looked at without running them: which sub-commands a Bash or PowerShell text comes to."""

from hookwright.shell.bash import analyse_bash
from hookwright.shell.commands import Analysis, Redirection, SubCommand, Word
from hookwright.shell.patterns import CommandPattern, Wildcard, allowed
from hookwright.shell.powershell import analyse_powershell, canonical

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
