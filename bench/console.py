"""What an open console costs a session, and how soon a page gets a row.

    python bench/console.py [--events 400]

Each round fires the same events at one silent command hook with a journal, in turn without a console, with a console
that has 0, 1 and 8 pages, and with one that is stopped (SIGSTOP), so that a busy machine slows all of them. The figures
are medians of wall time per event and their ratio to no console. The pages are real connections that read everything.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from hookwright import Places, PreToolUse, open_session

STATES = ("no console", "0 pages", "1 page", "8 pages", "8 pages, stopped")
ROUNDS = 8


class Following(threading.Thread):
    """A page that reads the stream; it notes when each part of it came."""

    def __init__(self, host: str, token: str) -> None:
        super().__init__(daemon=True)
        self._connection = http.client.HTTPConnection(host)
        self._connection.request("GET", "/api/stream", headers={"Authorization": f"Bearer {token}"})
        self._response = self._connection.getresponse()
        self.came: list[float] = []

    def run(self) -> None:
        """Read until the console ends."""
        try:
            while self._response.read1(1 << 16):
                self.came.append(time.time())
        except (OSError, http.client.HTTPException):
            return


@contextmanager
def console(folder: str, pages: int, stopped: bool) -> Iterator[list[Following]]:
    """Open a console in a process of its own, with some pages."""
    env = {**os.environ, "HOOKWRIGHT_STATE_DIR": f"{folder}/state", "HOME": folder}
    command = [sys.executable, "-m", "hookwright.cli", "web", "--project", folder]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        host, _, token = process.stdout.readline().strip().removeprefix("http://").partition("/#")
        open_pages = [Following(host, token) for _ in range(pages)]
        for page in open_pages:
            page.start()
        time.sleep(0.5)
        if stopped:
            process.send_signal(signal.SIGSTOP)
        yield open_pages
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGINT)


async def fired(folder: str, events: int) -> list[float]:
    """Fire events at a session with a journal; return the seconds of each."""
    places = Places(project=folder, home=folder, env={"PATH": os.environ["PATH"]}, state_dir=f"{folder}/state")
    out = []
    async with open_session(places, journal=True, frozen=True) as session:
        for _ in range(events):
            began = time.perf_counter()
            await session.fire(PreToolUse, tool_name="Bash", tool_input={"command": "ls"})
            out.append(time.perf_counter() - began)
    return out


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=400, help="events of each state")
    each = max(1, parser.parse_args().events // ROUNDS)
    times: dict[str, list[float]] = {state: [] for state in STATES}
    delays: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, ".claude").mkdir()
        hook = '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
        Path(folder, ".claude", "settings.json").write_text(hook)
        for _ in range(ROUNDS):
            for state in STATES:
                with ExitStack() as closing:
                    pages: list[Following] = []
                    if state != "no console":
                        pages = closing.enter_context(console(folder, int(state[0]), "stopped" in state))
                    times[state] += asyncio.run(fired(folder, each))
                    if state == "1 page":
                        delays += _delays(folder, pages[0])
    floor = statistics.median(times["no console"])
    for state in STATES:
        middle = statistics.median(times[state])
        print(f"{state:18} {middle * 1e3:7.2f} ms per event  {middle / floor:5.2f}×")
    print(f"from the end of an event to a page: {statistics.median(delays) * 1e3:.0f} ms, {len(delays)} events")
    return 0


def _delays(folder: str, page: Following) -> list[float]:
    """Fire single events, each when nothing else happens; return when the page had its row."""
    found = []
    for _ in range(5):
        before = len(page.came)
        asyncio.run(fired(folder, 1))
        ended = time.time()
        while len(page.came) == before or page.came[-1] < ended - 0.2:
            time.sleep(0.002)
        found.append(max(0.0, page.came[-1] - ended))
    return found


if __name__ == "__main__":
    sys.exit(main())
