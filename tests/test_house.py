"""The figures of the house: measured as they say, and kept."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parent.parent


def house() -> ModuleType:
    """Load the script; it is not part of a package."""
    spec = importlib.util.spec_from_file_location("house", ROOT / "tools" / "house.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_writes_from_outside_are_those_to_the_attributes_of_other_objects(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "class A:\n"
        "    def f(self, other):\n"
        "        self.own = 1\n"
        "        self.own += other.read\n"
        "        other.set = self.own\n"
        "        self.part.count += 1\n"
        "        other.items[0] = 2\n"
        "        for other.each in (): pass\n"
        "        del other.gone\n"
    )
    found = house().outside_writes(tmp_path)
    assert sorted(found) == ["a.py:5 other.set", "a.py:6 self.part.count", "a.py:8 other.each", "a.py:9 other.gone"]
