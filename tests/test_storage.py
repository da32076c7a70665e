"""Files are changed in one step: all of it or nothing, with the rights that they had, by one program at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookwright.storage import locked, replace_file, stamp, strict_stamp


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_is_replaced_and_keeps_its_rights(durable: bool, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o751)
    before = path.stat().st_ino
    replace_file(str(path), b"new", durable=durable)
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o751
    assert path.stat().st_ino != before  # whoever has the old one open still reads all of it
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(("mask", "mode", "expected"), [(0o027, None, 0o640), (0o000, 0o600, 0o600)])
def test_a_new_file_has_the_rights_of_the_mask_or_those_that_were_asked_for(
    mask: int, mode: int | None, expected: int, tmp_path: Path
) -> None:
    before = os.umask(mask)
    try:
        replace_file(str(tmp_path / "file"), b"new", mode=mode)
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == expected


def test_what_cannot_be_replaced_stays_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_file(str(tmp_path / "folder"), b"new")
    assert os.listdir(tmp_path) == ["folder"]


def test_a_name_of_the_longest_kind_can_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 127)
    replace_file(str(path), b"new")
    assert path.read_bytes() == b"new"


COUNT = """
import sys
from hookwright.storage import locked, replace_file, stamp, strict_stamp

path = sys.argv[1] + "/count"
for _ in range(50):
    with locked(sys.argv[1]):
        with open(path) as file:
            number = int(file.read())
        replace_file(path, str(number + 1).encode())
"""


def test_programs_that_lock_a_folder_change_it_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("0")
    with locked(str(tmp_path)):
        programs = [subprocess.Popen([sys.executable, "-c", COUNT, tmp_path]) for _ in range(3)]
    assert [program.wait(60) for program in programs] == [0, 0, 0]
    assert (tmp_path / "count").read_text() == "150"


# ── whether a file changed ──────────────────────────────────────────────────


def test_a_stamp_changes_with_the_content_and_not_with_the_rights(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert stamp(str(path)) is None
    path.write_text("one")
    before = stamp(str(path))
    assert before is not None
    path.chmod(0o600)
    assert stamp(str(path)) == before
    path.write_text("longer")
    longer = stamp(str(path))
    assert longer != before
    replace_file(str(path), b"LONGER")
    assert stamp(str(path)) != longer


def test_a_strict_stamp_cannot_be_kept(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("one")
    strict, plain, facts = strict_stamp(str(path)), stamp(str(path)), path.stat()
    path.write_text("two")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert stamp(str(path)) == plain
    assert strict_stamp(str(path)) != strict


@pytest.mark.parametrize("name", ["nowhere", "a\0b", "x" * 5000])
def test_a_path_that_cannot_be_has_no_stamp(name: str, tmp_path: Path) -> None:
    assert stamp(str(tmp_path / name)) is None
    assert strict_stamp(str(tmp_path / name)) is None
