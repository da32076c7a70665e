"""The session's permissions: mode, rules and workspace, and the updates that people and hooks make to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from detent.agent.options import AgentOptions
from detent.agent.permissions import (
    Behavior,
    Call,
    Mode,
    Origin,
    Rules,
    Verdict,
    Workspace,
    decide,
    declared_rules,
    spoken_rules,
)
from detent.agent.tools import Tool
from detent.config import Loaded
from detent.diagnostics import Diagnostic
from detent.errors import ConfigError
from detent.outcome import Decision
