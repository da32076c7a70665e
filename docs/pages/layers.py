"""The drawing of the layers in docs/design.md, taken from the table that the tests enforce."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pages.markdown import code

DOCS = Path(__file__).parent.parent
_BLOCK = re.compile(r"(?<=<!-- layers -->\n).*?(?=\n<!-- end of layers -->)", re.DOTALL)


def design() -> str:
    """Return docs/design.md with the drawing as it must be; the rest of the page is written by hand."""
    sys.path.insert(0, str(DOCS.parent / "tests"))
    try:
        import layers
    finally:
        sys.path.pop(0)
    drawing = code(layers.drawing(), "text")
    text, found = _BLOCK.subn(lambda _: drawing, (DOCS / "design.md").read_text())
    if found != 1:
        raise ValueError("docs/design.md: put the drawing between `<!-- layers -->` and `<!-- end of layers -->`")
    return text
