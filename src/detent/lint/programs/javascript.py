from __future__ import annotations
from detent.lint.programs.ir import *
def read_javascript(source: str, path: str = "", *, event: bool = True) -> Program:
    return Program(Language.JAVASCRIPT, source, path=path)
