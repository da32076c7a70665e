"""The layers of the package: one table that the tests enforce and docs/design.md draws."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SRC = Path(__file__).parent.parent / "src" / "hookwright"

#: Layers from the lowest to the highest; a room may import from its own layer and from those above it in this table.
#: A room is a folder or a root module. In `agent` and `tui` each folder is a room; `agent` and `tui` themselves are the
#: modules at the root of those folders.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("_version", "errors", "storage", "text"),
    ("protocol", "matching", "processes"),
    ("models", "mcp", "observers", "projects"),
    ("code_hooks", "selection", "hookset", "interpret", "spill", "aggregate", "visibility", "background", "deadline"),
    ("engine", "executors", "config"),
    ("warm", "author"),
    ("wiring",),
    ("session",),
    ("dialects",),
    ("resident",),
    ("agent.transcript", "agent.tools", "agent.permissions"),
    ("cases", "lint", "templates", "agent.state"),
    ("replay", "adapters"),
    ("agent.turn",),
    ("agent.subagents",),
    ("agent",),
    ("agent.headless",),
    ("tui.feed",),
    ("tui.chat",),
    ("tui.widgets",),
    ("tui.screens",),
    ("cli", "tui", "demo", "web"),
)
RANK = {room: rank for rank, rooms in enumerate(LAYERS) for room in rooms}

#: Folders whose sub-folders are rooms.
_HOUSES = ("agent", "tui")

#: A folder has at most this many modules, `__init__` not counted.
MOST_MODULES = 16


def files() -> list[Path]:
    """List the modules of the package; hook templates and the project of the demo are data."""
    return sorted(path for path in SRC.rglob("*.py") if not {"hooks", "project"} & {*path.relative_to(SRC).parts[:-1]})


def module_of(path: Path) -> str:
    """Return the dotted name of a file below the package, without the package itself."""
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """Return the room of a module."""
    parts = module.split(".")
    if parts[0] in _HOUSES and len(parts) > 1 and (SRC / parts[0] / parts[1]).is_dir():
        return ".".join(parts[:2])
    return parts[0]


def imported(path: Path) -> Iterator[tuple[str, int]]:
    """Yield the modules of the package that a file imports when it is loaded, with their lines."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("hookwright."):
            yield node.module.removeprefix("hookwright."), node.lineno
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("hookwright."):
                    yield alias.name.removeprefix("hookwright."), node.lineno


def private_imports(path: Path) -> Iterator[str]:
    """Yield imports of a private module of another folder, anywhere in the file."""
    here = module_of(path).split(".")
    folder = here if path.name == "__init__.py" else here[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("hookwright"):
            continue
        base = (node.module or "").split(".")[1:]
        for name in [base, *([*base, alias.name] for alias in node.names)]:
            private = next((at for at, part in enumerate(name) if part.startswith("_") and part != "_version"), None)
            if private is not None and name[:private] != folder[:private] and _is_module(name[: private + 1]):
                yield f"line {node.lineno}: {'.'.join(name)}"


def _is_module(parts: list[str]) -> bool:
    place = SRC.joinpath(*parts)
    return place.is_dir() or place.with_suffix(".py").exists()


def drawing() -> str:
    """Draw the table as docs/design.md shows it."""
    return "\n".join(f"{'  ' * rank}{'→ ' if rank else ''}{', '.join(rooms)}" for rank, rooms in enumerate(LAYERS))
