"""HK413 to HK417: does the script read what is really there?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookwright.lint.found import finding
from hookwright.lint.guards import about_content, all_points, arms, is_guard, lets_through, program_refusals, speaks
from hookwright.lint.model import Finding, Position
from hookwright.lint.programs.ir import Asks, CodePlace, EnvRead, Language, Program, Say, Stream, Test
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.lint.tools import INPUTS, matched
from hookwright.matching.matchers import MatchNames
from hookwright.protocol.diagnostics import Severity
from hookwright.protocol.events import CATALOGUE, UNSENT

#: Variables that are set for hooks, or that users set for the agent.
_SET = re.compile(
    r"CLAUDE_(?:PROJECT_DIR|ENV_FILE|CONFIG_DIR|EFFORT|PID|MODEL|SKILL_DIR|API_KEY|PLUGIN_OPTION_\w+|CODE_\w+)"
)
#: Words in the name of a variable that is meant to carry the event, with what to read instead; the first one decides.
_CARRIES = {
    "TOOL_NAME": ".tool_name",
    "TRANSCRIPT": ".transcript_path",
    "SESSION_ID": ".session_id",
    "HOOK_EVENT": ".hook_event_name",
    "EVENT": ".hook_event_name",
    "MESSAGE": ".message",
    "NOTIFICATION": ".message",
    "PROMPT": ".prompt",
    "COMMAND": ".tool_input.command",
    "FILE": ".tool_input.file_path",
    "OUTPUT": ".tool_response",
    "RESULT": ".tool_response",
    "RESPONSE": ".tool_response",
    "CWD": ".cwd",
    "PROJECT_ROOT": ".cwd",
    "PROJECT_PATH": ".cwd",
    "WORKSPACE": ".cwd",
    "WORKING_DIR": ".cwd",
    "TOOL_": ".tool_input",
    "INPUT": ".tool_input",
    "ARGUMENTS": ".tool_input",
    "STDIN": ".",
    "CONTEXT": ".",
    "HOOK_DATA": ".",
}
#: Variables without `CLAUDE_` in their name that hook authors expect.
_EXPECTED = re.compile(
    r"TOOL_(?:INPUT|NAME|OUTPUT|RESULT|RESPONSE|ARGS|COMMAND|PARAMS)(?:_\w+)?|HOOK_(?:INPUT|EVENT|EVENT_NAME|DATA|TOOL_\w+)"
    r"|STDIN_JSON|FILE_PATHS?|EDITED_FILES?|MODIFIED_FILES?|CHANGED_FILES?|USER_PROMPT"
)
#: An author's own switch, not part of the event.
_OWN_SWITCH = re.compile(
    r"DEBUG|VERBOSE|LOG|SKIP|DISABLE|ENABLE|BYPASS|QUIET|THRESHOLD|LIMIT|TIMEOUT|HOME|BIN|URL|TOKEN|KEY"
)
#: Wrong names of fields, with the right ones.
_TOP = {
    "user_prompt": "prompt",
    "message": "prompt",
    "tool_result": "tool_response",
    "tool_output": "tool_response",
    "result": "tool_response",
    "event": "hook_event_name",
    "hook_name": "hook_event_name",
    "event_name": "hook_event_name",
    "tool": "tool_name",
    "name": "tool_name",
    "input": "tool_input",
    "params": "tool_input",
    "parameters": "tool_input",
    "arguments": "tool_input",
    "transcript": "transcript_path",
    "working_directory": "cwd",
}
_INPUT = {
    "path": "file_path",
    "filePath": "file_path",
    "filepath": "file_path",
    "file": "file_path",
    "filename": "file_path",
    "cmd": "command",
    "script": "command",
    "text": "content",
    "new_content": "content",
    "old_str": "old_string",
    "new_str": "new_string",
    "oldString": "old_string",
    "newString": "new_string",
}
_BYPASS = re.compile(r"SKIP|BYPASS|ALLOW|DISABLE|OVERRIDE|FORCE|_OK$|^OK_|NO_?GUARD|UNSAFE|IGNORE|YOLO")
_BYPASS_TEXT = re.compile(r"(?:skip|bypass|override|allow|ignore|unsafe|yolo|guard.?ok|confirmed)", re.IGNORECASE)
_COMMAND = re.compile(r"[a-z][\w.-]*\s+\S")
_REGEX_CHARACTERS = re.compile(r"[\\^$*+?\[\]{}()|]")


def check_reading(subject: Subject) -> Iterator[Finding]:
    """Check what each program reads and how it compares."""
    settings = {name for document in subject.documents if document.declared for name in document.declared.env}
    for hook in subject.commands:
        yield from _plugin_root(hook)
        for program in hook.programs:
            yield from _phantoms(hook, program, settings)
            yield from _fields(hook, program, subject)
            if is_guard(hook):
                yield from _naive(hook, program)
                yield from _bypass(hook, program)
            if subject.options.target.windows:
                yield from _encoding(hook, program)


def _phantoms(hook: CheckedHook, program: Program, settings: set[str]) -> Iterator[Finding]:
    """HK413: variables that are never set."""
    inline = hook.launch.inline
    assigned = program.assigned | (inline.assigned if inline is not None else frozenset()) | settings
    seen = set(assigned) | hook.options.env.keys()
    for read in program.env:
        severity = _phantom(hook, program, read)
        if read.name in seen or severity is None:
            continue
        seen.add(read.name)
        at = hook.position(program, read.place)
        if read.name.startswith("CLAUDE_PLUGIN_"):
            what = f"`{read.name}` is only set for hooks of plugins and is empty here."
            yield finding("HK413", at, what, 'Write "$CLAUDE_PROJECT_DIR" for files of the project.')
        elif severity is Severity.INFO:
            what = f"`{read.name}` is not a variable of the agent; it is empty unless you set it."
            write = "Set it under `env` in the settings, or remove it."
            yield finding("HK413", at, what, write, severity=severity)
        else:
            what = f"`{read.name}` is not set for hooks and is empty here. The event arrives as JSON on stdin."
            yield finding("HK413", at, what, f"Use {_right_read(read.name, program.language)}.")


def _plugin_root(hook: CheckedHook) -> Iterator[Finding]:
    """Find a plugin's placeholder in the exec form of a hook that belongs to no plugin."""
    handler = hook.command
    words = (handler.command, *handler.args) if handler is not None and handler.args is not None else ()
    if hook.plugin is None and any("${CLAUDE_PLUGIN_" in word for word in words):
        what = "`${CLAUDE_PLUGIN_ROOT}` is only replaced in hooks of plugins."
        yield finding("HK413", hook.place("command"), what, "Write `${CLAUDE_PROJECT_DIR}` for files of the project.")


def _phantom(hook: CheckedHook, program: Program, read: EnvRead) -> Severity | None:
    """Return how serious it is that a variable is not set; None for one that is set, or has another source."""
    name = read.name
    if read.computed or _SET.fullmatch(name) or (program.includes and not name.startswith("CLAUDE_")):
        return None
    if name in ("CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"):
        return None if hook.plugin is not None or read.fallback else Severity.ERROR
    if _EXPECTED.fullmatch(name):
        return Severity.ERROR
    if not name.startswith("CLAUDE_"):
        return None
    if _carried(name) is not None and not _OWN_SWITCH.search(name):
        return Severity.ERROR
    return None if read.fallback or _OWN_SWITCH.search(name) else Severity.INFO


def _carried(name: str) -> str | None:
    return next((path for word, path in _CARRIES.items() if word in name), None)


def _right_read(name: str, language: Language) -> str:
    """Return the expression that reads from stdin what a variable was expected to hold."""
    path = _carried(name) or "."
    keys = "".join(f'["{key}"]' for key in path.strip(".").split(".") if key)
    match language:
        case Language.SHELL:
            return f"`jq -r '{path}'`"
        case Language.PYTHON:
            return f"json.load(sys.stdin){keys}"
        case Language.JAVASCRIPT:
            return f"JSON.parse(fs.readFileSync(0)){path if path != '.' else ''}"


def _fields(hook: CheckedHook, program: Program, subject: Subject) -> Iterator[Finding]:
    """HK414: fields the event does not have."""
    events = subject.events_of.get(program.path, frozenset({hook.event})) if program.path else frozenset({hook.event})
    known = {name for event in events for name in CATALOGUE[event].__struct_fields__} - UNSENT | {"hook_event_name"}
    every = {read.path for read in program.fields}
    for read in program.fields:
        if read.fallback or not read.path:
            continue
        first = read.path[0]
        at = hook.position(program, read.place)
        if first not in known:
            right = _TOP.get(first)
            if right in known and (right,) not in {path[:1] for path in every}:
                what = f"{_listed(events)} has no field `{first}`; the value is always empty."
                yield finding("HK414", at, what, f"Read `{right}`.")
        elif first == "tool_input" and len(read.path) > 1:
            yield from _input_field(hook, read.path[1], every, at)


def _listed(events: frozenset[str]) -> str:
    return " and ".join(sorted(events))


def _input_field(hook: CheckedHook, name: str, every: set[tuple[str, ...]], at: Position) -> Iterator[Finding]:
    if not isinstance(hook.matcher, MatchNames):
        return
    tools = matched(hook.matcher)
    fields = {field for tool in tools for field in INPUTS.get(tool, ())}
    right = _INPUT.get(name)
    if not tools or not tools <= INPUTS.keys() or name in fields or right not in fields:
        return
    if ("tool_input", right) not in every:
        what = f"The input of {', '.join(sorted(tools))} has no field `{name}`; the value is always empty."
        yield finding("HK414", at, what, f"Read `tool_input.{right}`.")


def _naive(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK415: a command searched for a fixed piece of text."""
    under = [condition for refusal in program_refusals(program) for condition in refusal.point.under]
    tests = [asked for condition in under if condition.arm is not None for asked in condition.arm.test.atoms()]
    for atom, against in tests:
        literal = _literal(atom)
        if literal and not against and any(origin.endswith("tool_input.command") for origin in atom.origins):
            first, _, rest = literal.partition(" ")
            what = (
                f"A search for the text `{literal}` misses `{first}  {rest}`, quoted words and scripts, and also "
                f'refuses `echo "{literal}"`.'
            )
            write = "Split the command with shlex or, in Python, `hookwright.matching.shell.analyse_bash`."
            yield finding("HK415", hook.position(program, atom.place), what, write)


def _literal(test: Test) -> str | None:
    """Return the fixed text of two words or more that a test searches for."""
    for pattern in test.patterns:
        bare = pattern.strip("*") if test.kind is Asks.GLOB else pattern
        plain = test.kind in (Asks.CONTAINS, Asks.GLOB) or (
            test.kind is Asks.REGEX and not _REGEX_CHARACTERS.search(bare)
        )
        if test.kind is Asks.GLOB and (not pattern.startswith("*") or _REGEX_CHARACTERS.search(bare)):
            plain = False
        if plain and _COMMAND.match(bare.strip()):
            return bare.strip()
    return None


def _bypass(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK417: a way around the guard that the agent can take by itself."""
    open_ = [arm for _, arm in arms(program) if lets_through(arm.body) and not speaks(arm.body)]
    tests = [asked for arm in open_ for asked in arm.test.atoms()]
    for atom, against in tests:
        name = _switch(atom, against)
        if name:
            what = (
                f"`{name}` switches this guard off, and the agent can set it: in a command, or in `env` of the "
                "project's settings."
            )
            write = "Remove the switch, or put it where the agent cannot reach it."
            yield finding("HK417", hook.position(program, atom.place), what, write)


def _switch(test: Test, against: bool) -> str | None:
    names = [origin.removeprefix("env.") for origin in test.origins if origin.startswith("env.")]
    on = (test.kind is Asks.EMPTY and against) or (test.kind in (Asks.EQUALS, Asks.EXISTS) and not against)
    if len(names) == 1 and on and _BYPASS.search(names[0]) and len(test.origins) == 1:
        return names[0]
    marker = next((pattern for pattern in test.patterns if _BYPASS_TEXT.search(pattern)), None)
    looks = test.kind in (Asks.CONTAINS, Asks.REGEX, Asks.GLOB) and not against
    if marker and looks and about_content(test) and any(o.endswith("tool_input.command") for o in test.origins):
        return marker
    return None


def _encoding(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK416: text streams in the machine's encoding, for Windows."""
    if program.language is not Language.PYTHON or program.mentions("reconfigure") or program.mentions("stdin.buffer"):
        return
    handler = hook.command
    if handler is not None and ("PYTHONUTF8" in handler.command or "-X utf8" in handler.command):
        return
    for point in all_points(program):
        stmt = point.stmt
        if isinstance(stmt, Say) and stmt.stream is not Stream.AWAY and not stmt.text.known.isascii():
            what = (
                "On Windows, Python prints in the machine's code page; these characters raise UnicodeEncodeError or "
                "arrive garbled."
            )
            write = 'Call sys.stdout.reconfigure(encoding="utf-8") first.'
            yield finding("HK416", hook.position(program, stmt.place), what, write)
            return
    if program.mentions("sys.stdin"):
        line = next((n for n, text in enumerate(program.text.splitlines(), 1) if "sys.stdin" in text), 1)
        what = "On Windows, Python reads stdin in the machine's code page; the event is UTF-8."
        write = 'Call sys.stdin.reconfigure(encoding="utf-8") first, or read sys.stdin.buffer.'
        yield finding("HK416", hook.position(program, CodePlace(line)), what, write)
