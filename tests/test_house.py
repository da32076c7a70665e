"""The figures of the source tree: measured as the script says, and kept."""

from __future__ import annotations

import ast
from pathlib import Path

import house
import walk

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "hookwright"


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
    found = house.outside_writes(tmp_path)
    assert sorted(found) == ["a.py:5 other.set", "a.py:6 self.part.count", "a.py:8 other.each", "a.py:9 other.gone"]


def checkout(folder: Path, files: dict[str, str]) -> Path:
    package = folder / "src" / "sample"
    for name, text in {"__init__.py": "", **files}.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    return package


def test_a_package_is_found_whatever_its_name_is(tmp_path: Path) -> None:
    assert house.package_of(ROOT) == PACKAGE
    assert house.package_of(checkout(tmp_path, {}).parent.parent).name == "sample"


def test_names_with_two_meanings_are_counted_once_each(tmp_path: Path) -> None:
    package = checkout(
        tmp_path,
        {
            "a/reader.py": "class Reader: ...\nclass _Part: ...\nclass One: ...\n",
            "b/reader.py": "class Reader: ...\nclass _Part: ...\n",
        },
    )
    assert house.names(house.read(package)) == {
        "class names": 3,
        "class names with two meanings": 2,
        "… public": 1,
        "file names with two meanings": 1,
    }


def test_files_that_name_an_event_are_those_whose_code_does(tmp_path: Path) -> None:
    package = checkout(
        tmp_path,
        {
            "events.py": "class Event: ...\nclass _Tool(Event): ...\nclass PreToolUse(_Tool): ...\n"
            "class DirectoryAdded(Event): ...\n",
            "samples.py": "SAMPLES = {'PreToolUse': 1}\n",
            "agent/loop.py": "from sample.events import PreToolUse\n",
            "prose.py": "'''About PreToolUse.'''\nTEXT = 'PreToolUse comes first'\n",
        },
    )
    tree = house.read(package)
    assert house.event_names(tree) == ["PreToolUse", "DirectoryAdded"]
    found = house.events(tree, package)
    assert (found["… `PreToolUse`"], found["… `DirectoryAdded`"], found["… most"]) == (3, 1, 2)


def test_function_bodies_are_measured_without_docstrings(tmp_path: Path) -> None:
    package = checkout(tmp_path, {"a.py": "def f(a, b, c, d, e, g):\n    '''One.\n\n    Two.\n    '''\n    return 1\n"})
    found = house.functions(house.read(package))
    assert (found["function body, longest"], found["functions with more than five parameters"]) == (1, 1)


def test_prose_is_what_users_may_read_and_not_docstrings() -> None:
    module = ast.parse('"""Doc string."""\nx = f"{a} is no b"\ny = "two words"\nz = "one"\n')
    assert sorted(house.prose(module)) == ["two words", "… is no b"]


def test_the_package_keeps_its_figures() -> None:
    """Rooms of a readable size, functions that fit on a screen."""
    tree = house.read(PACKAGE)
    figures = house.sizes(tree, PACKAGE) | house.functions(tree) | house.events(tree, PACKAGE) | house.types(tree)
    assert figures["modules at the root"] <= 16
    assert figures["folders with more than 16 modules"] == 0
    assert figures["function body, longest"] <= 50
    assert figures["function body, p90"] <= 16
    assert figures["library files naming one event, written by hand, median"] == 2
    assert figures["uses of `Any`"] < 200


def test_the_agent_sets_attributes_of_no_other_object() -> None:
    writes = house.outside_writes(PACKAGE / "agent")
    assert len(writes) <= 10
    assert [line for line in writes if "assembly" in line] == []


def test_the_walk_of_a_denied_call_ends_with_the_text_the_model_reads(tmp_path: Path) -> None:
    calls, told = walk.walk("hookwright", tmp_path)
    assert told == f"PreToolUse:Bash hook error: [{walk.HOOK}]: rm -rf is not allowed"
    crossed = [call.module for call in calls if "handle the denied call" in call.stages]
    path = ["engine", "selection", "executors.command", "interpret", "spill", "aggregate", "visibility"]
    assert [module for module in dict.fromkeys(crossed) if module in path] == path
    assert len(set(crossed)) <= 49


def test_hardly_anything_in_the_agent_writes_to_attributes_of_other_objects() -> None:
    found = house.outside_writes(PACKAGE / "agent")
    assert len(found) <= 10, found
    assert not [write for write in found if write.startswith("assembly.py")]
