"""The pytest plugin: a `hookwright_hooks` fixture that fires events at the hooks of the project under test.

    def test_force_push_is_refused(hookwright_hooks):
        outcome = hookwright_hooks.fire("PreToolUse", "Bash", {"command": "git push --force"})
        assert outcome.blocked
        assert "feature branch" in outcome.reason

The project is pytest's root folder, or the `hookwright_project` of the configuration file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hookwright.cases.fixture import HookBench


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the plugin's setting."""
    parser.addini("hookwright_project", "directory whose hooks `hookwright_hooks` runs (default: the root folder)")


@pytest.fixture
def hookwright_hooks(request: pytest.FixtureRequest) -> Iterator[HookBench]:
    """Fire events at the hooks of the project, as its own settings declare them."""
    from hookwright.cases.fixture import HookBench  # every pytest run imports this module, few fire hooks

    config = request.config
    bench = HookBench(str(config.rootpath / str(config.getini("hookwright_project") or ".")))
    try:
        yield bench
    finally:
        bench.close()
