"""Run the same no-op hook through other hook engines, side by side with ours.

    python bench/peers.py [--rounds N]

Each peer is installed into an environment of its own below bench/.peers, in a fixed version; one that cannot be
installed here is left out and named. Adds the section "Other engines" to docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import glob
import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack, closing
from pathlib import Path

import msgspec
from harness import Contender, Spread, median_of_each, ratios, rounds, scenario, wait_for_quiet
from report import PEERS, spread

HERE = Path(__file__).parent
HOME = HERE / ".peers"
ENGINES = HERE / "engines"
PAGE = HERE.parent / "docs" / "benchmarks.md"
#: The number of hooks of the event, and how often a round asks.
EVENTS = {"an event that no hook is for": (0, 200), "one hook": (1, 20), "ten hooks": (10, 5)}


class Peer(msgspec.Struct, frozen=True):
    """Another engine, ready to be asked."""

    name: str
    argv: tuple[str, ...]
    #: What imports it and does nothing else.
    imports: tuple[str, ...]


class Missing(msgspec.Struct, frozen=True):
    """Another engine that cannot be had here, and why."""

    name: str
    why: str


def newer_python() -> str | None:
    """Find a Python 3.12 or later: two of the peers need it."""
    found = [os.environ.get("PEER_PYTHON"), sys.executable, shutil.which("python3.13"), shutil.which("python3.12")]
    found += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.1[2-9]*/bin/python")))
    for candidate in filter(None, found):
        probe = subprocess.run(
            [candidate, "-c", "import sys; sys.exit(sys.version_info < (3, 12))"], capture_output=True, check=False
        )
        if probe.returncode == 0:
            return candidate
    return None


def python_peer(name: str, requirement: str, module: str, script: str) -> Peer | Missing:
    """Install a Python package into an environment of its own."""
    folder = HOME / name
    program = folder / "bin" / "python"
    if not (folder / ".installed").exists():
        base = newer_python()
        if base is None:
            return Missing(name, "no Python 3.12 or later; name one in PEER_PYTHON")
        try:
            subprocess.run([base, "-m", "venv", "--clear", folder], check=True, capture_output=True)
            subprocess.run([program, "-m", "pip", "install", "--quiet", requirement], check=True, capture_output=True)
        except (subprocess.CalledProcessError, OSError) as error:
            return Missing(name, f"{requirement} cannot be installed: {_last_line(error)}")
        (folder / ".installed").touch()
    return Peer(
        requirement.replace("==", " "),
        (str(program), str(ENGINES / script)),
        (str(program), "-c", f"import {module}"),
    )


def node_peer(name: str, requirement: str) -> Peer | Missing:
    """Install a package of npm into a folder of its own."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return Missing(name, "no node and npm")
    folder = HOME / name
    if not (folder / ".installed").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n')
        try:
            command = [npm, "install", "--silent", "--no-audit", "--no-fund", requirement]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        except (subprocess.CalledProcessError, OSError) as error:
            return Missing(name, f"{requirement} cannot be installed: {_last_line(error)}")
        (folder / ".installed").touch()
    module = folder / "node_modules" / "@google" / "gemini-cli-core" / "dist" / "src" / "hooks" / "hookRunner.js"
    return Peer(
        requirement.replace("@0", " 0"),
        (node, str(ENGINES / "run_gemini.mjs"), str(folder)),
        (node, "--input-type=module", "-e", f"await import({str(module)!r})"),
    )


def _last_line(error: Exception) -> str:
    text = (getattr(error, "stderr", None) or b"").decode("utf-8", "replace").strip()
    return text.splitlines()[-1] if text else str(error)


def peers() -> list[Peer | Missing]:
    """Make all peers ready."""
    return [
        python_peer("deepagents", "deepagents-code==0.1.88", "deepagents_code.hooks.engine", "run_deepagents.py"),
        python_peer("openhands", "openhands-sdk==1.58.0", "openhands.sdk.hooks", "run_openhands.py"),
        node_peer("gemini", "@google/gemini-cli-core@0.61.0"),
    ]


#: A package of one peer would ask the network for prices while it is imported.
ENV = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}


def tried(peer: Peer | Missing) -> Peer | Missing:
    """Leave a peer out that is installed and does not run here."""
    if isinstance(peer, Missing):
        return peer
    try:
        with closing(Contender(*peer.argv, "1", env=ENV)) as contender:
            contender.ask(1)
    except SystemExit as error:
        return Missing(peer.name, f"it does not run here ({error})")
    return peer


def measure(found: list[Peer], number_of_rounds: int) -> list[str]:
    """Ask all engines in turn; give the lines of a table."""
    lines = []
    for what, (hooks, count) in EVENTS.items():
        with ExitStack() as stack:
            contenders = {"ours": stack.enter_context(closing(scenario("tool-call", str(hooks))))}
            for peer in found:
                contenders[peer.name] = stack.enter_context(closing(Contender(*peer.argv, str(hooks), env=ENV)))
            took = rounds(contenders, number_of_rounds, lambda c, n=count: c.ask(n), median_of_each)
        lines.append(f"| {what} | Hookwright | {spread(Spread.of(took['ours']))} µs | |")
        for peer in found:
            slower = ratios(took[peer.name], took["ours"])
            lines.append(f"| | {peer.name} | {spread(Spread.of(took[peer.name]))} µs | {spread(slower)} |")
    lines += _imports(found, number_of_rounds)
    return lines


def _imports(found: list[Peer], number_of_rounds: int) -> list[str]:
    commands = {"Hookwright": (sys.executable, "-c", "from hookwright import HookEngine, load_hooks")}
    commands |= {peer.name: peer.imports for peer in found}
    took: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(max(3, number_of_rounds // 3)):
        wait_for_quiet()
        for name, argv in commands.items():
            began = time.perf_counter()
            subprocess.run(argv, check=True, capture_output=True, env=ENV)
            took[name].append((time.perf_counter() - began) * 1000)
    lines = []
    for index, (name, values) in enumerate(took.items()):
        slower = spread(ratios(values, took["Hookwright"])) if index else ""
        lines.append(
            f"| {'start and import' if index == 0 else ''} | {name} | {spread(Spread.of(values))} ms | {slower} |"
        )
    return lines


def main() -> int:
    """Install, measure and write the section."""
    parser = argparse.ArgumentParser(description="Measure other hook engines beside ours.")
    parser.add_argument("--rounds", type=int, default=15, help="interleaved rounds for each line (default 15)")
    arguments = parser.parse_args()
    every = [tried(peer) for peer in peers()]
    found = [peer for peer in every if isinstance(peer, Peer)]
    left_out = [f"{peer.name} is left out: {peer.why}." for peer in every if isinstance(peer, Missing)]
    print(*left_out, sep="\n", file=sys.stderr)
    section = [
        PEERS,
        "",
        "The same no-op hook (`true` in a shell, 1 KB of JSON on stdin) in the same rounds, by `make bench-peers`.",
        *left_out,
        "",
        "| what | engine | median (p10 – p90) | times Hookwright |",
        "|---|---|---|---|",
        *measure(found, arguments.rounds),
    ]
    page = PAGE.read_text() if PAGE.exists() else ""
    before = page[: page.index(PEERS)] if PEERS in page else page.rstrip("\n") + "\n\n"
    PAGE.write_text(before + "\n".join(section) + "\n")
    print("\n".join(section))
    return 0


if __name__ == "__main__":
    sys.exit(main())
