"""Set-up for all tests."""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
from collections import Counter

import pytest

#: A runner in the background, or under nohup, ignores these, and so would every process that tests start.
for _number, _handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGTERM, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        with contextlib.suppress(ValueError):  # not in the main thread
            signal.signal(_number, _handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose program is missing; the summary says so."""
    for mark in item.iter_markers("needs"):
        for program in mark.args:
            if shutil.which(program) is None:
                pytest.skip(f"needs {program}, which is not installed")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the programs whose absence kept tests from running, in one line."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = (str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else "" for report in reports)
    missing = Counter(found[1] for reason in reasons if (found := re.search(r"needs (\S+), which is not", reason)))
    if missing:
        counts = ", ".join(f"{count} without {program}" for program, count in missing.most_common())
        terminalreporter.write_line(f"NOT TESTED HERE: {counts}. Install these programs to run them.", yellow=True)
