"""Observers are called with what the engine does: for a screen, the journal, a recorder, OpenTelemetry."""

from __future__ import annotations

from hookwright.observers.notices import EventEnded as EventEnded
from hookwright.observers.notices import LateEnded as LateEnded
from hookwright.observers.notices import Notice as Notice
from hookwright.observers.notices import Observer as Observer
from hookwright.observers.notices import RunEnded as RunEnded
from hookwright.observers.notices import RunStarted as RunStarted
