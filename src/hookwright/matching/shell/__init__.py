"""Shell commands, analysed without running them: the sub-commands of a Bash or PowerShell command."""

from hookwright.matching.shell.bash import analyse_bash
from hookwright.matching.shell.commands import Analysis, Redirection, SubCommand, Word
from hookwright.matching.shell.patterns import CommandPattern, Wildcard, allowed
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
