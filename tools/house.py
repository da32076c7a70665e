"""Figures about the source tree.

    python tools/house.py [FOLDER …]

prints every place where code writes to an attribute of another object, and how many there are.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path


def outside_writes(folder: Path) -> list[str]:
    """Return `file:line target` for every assignment to an attribute of an object other than `self`.

    `self.x = 1` is the object's own business; `other.x = 1`, `self.other.x = 1` and `del other.x` are not. Augmented
    and annotated assignments count, and so do the targets of `for` and `with`.
    """
    return [
        f"{path.relative_to(folder)}:{node.lineno} {ast.unparse(node)}"
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del) and not _is_own(node.value)
    ]


def _is_own(owner: ast.expr) -> bool:
    return isinstance(owner, ast.Name) and owner.id in ("self", "cls")


if __name__ == "__main__":
    for argument in sys.argv[1:] or ["src/hookwright"]:
        writes = outside_writes(Path(argument))
        print(*writes, f"{argument}: {len(writes)} writes from outside", sep="\n")
