"""Claude Code's hooks system, open and in Python.

    from hookwright import HookEngine, PreToolUse, load_hooks

Names are loaded on first use, so that importing the package does nothing.
"""

from __future__ import annotations

from hookwright._version import __version__ as __version__

TYPE_CHECKING = False  # `typing` would cost more than all the rest of this module
if TYPE_CHECKING:
    from typing import Any

    from hookwright.answers import Answer as Answer
    from hookwright.config import Loaded as Loaded
    from hookwright.config import load_hooks as load_hooks
    from hookwright.diagnostics import Diagnostic as Diagnostic
    from hookwright.engine import HookEngine as HookEngine
    from hookwright.engine import Options as Options
    from hookwright.errors import ConfigError as ConfigError
    from hookwright.errors import HookwrightError as HookwrightError
    from hookwright.errors import InvalidEvent as InvalidEvent
    from hookwright.errors import MissingExtra as MissingExtra
    from hookwright.errors import TrustError as TrustError
    from hookwright.events import CATALOGUE as CATALOGUE
    from hookwright.events import ConfigChange as ConfigChange
    from hookwright.events import CwdChanged as CwdChanged
    from hookwright.events import DirectoryAdded as DirectoryAdded
    from hookwright.events import Elicitation as Elicitation
    from hookwright.events import ElicitationResult as ElicitationResult
    from hookwright.events import Event as Event
    from hookwright.events import FileChanged as FileChanged
    from hookwright.events import InstructionsLoaded as InstructionsLoaded
    from hookwright.events import MessageDisplay as MessageDisplay
    from hookwright.events import Notification as Notification
    from hookwright.events import PermissionDenied as PermissionDenied
    from hookwright.events import PermissionRequest as PermissionRequest
    from hookwright.events import PostCompact as PostCompact
    from hookwright.events import PostModelSwitch as PostModelSwitch
    from hookwright.events import PostToolBatch as PostToolBatch
    from hookwright.events import PostToolUse as PostToolUse
    from hookwright.events import PostToolUseFailure as PostToolUseFailure
    from hookwright.events import PreCompact as PreCompact
    from hookwright.events import PreModelSwitch as PreModelSwitch
    from hookwright.events import PreToolUse as PreToolUse
    from hookwright.events import SessionEnd as SessionEnd
    from hookwright.events import SessionStart as SessionStart
    from hookwright.events import Setup as Setup
    from hookwright.events import Stop as Stop
    from hookwright.events import StopFailure as StopFailure
    from hookwright.events import SubagentStart as SubagentStart
    from hookwright.events import SubagentStop as SubagentStop
    from hookwright.events import TaskCompleted as TaskCompleted
    from hookwright.events import TaskCreated as TaskCreated
    from hookwright.events import TeammateIdle as TeammateIdle
    from hookwright.events import UserPromptExpansion as UserPromptExpansion
    from hookwright.events import UserPromptSubmit as UserPromptSubmit
    from hookwright.events import WorktreeCreate as WorktreeCreate
    from hookwright.events import WorktreeRemove as WorktreeRemove
    from hookwright.hookset import HookSet as HookSet
    from hookwright.host import Host as Host
    from hookwright.outcome import Allow as Allow
    from hookwright.outcome import Ask as Ask
    from hookwright.outcome import Block as Block
    from hookwright.outcome import Defer as Defer
    from hookwright.outcome import Deny as Deny
    from hookwright.outcome import NoOpinion as NoOpinion
    from hookwright.outcome import Outcome as Outcome
    from hookwright.outcome import Run as Run
    from hookwright.outcome import Skip as Skip
    from hookwright.outcome import SkipReason as SkipReason
    from hookwright.program import Hooks as Hooks
    from hookwright.session import fire_sync as fire_sync
    from hookwright.session import open_session as open_session
    from hookwright.visibility import Message as Message
    from hookwright.visibility import Reader as Reader
    from hookwright.visibility import messages as messages
    from hookwright.wire import decode_event as decode_event
    from hookwright.wire import encode_event as encode_event
    from hookwright.wiring import Places as Places
    from hookwright.wiring import Powers as Powers

#: Module → the public names it has.
_EXPORTS = {
    "hookwright.answers": ("Answer",),
    "hookwright.config": (
        "Loaded",
        "load_hooks",
    ),
    "hookwright.diagnostics": ("Diagnostic",),
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
    "hookwright.events": (
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
    "hookwright.hookset": ("HookSet",),
    "hookwright.host": ("Host",),
    "hookwright.outcome": (
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
    "hookwright.program": ("Hooks",),
    "hookwright.session": (
        "fire_sync",
        "open_session",
    ),
    "hookwright.visibility": (
        "Message",
        "Reader",
        "messages",
    ),
    "hookwright.wiring": (
        "Places",
        "Powers",
    ),
    "hookwright.wire": (
        "decode_event",
        "encode_event",
    ),
}

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
