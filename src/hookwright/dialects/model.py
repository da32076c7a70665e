"""The words of a table of an agent: what it sends, what it obeys, where its files are, and how sure each entry is."""

from __future__ import annotations

import enum

import msgspec


class Evidence(enum.Enum):
    """How an entry is known."""

    RECORDED = "recorded"
    DOCUMENTED = "documented, not proven"
    REPORTED = "reported, not proven"


class Proof(msgspec.Struct, frozen=True):
    """How an entry is known, for which versions, and where that can be read."""

    evidence: Evidence
    #: The first and the last version that this was seen or documented for.
    since: str
    until: str
    #: A recording below `tests/dialects`, a file of the agent's source, or a page of its documentation.
    source: str

    @property
    def versions(self) -> str:
        """The range of versions, as tables show it."""
        return self.since if self.since == self.until else f"{self.since} … {self.until}"


class AnswerForm(enum.Enum):
    """A form of refusal, as one answer of a hook."""

    DENY = "`hookSpecificOutput.permissionDecision: deny` with a reason"
    BLOCK = "`decision: block` with a reason"
    BEHAVIOR = "`hookSpecificOutput.decision.behavior: deny` with a message"
    EXIT_2 = "exit status 2 with text on stderr"
    END = "`continue: false` with a reason"
    FLAT = "`permission: deny` with a message"
    THROW = "an error that the plugin throws"


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """An event of the agent."""

    name: str
    #: Claude Code's event at the same moment; empty if there is none.
    claude: str
    proof: Proof
    #: The forms of refusal that the agent obeys here, the best one first; empty if nothing can be refused.
    refused_by: tuple[AnswerForm, ...] = ()
    #: Whether `additionalContext` reaches the model.
    context: bool = False
    #: The agent reads it at the top of the answer instead of below `hookSpecificOutput`.
    context_at_top: bool = False
    #: The agent's own limit in seconds, where it is below the one that is configured.
    limit: float | None = None
    #: The event also fires without a prompt, at moments that Claude Code does not have.
    fires_without_prompt: bool = False
    #: Whether `export` registers the event.
    exported: bool = True
    #: A difference in meaning that a hook author must know.
    note: str = ""


class ToolMap(msgspec.Struct, frozen=True, kw_only=True):
    """A tool of the agent as a tool of Claude Code."""

    name: str
    #: Claude Code's tool, or empty for one without a counterpart.
    claude: str
    proof: Proof
    #: Claude Code's key of each key of the input that has another name.
    keys: tuple[tuple[str, str], ...] = ()
    #: Keys, by Claude Code's names, without which a guard would be blind: a call that lacks one is refused.
    needs: tuple[str, ...] = ()
    #: The input is a patch, which becomes one event per file.
    patch: bool = False
    note: str = ""


class FieldMap(msgspec.Struct, frozen=True):
    """A field of a payload: Claude Code's name, the agent's name (empty if it is not sent), and what differs."""

    claude: str
    name: str
    proof: Proof
    note: str = ""


class AnswerEffect(enum.Enum):
    """What the agent does with the tool call after an answer of a PreToolUse hook."""

    RUNS = "runs the call"
    REFUSED = "refuses the call"
    ENDS = "ends the turn"
    ASKS = "asks the user"
    HANGS = "waits without an end where no user can answer"
    REWRITTEN = "runs the rewritten call"


class Vocabulary(enum.Enum):
    """The keys that an agent reads in an answer."""

    CLAUDE = "Claude Code's"
    GEMINI = "top-level `decision`, `hookSpecificOutput.tool_input`"
    CURSOR = "flat: `permission`, `user_message`, `updated_input`"
    PLUGIN = "the object that the generated plugin reads"


class AnswerRules(msgspec.Struct, frozen=True, kw_only=True):
    """How the agent reads the answer of a PreToolUse hook."""

    proof: Proof
    vocabulary: Vocabulary = Vocabulary.CLAUDE
    #: Exit status 2 without text on stderr is a failure instead of a refusal.
    exit_2_needs_text: bool = False
    #: JSON on stdout is read instead of exit status 2.
    json_beats_exit_2: bool = False
    #: JSON is also read at exit statuses other than 0.
    json_at_any_status: bool = False
    #: `permissionDecision` is read.
    permission_decision: bool = True
    #: Top-level `decision` is read.
    decision: bool = True
    #: A refusal in JSON without a reason is a failure.
    reason_needed: bool = False
    #: An unknown, missing or unsupported field makes the whole answer a failure.
    strict: bool = False
    #: What `continue: false` does.
    stop: AnswerEffect = AnswerEffect.RUNS
    #: What `ask` does where no user can answer.
    ask: AnswerEffect = AnswerEffect.RUNS
    #: Whether `ask` reaches a user if there is one.
    asks: bool = False
    #: Whether `allow` skips the agent's own question.
    allows: bool = False
    #: The key below which a rewritten input is read; empty if a rewrite is ignored.
    rewrite: str = ""
    #: A rewrite is merged into the input, so a key that the rewrite lacks stays as it was.
    rewrite_merges: bool = False
    #: A block after the call replaces the result that the model reads.
    block_replaces_output: bool = False
    #: Context for the model is plain text on stdout.
    plain_context: bool = False
    #: What a hook that fails leaves: a crash, an unknown status, an answer that cannot be read.
    on_failure: AnswerEffect = AnswerEffect.RUNS
    on_timeout: AnswerEffect = AnswerEffect.RUNS
    note: str = ""


class Unit(enum.Enum):
    """The unit of a time limit in a settings file."""

    SECONDS = "seconds"
    MILLISECONDS = "milliseconds"
    MIXED = "seconds below 1,000, milliseconds from 1,000"
    NONE = "no time limit"


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    """Time limits of the agent."""

    unit: Unit
    #: Seconds without a setting; None if there is no limit.
    default: float | None
    #: The key of a handler.
    key: str
    #: The value of the key that `export` writes: 600 seconds.
    exported: int
    proof: Proof

    def seconds(self, value: float) -> float | None:
        """Return what a configured value comes to in seconds; None if the agent has no limit."""
        match self.unit:
            case Unit.SECONDS:
                return value
            case Unit.MILLISECONDS:
                return value / 1000
            case Unit.MIXED:
                return value if value < 1000 else value / 1000
            case Unit.NONE:
                return None


class FileScope(enum.Enum):
    """Who a file belongs to."""

    MANAGED = "managed"
    USER = "user"
    PROJECT = "project"
    CLAUDE = "Claude Code's own file"


class Layout(enum.Enum):
    """The shape of the hooks in a file."""

    GROUPS = "event → groups with `matcher` and `hooks`"
    FLAT = "event → handlers with their own `matcher`"
    TOML_TABLES = "`[[hooks]]` tables with `event`, `matcher`, `command`"
    CODE = "a plugin in JavaScript or TypeScript"


class HookFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file in which the agent looks for hooks; `~` is the home directory, a relative path is of the project."""

    path: str
    scope: FileScope
    layout: Layout
    proof: Proof
    #: The environment variable that names another folder instead of the one in `path`.
    folder_variable: str = ""
    #: The key that holds the events; empty where the file is nothing but events.
    wrapper: str = "hooks"
    note: str = ""


class UnknownEvent(enum.Enum):
    """What the agent does with an event name it does not know."""

    SKIPPED = "skips the event"
    VOIDS_FILE = "ignores the whole file"
    UNSEEN = "is not known"


class MatcherRule(enum.Enum):
    """How the agent compares a matcher with a tool's name."""

    CLAUDE_NARROW = "exact names or a `|` list, else a regular expression"
    SEARCH = "a regular expression, found anywhere in the name"
    ANCHORED = "Claude Code's rule, but a regular expression must match the whole name"
    IGNORED = "matchers are ignored: every hook runs for every tool"
    NONE = "no matchers"


class MatcherRules(msgspec.Struct, frozen=True, kw_only=True):
    """How matchers select tools."""

    rule: MatcherRule
    proof: Proof
    #: Names in a matcher that also select a tool of the agent: (name, tool).
    aliases: tuple[tuple[str, str], ...] = ()
    note: str = ""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is known about the hooks of one agent."""

    #: The word on the command line.
    name: str
    #: The product's name in messages.
    title: str
    #: The program on PATH; empty for an editor.
    program: str
    #: The version that was run or read.
    version: str
    #: Its package in npm's registry; empty for one that is not there.
    package: str = ""
    proof: Proof
    moments: tuple[Moment, ...]
    fields: tuple[FieldMap, ...]
    tools: tuple[ToolMap, ...]
    matching: MatcherRules
    answers: AnswerRules
    clock: Clock
    #: In the order in which the agent reads them.
    files: tuple[HookFile, ...]
    #: Keys of a handler that the agent reads.
    handler_keys: tuple[str, ...]
    unknown_event: UnknownEvent
    #: How several hooks of one event run, and which answer wins.
    order: str
    trust: str
    #: Claude Code's permission modes by the agent's own values; empty where they are the same or not sent.
    modes: tuple[tuple[str, str], ...] = ()
    #: How MCP tools are named: `mcp__server__tool`, or a template with `{server}` and `{tool}`.
    mcp_name: str = "mcp__{server}__{tool}"
    #: Environment variables that the agent sets for hooks.
    environment: tuple[str, ...] = ()
    #: Traps that no other entry names.
    traps: tuple[str, ...] = ()
    #: Fields of a payload, by the agent's names, of which one tells an event from every other event.
    unique_fields: tuple[str, ...] = ()
    #: Whether hooks can be exported; the others are read only.
    exported: bool = True

    @property
    def loads_claude(self) -> tuple[HookFile, ...]:
        """Claude Code's own files that the agent loads by itself."""
        return tuple(file for file in self.files if file.scope is FileScope.CLAUDE)

    @property
    def claude_scopes(self) -> dict[str, str]:
        """The scopes of the settings of Claude Code that the agent loads by itself, each with its file."""
        files = [file.path for file in self.loads_claude]
        return {"user" if path.startswith("~") else "local" if "local" in path else "project": path for path in files}

    def moment(self, name: str) -> Moment | None:
        """Return an event by the agent's name."""
        return next((moment for moment in self.moments if moment.name == name), None)

    def moment_of(self, claude: str) -> Moment | None:
        """Return the event at the moment of one of Claude Code's events."""
        return next((moment for moment in self.moments if moment.claude == claude), None)

    def tool(self, name: str) -> ToolMap | None:
        """Return a tool by the agent's name."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def field(self, claude: str) -> FieldMap | None:
        """Return what is known about one of Claude Code's fields."""
        return next((field for field in self.fields if field.claude == claude), None)
