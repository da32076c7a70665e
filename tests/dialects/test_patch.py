"""No path of a patch is missed: each is read whole or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookwright.dialects.patch import Action, BrokenPatch, read_patch

A, U, D, M = Action.ADD, Action.UPDATE, Action.DELETE, Action.ARRIVE


def patch(*lines: str, end: str = "\n") -> str:
    return end.join(("*** Begin Patch", *lines, "*** End Patch"))


#: Patches and every path that they touch.
WHOLE: list[tuple[str, list[tuple[Action, str]]]] = [
    (patch("*** Add File: a.txt", "+x"), [(A, "a.txt")]),
    (patch("*** Add File: a.txt"), [(A, "a.txt")]),
    (patch("*** Add File: dir/with space/a b.txt", "+x"), [(A, "dir/with space/a b.txt")]),
    (patch("*** Add File: /etc/passwd", "+x"), [(A, "/etc/passwd")]),
    (patch("*** Add File: ../outside", "+x"), [(A, "../outside")]),
    (patch("*** Add File: ./a", "+x"), [(A, "./a")]),
    (patch("*** Add File: ünïcode/日本.txt", "+x"), [(A, "ünïcode/日本.txt")]),
    (patch("*** Add File: .env", "+KEY=1", "+KEY=2"), [(A, ".env")]),
    (patch("*** Delete File: .env"), [(D, ".env")]),
    (patch("*** Delete File: a", "*** Delete File: b"), [(D, "a"), (D, "b")]),
    (patch("*** Update File: a", "@@", "-x", "+y"), [(U, "a")]),
    (patch("*** Update File: a", "@@ def f():", "-x", "+y"), [(U, "a")]),
    (patch("*** Update File: a", " x", "-y", "+z"), [(U, "a")]),
    (patch("*** Update File: a", "@@", "-x", "+y", "@@", "-p", "+q"), [(U, "a")]),
    (patch("*** Update File: a", "@@ class A", "@@ def f", "-x", "+y"), [(U, "a")]),
    (patch("*** Update File: a", "@@", "-x", "+y", "*** End of File"), [(U, "a")]),
    (patch("*** Update File: a", "@@", " x", "", "-y", "+z"), [(U, "a")]),
    (patch("*** Update File: a", "*** Move to: b", "@@", "-x", "+y"), [(U, "a"), (M, "b")]),
    (patch("*** Update File: a", "*** Move to: b"), [(U, "a"), (M, "b")]),
    (
        patch("*** Update File: a", "*** Move to: .env", "@@", "-x", "+y", "*** Delete File: c"),
        [(U, "a"), (M, ".env"), (D, "c")],
    ),
    (patch("*** Update File: a", "  *** Move to: .env", "@@", "-x", "+y"), [(U, "a"), (M, ".env")]),
    (
        patch("*** Add File: a", "+x", "*** Update File: b", "@@", "-x", "+y", "*** Delete File: c"),
        [(A, "a"), (U, "b"), (D, "c")],
    ),
    (patch("*** Update File: b", "@@", "-x", "+y", "*** Add File: a", "+x"), [(U, "b"), (A, "a")]),
    (patch("*** Update File: b", "@@", "-x", "+y", "*** End of File", "*** Add File: a", "+x"), [(U, "b"), (A, "a")]),
    (patch("*** Add File: a", "+x", "", "*** Delete File: b"), [(A, "a"), (D, "b")]),
    (patch("*** Add File: a", "+x", " *** Delete File: .env"), [(A, "a"), (D, ".env")]),
    (patch("*** Delete File: a", "   *** Delete File: .env"), [(D, "a"), (D, ".env")]),
    (patch("*** Delete File: a", "\t*** Add File: .env", "+x"), [(D, "a"), (A, ".env")]),
    (patch("*** Add File: a  "), [(A, "a")]),
    (patch("*** Add File:   a", "+x"), [(A, "a")]),
    (patch("*** Add File: a", "+x", end="\r\n"), [(A, "a")]),
    (patch("*** Delete File: a", "*** Delete File: b", end="\r\n"), [(D, "a"), (D, "b")]),
    (patch("*** Update File: a", "*** Move to: b", "@@", "-x", "+y", end="\r\n"), [(U, "a"), (M, "b")]),
    (patch("*** Update File: a", "@@", " x\r", "-y\r", "+z\r"), [(U, "a")]),
    ("\n\n" + patch("*** Delete File: a") + "\n\n", [(D, "a")]),
    ("   *** Begin Patch\n*** Delete File: a\n   *** End Patch  ", [(D, "a")]),
    ("<<'EOF'\n" + patch("*** Delete File: a") + "\nEOF", [(D, "a")]),
    ("<<EOF\n" + patch("*** Delete File: a") + "\nEOF\n", [(D, "a")]),
    ('<<"EOF"\n' + patch("*** Delete File: a") + "\nEOF", [(D, "a")]),
    (patch("*** Add File: a", "+*** Delete File: b"), [(A, "a")]),
    (patch("*** Add File: a", "+*** End Patch", "+x"), [(A, "a")]),
    (patch("*** Add File: a", "+*** Begin Patch"), [(A, "a")]),
    (patch("*** Update File: a", "@@", "-*** Add File: b", "+*** Delete File: c"), [(U, "a")]),
    (patch("*** Add File: a", "++x", "+-y", "+ z", "+"), [(A, "a")]),
    (patch("*** Add File: -rf", "+x"), [(A, "-rf")]),
    (patch("*** Add File: a", "+x\u2028*** Delete File: b"), [(A, "a")]),
    (patch("*** Add File: a", "+x\x0b*** Delete File: b"), [(A, "a")]),
]

#: Texts that are not a patch, or that two readers could read differently.
BROKEN = [
    "",
    "   ",
    "ls -l",
    "*** Begin Patch",
    "*** End Patch",
    "*** Begin Patch\n*** End Patch",
    "*** Begin Patch\n\n\n*** End Patch",
    "*** Begin Patch\n*** Add File: a\n+x",
    "*** Add File: a\n+x\n*** End Patch",
    patch("*** Add File: "),
    patch("*** Add File:a", "+x"),
    patch("*** Add file: a", "+x"),
    patch("*** Create File: a", "+x"),
    patch("*** Rename File: a"),
    patch("+x"),
    patch("*** Add File: a", "x"),
    patch("*** Add File: a", "-x"),
    patch("*** Delete File: a", "-x"),
    patch("*** Update File: a", "*** Move to: ", "@@", "-x"),
    patch("*** Update File: a", "@@", "-x", "*** Move to: b"),
    patch("*** Delete File: a", "*** Move to: b"),
    patch("*** Update File: a", "@@", "-x", "+y", "garbage"),
    patch("*** Update File: a", "@@", " *** Add File: .env", "+x"),
    patch("*** Update File: a", "@@", "-x", " *** Delete File: .env"),
    patch("*** Update File: a", "@@", "-x", "   *** Move to: .env"),
    patch("*** Add File: a", "+x", "*** End Patch", "*** Begin Patch", "*** Delete File: .env"),
    patch("*** Add File: a\x00b", "+x"),
    patch("*** Add File: a\x1cb", "+x"),
    patch("*** Add File: a\x7f", "+x"),
    patch("*** Add File: a\u2028b", "+x"),
    patch("*** Environment ID: x", "*** Add File: a", "+x"),
    "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n",
    "apply_patch <<'EOF'\n" + patch("*** Delete File: a") + "\nEOF",
    "cd x && " + patch("*** Delete File: a"),
    "<<'EOF'\n" + patch("*** Delete File: a"),
    patch("*** Delete File: a") + "\nrm b",
]


def test_the_corpus_is_large_enough() -> None:
    assert len(WHOLE) + len(BROKEN) >= 80
    assert len({text for text, _ in WHOLE} | set(BROKEN)) == len(WHOLE) + len(BROKEN)


@pytest.mark.parametrize(("text", "paths"), [pytest.param(*case, id=str(at)) for at, case in enumerate(WHOLE)])
def test_every_path_of_a_patch_is_found(text: str, paths: list[tuple[Action, str]]) -> None:
    found = read_patch(text)
    assert not isinstance(found, BrokenPatch), found.reason
    assert [(touch.action, touch.path) for touch in found] == paths


def test_a_broken_patch_is_not_read_at_all() -> None:
    assert [text for text in BROKEN if not isinstance(read_patch(text), BrokenPatch)] == []


def test_the_texts_of_a_change_are_both_sides_of_it() -> None:
    found = read_patch(patch("*** Update File: a", "@@", " k", "-x", "+y", "@@ f", "-p", "*** Add File: b", "+1", "+2"))
    assert not isinstance(found, BrokenPatch)
    assert [(touch.old, touch.new) for touch in found] == [("k\nx\np\n", "k\ny\n"), ("", "1\n2\n")]


_line = st.one_of(
    st.sampled_from(["*** Begin Patch", "*** End Patch", "@@", "*** End of File", "", " ", "+x", "-x", " x", "EOF"]),
    st.sampled_from(["*** Add File: ", "*** Delete File: ", "*** Update File: ", "*** Move to: "]).flatmap(
        lambda head: st.sampled_from(["a", ".env", "/etc/x", "", "b c"]).map(lambda path: head + path)
    ),
    st.text(max_size=8),
)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["", " ", "\t", "+", "-", "@@ "]), _line), max_size=10))
def test_a_line_that_could_be_a_header_is_a_path_or_the_patch_is_broken(parts: list[tuple[str, str]]) -> None:
    lines = [mark + line for mark, line in parts]
    found = read_patch(patch(*lines))
    if isinstance(found, BrokenPatch):
        return
    paths = {touch.path for touch in found}
    for line in "\n".join(lines).split("\n"):
        for head in ("*** Add File: ", "*** Delete File: ", "*** Update File: ", "*** Move to: "):
            if line.strip().startswith(head):
                assert line.strip().removeprefix(head).strip() in paths
