"""Decide whether a call may run: one pure function of the call, the mode, the rules and the hooks' decision."""

from __future__ import annotations

import enum

import msgspec

from hookwright.agent.permissions.call import ToolCall
from hookwright.agent.permissions.commands import only_moves_files, only_reads
from hookwright.agent.permissions.files import named_files
from hookwright.agent.permissions.rules import Behavior, ListedRule, Rules
from hookwright.agent.permissions.suggest import Suggestion, suggestions
from hookwright.agent.permissions.workspace import SENSITIVE, Workspace
from hookwright.agent.tools.tool import Effect
from hookwright.matching.conditions import host_of, is_about_files
from hookwright.matching.shell import analyse_bash
from hookwright.protocol.outcome import Allow, Ask, Decision, Deny

#: Why a command with `&` is asked about; Claude Code's own words.
DEFERRED = (
    "This command uses the `&` background operator, which defers execution past approval-time safety checks. "
    "Approve only if you trust it."
)


#: Why a call is refused where nothing is asked.
NOT_ASKED = (
    "Permission to use {tool} has been denied, because this session does not ask for approval. You may reach the goal "
    "with other tools, but do not work around this denial. If the call is essential, STOP and explain to the user what "
    "you were trying to do and why you need this permission."
)


class Mode(enum.StrEnum):
    """How much a session does without asking."""

    DEFAULT = "default"
    PLAN = "plan"
    ACCEPT_EDITS = "acceptEdits"
    DONT_ASK = "dontAsk"
    BYPASS = "bypassPermissions"
    AUTO = "auto"


class By(enum.Enum):
    """Who asks for approval or refuses."""

    HOOK = "hook"
    RULE = "rule"
    MODE = "mode"
    CLASSIFIER = "classifier"


class Permit(msgspec.Struct, frozen=True):
    """The call may run."""

    #: The clause that permitted it, for the debug log.
    why: str


class Refuse(msgspec.Struct, frozen=True):
    """The call may not run; the text is for the model."""

    text: str
    by: By


class AskUser(msgspec.Struct, frozen=True):
    """The user must decide; if no user can be asked, the call is denied with `reason`."""

    reason: str
    by: By
    #: For `permission_suggestions` of a PermissionRequest.
    suggestions: tuple[Suggestion, ...] = ()


class Classify(msgspec.Struct, frozen=True):
    """The classifier of auto mode must decide."""

    call: ToolCall


Ruling = Permit | Refuse | AskUser | Classify


def decide(call: ToolCall, mode: Mode, rules: Rules, hook: Decision, workspace: Workspace) -> Ruling:
    """Decide a call, by the first clause that applies.

    1. a deny rule refuses, whatever the hooks and the mode say; a hook's deny refuses.
    2. a hook's ask asks, in every mode.
    3. an ask rule asks, in every mode, and so does a deny rule that may apply.
    4. bypassPermissions permits everything else: it switches off prompts, not hooks.
    5. plan asks about changes of files and tools of servers, and refuses everything else that does more than read.
    6. a sensitive file (.git/…, .claude/…, shell start files) is changed only under an allow rule that names it; a
       command that runs on in the background, with `&`, is asked about.
    7. a hook's allow permits.
    8. an allow rule permits; every part of a command needs one.
    9. calls that only affect the session, or only read inside the workspace, are permitted.
    10. acceptEdits permits edits inside the workspace and commands that only create, move and remove files there;
        auto permits the edits.
    11. everything else: auto asks the classifier, the other modes ask the user.

    dontAsk never asks the user: a call that would need approval is refused.
    """
    verdict = _first(call, mode, rules, hook, workspace)
    if mode is Mode.DONT_ASK and isinstance(verdict, AskUser):
        return Refuse(verdict.reason if verdict.by is By.HOOK else NOT_ASKED.format(tool=call.tool), By.MODE)
    return verdict


def guard(call: ToolCall, rules: Rules, workspace: Workspace) -> Refuse | AskUser | None:
    """Apply the deny and ask rules to a call; no allow overrides them."""
    denied = _held(Behavior.DENY, call, rules, workspace)
    if denied is not None and denied[1] is None:
        return Refuse(f"{_denied(call)} by the rule {_shown(denied[0])}.", By.RULE)
    asked = _held(Behavior.ASK, call, rules, workspace)
    found = asked if asked is not None and asked[1] is None else denied or asked
    if found is None:
        return None
    listed, doubt = found
    why = f"may apply to it ({doubt})" if doubt is not None else "applies to it"
    text = f"{call.tool} requires approval, because the {listed.behavior.value} rule {_shown(listed)} {why}."
    return AskUser(text, By.RULE)


def _held(
    behavior: Behavior, call: ToolCall, rules: Rules, workspace: Workspace
) -> tuple[ListedRule, str | None] | None:
    """Return the rule that applies to a call, or to a file that its command names; a certain one first."""
    where = workspace.where(call.cwd)
    found = rules.guard(behavior, call.tool, call.input, where)
    command = call.input.get("command")
    if call.effect is not Effect.SHELL or not isinstance(command, str) or (found is not None and found[1] is None):
        return found
    if not any(is_about_files(listed.rule) for listed in rules.of(behavior)):
        return found
    named = rules.guard_files(behavior, named_files(command, call.cwd, workspace.home), where)
    return named if found is None or (named is not None and named[1] is None) else found


def _denied(call: ToolCall) -> str:
    """Return what a deny rule denied, the beginning of a sentence."""
    host = host_of(call.input.get("url")) if call.tool == "WebFetch" else ""
    if host:
        return f"WebFetch denied access to domain:{host}"
    command = call.input.get("command")
    what = f"{call.tool} with command {command}" if isinstance(command, str) else call.tool
    return f"Permission to use {what} has been denied"


def _shown(listed: ListedRule) -> str:
    return f"{listed.rule.text} ({listed.origin.value})"


def _first(call: ToolCall, mode: Mode, rules: Rules, hook: Decision, workspace: Workspace) -> Ruling:
    held = guard(call, rules, workspace)
    if isinstance(held, Refuse):
        return held
    if isinstance(hook, Deny):
        return Refuse(hook.reason, By.HOOK)
    if isinstance(hook, Ask):
        return AskUser(hook.reason, By.HOOK, suggestions(call, workspace))
    if held is not None:
        return held
    if mode is Mode.BYPASS:
        return Permit("bypassPermissions")
    reads = _only_reads(call, workspace)
    if mode is Mode.PLAN and not reads and call.effect is not Effect.READ:
        return _planned(call)
    where = workspace.where(call.cwd)
    if call.effect is Effect.EDIT and workspace.sensitive(call.path):
        if rules.names(SENSITIVE, call.tool, call.input, where):
            return Permit("allow rule for a sensitive file")
        reason = f"{call.path} is a sensitive file; changing it requires approval."
        return _ask(call, mode, reason, suggestions(call, workspace))
    if call.effect is Effect.SHELL and analyse_bash(str(call.input.get("command"))).defers:
        return _ask(call, mode, DEFERRED)
    if isinstance(hook, Allow):
        return Permit("hook")
    if rules.allows(call.tool, call.input, where):
        return Permit("allow rule")
    if reads:
        return Permit("only reads")
    if _is_accepted(call, mode, workspace):
        return Permit(mode.value)
    return _ask(call, mode, _reason(call, workspace), suggestions(call, workspace))


def _planned(call: ToolCall) -> AskUser | Refuse:
    if call.effect is Effect.EDIT:
        return AskUser(f"Cannot write to {call.path} while in plan mode.", By.MODE)
    if call.tool.startswith("mcp__"):
        return AskUser(f"Cannot call {call.tool} while in plan mode.", By.MODE)
    return Refuse(f"Plan mode only reads; {call.tool} is not available until the plan is approved.", By.CLASSIFIER)


def _ask(call: ToolCall, mode: Mode, reason: str, suggested: tuple[Suggestion, ...] = ()) -> AskUser | Classify:
    if mode is Mode.AUTO:
        return Classify(call)
    return AskUser(reason, By.MODE, suggested)


def _only_reads(call: ToolCall, workspace: Workspace) -> bool:
    match call.effect:
        case Effect.SESSION:
            return True
        case Effect.READ:
            return workspace.readable_path(call.path)
        case Effect.SHELL:
            command = call.input.get("command")
            return isinstance(command, str) and only_reads(command, call.cwd, workspace)
        case _:
            return False


def _is_accepted(call: ToolCall, mode: Mode, workspace: Workspace) -> bool:
    if mode not in (Mode.ACCEPT_EDITS, Mode.AUTO):
        return False
    if call.effect is Effect.EDIT:
        return workspace.writable(call.path)
    command = call.input.get("command")
    moves = call.effect is Effect.SHELL and mode is Mode.ACCEPT_EDITS and isinstance(command, str)
    return moves and only_moves_files(str(command), call.cwd, workspace)


def _reason(call: ToolCall, workspace: Workspace) -> str:
    match call.effect:
        case Effect.READ:
            return f"{call.path} is outside the working directories; reading it requires approval."
        case Effect.EDIT if not workspace.writable(call.path):
            return f"{call.path} is outside the working directories; changing it requires approval."
        case Effect.EDIT:
            return f"Changing {call.path} requires approval."
        case Effect.SHELL:
            return "This command requires approval."
        case _ if call.tool == "Skill":
            rule = f"Skill({call.input.get('skill')})"
            return (
                f"Execute skill: {call.input.get('skill')}. The user can add the allow rule {rule} to "
                ".claude/settings.local.json to let it run without asking."
            )
        case _:
            return f"Using {call.tool} requires approval."
