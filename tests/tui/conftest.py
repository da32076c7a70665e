"""Fixtures of the terminal app's tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tui.chats import Chat


@pytest.fixture
def chat() -> Iterator[Chat]:
    """A temporary project with a short path, so that paths fit into lines of a screen."""
    with tempfile.TemporaryDirectory(prefix="d") as folder:
        yield Chat(Path(folder))
