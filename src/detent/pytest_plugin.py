"""The pytest plugin: a `detent_hooks` fixture that fires events at the hooks of the project under test.

    def test_force_push_is_refused(detent_hooks):
        outcome = detent_hooks.fire("PreToolUse", "Bash", {"command": "git push --force"})
        assert outcome.blocked
        assert "feature branch" in outcome.reason

The project is pytest's root folder, or the `detent_project` of the configuration file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.cases.bench import HookBench


def pytest_addoption(parser: pytest.Parser) -> None:
    """Tell pytest about our setting."""
    parser.addini("detent_project", "directory whose hooks `detent_hooks` fires at (default: the root folder)")


@pytest.fixture
def detent_hooks(request: pytest.FixtureRequest) -> Iterator[HookBench]:
    """Fire events at the hooks of the project, with its real merged configuration."""
    from detent.cases.bench import HookBench  # every pytest run imports this module, few of them fire hooks

    config = request.config
    bench = HookBench(str(config.rootpath / str(config.getini("detent_project") or ".")))
    try:
        yield bench
    finally:
        bench.close()
