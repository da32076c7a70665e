"""The checks of `hookwright doctor`: each checks one part of the installation and reports what it found."""

from __future__ import annotations

import enum
import os
import shlex
import stat
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import msgspec

from hookwright._version import __version__
from hookwright.cli.readiness import always_failed, importable, obstacle, unreachable
from hookwright.cli.render import diagnostic_line
from hookwright.config import FileStatus, Loaded, Places, Review, TrustPolicy, review
from hookwright.errors import TrustError
from hookwright.executors.command import base_environment
from hookwright.observers.journal.reader import Filter, journal_files, records
from hookwright.observers.journal.writer import NAME
from hookwright.protocol.diagnostics import Severity
from hookwright.protocol.handlers import HttpHandler, Kind
from hookwright.protocol.outcome import Deny, Outcome
from hookwright.protocol.samples import sample
from hookwright.protocol.sources import place
from hookwright.session import open_session, survey
from hookwright.text import one_line, plural


class Health(enum.Enum):
    """How serious a finding is."""

    GOOD = "good"
    NOTE = "note"
    WARNING = "warning"
    BAD = "bad"


class CheckResult(msgspec.Struct, frozen=True):
    """One line of the report."""

    part: str
    state: Health
    text: str


#: Extra → its purpose, and one module of each of its packages.
EXTRAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "rules": ("`if` rules that look into shell commands", ("tree_sitter", "tree_sitter_bash")),
    "yaml": ("cases in YAML, hooks of skills and agents", ("ruamel.yaml",)),
    "http": ("http hooks", ("h11",)),
    "mcp": ("mcp_tool hooks", ("mcp",)),
    "anthropic": ("prompt and agent hooks with Claude", ("anthropic",)),
    "openai": ("prompt and agent hooks with OpenAI-compatible servers", ("openai",)),
    "otel": ("OpenTelemetry", ("opentelemetry",)),
    "lint": ("hookwright check", ("tree_sitter", "tree_sitter_bash", "tree_sitter_javascript", "ruamel.yaml")),
    "tui": ("the full-screen agent", ("textual",)),
}
_NEEDS = {Kind.HTTP: "http", Kind.MCP_TOOL: "mcp"}


def versions() -> Iterator[CheckResult]:
    """Report the versions of the package and of Python."""
    python = ".".join(map(str, sys.version_info[:3]))
    yield CheckResult("version", Health.GOOD, f"hookwright {__version__}, Python {python}, {sys.platform}")


def extras(loaded: Loaded) -> Iterator[CheckResult]:
    """Report the installed extras, and the missing ones these hooks need."""
    kinds = {entry.handler.kind for entry in loaded.hooks}
    needed = {extra for kind, extra in _NEEDS.items() if kind in kinds}
    if any(entry.handler.condition for entry in loaded.hooks):
        needed.add("rules")
    missing = [name for name, (_, modules) in EXTRAS.items() if not all(importable(m) for m in modules)]
    there = [name for name in EXTRAS if name not in missing]
    yield CheckResult("extras", Health.GOOD, f"installed: {', '.join(there) or 'none'}")
    for name in missing:
        use = f"{EXTRAS[name][0]}: pip install 'hookwright[{name}]'"
        if name in needed:
            yield CheckResult("extras", Health.BAD, f"`{name}` is missing, and your hooks need it for {use}")
        else:
            yield CheckResult("extras", Health.NOTE, f"`{name}` is not installed; it is for {use}")
    if kinds & {Kind.PROMPT, Kind.AGENT} and {"anthropic", "openai"} <= set(missing):
        yield CheckResult("extras", Health.BAD, "prompt or agent hooks are configured and no model client is installed")


def files(loaded: Loaded) -> Iterator[CheckResult]:
    """Report each settings file: whether it was found and read, and who may write it."""
    yield CheckResult("files", Health.GOOD, f"project directory {loaded.project_dir}")
    for file in loaded.files:
        text = f"{file.scope.value.ljust(8)} {file.path or '(given on the command line)'}"
        match file.status:
            case FileStatus.ABSENT:
                yield CheckResult("files", Health.NOTE, f"{text}: absent")
            case FileStatus.BROKEN:
                yield CheckResult("files", Health.BAD, f"{text}: cannot be read, so none of its hooks run")
            case FileStatus.READ:
                others = file.path and _writable_by_others(file.path)
                state_ = Health.WARNING if others else Health.GOOD
                yield CheckResult(
                    "files", state_, f"{text}: read" + (", but other users may write it" if others else "")
                )
    for diagnostic in loaded.diagnostics:
        if diagnostic.severity is not Severity.INFO and diagnostic.code not in _REPORTED_BELOW:
            level = Health.BAD if diagnostic.severity is Severity.ERROR else Health.WARNING
            yield CheckResult("files", level, diagnostic_line(diagnostic))


#: The part about hooks reports these in more detail.
_REPORTED_BELOW = frozenset({"untrusted", "changed-since-trusted", "hooks-disabled", "managed-only"})


def _writable_by_others(path: str) -> bool:
    try:
        return bool(os.stat(path).st_mode & stat.S_IWOTH)
    except OSError:
        return False


def hooks(loaded: Loaded) -> Iterator[CheckResult]:
    """Report how many hooks are active, and why the others are off."""
    states = survey(loaded).states()
    off = [(state.entry, *state.off) for state in states if state.off is not None and not state.waits]
    waiting = sum(state.waits for state in states)
    active = len(states) - len(off) - waiting
    reasons = Counter(reason.value for _, reason, _ in off)
    sources = len({state.entry.handler.source.path for state in states})
    text = f"{active} active from {plural(sources, 'file')}"
    text += f", {len(off)} off ({', '.join(f'{n} {word}' for word, n in reasons.items())})" if off else ""
    text += f", {waiting} only while a skill or agent is active" if waiting else ""
    yield CheckResult("hooks", Health.WARNING if off and not active else Health.GOOD, text)
    for entry, reason, detail in off:
        label = one_line(entry.handler.label, 60)
        text = f"{entry.event} {label} does not run: {detail or reason.value} ({place(entry.handler.source)})"
        yield CheckResult("hooks", Health.WARNING, text)


def surroundings(loaded: Loaded) -> Iterator[CheckResult]:
    """Report the PATH hooks get."""
    given = base_environment(loaded.host)
    yield CheckResult("PATH", Health.GOOD if given.get("PATH") else Health.BAD, given.get("PATH") or "not set")


def readiness(loaded: Loaded) -> Iterator[CheckResult]:
    """Report each active hook that cannot work here, and each that failed whenever it ran."""
    reported: set[int] = set()
    for state in survey(loaded).states():
        handler = state.entry.handler
        if state.off is not None and not state.waits:
            continue
        why = obstacle(handler, loaded)
        if why is None and isinstance(handler, HttpHandler):
            why = unreachable(handler)
        if why is not None:
            reported.add(id(handler))
            text = f"{state.entry.event} {one_line(handler.label, 60)} cannot work: {why} ({place(handler.source)})"
            yield CheckResult("hooks", Health.BAD, text)
    for handler, count, error in always_failed(loaded):
        if id(handler) not in reported:
            last = f"; last: {one_line(error, 120)}" if error else ""
            text = f"{one_line(handler.label, 60)} failed in all of its last {count} runs{last}"
            text += f" ({place(handler.source)})"
            yield CheckResult("hooks", Health.BAD, text)


async def canary() -> CheckResult:
    """Fire a synthetic event at a temporary hook; a real process must start and its refusal come back."""
    with tempfile.TemporaryDirectory(prefix="hookwright-canary-") as folder:
        mark = os.path.join(folder, "mark")
        command = f"cat > {shlex.quote(mark)}; echo canary $$ >&2; exit 2"
        hook = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}}
        env = {"PATH": os.environ.get("PATH", ""), "HOME": folder, "HOOKWRIGHT_MANAGED_SETTINGS": mark + ".none"}
        places = Places(
            project=folder, env=env, home=folder, settings=(msgspec.json.encode(hook).decode(),), state_dir=folder
        )
        began = time.perf_counter()
        async with open_session(places, frozen=True) as session:
            outcome = await session.engine.fire(sample("PreToolUse", cwd=folder))
        return _canary_finding(
            outcome, os.path.getsize(mark) if os.path.exists(mark) else 0, time.perf_counter() - began
        )


def _canary_finding(outcome: Outcome, got: int, seconds: float) -> CheckResult:
    refused = isinstance(outcome.decision, Deny) and "canary" in outcome.decision.reason
    if refused and got:
        pid = str(outcome.reason).rsplit(maxsplit=1)[-1]
        text = (
            f"a hook was started as process {pid}, read {got} bytes and its refusal came back, {seconds * 1000:.0f} ms"
        )
        return CheckResult("canary", Health.GOOD, text)
    ran = outcome.runs[0].verdict.error if outcome.runs else "no hook ran"
    return CheckResult(
        "canary", Health.BAD, f"a hook that must refuse did not: {ran}; hooks do not work on this machine"
    )


def trust(loaded: Loaded) -> Iterator[CheckResult]:
    """Report the state of the trust store, and of this project in it."""
    store = loaded.gate.store
    try:
        known = store.projects()
    except TrustError as error:
        yield CheckResult("trust", Health.BAD, str(error))
        return
    yield CheckResult("trust", Health.GOOD, f"{store.path}: {plural(len(known), 'project')} with decisions")
    if loaded.gate.policy is TrustPolicy.EVERYTHING:
        yield CheckResult("trust", Health.WARNING, "everything is trusted in this call (--trust or HOOKWRIGHT_TRUST=1)")
        return
    found: Review = review(loaded)
    if found.pending:
        text = f"{len(found.pending)} of {len(found.items)} items of this project are not trusted: hookwright trust"
        yield CheckResult("trust", Health.WARNING, text)
    elif found.items:
        yield CheckResult("trust", Health.GOOD, f"all {len(found.items)} items of this project are trusted")


def journal(folder: str) -> Iterator[CheckResult]:
    """Report whether runs are recorded, how much there is, and who may read it."""
    found = journal_files(folder)
    if not found:
        above = folder
        while not os.path.exists(above):
            above = os.path.dirname(above)
        writable = os.access(above, os.W_OK)
        text = f"{os.path.join(folder, NAME)}: nothing was recorded yet"
        yield (
            CheckResult("journal", Health.NOTE, text)
            if writable
            else CheckResult("journal", Health.BAD, f"{text}, and {above} cannot be written")
        )
        return
    size = sum(os.path.getsize(path) for path in found)
    last = max((float(record.get("t", 0)) for record in records(folder, Filter(since=_a_while_ago()))), default=None)
    when = f", last record {datetime.fromtimestamp(last):%Y-%m-%d %H:%M}" if last else ", nothing in the last 30 days"
    yield CheckResult("journal", Health.GOOD, f"{found[-1]}: {plural(len(found), 'file')}, {size / 1024:.0f} KB{when}")
    for path in found:
        if stat.S_IMODE(os.stat(path).st_mode) & 0o077:
            yield CheckResult("journal", Health.WARNING, f"{path}: other users may read it. Write: chmod 600 {path}")
    if not os.access(found[-1], os.W_OK):
        yield CheckResult("journal", Health.BAD, f"{found[-1]}: cannot be written, so nothing is recorded")


def _a_while_ago() -> float:
    return time.time() - 30 * 86400
