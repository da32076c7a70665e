"""Problems of a hook author, reported with the place, the value and the way out."""

from __future__ import annotations

import enum

import msgspec

from hookwright.protocol.sources import Source
from hookwright.text import flat


class Severity(enum.Enum):
    """How much a diagnostic matters."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Diagnostic(msgspec.Struct, frozen=True):
    """One problem at one place."""

    code: str
    message: str
    source: Source | None = None
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        """Return one line, whatever the message holds: no text may forge another one."""
        place = f"{self.source}: " if self.source is not None else ""
        return flat(f"{place}{self.message} [{self.code}]")


#: Every code with its meaning. Codes are never renamed. The reference in docs/ is generated from this table.
CODES: dict[str, str] = {
    # configuration files
    "unreadable-file": "A settings file exists and cannot be read. The file is ignored; other files still load.",
    "invalid-json": "A settings file is not valid JSON. The whole file is ignored; other files still load.",
    "json-extras": "A settings file uses comments or trailing commas, which JSON does not have. The file is ignored.",
    "duplicate-key": "A JSON object has the same key twice. The last one applies.",
    "not-an-object": "A value that must be an object is something else. That part is ignored.",
    "not-a-list": "A value that must be a list is something else. That part is ignored.",
    "lone-surrogate": "A JSON string contains half of a UTF-16 surrogate pair. It is read as U+FFFD.",
    "unknown-event": "The event name is not in the catalogue. Its hooks never run; other events still load.",
    "unknown-key": "The key is unknown. It is ignored.",
    "unknown-type": "The handler type is not one of command, http, mcp_tool, prompt, agent. The entry is dropped.",
    "missing-field": "A required field is missing. The entry is dropped.",
    "wrong-type": "A field has a value of the wrong type. The entry is dropped.",
    "bad-value": "A field has a value outside its range. The entry is dropped.",
    "empty-command": "The command is empty. The handler is listed, and each run of it is a non-blocking error.",
    "flat-handler": "A handler appears where a group belongs. It is dropped; `{matcher, command}` becomes a group.",
    "invalid-matcher": "The matcher is not a valid regular expression. The handler is listed and never runs.",
    "matcher-matches-nothing": "The matcher cannot match any known value of this event.",
    "matcher-ignored": "The event has no matcher; the handler runs every time.",
    "matcher-too-complex": "The matcher could not be decided within its step budget. The handler runs.",
    "invalid-if": "The `if` rule cannot be read. The handler is listed and never runs.",
    "if-on-event": "`if` is evaluated on tool events only; on other events the handler never runs.",
    "if-undecided": "The `if` rule could not be decided for this call. The handler runs.",
    "unsupported-kind": "The event does not support this kind of handler. The handler never runs.",
    "async-ignored": "`async` only applies to command handlers.",
    "once-ignored": "`once` only applies in skill frontmatter.",
    "on-failure-ignored": "`onFailure` has no effect on this event or on background hooks.",
    "timeout-unit": "The timeout is over an hour. Timeouts are in seconds.",
    "hooks-disabled": "`disableAllHooks` is set. The message names the file whose value applies.",
    "managed-only": "`allowManagedHooksOnly` is set. Only managed hooks run.",
    "untrusted": "The hook comes with the project and is not trusted. It does not run until you trust it.",
    "changed-since-trusted": "The hook or its script changed after it was trusted. Trust it again to run it.",
    "trust-store": "The trust store cannot be used. Nothing from the project is trusted.",
    "plugin-unreadable": "An enabled plugin cannot be read.",
    "frontmatter": "The YAML frontmatter of a skill or agent cannot be read.",
    "duplicate-hooks-file": "A plugin's manifest names hooks/hooks.json, which is loaded anyway. It is loaded once.",
    "setting-ignored": "A key has no effect in this file: it is not trusted, or it is the wrong kind of file.",
    "reserved-setting": "A project sets a variable or a mode that no project may choose. It is ignored.",
    "reloaded": "Settings files changed during the session. Their hooks are now active.",
    "reload-kept": "A changed settings file is broken. The last valid hooks stay active.",
    # running
    "launch-failed": "The hook could not be started, so it checked nothing.",
    "working-directory-moved": "The hook names a file by a relative path, and the session's directory has moved.",
    "accidental-exit-2": "An interpreter that could not start its script exited 2, and 2 means block.",
    "killed": "A signal ended the hook.",
    "timeout": "The hook reached its time limit and checked nothing.",
    "exit-status": "The hook exited with a status other than 0 and 2: a non-blocking error.",
    "exit-2-no-effect": "The hook exited 2 on an event that cannot be blocked.",
    "http-failed": "The HTTP request failed, or the response was not 2xx with a JSON object.",
    "http-forbidden": "The URL is not allowed by `allowedHttpHookUrls` or by the guard against metadata addresses.",
    "asked-without": "A variable, a header or a placeholder could not be filled in. The hook was called without it.",
    "model-failed": "The model call failed or gave no usable answer.",
    "mcp-failed": "The MCP server is not connected or the tool reported an error.",
    "callback-failed": "A callback or function raised an exception.",
    "interrupted": "The hook was stopped because the user interrupted or the session ended.",
    # answers
    "broken-json": "The answer looks like a JSON object but is not valid JSON. It is ignored.",
    "invalid-answer": "The answer does not match the output schema. The whole answer is ignored.",
    "wrong-event-name": "`hookEventName` is not the event that fired. The whole answer is ignored.",
    "looks-like-an-answer": "The output holds an answer with something around it, so it was read as plain text.",
    "left-for-background": "The hook asked for the background by its first line. It cannot refuse anything from there.",
    "background-refused": "The hook asked for the background where that could undo a guard. It was awaited.",
    "unknown-answer-key": "The answer has an unknown key. The key is ignored.",
    "no-effect": "The answer has a field that has no effect on this event.",
    "not-utf-8": "The hook printed bytes that are not UTF-8. They were replaced; no other encoding is supported.",
    "output-too-large": "The hook printed more than the limit. The rest was dropped.",
    "spilled": "A text is longer than 10,000 characters. It was saved to a file; the model sees a preview.",
    "spill-failed": "A text is longer than 10,000 characters and could not be saved. The model only sees a preview.",
    "env-file": "An env file is broken. It is skipped; later commands run.",
    "observer-failed": "An observer raised an exception. Hooks still run; what it would have recorded is missing.",
    "journal": "The journal cannot be written. Hooks still run.",
    "stop-cap": "A stop hook blocked too many times in a row and was overridden.",
    # permissions of the reference agent
    "invalid-rule": "A permission rule cannot be read. It is ignored; other rules apply.",
    "invalid-permission-update": "A mode or an entry of `updatedPermissions` cannot be read. It has no effect.",
    "permission-not-kept": "A permission update could not be written to its settings file. It applies to this session.",
}
