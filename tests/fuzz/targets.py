"""What is fuzzed: each target reads some bytes and fails with an AssertionError, or with whatever should not happen.

The first bytes of an input choose among kinds, events and statuses; the rest is the text that is read.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from hookwright.agent.permissions import Workspace
from hookwright.agent.permissions.commands import only_moves_files, only_reads
from hookwright.agent.transcript.lines import read_line
from hookwright.agent.transcript.reader import closed, conversation, pending
from hookwright.aggregate import aggregate
from hookwright.config.files import MAX_BYTES
from hookwright.config.frontmatter import InvalidYaml, parse_yaml
from hookwright.config.jsonfile import Broken, parse_json
from hookwright.config.parse import parse_hooks
from hookwright.config.settings import SettingEffect, declare, merge
from hookwright.errors import InvalidEvent
from hookwright.executors._httpguard import HttpTarget as UrlTarget
from hookwright.executors._httpguard import allows, parse_url
from hookwright.hookset import HookSet
from hookwright.interpret import interpret
from hookwright.matching.conditions import InvalidRule, Match, NoMatch, Reading, Undecided, Where, parse_rule
from hookwright.matching.matchers import MatchNothing, compile_matcher
from hookwright.matching.shell import analyse_bash
from hookwright.observers.journal import short
from hookwright.protocol.events import CATALOGUE, Event, Exit2, Plain
from hookwright.protocol.handlers import CommandHandler, OnFailure
from hookwright.protocol.outcome import Allow, Block, Deny, Run, Timing, Verdict, strictness
from hookwright.protocol.replies import Answered, Exited
from hookwright.protocol.samples import sample
from hookwright.protocol.sources import Scope, Source
from hookwright.protocol.wire import decode_event, encode_event, payload
from hookwright.selection import Circumstances, select

WHERE = Where(cwd="/w", home="/home/u", anchor="/w")
_NOW = Circumstances("/home/u", "/w", None, ())
_NAMES = sorted(CATALOGUE)
_EVENTS: dict[str, Event] = {name: sample(name, cwd="/w") for name in _NAMES}
_OPEN = CommandHandler(source=Source(Scope.USER), command="guard")
_CLOSED = CommandHandler(source=Source(Scope.USER), command="guard", on_failure=OnFailure.BLOCK)
_DENIED = Run(_OPEN, Exited(2), Verdict(decision=Deny("sibling")), Timing(0, 0))


class Target(msgspec.Struct, frozen=True):
    """Something that reads bytes, and inputs to begin with."""

    run: Callable[[bytes], None]
    seeds: tuple[bytes, ...]


def _choice(data: bytes, number: int) -> tuple[int, bytes]:
    return (data[0] % number if data else 0), data[1:]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass" if b"\xed" in data else "replace")


def _lossy(data: bytes) -> str:
    """Make any text of any bytes, lone surrogates included."""
    try:
        return _text(data)
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape")


# ── answers ─────────────────────────────────────────────────────────────────


def fuzz_interpret(data: bytes) -> None:
    """Whatever was printed: a verdict; exit 2 refuses; failing closed is never weaker; a sibling's denial stays."""
    which, data = _choice(data, len(_NAMES))
    status, data = _choice(data, 5)
    dropped, data = _choice(data, 8)
    event = _EVENTS[_NAMES[which]]
    stdout, _, stderr = data.partition(b"\x1e")
    reply = Exited((0, 0, 2, 1, 137)[status], stdout, stderr, dropped=9 if dropped == 7 else 0)
    open_, closed_ = interpret(reply, _OPEN, event), interpret(reply, _CLOSED, event)
    assert isinstance(open_, Verdict)
    rules = event.rules
    if reply.status == 2:
        assert not isinstance(open_.decision, Allow)
        missing = rules.missing_file_is_error and not stdout.strip() and b"No such file" in stderr
        if rules.exit_2 is not Exit2.NOTHING and not rules.unblockable and not missing:
            assert _refuses(open_), open_
    assert not _refuses(open_) or _refuses(closed_), (open_, closed_)
    both = aggregate(event, [_DENIED, Run(_OPEN, reply, open_, Timing(0, 0))])
    assert isinstance(both.decision, Deny) or rules.stop_beats_block
    if reply.status == 0 and not reply.dropped and rules.plain is not Plain.PATH:
        _agrees_with_plain_reading(stdout, open_, event)


def _refuses(verdict: Verdict) -> bool:
    return isinstance(verdict.decision, Deny | Block) or verdict.stop is not None


def _agrees_with_plain_reading(stdout: bytes, verdict: Verdict, event: Event) -> None:
    """Compare with the standard parser: an object that only denies is a denial, and one that only allows no denial."""
    try:
        value = json.loads(stdout)
    except (ValueError, RecursionError):
        return
    if "permission_decision" not in event.rules.output or not isinstance(value, dict):
        return
    specific = value.get("hookSpecificOutput")
    if set(value) != {"hookSpecificOutput"} or not isinstance(specific, dict):
        return
    if set(specific) == {"hookEventName", "permissionDecision"} and specific["hookEventName"] == event.event_name:
        if specific["permissionDecision"] == "deny":
            assert isinstance(verdict.decision, Deny | Block), verdict
        elif specific["permissionDecision"] == "allow":
            assert isinstance(verdict.decision, Allow), verdict


def fuzz_answer(data: bytes) -> None:
    """An answer as an object, from HTTP or a callback: void or valid, and never raising."""
    which, data = _choice(data, len(_NAMES))
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    if isinstance(value, dict):
        event = _EVENTS[_NAMES[which]]
        verdicts = [interpret(Answered(value), handler, event) for handler in (_OPEN, _CLOSED)]
        assert strictness(verdicts[1].decision) >= strictness(verdicts[0].decision) or _refuses(verdicts[1])


# ── configuration ───────────────────────────────────────────────────────────

_GUARD = {"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}


def fuzz_settings(data: bytes) -> None:
    """A settings file: read or refused as a whole; every report has its place; all of it compiles."""
    origin = Source(Scope.USER, "settings.json")
    tree = parse_json(data)
    if isinstance(tree, Broken):
        assert tree.faults
        return
    found = parse_hooks(tree, origin)
    declared, _ = declare(tree, origin, SettingEffect.FULL)
    merge([declared])
    hooks = HookSet.build(found.groups)
    for event in (_EVENTS["PreToolUse"], _EVENTS["Stop"]):
        select(hooks, event, _NOW)
    for diagnostic in found.diagnostics:
        assert diagnostic.source is not None
        assert len(diagnostic.message) < MAX_BYTES


def fuzz_neighbour(data: bytes) -> None:
    """Anything beside a guard, in any of three places: the guard is still there (D2)."""
    where, data = _choice(data, 3)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return
    settings: dict[str, Any] = {"hooks": {"PreToolUse": [_GUARD]}}
    if where == 0:
        settings["hooks"]["PreToolUse"].append(value)
    elif where == 1:
        settings["hooks"]["PreToolUse"] = [{"matcher": "Bash", "hooks": [value, *_GUARD["hooks"]]}]
    else:
        settings["hooks"]["SomethingElse"] = value
        settings["something"] = value
    try:
        text = json.dumps(settings)
    except (ValueError, RecursionError):
        return
    tree = parse_json(text)
    if isinstance(tree, Broken):  # nested too deeply: the file is left out as a whole, and said so
        assert tree.faults
        return
    hooks = HookSet.build(parse_hooks(tree, Source(Scope.USER, "settings.json")).groups)
    labels = [handler.label for handler in select(hooks, _EVENTS["PreToolUse"], _NOW).handlers]
    assert "guard" in labels, labels


def fuzz_frontmatter(data: bytes) -> None:
    """The YAML head of a skill: values or InvalidYaml."""
    try:
        tree = parse_yaml(data.decode("utf-8", "replace"), first_line=2)
    except InvalidYaml:
        return
    if isinstance(tree.value, dict):
        parse_hooks(tree, Source(Scope.COMPONENT, "SKILL.md"))


# ── matching ────────────────────────────────────────────────────────────────


def fuzz_matcher(data: bytes) -> None:
    """A matcher and a value: an answer; a list of plain names means those names and no others."""
    narrow, data = _choice(data, 2)
    left, _, right = data.partition(b"\x1e")
    pattern, value = _lossy(left), _lossy(right)
    matcher = compile_matcher(pattern, narrow=bool(narrow))
    answer = matcher.matches(value)
    assert isinstance(answer, bool)
    assert matcher.matches(value) is answer
    if isinstance(matcher, MatchNothing):
        assert not answer
    elif pattern and all(letter.isascii() and (letter.isalnum() or letter in "_|") for letter in pattern):
        names = {name for name in pattern.split("|") if name}
        assert answer is (value in names) or value in ("Agent", "Task") or not names


def fuzz_rule(data: bytes) -> None:
    """An `if` rule and a call: one of three answers, in every reading."""
    tool, data = _choice(data, 6)
    rule_text, _, given = data.partition(b"\x1e")
    try:
        rule = parse_rule(_lossy(rule_text))
    except InvalidRule:
        return
    name = ("Bash", "Edit", "WebFetch", "Agent", "mcp__a__b", "PowerShell")[tool]
    value = _lossy(given)
    call = {"command": value, "file_path": value, "url": value, "subagent_type": value, "x": value}
    for reading in Reading:
        assert isinstance(rule.match(name, call, WHERE, reading), Match | NoMatch | Undecided)


_RM = parse_rule("Bash(rm *)")


def fuzz_hidden_command(data: bytes) -> None:
    """A dangerous command behind any quoted words is found, or undecided, so that its guard runs."""
    form, data = _choice(data, 6)
    words = " ".join(shlex.quote(_lossy(word).replace("\0", "")) for word in data.split(b"\x1e")[:4])
    command = (
        f"echo {words}; rm -rf x",
        f"echo {words} && rm -rf x",
        f"echo {words}\nrm -rf x",
        f"true {words} || rm -rf x",
        f"echo {words} | rm -rf x",
        f"( rm -rf x ) ; echo {words}",
    )[form]
    answer = _RM.matches_any("Bash", {"command": command}, WHERE)
    assert isinstance(answer, Match | Undecided), command


def fuzz_shell(data: bytes) -> None:
    """Any text as a shell command: an analysis, or a problem that is said."""
    analysis = analyse_bash(_lossy(data))
    assert analysis.problem is None or isinstance(analysis.problem, str)


# ── permissions ─────────────────────────────────────────────────────────────

_LINES_OF_COMMANDS = re.compile(r"[;|&\n]+")
_PROTECTED = (".git", ".claude")


@functools.cache
def _project() -> Path:
    """Make a project with links and hostile names, for the whole run."""
    base = Path(tempfile.mkdtemp(prefix="fuzz-project"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    root = base / "project"
    for folder in ("home/.ssh", "project/sub/deep", "project/protected", "project/.git/hooks", "project/.claude"):
        (base / folder).mkdir(parents=True)
    for file in ("home/.ssh/id_rsa", "project/.env", "project/f.txt", "project/protected/f", "project/-exec"):
        (base / file).write_text("x")
    (root / "link").symlink_to(base / "home")
    (root / "sub" / "up").symlink_to(root)
    (root / "sub" / "env").symlink_to(root / ".env")
    (root / "sub" / "deep" / "back").symlink_to("../../protected")
    return root


def _tokens(command: str) -> list[str]:
    """Split a command the way a simple reader would, operators included."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


def _is_outside(token: str, root: Path) -> bool:
    try:
        real = os.path.realpath(os.path.join(root, token))
    except ValueError:  # no name of a file
        return False
    return os.path.lexists(real) and real != "/dev/null" and not real.startswith(str(root))


def fuzz_reading(data: bytes) -> None:
    """A command that passes as reading names nothing outside the project and expands nothing."""
    root, command = _project(), _lossy(data)
    if not only_reads(command, str(root), Workspace(root=str(root), home=str(root.parent / "home"))):
        return
    assert not _LINES_OF_COMMANDS.sub("", command).isspace()
    try:
        tokens = _tokens(command)
    except ValueError:
        return  # a here-document with a quote in it
    starting = [part.split()[0] for part in _LINES_OF_COMMANDS.split(command) if part.split()]
    assert not {"rm", "touch", "xargs", "env", "sh", "bash", "exec", "eval", "python3"} & set(starting), command
    if "echo" not in tokens and "printf" not in tokens and "<<" not in command:
        assert not [token for token in tokens if _is_outside(token, root)], command


def fuzz_moving(data: bytes) -> None:
    """A command that passes in acceptEdits names nothing outside the project, and nothing that is protected."""
    root, command = _project(), _lossy(data)
    workspace = Workspace(root=str(root), home=str(root.parent / "home"))
    if not only_moves_files(command, str(root), workspace) or only_reads(command, str(root), workspace):
        return
    if "echo" in command or "printf" in command or "<<" in command or "grep" in command or "find" in command:
        return
    tokens = _tokens(command)
    assert not [token for token in tokens if _is_outside(token, root)], command
    if not {"cat", "ls", "head", "tail", "git", "wc", "du", "stat"} & set(tokens):
        names = {name.lower() for token in tokens for name in token.split("/")}
        assert not names & set(_PROTECTED), command


_FOLDERS = (".", "sub", "sub/deep", "protected", "sub/up", "sub/deep/back", "sub/up/sub/deep")
_STEPS = ("..", ".", "sub", "deep", "up", "back", "env", ".env", "protected", "f", "link", "new")
_ABOUT_ENV = [parse_rule(text) for text in ("Read(.env)", "Read(./.env)", "Read(/.env)", "Read(**/.env)")]
_KEPT = [parse_rule(text) for text in ("Edit(protected/**)", "Edit(./protected/**)", "Edit(/protected/**)")]


def fuzz_path_rule(data: bytes) -> None:
    """A path to a file of a rule, from any working directory and through any links: the rule applies."""
    root = _project()
    which, data = _choice(data, len(_FOLDERS))
    cwd = os.path.join(root, _FOLDERS[which])
    path = "/".join(_STEPS[byte % len(_STEPS)] for byte in data[:12]) or "."
    where = Where(cwd=cwd, home="/home/u", anchor=str(root), start=str(root))
    real = os.path.realpath(os.path.join(cwd, path))
    guards = (Reading.CONDITION, Reading.ASK, Reading.DENY)
    if real == str(root / ".env"):
        for rule in _ABOUT_ENV:
            assert all(rule.match("Read", {"file_path": path}, where, reading) == Match() for reading in guards), path
    if real.startswith(str(root / "protected")):
        for rule in _KEPT:
            assert all(rule.match("Edit", {"file_path": path}, where, reading) == Match() for reading in guards), path
    elif parse_rule("Edit(protected/**)").match("Edit", {"file_path": path}, where, Reading.ALLOW) == Match():
        raise AssertionError(f"{path} from {cwd} is not in the folder that the rule allows")


# ── the wire ────────────────────────────────────────────────────────────────


def fuzz_wire(data: bytes) -> None:
    """An event: read or refused by name; what was read is written and read again as the same."""
    try:
        event = decode_event(data)
    except InvalidEvent:
        return
    written = encode_event(event)
    assert written.endswith(b"\n")
    assert written.count(b"\n") == 1
    again = decode_event(written)
    assert payload(again) == payload(decode_event(encode_event(again)))


def fuzz_transcript(data: bytes) -> None:
    """A transcript: whatever its lines are, a conversation that an API takes."""
    lines = [value for line in data.split(b"\n") if (value := read_line(line)) is not None]
    messages = conversation(lines).messages()
    pending(messages)
    done = closed(messages)
    assert not pending(done) or not done
    assert pending(closed(done)) == []


def fuzz_url(data: bytes) -> None:
    """A URL and a pattern of the allowlist: what is allowed by a host pattern goes to that host."""
    left, _, right = data.partition(b"\x1e")
    target = parse_url(_lossy(left))
    allows([_lossy(right)], target) if isinstance(target, UrlTarget) else None
    if isinstance(target, UrlTarget) and allows(["https://good.example/*"], target):
        assert (target.scheme, target.host, target.port) == ("https", "good.example", 443)


def fuzz_redaction(data: bytes) -> None:
    """Any text for the journal: short, and without the credential behind it."""
    text = _lossy(data)
    assert len(short(text)) <= 500
    assert "hunter2" not in short(f"{text[:100]} password=hunter2 ")


_ANSWERS = tuple(
    bytes([_NAMES.index(name), status, 0]) + text
    for name in ("PreToolUse", "Stop", "PermissionRequest", "PostToolUse", "SessionStart", "WorktreeCreate")
    for status in (0, 2, 3)
    for text in (
        b'{"hookSpecificOutput": {"hookEventName": "%s", "permissionDecision": "deny"}}' % name.encode(),
        b'{"decision": "block", "reason": "no", "continue": false}\x1estderr',
        b'{"hookSpecificOutput": {"hookEventName": "%s", "decision": {"behavior": "allow"}}}' % name.encode(),
        b"plain text\x1eerror",
    )
)
_EVENT_SEEDS = tuple(encode_event(event) for event in _EVENTS.values())
_SETTINGS = tuple(
    json.dumps(value).encode()
    for value in (
        {"hooks": {"PreToolUse": [_GUARD]}},
        {"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "ok?", "timeout": 5, "if": "Bash(git *)"}]}]}},
        {"hooks": {"PreToolUse": [{"hooks": [{"type": "http", "url": "https://a/", "headers": {"a": "$B"}}]}]}},
        {"permissions": {"allow": ["Bash(ls)"], "defaultMode": "plan"}, "env": {"A": "b"}, "disableAllHooks": False},
        {"enabledPlugins": {"a@b": True}, "pluginConfigs": {"a@b": {"options": {"x": 1}}}},
    )
)
_LINES = (
    b'{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user","content":"hi"}}\n'
    b'{"type":"assistant","uuid":"b","parentUuid":"a","message":{"role":"assistant","id":"m",'
    b'"content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}\n'
    b'{"type":"user","uuid":"c","parentUuid":"b","message":{"role":"user","content":'
    b'[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}\n'
    b'{"type":"attachment","uuid":"d","parentUuid":"c","attachment":{"type":"hook_additional_context","content":["x"]}}\n'
    b'{"type":"content-replacement","replacements":[{"toolUseId":"t","replacement":"y"}]}\n'
)

TARGETS: dict[str, Target] = {
    "interpret": Target(fuzz_interpret, _ANSWERS),
    "answer": Target(fuzz_answer, tuple(seed[:1] + seed[3:].split(b"\x1e")[0] for seed in _ANSWERS)),
    "settings": Target(fuzz_settings, _SETTINGS),
    "neighbour": Target(fuzz_neighbour, tuple(b"\0" + seed for seed in _SETTINGS)),
    "frontmatter": Target(
        fuzz_frontmatter,
        (
            b"name: x\nhooks:\n  Stop:\n    - matcher: a\n      hooks:\n       - type: command\n         command: a\n",
            b"a: &x [1, 2]\nb: *x\nc: !!str 1\nd: |\n  text\ne: {f: 'g', \"h\": ~}\n",
            b'hooks:\n  "Pre\\ud800ToolUse": c\n',
        ),
    ),
    "matcher": Target(fuzz_matcher, (b"\0Bash|Edit\x1eEdit", b"\0mcp__.*__x\x1emcp__a__x", b"\1^(a+)+$\x1eaaaa!")),
    "rule": Target(
        fuzz_rule,
        (
            b"\0Bash(git push *)\x1egit push origin; rm x",
            b"\1Edit(src/**)\x1e/w/src/../a",
            b"\2WebFetch(domain:*.x.com)\x1ehttps://a.x.com/",
            b"\5PowerShell(Remove-Item *)\x1erm x | % { $_ }",
        ),
    ),
    "hidden command": Target(fuzz_hidden_command, (b"\0a\x1eb", b"\2$(x)\x1e`y`", b"\2==", b"\4'\"\\\x1e\xc3\xa9")),
    "shell": Target(
        fuzz_shell,
        (
            b"for i in a b; do echo $i; done | tee >(cat) <<EOF\nx\nEOF",
            b'case $x in (a|b) ls;; *) rm -rf "$(pwd)";; esac',
            b"a=1 b=$((2+3)) ${x:-$(y)} [[ a =~ b ]] && { f() { g; }; }",
            "echo 'é' \"ü$(ñ)\" <<< 日本".encode(),
        ),
    ),
    "reading": Target(
        fuzz_reading,
        (
            b"cat f.txt | grep -n 'x y' | wc -l",
            b"find . -name '*.py' -not -path './.git/*'",
            b"git status && git diff HEAD~1 -- sub",
            b"cat link/.ssh/id_rsa; cd sub && cat env",
            b"sort -o out f.txt; rg --pre ./x . f.txt; sed -n 1,5p f.txt",
            b"cat <<'E'\n$(x)\nE\nhead -5 < f.txt 2>/dev/null",
        ),
    ),
    "moving": Target(
        fuzz_moving,
        (
            b"mkdir -p a/b && touch a/b/c && mv f.txt a",
            b"cp -r sub copy; rm -rf protected",
            b"cp -t.git f.txt; mv f.txt .git/config; rm -rf .claude",
            b"cat f.txt > link/x; rm link/.ssh/id_rsa",
        ),
    ),
    "path rule": Target(fuzz_path_rule, (bytes([0, 7]), bytes([1, 0, 7]), bytes([2, 5, 0, 7]), bytes([5, 9]))),
    "wire": Target(fuzz_wire, _EVENT_SEEDS),
    "transcript": Target(fuzz_transcript, (_LINES, _LINES.replace(b'"id":"t"', b'"id":{}'))),
    "url": Target(fuzz_url, (b"https://good.example/a/../b?c#d\x1ehttps://*.example:*/*", b"http://[::1]:80/\x1e*")),
    "redaction": Target(fuzz_redaction, (b"Authorization: Bearer abcdef", b"token: x eyJhbGciOi.eyJzdWIi.c2ln")),
}
