"""The trust state of a project's hooks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from hookwright.config import Changed, Loaded, Places, Trusted, TrustStore
from hookwright.config.locations import Surroundings
from hookwright.config.trust import TrustPolicy
from hookwright.errors import TrustError
from hookwright.lint.subject import CheckedHook


def _key(path: str, pointer: str, cwd: str) -> str:
    return f"{os.path.join(cwd, path)} {pointer}"


def _load(project: str, around: Surroundings) -> Loaded | None:
    """Load a project only for its trust; None when nothing in it was ever trusted."""
    store = TrustStore(os.path.join(around.state_dir, "trust.json"))
    try:
        known = store.decisions(os.path.realpath(project))
    except TrustError:
        return None
    if not known:
        return None
    places = Places(project=project, env=around.env, home=around.home, cwd=around.cwd, trust=TrustPolicy.STORED)
    return places.load()


def changed_since(projects: Iterable[str], around: Surroundings) -> dict[str, str]:
    """Return the handlers that changed since they were trusted: file and pointer -> what changed."""
    found: dict[str, str] = {}
    for project in projects:
        loaded = _load(project, around)
        for item, state in loaded.gate.items() if loaded is not None else ():
            if isinstance(state, Changed) and item.event:
                same = item.entry == state.previous.entry
                what = "Its script changed after it was trusted" if same else "Its entry changed after it was trusted"
                found[_key(item.source.path, item.source.pointer, around.cwd)] = what
    return found


def is_trusted(projects: Iterable[str], around: Surroundings) -> Callable[[CheckedHook], bool]:
    """Return the test for whether a hook may run: it is the user's own, or trusted in its present form."""
    accepted: set[str] = set()
    for project in projects:
        loaded = _load(project, around)
        for item, state in loaded.gate.items() if loaded is not None else ():
            if isinstance(state, Trusted):
                accepted.add(_key(item.source.path, item.source.pointer, around.cwd))

    def test(hook: CheckedHook) -> bool:
        if not hook.document.origin.from_project and hook.document.scope.value != "plugin":
            return True
        return _key(hook.document.path, hook.place().pointer, around.cwd) in accepted

    return test
