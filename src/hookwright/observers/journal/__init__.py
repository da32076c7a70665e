"""The journal: one JSON line per run, event and late end, private, rotated, without secrets."""

from __future__ import annotations

from hookwright.observers.journal.records import decision_of as decision_of
from hookwright.observers.journal.records import handler_record as handler_record
from hookwright.observers.journal.records import short as short
from hookwright.observers.journal.writer import Journal as Journal
from hookwright.observers.journal.writer import Retention as Retention
