"""What the text of a hook shows: programs it starts, not words it looks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookwright.replay.facts import PastFacts, facts_of
from support import script
from worlds import World, hook


def facts(root: Path, command: str) -> PastFacts:
    world = World(root)
    world.write("user", hook(command))
    loaded = world.load()
    (entry,) = loaded.hooks
    return facts_of(entry, loaded)


@pytest.mark.parametrize(
    ("command", "clock", "network"),
    [
        ("grep -qE 'curl|git push|date' && exit 2", False, False),
        ('case "$c" in *curl*|*"git push"*) exit 2 ;; esac', False, False),
        ('[ "$(date +%u)" = 5 ] && exit 2', True, False),
        ("x=`curl -s http://localhost/` || exit 2", False, True),
        ("if /usr/bin/curl -s http://localhost/; then exit 2; fi", False, True),
        ("LANG=C git -C . fetch origin", False, True),
        ("git diff --quiet || exit 2", False, False),
    ],
)
def test_a_shell_hook_uses_what_it_starts(tmp_path: Path, command: str, clock: bool, network: bool) -> None:
    found = facts(tmp_path, command)
    assert (found.clock, found.network) == (clock, network)


def test_scripts_are_read_in_their_own_language(tmp_path: Path) -> None:
    code = '#!/usr/bin/env python3\nimport datetime, re\nBAD = re.compile("curl|requests|socket")\n'
    path = script(tmp_path / "guard.py", code + "if datetime.datetime.now().hour > 20: raise SystemExit(2)\n")
    found = facts(tmp_path / "one", f"python3 {path}")
    assert (found.clock, found.network, found.decides) == (True, False, True)


def test_the_id_changes_with_the_script_and_with_shadow_mode(tmp_path: Path) -> None:
    path = script(tmp_path / "guard.sh", "#!/bin/sh\nexit 0\n")
    world = World(tmp_path)

    def id_of(**more: str) -> str:
        world.write("user", hook(str(path), **more))
        loaded = world.load()
        return facts_of(next(iter(loaded.hooks)), loaded).id

    first = id_of()
    assert first == id_of()
    assert first != id_of(mode="shadow")
    script(path, "#!/bin/sh\nexit 2\n")
    assert first != id_of()
