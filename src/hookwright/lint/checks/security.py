"""HK8xx: what a hook opens, leaks or leaves unprotected. Untrusted input is in `hostile`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from hookwright.lint.found import finding
from hookwright.lint.guards import (
    calls_of,
    guards,
    tool_guards,
    waits,
)
from hookwright.lint.launch import head
from hookwright.lint.model import Finding
from hookwright.lint.programs.blocks import Point, flat
from hookwright.lint.programs.ir import Call, Program, Stdin
from hookwright.lint.subject import CheckedHook, Document, Subject
from hookwright.matching.conditions import InvalidRule, Reading, Where, covers, parse_rule
from hookwright.matching.matchers import NO_MATCH
from hookwright.protocol.handlers import HttpHandler, OnFailure
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import Scope

#: First bytes of programs for Linux, macOS and Windows.
_COMPILED = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xca\xfe\xba\xbe", b"MZ")
_SHELLS = frozenset(["sh", "bash", "zsh", "dash", "python", "python3", "node", "perl", "ruby"])
_SECRET = re.compile(
    r"(?<![\w-])sk-[A-Za-z0-9_-]{16,}|ghp_[A-Za-z0-9]{20,}|github_pat_\w{20,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|glpat-[\w-]{16,}"
    r"|AIza[\w-]{30,}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY"
)
_BEARER = re.compile(r"(?:Bearer|Basic|Token)\s+(?!\$)[\w.~+/=-]{12,}")
_LOADERS = frozenset(
    [
        "PATH",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "NODE_OPTIONS",
        "NODE_PATH",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PYTHONHOME",
        "BASH_ENV",
        "ENV",
        "PERL5OPT",
        "RUBYOPT",
        "GIT_SSH_COMMAND",
        "GIT_SSH",
        "SSH_ASKPASS",
        "IFS",
        "NODE_EXTRA_CA_CERTS",
        "SSL_CERT_FILE",
        "CURL_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
        "CLAUDE_CODE_SHELL_PREFIX",
    ]
)
_ENDPOINTS = re.compile(
    r"(?:ANTHROPIC|OPENAI|BEDROCK|VERTEX)_\w*(?:BASE_URL|ENDPOINT|_URL)$|^(?:HTTPS?|ALL|FTP)_PROXY$|^DYLD_",
    re.IGNORECASE,
)
_LOOPBACK = re.compile(
    r"https?://(?:localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0|host\.docker\.internal)(?:[:/]|$)", re.IGNORECASE
)


def check_security(subject: Subject) -> Iterator[Finding]:
    """Check documents, programs and guards."""
    for document in subject.documents:
        yield from _environment(document)
        yield from _escalation(document)
        yield from _secrets(document)
    for hook in subject.hooks:
        yield from _exposure(hook)
    for hook in subject.commands:
        for program in hook.programs:
            yield from _downloads(hook, program)
        yield from _binaries(hook)
        yield from _changed(hook, subject)
    yield from _unprotected(subject)
    for hook in guards(subject):
        yield from _fails_open(hook)


# ── code from elsewhere ─────────────────────────────────────────────────────


def _downloads(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK801: code from the network, from encoded text, or compiled."""
    for point, call in calls_of(program):
        source = _piped_source(point, call)
        text = " ".join(word.known for word in call.words)
        shell_text = text if call.shell else ""
        if not source and re.search(r"\b(?:curl|wget)\b[^|;&]*\|\s*(?:sudo )?(?:ba|z)?sh\b", shell_text):
            source = "a download"
        if source:
            what = (
                f"`{call.name or 'a shell'}` runs {source}: unreviewed code, on every {hook.event}. Hook malware looks "
                "like this."
            )
            write = "Put a reviewed script in the repository."
            yield finding("HK801", hook.position(program, call.place), what, write)


def _piped_source(point: Point, call: Call) -> str:
    """Return what a shell runs: a download or decoded text; empty for anything else."""
    if call.name == "eval":
        inner = [stmt for stmt in flat(point.near) if isinstance(stmt, Call)]
        return _source_of(inner)
    if call.name not in _SHELLS:
        return ""
    reads = call.stdin is Stdin.PIPE and all(word.known.startswith("-") for word in call.words[1:])
    code = any(word.constant == "-c" for word in call.words[1:])
    if not reads and not code:
        return ""
    earlier = [stmt for stmt in flat(point.near) if isinstance(stmt, Call)]
    return _source_of(earlier[-3:]) if reads or any(word.holes for word in call.words) else ""


def _source_of(earlier: list[Call]) -> str:
    for call in earlier:
        if call.name in ("curl", "wget"):
            return "a download"
        if call.name == "base64" and any(argument in ("-d", "-D", "--decode") for argument in call.arguments):
            return "decoded text"
        if call.name in ("xxd", "openssl") and any("-r" in a or "-d" in a for a in call.arguments):
            return "decoded text"
    return ""


def _binaries(hook: CheckedHook) -> Iterator[Finding]:
    """Find compiled programs in hidden folders."""
    for script in hook.launch.scripts:
        parts = os.path.relpath(script.path, hook.reach.project_dir).split(os.sep)
        hidden = any(part.startswith(".") and part not in (".", "..") for part in parts[:-1])
        if script.exists and not script.interpreter and hidden and _is_binary(script.path) and hook.document.committed:
            what = f"{os.path.join(*parts)} is a compiled program in a hidden folder: it cannot be reviewed."
            write = "Commit readable source, or use a program installed by a package manager."
            yield finding("HK801", hook.place("command"), what, write)


def _is_binary(path: str) -> bool:
    return head(path, 4).startswith(_COMPILED)


# ── configuration ───────────────────────────────────────────────────────────


def _secrets(document: Document) -> Iterator[Finding]:
    """HK802: secrets in a configuration file."""
    tree = document.tree
    if tree is None:
        return
    for path, text in _strings(document.value, ()):
        found = _SECRET.search(text) or (_BEARER.search(text) if "headers" in path else None)
        if found is not None:
            what = "A secret in a configuration file is committed, copied and shown in logs."
            write = (
                "Write `$NAME` in the header and list the name in `allowedEnvVars`; in a command, read an environment "
                "variable."
            )
            yield finding("HK802", document.place(path), what, write)


def _strings(value: Json, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, (*path, index))


def redirects(name: str) -> bool:
    """Return whether a variable redirects requests or what programs load."""
    return name in _LOADERS or _ENDPOINTS.search(name) is not None


def raises_trust(document: Document) -> bool:
    """Return whether a project's file sets a mode in which nothing is asked."""
    permissions = document.value.get("permissions")
    mode = permissions.get("defaultMode") if isinstance(permissions, dict) else None
    return document.scope is Scope.PROJECT and mode == "bypassPermissions"


def _environment(document: Document) -> Iterator[Finding]:
    """HK804: a project that redirects endpoints or loaders."""
    env = document.value.get("env")
    if document.scope is not Scope.PROJECT or not isinstance(env, dict):
        return
    for name in env:
        if redirects(name):
            what = (
                f"The project's settings set `{name}` for everyone who opens it: requests, keys or programs are "
                "redirected (CVE-2026-21852)."
            )
            write = "Set the variable in the user's own settings or shell."
            yield finding("HK804", document.place(("env", name)), what, write)


def _escalation(document: Document) -> Iterator[Finding]:
    """HK805: a project that raises its own trust."""
    if document.scope is not Scope.PROJECT:
        return
    value = document.value
    what = "A project must not raise its own trust (CVE-2026-33068): the user who opens it has not agreed to this."
    if raises_trust(document):
        yield finding(
            "HK805",
            document.place(("permissions", "defaultMode")),
            f"The project sets `bypassPermissions`. {what}",
            "Let the user choose the mode on the command line.",
        )
    if value.get("enableAllProjectMcpServers") is True:
        at = document.place(("enableAllProjectMcpServers",))
        yield finding(
            "HK805",
            at,
            f"All MCP servers of the project start without asking. {what}",
            "List the servers by name in the user's settings.",
        )
    if value.get("disableAllHooks") is True:
        at = document.place(("disableAllHooks",))
        yield finding(
            "HK805",
            at,
            f"The project switches off the user's own hooks, guards included. {what}",
            "Remove `disableAllHooks` from the project's file.",
        )


def _exposure(hook: CheckedHook) -> Iterator[Finding]:
    """HK808: events sent to another host unencrypted."""
    handler = hook.handler
    if (
        isinstance(handler, HttpHandler)
        and handler.url.lower().startswith("http://")
        and not _LOOPBACK.match(handler.url)
    ):
        what = "Commands, file contents and prompts are sent to another host unencrypted."
        yield finding("HK808", hook.place("url"), what, "Use https://…")


def _changed(hook: CheckedHook, subject: Subject) -> Iterator[Finding]:
    """HK810: hooks that changed after they were trusted."""
    why = subject.changed.get(f"{hook.document.path} {hook.place().pointer}")
    if why is not None:
        what = f"{why}: Hookwright does not run it until you review the change; Claude Code runs it."
        yield finding("HK810", hook.place(), what, "Review the diff, then type `hookwright trust`.")


# ── guards ──────────────────────────────────────────────────────────────────


def _unprotected(subject: Subject) -> Iterator[Finding]:
    """HK806: guards of a project that the agent may edit; once per file."""
    seen: set[str] = set()
    for hook in tool_guards(subject):
        document = hook.document
        if document.scope is not Scope.PROJECT or document.path in seen:
            continue
        inside = [s for s in hook.launch.scripts if s.exists and s.path.startswith(hook.reach.project_dir + os.sep)]
        if not inside or _protected(subject, hook, inside[0].path):
            continue
        seen.add(document.path)
        name = os.path.relpath(inside[0].path, hook.reach.project_dir)
        what = f"The agent may edit {name}, its own guard: no rule or hook prevents it."
        folder = os.path.dirname(name) or "."
        write = (
            f'Add "permissions": {{"deny": ["Edit(/{folder}/**)", "Edit(/.claude/settings*.json)"]}}, or move the '
            "guard to user or managed settings."
        )
        yield finding("HK806", hook.place("command"), what, write)


def _protected(subject: Subject, hook: CheckedHook, path: str) -> bool:
    rules = [rule for document in subject.documents for rule in _restrictions(document)]
    if any(_denies(rule, path, hook.reach.project_dir) for rule in rules):
        return True
    folder = os.path.basename(os.path.dirname(path))
    for other in tool_guards(subject):
        named = any(p.mentions(".claude") or p.mentions(f"{folder}/") for p in other.programs if p.path)
        if named and any("file_path" in field.path for program in other.programs for field in program.fields):
            return True
    return False


def _restrictions(document: Document) -> list[str]:
    """Return the `deny` and `ask` rules of a document."""
    permissions = document.value.get("permissions")
    lists = [permissions.get(key) for key in ("deny", "ask")] if isinstance(permissions, dict) else []
    return [rule for rules in lists if isinstance(rules, list) for rule in rules if isinstance(rule, str)]


def _denies(text: str, path: str, project: str) -> bool:
    try:
        rule = parse_rule(text)
    except InvalidRule:
        return False
    if not covers(rule, "Edit", Reading.DENY):
        return False
    where = Where(cwd=project, home="", anchor=project)
    return rule.match("Edit", {"file_path": path}, where, Reading.DENY) != NO_MATCH


def _fails_open(hook: CheckedHook) -> Iterator[Finding]:
    """HK807: guards that do not say what their own failure means."""
    if not hook.rules.on_failure or hook.handler.on_failure is OnFailure.BLOCK or not waits(hook):
        return
    if any(key in hook.entry for key in ("onFailure", "failClosed", "fail_closed")):
        return
    what = f"If this guard fails, {hook.event} proceeds unchecked, and nothing says that this is intended."
    yield finding(
        "HK807",
        hook.place(),
        what,
        'Set "onFailure": "block" (Claude Code 2.1.295), or "continue" if this is intended.',
    )
