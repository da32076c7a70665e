"""What released agents sent and did, one file per agent and version: payloads, and the fate of a call per answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

#: The answers after which Claude Code does not run the call; the others change it or end the turn.
MUST_STOP = 14


def recorded(agent: str, kind: str) -> list[dict[str, Any]]:
    """Return the lines of one kind from every recording of an agent."""
    lines = [line for file in sorted((HERE / agent).glob("*.jsonl")) for line in file.read_text().splitlines()]
    return [entry for line in lines for entry in [json.loads(line)] if entry["kind"] == kind]
