"""Pages of the documentation as things that can be run: files to write, commands with their output, programs.

The first line of a fenced block says what is done with it:

    ```json file=.claude/settings.json      written into the page's project; ~/… into its home
    ```bash file=.claude/hooks/guard.sh     the same, made executable when it starts with #!
    ```console                              `$ command` lines are run, the lines below them are what must be printed
    ```python run                           run in the project; must exit 0

`…` matches any text in a line, and alone in a line any lines. Times in ms are not compared. A comment
`<!-- new project -->` begins with an empty project and home. Blocks inside comments are read too.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/*/*.md")])
#: Pages that are made from code, or that are data.
_MADE = ("requirements.md", "rules.md")
HAND_WRITTEN = [path for path in PAGES if path.parent.name != "reference" and path.name not in _MADE]

HOME, PROJECT = "/home/me", "/home/me/project"
_FENCE = re.compile(r"^(`{3,})(\w*)([^\n`]*)\n(.*?)^\1[ ]*$|^<!-- (new project) -->$", re.MULTILINE | re.DOTALL)
_MARK = "\x1e"


class Block(NamedTuple):
    """One fenced block."""

    language: str
    options: tuple[str, ...]
    text: str
    line: int

    @property
    def file(self) -> str | None:
        """The path the block is written to."""
        return next((option.removeprefix("file=") for option in self.options if option.startswith("file=")), None)

    @property
    def runnable(self) -> bool:
        """Whether the block can be written or run."""
        return self.file is not None or self.language == "console" or "run" in self.options


def blocks(page: str) -> Iterator[Block]:
    """Read the blocks of a page."""
    for part in projects(page):
        yield from part


def projects(page: str) -> list[list[Block]]:
    """Read the blocks of a page, apart for each project that it begins."""
    found: list[list[Block]] = [[]]
    for match in _FENCE.finditer(page):
        if match[5]:
            found.append([])
        else:
            line = page.count("\n", 0, match.start()) + 1
            found[-1].append(Block(match[2], tuple(match[3].split()), match[4], line))
    return found


class World:
    """A home and a project in it, as the reader of one page would have them."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home" / "me"
        self.project = self.home / "project"
        self.project.mkdir(parents=True)
        (self.project / ".git").mkdir()
        bin_dir = Path(sys.executable).parent
        self.env = {
            "PATH": f"{bin_dir}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "HOOKWRIGHT_MANAGED_SETTINGS": str(root / "managed"),
            "LANG": "C.UTF-8",
            "EXAMPLES": str(ROOT / "examples"),
        }

    def write(self, path: str, text: str) -> None:
        """Write a file where the page says."""
        target = self.home / path[2:] if path.startswith("~/") else self.project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        if text.startswith("#!"):
            target.chmod(0o755)

    def shown(self, text: str) -> str:
        """Put the reader's paths for ours."""
        return text.replace(str(self.project), PROJECT).replace(str(self.home), HOME)

    def run(self, argv: list[str], text: str = "") -> subprocess.CompletedProcess[str]:
        """Run a program in the project, output and errors in one stream."""
        return subprocess.run(
            argv,
            input=text,
            env=self.env,
            cwd=self.project,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )


def run_block(block: Block, world: World) -> None:
    """Do what one block says; an AssertionError says where it is not true."""
    if block.file is not None:
        world.write(block.file, block.text)
    elif block.language == "console":
        _run_console(block, world)
    elif block.language == "python" and "run" in block.options:
        done = world.run([sys.executable, "-W", "error", "-c", block.text])
        assert done.returncode == 0, f"line {block.line}: {done.stdout}"


def steps(console: str) -> list[tuple[str, str]]:
    """Split a console block into commands and what they print; `> ` right below a command continues it."""
    found: list[tuple[str, str]] = []
    for line in console.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
            continue
        command, printed = found[-1]
        if line.startswith("> ") and not printed:
            found[-1] = (f"{command}\n{line[2:]}", "")
        else:
            found[-1] = (command, f"{printed}{line}\n")
    return found


def _run_console(block: Block, world: World) -> None:
    expected = steps(block.text)
    script = "".join(f"{command}\nstatus=$?; printf '{_MARK}'; (exit $status)\n" for command, _ in expected)
    done = world.run(["bash", "-c", script.replace(PROJECT, str(world.project)).replace(HOME, str(world.home))])
    printed = world.shown(done.stdout).split(_MARK)
    assert len(printed) == len(expected) + 1, f"line {block.line}: {done.stdout}"
    for (command, wanted), got in zip(expected, printed, strict=False):
        assert pattern(wanted).fullmatch(_timeless(got.rstrip() + "\n")), (
            f"line {block.line}: $ {command}\n--- the page says\n{wanted}--- but it is\n{got}"
        )


def pattern(text: str) -> re.Pattern[str]:
    """Make a pattern of expected output."""
    parts = []
    for line in _timeless(text.rstrip() + "\n").splitlines(keepends=True):
        any_lines = line.strip() == "…"
        parts.append(r"(?:.*\n)*" if any_lines else re.escape(line).replace("…", ".*"))
    return re.compile("".join(parts))


def _timeless(text: str) -> str:
    return re.sub(r"[ \t]+$", "", re.sub(r"\b\d+(\.\d+)? ms\b", "N ms", text), flags=re.MULTILINE)


# ── links and headings ──────────────────────────────────────────────────────


def without_blocks(page: str) -> str:
    """Drop the fenced blocks."""
    return _FENCE.sub("", page)


def without_code(page: str) -> str:
    """Drop code, in which nothing is a link."""
    return re.sub(r"`[^`\n]*`", "", without_blocks(page))


def links(page: str) -> list[str]:
    """List the targets of links."""
    return re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", without_code(page))


def headings(page: str) -> list[str]:
    """List the headings' texts."""
    return [found.strip() for found in re.findall(r"^#+ (.+)$", _FENCE.sub("", page), re.MULTILINE)]


def anchors(page: str) -> set[str]:
    """List the anchors that a page has, as GitHub makes them."""
    found: set[str] = set()
    for heading in headings(page):
        plain = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number, anchor = 0, plain
        while anchor in found:
            number += 1
            anchor = f"{plain}-{number}"
        found.add(anchor)
    return found


def section(page: str, heading: str) -> str:
    """Return the text below a heading, up to the next one of the same or a higher level."""
    found = re.search(rf"^(#+) {re.escape(heading)}\n(.*)", page, re.MULTILINE | re.DOTALL)
    assert found, f"no heading `{heading}`"
    end = re.search(rf"^#{{1,{len(found[1])}}} ", _hide_fences(found[2]), re.MULTILINE)
    return found[2][: end.start()] if end else found[2]


def _hide_fences(text: str) -> str:
    return _FENCE.sub(lambda block: re.sub(r"[^\n]", "x", block[0]), text)
