"""Claude Code's hooks system, open and in Python.

    from detent import HookEngine, PreToolUse, load_hooks

Names are loaded on first use, so that importing the package does nothing.
"""

from __future__ import annotations

from detent._version import __version__ as __version__

TYPE_CHECKING = False  # `typing` would cost more than all the rest of this module
if TYPE_CHECKING:
    from typing import Any

    from detent.answers import Answer as Answer
    from detent.config import Loaded as Loaded
    from detent.config import load_hooks as load_hooks
    from detent.diagnostics import Diagnostic as Diagnostic
    from detent.engine import HookEngine as HookEngine
    from detent.engine import Options as Options
    from detent.errors import ConfigError as ConfigError
    from detent.errors import DetentError as DetentError
    from detent.errors import InvalidEvent as InvalidEvent
    from detent.errors import MissingExtra as MissingExtra
    from detent.errors import TrustError as TrustError
    from detent.events import CATALOGUE as CATALOGUE
    from detent.events import ConfigChange as ConfigChange
    from detent.events import CwdChanged as CwdChanged
    from detent.events import DirectoryAdded as DirectoryAdded
    from detent.events import Elicitation as Elicitation
    from detent.events import ElicitationResult as ElicitationResult
    from detent.events import Event as Event
    from detent.events import FileChanged as FileChanged
    from detent.events import InstructionsLoaded as InstructionsLoaded
    from detent.events import MessageDisplay as MessageDisplay
    from detent.events import Notification as Notification
    from detent.events import PermissionDenied as PermissionDenied
    from detent.events import PermissionRequest as PermissionRequest
    from detent.events import PostCompact as PostCompact
    from detent.events import PostModelSwitch as PostModelSwitch
    from detent.events import PostToolBatch as PostToolBatch
    from detent.events import PostToolUse as PostToolUse
    from detent.events import PostToolUseFailure as PostToolUseFailure
    from detent.events import PreCompact as PreCompact
    from detent.events import PreModelSwitch as PreModelSwitch
    from detent.events import PreToolUse as PreToolUse
    from detent.events import SessionEnd as SessionEnd
    from detent.events import SessionStart as SessionStart
    from detent.events import Setup as Setup
    from detent.events import Stop as Stop
    from detent.events import StopFailure as StopFailure
    from detent.events import SubagentStart as SubagentStart
    from detent.events import SubagentStop as SubagentStop
    from detent.events import TaskCompleted as TaskCompleted
    from detent.events import TaskCreated as TaskCreated
    from detent.events import TeammateIdle as TeammateIdle
    from detent.events import UserPromptExpansion as UserPromptExpansion
    from detent.events import UserPromptSubmit as UserPromptSubmit
    from detent.events import WorktreeCreate as WorktreeCreate
    from detent.events import WorktreeRemove as WorktreeRemove
    from detent.hookset import HookSet as HookSet
    from detent.host import Host as Host
    from detent.outcome import Allow as Allow
    from detent.outcome import Ask as Ask
    from detent.outcome import Block as Block
    from detent.outcome import Defer as Defer
    from detent.outcome import Deny as Deny
    from detent.outcome import NoOpinion as NoOpinion
    from detent.outcome import Outcome as Outcome
    from detent.outcome import Run as Run
    from detent.outcome import Skip as Skip
    from detent.outcome import SkipReason as SkipReason
    from detent.program import Hooks as Hooks
    from detent.session import fire_sync as fire_sync
    from detent.session import open_session as open_session
    from detent.visibility import Message as Message
    from detent.visibility import Reader as Reader
    from detent.visibility import messages as messages
    from detent.wire import decode_event as decode_event
    from detent.wire import encode_event as encode_event
    from detent.wiring import Places as Places
    from detent.wiring import Powers as Powers

#: Module → the public names it has.
_EXPORTS = {
    "detent.answers": ("Answer",),
    "detent.config": (
        "Loaded",
        "load_hooks",
    ),
    "detent.diagnostics": ("Diagnostic",),
    "detent.engine": (
        "HookEngine",
        "Options",
    ),
    "detent.errors": (
        "ConfigError",
        "DetentError",
        "InvalidEvent",
        "MissingExtra",
        "TrustError",
    ),
    "detent.events": (
        "CATALOGUE",
        "Event",
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
    "detent.hookset": ("HookSet",),
    "detent.host": ("Host",),
    "detent.outcome": (
        "Allow",
        "Ask",
        "Block",
        "Defer",
        "Deny",
        "NoOpinion",
        "Outcome",
        "Run",
        "Skip",
        "SkipReason",
    ),
    "detent.program": ("Hooks",),
    "detent.session": (
        "fire_sync",
        "open_session",
    ),
    "detent.visibility": (
        "Message",
        "Reader",
        "messages",
    ),
    "detent.wiring": (
        "Places",
        "Powers",
    ),
    "detent.wire": (
        "decode_event",
        "encode_event",
    ),
}

_WHERE = {name: module for module, names in _EXPORTS.items() for name in names}


def __getattr__(name: str) -> Any:
    where = _WHERE.get(name)
    if where is None:
        raise AttributeError(f"module 'detent' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(where), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(["__version__", *_WHERE])
