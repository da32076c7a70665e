"""HK413 to HK417: does the script read what is really there?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookwright.lint.found import finding
from hookwright.lint.guards import about_content, all_points, arms, is_guard, lets_through, program_refusals
from hookwright.lint.model import Finding, Position
from hookwright.lint.programs.ir import Asks, Language, Place, Program, Say, Stream, Test
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.lint.tools import INPUTS, matched
from hookwright.matching.matchers import MatchNames
from hookwright.protocol.events import CATALOGUE

#: Variables named in tutorials but never set, with what to read instead.
_PHANTOMS = {
    "CLAUDE_TOOL_INPUT": ".tool_input",
    "CLAUDE_TOOL_NAME": ".tool_name",
    "CLAUDE_TOOL_OUTPUT": ".tool_response",
    "CLAUDE_TOOL_RESULT": ".tool_response",
    "CLAUDE_TOOL_RESPONSE": ".tool_response",
    "CLAUDE_FILE_PATH": ".tool_input.file_path",
    "CLAUDE_FILE_PATHS": ".tool_input.file_path",
    "CLAUDE_TOOL_FILE_PATH": ".tool_input.file_path",
    "CLAUDE_TOOL_INPUT_FILE_PATH": ".tool_input.file_path",
    "CLAUDE_TOOL_INPUT_COMMAND": ".tool_input.command",
    "CLAUDE_COMMAND": ".tool_input.command",
    "CLAUDE_USER_PROMPT": ".prompt",
    "CLAUDE_PROMPT": ".prompt",
    "CLAUDE_HOOK_EVENT": ".hook_event_name",
    "CLAUDE_HOOK_EVENT_NAME": ".hook_event_name",
    "CLAUDE_EVENT_TYPE": ".hook_event_name",
    "CLAUDE_NOTIFICATION": ".message",
    "CLAUDE_NOTIFICATION_MESSAGE": ".message",
    "CLAUDE_SESSION_ID": ".session_id",
    "CLAUDE_TRANSCRIPT_PATH": ".transcript_path",
    "CLAUDE_WORKING_DIR": ".cwd",
    "CLAUDE_CWD": ".cwd",
    "TOOL_INPUT": ".tool_input",
    "TOOL_NAME": ".tool_name",
    "TOOL_OUTPUT": ".tool_response",
    "TOOL_INPUT_COMMAND": ".tool_input.command",
    "TOOL_INPUT_FILE_PATH": ".tool_input.file_path",
    "HOOK_INPUT": ".",
}
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
    seen: set[str] = set()
    for read in program.env:
        name = read.name
        if name not in _PHANTOMS or name in program.assigned or name in settings or name in seen:
            continue
        if (program.includes and not name.startswith("CLAUDE_")) or name in hook.options.env or read.fallback:
            continue
        if name not in program.assigned and hook.launch.inline is not None and name in hook.launch.inline.assigned:
            continue
        seen.add(name)
        what = f"`{name}` is not set for hooks and is empty here. The event arrives as JSON on stdin."
        path = _PHANTOMS[name]
        keys = "".join(f'["{key}"]' for key in path.strip(".").split(".") if key)
        right = f"`jq -r '{path}'`" if program.language is Language.SHELL else f"json.load(sys.stdin){keys}"
        if program.language is Language.JAVASCRIPT:
            right = f"JSON.parse(fs.readFileSync(0)){path if path != '.' else ''}"
        yield finding("HK413", hook.position(program, read.place), what, f"Use {right}.")


def _fields(hook: CheckedHook, program: Program, subject: Subject) -> Iterator[Finding]:
    """HK414: fields the event does not have."""
    events = subject.events_of.get(program.path, frozenset({hook.event})) if program.path else frozenset({hook.event})
    known = {name for event in events for name in CATALOGUE[event].__struct_fields__} | {"hook_event_name"}
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
    tests = [asked for _, arm in arms(program) if lets_through(arm.body) for asked in arm.test.atoms()]
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
        yield finding("HK416", hook.position(program, Place(line)), what, write)
