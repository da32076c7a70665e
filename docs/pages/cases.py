"""The reference of case files, from the keys that their reader knows."""

from __future__ import annotations

from pages.markdown import code, page, table, ticked

from hookwright.cases.case import DECISIONS
from hookwright.cases.inject import FAULTS
from hookwright.cases.read import _CASE_KEYS, _EXPECT_KEYS

CASE = {
    "name": "Its name in reports. Unique in the file.",
    "event": "The event to fire. An ordinary one is made; the other keys change it.",
    "tool": "The tool. Without `input` it gets an ordinary one.",
    "sample": "A tool, or a value of the matcher, that the ordinary event is made for.",
    "input": "`tool_input`.",
    "prompt": "`prompt`.",
    "fields": "Any other fields of the event.",
    "settings": "Settings in addition to the project's, hooks included.",
    "files": "Path → text: files of the project. The case then runs in a scratch copy.",
    "env": "Variables for the hooks.",
    "inject": "Failures to inject: `timeout`, `crash:PATTERN`, or a list of them.",
    "only": "The hooks that take part: a part of their command, or a list of such parts. All hooks if absent.",
    "sources": "The settings to load: some of user, project and local. Project and local if absent; for a file in "
    "the user's configuration directory, user.",
    "model": "What the model answers to prompt and agent hooks.",
    "expect": "What must come of it. A case without it fails.",
}
EXPECT = {
    "decision": "What the hooks decide together.",
    "reason": "The reason.",
    "context": "What the model gets as context.",
    "system_message": "The message to the user.",
    "stop": "The stop reason; `true` for any stop, `false` for none.",
    "updated_input": "The rewritten input.",
    "updated_output": "The rewritten output.",
    "fields": "The event's own answer fields, by their Python names.",
    "ran": "How many hooks ran, or patterns for exactly those that ran.",
    "skipped": "Patterns for hooks that were skipped, each with its reason.",
    "errors": "How many hooks gave no verdict. Default 0.",
    "codes": "Diagnostic codes that must be there.",
    "files": "Path → what the file must be afterwards.",
    "env_file": "What hooks wrote to `CLAUDE_ENV_FILE`.",
    "max_ms": "The most that the event may take.",
}


def cases() -> str:
    """Write the page."""
    return page(
        "Case files",
        "`hookwright test` runs cases: an event with its surroundings, and the expected result. A file is YAML or "
        "JSON, a list of cases or an object with `defaults` and `cases`, by default in `.claude/hooks/tests`. "
        "[The guide](../guide.md#test-your-hooks) has an example.",
        "## Keys of a case",
        table(("key", "meaning"), [(f"`{key}`", CASE[key]) for key in _CASE_KEYS]),
        "## Keys of expect",
        "An omitted key is not checked, except `errors`.",
        table(("key", "meaning"), [(f"`{key}`", EXPECT[key]) for key in _EXPECT_KEYS]),
        f"A decision is one of {ticked(DECISIONS)}.",
        "A text is expected as a regular expression that is found in it, a list of them, `{is: text}` for the whole, "
        "`{not: pattern}`, or `null` for none:",
        code("reason: [rm, not allowed]\ncontext: null\nsystem_message: {is: checked}", "yaml"),
        "## Failures",
        table(("failure", "meaning"), [(f"`{name}`", text) for name, text in FAULTS.items()]),
        "`NAME:PATTERN` affects only hooks whose command has the pattern. `hookwright fire --inject` takes the same.",
    )
