"""PowerShell: split into sub-commands by a small parser; what it does not know is a `problem`.

Blocks and parentheses are split as well, so that their content is analysed. PowerShell ignores case, so everything here
is in lower case; in `core` a common alias is replaced by the name of its cmdlet.
"""

import re
from functools import lru_cache

from hookwright.matching.shell.commands import UNKNOWN, Analysis, Redirection, SubCommand, Word

LENGTH_LIMIT = 10_000

_TOKEN = re.compile(
    r"""
      (?P<comment> <\#.*?\#> | (?<![^\s;|&(){}]) \#[^\n]* )
    | (?P<here>    @'\r?\n.*?\r?\n'@ | @"\r?\n.*?\r?\n"@ )
    | (?P<single>  '(?:[^']|'')*' )
    | (?P<double>  "(?:[^"`]|`.|"")*" )
    | (?P<split>   && | \|\| | [;|&\n(){}] )
    | (?P<space>   (?:[^\S\n]|`\r?\n)+ )
    | (?P<plain>   (?:`.|[^\s;|&(){}'"`])+ )
    """,
    re.VERBOSE | re.DOTALL,
)

_CMDLETS = {
    "Add-Content": "ac",
    "Clear-Content": "clc",
    "Clear-Host": "clear cls",
    "Compare-Object": "compare diff",
    "Copy-Item": "copy cp cpi",
    "ForEach-Object": "% foreach",
    "Get-ChildItem": "dir gci ls",
    "Get-Command": "gcm",
    "Get-Content": "cat gc type",
    "Get-Item": "gi",
    "Get-Location": "gl pwd",
    "Get-Process": "gps ps",
    "Get-Service": "gsv",
    "Invoke-Command": "icm",
    "Invoke-Expression": "iex",
    "Invoke-Item": "ii",
    "Invoke-RestMethod": "irm",
    "Invoke-WebRequest": "curl iwr wget",
    "Measure-Object": "measure",
    "Move-Item": "mi move mv",
    "New-Item": "ni",
    "Remove-Item": "del erase rd ri rm rmdir",
    "Rename-Item": "ren rni",
    "Select-Object": "select",
    "Select-String": "sls",
    "Set-Content": "sc",
    "Set-Location": "cd chdir sl",
    "Sort-Object": "sort",
    "Start-Process": "saps start",
    "Start-Sleep": "sleep",
    "Stop-Process": "kill spps",
    "Stop-Service": "spsv",
    "Tee-Object": "tee",
    "Where-Object": "? where",
    "Write-Output": "echo write",
}
_ALIASES = {alias: cmdlet.lower() for cmdlet, aliases in _CMDLETS.items() for alias in aliases.split()}


def canonical(pattern: str) -> str:
    """Return a rule's pattern as commands are spelled here: in lower case, with the cmdlet for an alias."""
    name, separator, rest = pattern.lower().partition(":*" if pattern.endswith(":*") else " ")
    return _ALIASES.get(name, name) + separator + rest


@lru_cache(maxsize=1024)
def analyse_powershell(command: str) -> Analysis:
    """Return the sub-commands of a PowerShell command."""
    command = command.lower()
    if len(command) > LENGTH_LIMIT:
        return Analysis((), problem=f"the command is longer than {LENGTH_LIMIT:,} characters")
    if UNKNOWN in command:
        return Analysis((), problem="the command contains a NUL character")
    commands: list[SubCommand] = []
    words: list[Word] = []
    start = at = 0
    glued = expands = False
    while at < len(command):
        token = _TOKEN.match(command, at)
        if token is None:
            return Analysis(tuple(commands), expands, "the command has an open quote or a lone backtick")
        at = token.end()
        if token.lastgroup == "split":
            commands += _sub_command(command[start : token.start()], words)
            words, start, glued = [], at, False
        elif token.lastgroup in ("space", "comment"):
            glued = False
        elif token.lastgroup == "double" and "$(" in token[0]:
            return Analysis(tuple(commands), True, "a command inside a string is not analysed")
        else:
            word = _word(token)
            expands = expands or UNKNOWN in word.shape
            if glued:
                word = Word(words[-1].raw + word.raw, words.pop().shape + word.shape)
            words.append(word)
            glued = True
    commands += _sub_command(command[start:], words)
    return Analysis(tuple(commands), expands)


def _word(token: re.Match[str]) -> Word:
    raw = token[0]
    match token.lastgroup:
        case "single":
            return Word(raw, raw[1:-1].replace("''", "'"))
        case "double":
            return Word(raw, _shape(raw[1:-1].replace('""', '"')))
        case "here":
            return Word(raw, raw if raw.startswith("@'") else _shape(raw))
        case _:
            return Word(raw, _shape(raw))


def _shape(text: str) -> str:
    """Return text without backticks, with variables marked as unknown."""
    if re.search(r"(?<!`)[$@]", text):
        return UNKNOWN
    return re.sub(r"`(.)", r"\1", text, flags=re.DOTALL)


def _sub_command(source: str, words: list[Word]) -> list[SubCommand]:
    if not words:
        return []
    name = _ALIASES.get(words[0].shape)
    core = (Word(name, name), *words[1:]) if name else tuple(words)
    redirections = tuple(Redirection(">", word) for word in words if ">" in word.raw)
    return [SubCommand(source.strip(), source.strip(), tuple(words), core, (), redirections)]
