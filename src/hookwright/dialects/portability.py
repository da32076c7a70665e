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
    #: Other spellings of events in the agent's own files: (spelling, the name in its table, or empty for an event
    #: that the table does not have).
    spellings: tuple[tuple[str, str], ...] = ()
    #: Handlers may also be listed without a group.
    groupless: bool = False
    #: Of several answers, a later `allow` wins over an earlier refusal.
    allow_beats_deny: bool = False
    #: The shell that runs a command.
    shell: tuple[str, ...] = ("sh", "-c")
    #: Known to leave `CLAUDE_PROJECT_DIR` unset.
    no_project_variable: bool = False

    @property
    def other_names(self) -> Mapping[str, str]:
        """The other spellings of events, by spelling."""
        return dict(self.spellings)


_CAMEL = (
    ("sessionStart", "SessionStart"),
    ("sessionEnd", "SessionEnd"),
    ("userPromptSubmitted", "UserPromptSubmit"),
    ("userPromptTransformed", ""),
    ("preToolUse", "PreToolUse"),
    ("preMcpToolCall", ""),
    ("permissionRequest", "PermissionRequest"),
    ("postToolUse", "PostToolUse"),
    ("postToolUseFailure", "PostToolUseFailure"),
    ("agentStop", "Stop"),
    ("subagentStart", "SubagentStart"),
    ("subagentStop", "SubagentStop"),
    ("preCompact", "PreCompact"),
    ("notification", "Notification"),
    ("errorOccurred", "ErrorOccurred"),
)

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
    "qwen": Habits(
        comments=True,
        group_keys=("sequential",),
        kinds=("command", "http", "prompt", "function"),
        allow_beats_deny=True,
    ),
    "copilot": Habits(
        kinds=("command", "http", "prompt"), command_keys=("bash", "command", "powershell"), spellings=_CAMEL
    ),
    "vscode": Habits(comments=True, spellings=_CAMEL, groupless=True),
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


def modest(dialect: Dialect) -> Proof:
    """Return the weakest proof among an agent's files and events, for statements about what it does not have."""
    order = (Evidence.RECORDED, Evidence.DOCUMENTED, Evidence.REPORTED)
    proofs = [*(file.proof for file in dialect.files), *(moment.proof for moment in dialect.moments)]
    return max(proofs, key=lambda proof: order.index(proof.evidence))


def evidence(dialect: Dialect, proof: Proof) -> str:
    """Return how sure a statement about an agent is: `Codex CLI 0.166.0, recorded`."""
    return f"{dialect.title} {proof.versions}, {_WORDS[proof.evidence]}"
