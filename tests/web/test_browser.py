"""The page in a real browser: live rows, a long journal, the keyboard, hostile texts, a lost connection."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from web.consoles import Open, long_journal

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: make web-test")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt install chromium")

HOSTILE = "</script><img src=x onerror=window.harmed=1>\u202egpj.exe"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--enable-precise-memory-info"]
        )
        yield started
        started.close()


class Page:
    """A page with everything that went wrong in it."""

    def __init__(self, browser: Any, console: Open, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on(
            "console", lambda said: self.faults.append(said.text) if said.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.goto(f"http://{console.host}/#{console.token}")
        self.until(lambda: self.text("#state").startswith("live"))

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).inner_text())

    def until(self, holds: Callable[[], bool], seconds: float = 30.0) -> float:
        """Ask until it holds; a strict policy does not let the driver wait inside the page."""
        began = time.monotonic()
        while not holds():
            assert time.monotonic() - began < seconds, self.page.content()[:2000]
            time.sleep(0.02)
        return time.monotonic() - began

    def shown(self) -> list[str]:
        return [" ".join(text.split()) for text in self.page.locator("#list .row").all_inner_texts()]


def project(folder: Path, command: str = "echo never >&2; exit 2") -> None:
    settings = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}}
    (folder / ".claude").mkdir(exist_ok=True)
    (folder / ".claude" / "settings.json").write_text(json.dumps(settings))


def hookwright(folder: Path, *words: str) -> str:
    env = {**os.environ, "HOOKWRIGHT_STATE_DIR": str(folder / "state"), "HOME": str(folder / "home")}
    command = [sys.executable, "-m", "hookwright.cli", *words, "--trust"]
    return subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False).stdout


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Open]:
    project(tmp_path)
    opened = Open(tmp_path, "--trust")
    yield opened
    opened.close()


def test_a_hook_that_runs_appears_and_is_explained_as_the_command_explains_it(
    browser: Any, console: Open, tmp_path: Path
) -> None:
    page = Page(browser, console)
    assert "hookwright fire PreToolUse" in page.text("#empty")
    hookwright(tmp_path, "fire", "PreToolUse", "--sample", "Bash")
    page.until(lambda: len(page.shown()) == 1)
    assert "PreToolUse:Bash deny 1 ran" in page.shown()[0]
    page.page.locator("#list").focus()
    page.page.keyboard.press("j")
    page.until(lambda: "never" in page.text("#detail"))
    assert "complete" in page.text("#detail .badge")
    assert "The model reads" in page.text("#detail")
    page.page.keyboard.press("e")
    page.until(lambda: page.page.locator(".explained pre").count() == 1)
    expected = hookwright(tmp_path, "explain", "PreToolUse", "--sample", "Bash")
    assert page.text(".explained pre").split("\n") == [line.rstrip() for line in expected.rstrip().split("\n")]
    assert page.faults == []


def test_the_keyboard_reaches_everything(browser: Any, console: Open, tmp_path: Path) -> None:
    for tool in ("Bash", "Write", "Read"):
        hookwright(tmp_path, "fire", "PreToolUse", "--sample", tool)
    page = Page(browser, console)
    page.until(lambda: len(page.shown()) == 3)
    keys = page.page.keyboard
    keys.press("/")
    keys.type("decision:deny")
    page.until(lambda: len(page.shown()) == 1)
    keys.press("Escape")
    assert page.page.evaluate("document.activeElement.id") == "list"
    keys.press("ArrowDown")
    page.until(lambda: page.page.locator("#list .row.chosen").count() == 1)
    assert page.text("#follow") == "paused"
    keys.press("f")
    assert page.text("#follow") == "following"
    keys.press("2")
    page.until(lambda: page.page.locator("#hooks tbody tr").count() == 1)
    keys.press("3")
    page.until(lambda: page.page.locator("#sessions tbody tr").count() >= 1)
    keys.press("4")
    page.until(lambda: "hookwright trust" in page.text("#trust"))
    keys.press("1")
    keys.press("?")
    page.until(lambda: page.page.locator("#help[open]").count() == 1)
    assert page.faults == []


def test_words_are_searched_in_handlers_and_reasons(browser: Any, console: Open, tmp_path: Path) -> None:
    for tool in ("Bash", "Write"):
        hookwright(tmp_path, "fire", "PreToolUse", "--sample", tool)
    page = Page(browser, console)
    page.page.fill("#filter", "[echo never")
    page.until(lambda: len(page.shown()) == 1 and "PreToolUse:Bash" in page.shown()[0])
    page.page.fill("#filter", "no such text")
    page.until(lambda: page.text("#empty") == "No event matches the filter.")


def test_hostile_texts_run_nothing(browser: Any, tmp_path: Path) -> None:
    folder = tmp_path / "<img src=x onerror=window.harmed=1>"
    folder.mkdir()
    project(folder, f"echo '{HOSTILE}' >&2; exit 2")
    console = Open(folder, "--trust")
    page = Page(browser, console)
    hookwright(folder, "fire", "PreToolUse", "--sample", "Bash")
    page.until(lambda: len(page.shown()) == 1)
    page.page.keyboard.press("j")
    page.until(lambda: "</script><img" in page.text("#detail"))
    for key in "234":
        page.page.keyboard.press(key)
        time.sleep(0.3)
    assert page.page.evaluate("window.harmed") is None
    assert page.page.locator("#detail img, #hooks img, #sessions img, #trust img").count() == 0
    assert "\u202e" not in page.page.locator("body").inner_text()
    assert page.faults == []
    console.close()


def test_a_long_journal_is_a_short_page(browser: Any, tmp_path: Path) -> None:
    long_journal(tmp_path / "state", 100_000)
    console = Open(tmp_path)
    began = time.monotonic()
    page = Page(browser, console)
    page.until(lambda: page.text("#count") == "100000 events", 60)
    drawn = time.monotonic() - began
    nodes = page.page.evaluate("document.querySelectorAll('*').length")
    heap = page.page.evaluate("performance.memory.usedJSHeapSize")
    page.page.fill("#filter", "decision:deny tool:Tool3")
    page.until(lambda: page.text("#count").startswith("1429 of 100000"))
    print(f"drawn in {drawn:.2f} s, {nodes} nodes, {heap / 1e6:.0f} MB heap")
    assert nodes <= 600
    assert heap < 120e6
    assert page.page.locator("#list").get_attribute("aria-rowcount") == "1429"
    console.close()


def test_a_lost_connection_is_said_and_continues(browser: Any, console: Open, tmp_path: Path) -> None:
    page = Page(browser, console)
    hookwright(tmp_path, "fire", "PreToolUse", "--sample", "Bash")
    page.until(lambda: len(page.shown()) == 1)
    page.context.set_offline(True)
    page.page.evaluate("1")
    page.context.set_offline(False)
    console.process.send_signal(signal.SIGKILL)
    console.process.wait()
    page.until(lambda: "trying again" in page.text("#state"))
    again = Open(tmp_path, "--trust", "--port", str(console.port))
    page.until(lambda: "open the address" in page.text("#state"))
    page.page.goto(f"http://{again.host}/#{again.token}")
    page.until(lambda: page.text("#state").startswith("live"))
    page.until(lambda: len(page.shown()) == 1)
    hookwright(tmp_path, "fire", "PreToolUse", "--sample", "Write")
    page.until(lambda: len(page.shown()) == 2)
    again.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_large_and_in_both_schemes(browser: Any, console: Open, tmp_path: Path, scheme: str) -> None:
    hookwright(tmp_path, "fire", "PreToolUse", "--sample", "Bash")
    size = {"width": 640, "height": 480}  # a window of 1280 × 960 at 200 %
    page = Page(browser, console, color_scheme=scheme, viewport=size, device_scale_factor=2)
    page.until(lambda: len(page.shown()) == 1)
    wide = page.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    back = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(255, 255, 255)") is (scheme == "light")
