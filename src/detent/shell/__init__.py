"""Shell commands, looked at without running them: which sub-commands a Bash or PowerShell text comes to."""

from detent.shell.bash import analyse_bash
from detent.shell.commands import Analysis, Redirection, SubCommand, Word
from detent.shell.patterns import CommandPattern, Wildcard, allowed
from detent.shell.powershell import analyse_powershell, canonical

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
