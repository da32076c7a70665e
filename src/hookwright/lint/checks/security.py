"""HK8xx: what a hook opens, leaks or leaves unprotected."""

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

#: How programs of Linux, macOS and Windows begin.
_COMPILED = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xca\xfe\xba\xbe", b"MZ")
_SHELLS = frozenset(["sh", "bash", "zsh", "dash", "python", "python3", "node", "perl", "ruby"])
_SECRET = re.compile(
    r"sk-[A-Za-z0-9_-]{16,}|ghp_[A-Za-z0-9]{20,}|github_pat_\w{20,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|glpat-[\w-]{16,}"
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
    """Look at documents, programs and the guards among them."""
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
    """HK801: text from the network or from an encoding that is run."""
    for point, call in calls_of(program):
        source = _piped_source(point, call)
        text = " ".join(word.known for word in call.words)
        shell_text = text if call.shell else ""
        if not source and re.search(r"\b(?:curl|wget)\b[^|;&]*\|\s*(?:sudo )?(?:ba|z)?sh\b", shell_text):
            source = "a download"
        if source:
            what = (
                f"`{call.name or 'a shell'}` runs {source}: code that nobody reviewed, on every {hook.event}. "
                "Hook malware looks like this."
            )
            yield finding(
                "HK801", hook.position(program, call.place), what, "A script in the repository, reviewed and pinned."
            )


def _piped_source(point: Point, call: Call) -> str:
    """Tell what a shell gets to run: a download or a decoded text; empty when it is neither."""
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
            return "a decoded text"
        if call.name in ("xxd", "openssl") and any("-r" in a or "-d" in a for a in call.arguments):
            return "a decoded text"
    return ""


def _binaries(hook: CheckedHook) -> Iterator[Finding]:
    """HK801: a compiled program under a dot-directory."""
    for script in hook.launch.scripts:
        parts = os.path.relpath(script.path, hook.reach.project_dir).split(os.sep)
        hidden = any(part.startswith(".") and part not in (".", "..") for part in parts[:-1])
        if script.exists and not script.interpreter and hidden and _is_binary(script.path) and hook.document.committed:
            what = (
                f"{os.path.join(*parts)} is a compiled program in a hidden folder of the project: nobody can "
                "review what it does."
            )
            yield finding(
                "HK801",
                hook.place("command"),
                what,
                "Source that can be read, or a program that is installed by a package manager.",
            )


def _is_binary(path: str) -> bool:
    return head(path, 4).startswith(_COMPILED)


# ── configuration ───────────────────────────────────────────────────────────


def _secrets(document: Document) -> Iterator[Finding]:
    """HK802: secrets in a file."""
    tree = document.tree
    if tree is None:
        return
    for path, text in _strings(document.value, ()):
        found = _SECRET.search(text) or (_BEARER.search(text) if "headers" in path else None)
        if found is not None:
            what = "A secret in a configuration file is committed, copied and shown in logs."
            write = (
                "`$NAME` in the header and the name in `allowedEnvVars`; in a command, a variable of the environment."
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


def _environment(document: Document) -> Iterator[Finding]:
    """HK804: a project that turns endpoints and loaders."""
    env = document.value.get("env")
    if document.scope is not Scope.PROJECT or not isinstance(env, dict):
        return
    for name in env:
        if name in _LOADERS or _ENDPOINTS.search(name):
            what = (
                f"A project's settings set `{name}` for everybody who opens it: requests, keys or programs go "
                "elsewhere (CVE-2026-21852)."
            )
            yield finding(
                "HK804", document.place(("env", name)), what, "The variable in the user's own settings or shell."
            )


def _escalation(document: Document) -> Iterator[Finding]:
    """HK805: a project that raises its own trust."""
    if document.scope is not Scope.PROJECT:
        return
    value = document.value
    permissions = value.get("permissions")
    mode = permissions.get("defaultMode") if isinstance(permissions, dict) else None
    what = (
        "A project's file may not raise its own trust (CVE-2026-33068): whoever opens the project has not "
        "agreed to this."
    )
    if mode == "bypassPermissions":
        yield finding(
            "HK805",
            document.place(("permissions", "defaultMode")),
            f"`bypassPermissions` by the project. {what}",
            "The mode on the command line, by the user.",
        )
    if value.get("enableAllProjectMcpServers") is True:
        at = document.place(("enableAllProjectMcpServers",))
        yield finding(
            "HK805",
            at,
            f"All MCP servers of the project start unasked. {what}",
            "The servers by name in the user's settings.",
        )
    if value.get("disableAllHooks") is True:
        at = document.place(("disableAllHooks",))
        yield finding(
            "HK805",
            at,
            f"The project switches off the user's own hooks, guards included. {what}",
            "No such key in a project's file.",
        )


def _exposure(hook: CheckedHook) -> Iterator[Finding]:
    """HK808: events in clear text to another host."""
    handler = hook.handler
    if (
        isinstance(handler, HttpHandler)
        and handler.url.lower().startswith("http://")
        and not _LOOPBACK.match(handler.url)
    ):
        what = "Commands, file contents and prompts go in clear text to another host."
        yield finding("HK808", hook.place("url"), what, "https://…")


def _changed(hook: CheckedHook, subject: Subject) -> Iterator[Finding]:
    """HK810: what is not what was trusted."""
    why = subject.changed.get(f"{hook.document.path} {hook.place().pointer}")
    if why is not None:
        what = f"{why}: Hookwright does not run it until you have seen the difference; Claude Code runs it."
        yield finding("HK810", hook.place(), what, "`hookwright trust`, after a look at the diff.")


# ── guards ──────────────────────────────────────────────────────────────────


def _unprotected(subject: Subject) -> Iterator[Finding]:
    """HK806: guards of a project that the agent may edit; once for a file."""
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
        what = f"The agent may edit {name} and so its own guard: no rule and no hook keeps it from that."
        folder = os.path.dirname(name) or "."
        write = (
            f'"permissions": {{"deny": ["Edit(/{folder}/**)", "Edit(/.claude/settings*.json)"]}}, or the '
            "guard in user or managed scope."
        )
        yield finding("HK806", hook.place("command"), what, write)


def _protected(subject: Subject, hook: CheckedHook, path: str) -> bool:
    for document in subject.documents:
        permissions = document.value.get("permissions")
        for key in ("deny", "ask"):
            rules = permissions.get(key) if isinstance(permissions, dict) else None
            for rule in rules if isinstance(rules, list) else []:
                if isinstance(rule, str) and _denies(rule, path, hook.reach.project_dir):
                    return True
    folder = os.path.basename(os.path.dirname(path))
    for other in tool_guards(subject):
        named = any(p.mentions(".claude") or p.mentions(f"{folder}/") for p in other.programs if p.path)
        if named and any("file_path" in field.path for program in other.programs for field in program.fields):
            return True
    return False


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
    """HK807: guards that say nothing about their own failure."""
    if not hook.rules.on_failure or hook.handler.on_failure is OnFailure.BLOCK or not waits(hook):
        return
    if any(key in hook.entry for key in ("onFailure", "failClosed", "fail_closed")):
        return
    what = f"Nothing says what a failure of this guard means; then {hook.event} goes on unchecked."
    yield finding(
        "HK807",
        hook.place(),
        what,
        '"onFailure": "block" (Claude Code 2.1.295), or "continue" to say that this is meant.',
    )
