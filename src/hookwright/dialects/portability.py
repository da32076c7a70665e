"""Facts about agents that only reading and checking need; everything else is in the table of each agent."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from hookwright.dialects.model import Dialect, Evidence, Proof


class Habits(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent does with its files beyond what its table says."""

    #: Its JSON files may have `//` and `/* */` comments.
    comments: bool = False
    #: Two declarations of the same command for one event run once.
    same_command_once: bool = False
    #: Top-level keys of a file of nothing but hooks; any other key rejects the file. Empty if others are accepted.
    top_keys: tuple[str, ...] = ()
    #: Keys beside the events that are not events.
    switches: tuple[str, ...] = ()
    #: Keys of a group beside `matcher` and `hooks`.
    group_keys: tuple[str, ...] = ()
    #: Handler types that run; a type that is not listed is read and never run.
    kinds: tuple[str, ...] = ("command",)
    #: The keys that may hold the command, the first one present is the command.
    command_keys: tuple[str, ...] = ("command",)
    #: Claude Code's events and their names are accepted in the agent's own files as well.
    claude_names: bool = False
    #: The shell that runs a command.
    shell: tuple[str, ...] = ("sh", "-c")
    #: Known to leave `CLAUDE_PROJECT_DIR` unset.
    no_project_variable: bool = False


#: An agent without an entry has the ordinary habits.
_HABITS: Mapping[str, Habits] = {
    "codex": Habits(
        top_keys=("hooks", "description"),
        switches=("state",),
        kinds=("command", "mcp_tool"),
        shell=("bash", "-lc"),
        no_project_variable=True,
    ),
    "gemini": Habits(comments=True, switches=("enabled", "disabled", "notifications"), group_keys=("sequential",)),
    "qwen": Habits(comments=True, group_keys=("sequential",), kinds=("command", "http", "prompt", "function")),
    "copilot": Habits(
        kinds=("command", "http", "prompt"), command_keys=("bash", "powershell", "command"), claude_names=True
    ),
    "vscode": Habits(comments=True),
    "cursor": Habits(same_command_once=True, kinds=("command", "prompt")),
}


def habits(dialect: Dialect) -> Habits:
    """Return the habits of an agent."""
    return _HABITS.get(dialect.name, Habits())


_WORDS = {
    Evidence.RECORDED: "recorded",
    Evidence.DOCUMENTED: "documented",
    Evidence.REPORTED: "reported",
}


def evidence(dialect: Dialect, proof: Proof) -> str:
    """Return how sure a statement about an agent is: `Codex CLI 0.166.0, recorded`."""
    return f"{dialect.title} {proof.versions}, {_WORDS[proof.evidence]}"
