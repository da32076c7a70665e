"""Claude Code's hooks system, open and in Python.

    from hookwright import HookEngine, PreToolUse, load_hooks

Names are loaded on first use; importing the package does nothing.
"""

from __future__ import annotations

from hookwright._version import __version__ as __version__

TYPE_CHECKING = False  # importing `typing` would take longer than the rest of this module
# begin: written by tools/generate.py
if TYPE_CHECKING:
    from typing import Any

    from hookwright.code_hooks import Hooks as Hooks
    from hookwright.config import Loaded as Loaded
    from hookwright.config import Places as Places
    from hookwright.config import Settings as Settings
    from hookwright.config import TrustPolicy as TrustPolicy
    from hookwright.config import load_hooks as load_hooks
    from hookwright.engine import HookEngine as HookEngine
    from hookwright.engine import Options as Options
    from hookwright.errors import ConfigError as ConfigError
    from hookwright.errors import HookwrightError as HookwrightError
    from hookwright.errors import InvalidEvent as InvalidEvent
    from hookwright.errors import MissingExtra as MissingExtra
    from hookwright.errors import TrustError as TrustError
    from hookwright.hookset import Entry as Entry
    from hookwright.hookset import HookSet as HookSet
    from hookwright.models.types import Model as Model
    from hookwright.observers.notices import EventEnded as EventEnded
    from hookwright.observers.notices import LateEnded as LateEnded
    from hookwright.observers.notices import Notice as Notice
    from hookwright.observers.notices import Observer as Observer
    from hookwright.observers.notices import RunEnded as RunEnded
    from hookwright.observers.notices import RunStarted as RunStarted
    from hookwright.protocol.answers import Answer as Answer
    from hookwright.protocol.diagnostics import Diagnostic as Diagnostic
    from hookwright.protocol.diagnostics import Severity as Severity
    from hookwright.protocol.events import CATALOGUE as CATALOGUE
    from hookwright.protocol.events import ConfigChange as ConfigChange
    from hookwright.protocol.events import CwdChanged as CwdChanged
    from hookwright.protocol.events import DirectoryAdded as DirectoryAdded
    from hookwright.protocol.events import Elicitation as Elicitation
    from hookwright.protocol.events import ElicitationResult as ElicitationResult
    from hookwright.protocol.events import Event as Event
    from hookwright.protocol.events import EventRules as EventRules
    from hookwright.protocol.events import FileChanged as FileChanged
    from hookwright.protocol.events import InstructionsLoaded as InstructionsLoaded
    from hookwright.protocol.events import MessageDisplay as MessageDisplay
    from hookwright.protocol.events import Notification as Notification
    from hookwright.protocol.events import PermissionDenied as PermissionDenied
    from hookwright.protocol.events import PermissionRequest as PermissionRequest
    from hookwright.protocol.events import PostCompact as PostCompact
    from hookwright.protocol.events import PostModelSwitch as PostModelSwitch
    from hookwright.protocol.events import PostToolBatch as PostToolBatch
    from hookwright.protocol.events import PostToolUse as PostToolUse
    from hookwright.protocol.events import PostToolUseFailure as PostToolUseFailure
    from hookwright.protocol.events import PreCompact as PreCompact
    from hookwright.protocol.events import PreModelSwitch as PreModelSwitch
    from hookwright.protocol.events import PreToolUse as PreToolUse
    from hookwright.protocol.events import SessionEnd as SessionEnd
    from hookwright.protocol.events import SessionStart as SessionStart
    from hookwright.protocol.events import Setup as Setup
    from hookwright.protocol.events import Stop as Stop
    from hookwright.protocol.events import StopFailure as StopFailure
    from hookwright.protocol.events import SubagentStart as SubagentStart
    from hookwright.protocol.events import SubagentStop as SubagentStop
    from hookwright.protocol.events import TaskCompleted as TaskCompleted
    from hookwright.protocol.events import TaskCreated as TaskCreated
    from hookwright.protocol.events import TeammateIdle as TeammateIdle
    from hookwright.protocol.events import UserPromptExpansion as UserPromptExpansion
    from hookwright.protocol.events import UserPromptSubmit as UserPromptSubmit
    from hookwright.protocol.events import WorktreeCreate as WorktreeCreate
    from hookwright.protocol.events import WorktreeRemove as WorktreeRemove
    from hookwright.protocol.handlers import Handler as Handler
    from hookwright.protocol.handlers import Kind as Kind
    from hookwright.protocol.handlers import MatcherGroup as MatcherGroup
    from hookwright.protocol.host import Host as Host
    from hookwright.protocol.job import Executor as Executor
    from hookwright.protocol.job import Job as Job
    from hookwright.protocol.jsontext import Json as Json
    from hookwright.protocol.outcome import Allow as Allow
    from hookwright.protocol.outcome import Ask as Ask
    from hookwright.protocol.outcome import Block as Block
    from hookwright.protocol.outcome import Decision as Decision
    from hookwright.protocol.outcome import Defer as Defer
    from hookwright.protocol.outcome import Deny as Deny
    from hookwright.protocol.outcome import Ending as Ending
    from hookwright.protocol.outcome import EndTurn as EndTurn
    from hookwright.protocol.outcome import Late as Late
    from hookwright.protocol.outcome import NoOpinion as NoOpinion
    from hookwright.protocol.outcome import Outcome as Outcome
    from hookwright.protocol.outcome import Run as Run
    from hookwright.protocol.outcome import Skip as Skip
    from hookwright.protocol.outcome import SkipReason as SkipReason
    from hookwright.protocol.outcome import Timing as Timing
    from hookwright.protocol.outcome import Verdict as Verdict
    from hookwright.protocol.replies import Answered as Answered
    from hookwright.protocol.replies import Backgrounded as Backgrounded
    from hookwright.protocol.replies import Exited as Exited
    from hookwright.protocol.replies import Failed as Failed
    from hookwright.protocol.replies import Failure as Failure
    from hookwright.protocol.replies import Judged as Judged
    from hookwright.protocol.replies import NoAnswer as NoAnswer
    from hookwright.protocol.replies import Reply as Reply
    from hookwright.protocol.replies import Spent as Spent
    from hookwright.protocol.replies import TimedOut as TimedOut
    from hookwright.protocol.sources import Component as Component
    from hookwright.protocol.sources import Plugin as Plugin
    from hookwright.protocol.sources import Scope as Scope
    from hookwright.protocol.sources import Source as Source
    from hookwright.protocol.wire import decode_event as decode_event
    from hookwright.protocol.wire import encode_event as encode_event
    from hookwright.selection import HookState as HookState
    from hookwright.selection import Selection as Selection
    from hookwright.session import HookSession as HookSession
    from hookwright.session import fire_sync as fire_sync
    from hookwright.session import open_session as open_session
    from hookwright.visibility import Message as Message
    from hookwright.visibility import Reader as Reader
    from hookwright.visibility import messages as messages
    from hookwright.wiring import Powers as Powers

#: Module → its public names.
_EXPORTS = {
    "hookwright.code_hooks": ("Hooks",),
    "hookwright.config": (
        "Loaded",
        "Places",
        "Settings",
        "TrustPolicy",
        "load_hooks",
    ),
    "hookwright.engine": (
        "HookEngine",
        "Options",
    ),
    "hookwright.errors": (
        "ConfigError",
        "HookwrightError",
        "InvalidEvent",
        "MissingExtra",
        "TrustError",
    ),
    "hookwright.hookset": (
        "Entry",
        "HookSet",
    ),
    "hookwright.models.types": ("Model",),
    "hookwright.observers.notices": (
        "EventEnded",
        "LateEnded",
        "Notice",
        "Observer",
        "RunEnded",
        "RunStarted",
    ),
    "hookwright.protocol.answers": ("Answer",),
    "hookwright.protocol.diagnostics": (
        "Diagnostic",
        "Severity",
    ),
    "hookwright.protocol.events": (
        "CATALOGUE",
        "Event",
        "EventRules",
        "SessionStart",
        "Setup",
        "InstructionsLoaded",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "MessageDisplay",
        "PreToolUse",
        "PermissionRequest",
        "PermissionDenied",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "Notification",
        "SubagentStart",
        "SubagentStop",
        "TaskCreated",
        "TaskCompleted",
        "Stop",
        "StopFailure",
        "TeammateIdle",
        "ConfigChange",
        "CwdChanged",
        "DirectoryAdded",
        "FileChanged",
        "WorktreeCreate",
        "WorktreeRemove",
        "PreCompact",
        "PostCompact",
        "PreModelSwitch",
        "PostModelSwitch",
        "Elicitation",
        "ElicitationResult",
        "SessionEnd",
    ),
    "hookwright.protocol.handlers": (
        "Handler",
        "Kind",
        "MatcherGroup",
    ),
    "hookwright.protocol.host": ("Host",),
    "hookwright.protocol.job": (
        "Executor",
        "Job",
    ),
    "hookwright.protocol.jsontext": ("Json",),
    "hookwright.protocol.outcome": (
        "Allow",
        "Ask",
        "Block",
        "Decision",
        "Defer",
        "Deny",
        "EndTurn",
        "Ending",
        "Late",
        "NoOpinion",
        "Outcome",
        "Run",
        "Skip",
        "SkipReason",
        "Timing",
        "Verdict",
    ),
    "hookwright.protocol.replies": (
        "Answered",
        "Backgrounded",
        "Exited",
        "Failed",
        "Failure",
        "Judged",
        "NoAnswer",
        "Reply",
        "Spent",
        "TimedOut",
    ),
    "hookwright.protocol.sources": (
        "Component",
        "Plugin",
        "Scope",
        "Source",
    ),
    "hookwright.protocol.wire": (
        "decode_event",
        "encode_event",
    ),
    "hookwright.selection": (
        "HookState",
        "Selection",
    ),
    "hookwright.session": (
        "HookSession",
        "fire_sync",
        "open_session",
    ),
    "hookwright.visibility": (
        "Message",
        "Reader",
        "messages",
    ),
    "hookwright.wiring": ("Powers",),
}
# end

_WHERE = {name: module for module, names in _EXPORTS.items() for name in names}


def __getattr__(name: str) -> Any:
    where = _WHERE.get(name)
    if where is None:
        raise AttributeError(f"module 'hookwright' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(where), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(["__version__", *_WHERE])
