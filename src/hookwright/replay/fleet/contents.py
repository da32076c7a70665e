"""Which files of this machine the hooks of a replay need."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from hookwright.config import Loaded, Places
from hookwright.config.load import FileStatus
from hookwright.config.scripts import TooManyFiles, module_names, what_runs
from hookwright.errors import ConfigError
from hookwright.projects.scratch import Mirror
from hookwright.replay.facts import facts_of
from hookwright.replay.fleet.bundle import Contents
from hookwright.replay.sides import ReplaySide
from hookwright.replay.work import ReplayPlan

#: Variables by which configuration is found; of the others, workers get those that hooks inherit.
_FINDING = (
    "HOME",
    "CLAUDE_CONFIG_DIR",
    "HOOKWRIGHT_MANAGED_SETTINGS",
    "HOOKWRIGHT_STATE_DIR",
    "HOOKWRIGHT_TRUST",
    "XDG_STATE_HOME",
    "LANG",
    "TZ",
)


#: A path from the home directory on, or an absolute one.
_PATHS = re.compile(
    r"(?:(?<![\w/])~|\$HOME|\$\{HOME\})(/[\w.@+-][\w.@+/-]*)|(?<![\w.~})/*-])(/[\w.@+-]+(?:/[\w.@+-]+)+)"
)
#: Code that works with the home directory and does not name the file.
_ASKS_FOR_HOME = re.compile(r"Path\.home\(|\bhomedir\(|environ(?:\.get)?[\[(]\s*['\"]HOME|env\.HOME\b")
_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib", "/dev/", "/proc/", "/sys/", "/tmp", "/run/")


def contents_of(places: Iterable[Places], further: Iterable[str] = ()) -> Contents:
    """Return what is sent for configurations, with further files.

    Law: the project, which is the whole repository around it, as git sees it, and with its `.git`; every enabled
    plugin; every settings file that was read; the decisions about trust; the files that hooks run. Of the home
    directory nothing else is sent: no credentials, no transcripts.
    """
    trees: dict[str, None] = {}
    paths: dict[str, None] = dict.fromkeys(further)
    for where in places:
        loaded = where.load()
        trees |= dict.fromkeys(_trees(loaded))
        paths |= dict.fromkeys(_paths(where, loaded))
    outer = tuple(tree for tree in trees if not any(_below(tree, other) for other in trees if other != tree))
    for tree in outer:
        paths |= dict.fromkeys(_files_of(tree))
    return Contents(outer, tuple(paths))


def _trees(loaded: Loaded) -> Iterator[str]:
    locations = loaded.locations
    root = locations.root or locations.project_dir
    home = os.path.realpath(locations.home)
    if _below(home, root) or root == home:
        raise ConfigError(
            f"{root} holds your home directory, which is not sent to workers. Start in the project's own folder."
        )
    yield root
    for item in loaded.plugins:
        yield os.path.realpath(item.plugin.root)


def _files_of(tree: str) -> Iterator[str]:
    for name in Mirror(tree).names():
        if os.path.lexists(path := os.path.join(tree, name)):
            yield path
    repository = os.path.join(tree, ".git")
    if os.path.isdir(repository):
        for folder, folders, names in os.walk(repository):
            yield folder
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            yield from (os.path.join(folder, name) for name in (*names, *links) if not name.endswith(".lock"))


def _paths(where: Places, loaded: Loaded) -> Iterator[str]:
    yield os.path.realpath(loaded.locations.home)
    yield from (file.path for file in loaded.files if file.path and file.status is not FileStatus.ABSENT)
    config = loaded.locations.config_dir
    named = (os.path.join(config, "plugins", "installed_plugins.json"), os.path.join(where.state_folder, "trust.json"))
    yield from (path for path in named if os.path.isfile(path))
    yield from (item.plugin.root for item in loaded.plugins)
    for entry in loaded.hooks:
        try:
            found = what_runs(entry.handler, loaded.gate.reach)
        except TooManyFiles:
            continue  # such a hook is not trusted, and does not run
        yield from filter(os.path.isfile, found.files)
        for folder, names in found.modules.items():
            for name in module_names(folder, None if names is None else set(names)):
                yield os.path.join(folder, name)


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def unsent_files(places: Iterable[Places], contents: Contents) -> dict[str, str]:
    """Return the handlers whose text names a file that is on this machine and not in a bundle, and that file.

    Law: a name is an absolute path, or one from the home directory on; programs and libraries of the system do not
    matter. Code that asks for the home directory without saying for which file names the directory itself.
    """
    found: dict[str, str] = {}
    for where in places:
        loaded = where.load()
        for entry in loaded.hooks:
            facts = facts_of(entry, loaded)
            home = loaded.locations.home
            missing = [path for path in _named_in(facts.text, home) if not _is_sent(path, contents)]
            if missing or _ASKS_FOR_HOME.search(facts.text):
                found[facts.id] = missing[0] if missing else home
    return found


def _named_in(text: str, home: str) -> Iterator[str]:
    for match in _PATHS.finditer(text):
        path = home + match[1] if match[1] else match[2]
        if os.path.exists(path) and (match[1] or not path.startswith(_SYSTEM)):
            yield os.path.normpath(path)


def _is_sent(path: str, contents: Contents) -> bool:
    """Return whether a file is in a bundle; of a folder, whether anything in it is."""
    if any(path == tree or _below(path, tree) for tree in contents.trees):
        return True
    folder = os.path.isdir(path)
    return any(path == sent or (folder and _below(sent, path)) for sent in contents.paths if os.path.isfile(sent))


def travelling(plan: ReplayPlan) -> ReplayPlan:
    """Return a plan as workers get it.

    Law: it has the variables by which configuration is found, those that hooks inherit, and no others: no variable with
    a secret leaves this machine. PATH is that of the worker.
    """
    return _with_sides(plan, lambda places: _named(places.env, (*_FINDING, *plan.env)), started_by=0)


def arrived(plan: ReplayPlan, path: str, shown: str) -> ReplayPlan:
    """Return a plan that has travelled as a worker with this PATH plays it, with the files below `shown`."""
    unsent = plan.unsent if shown else {}
    return _with_sides(plan, lambda places: {"PATH": path, **places.env}, shown=shown, unsent=unsent)


def _with_sides(plan: ReplayPlan, env: Callable[[Places], Mapping[str, str]], **fields: object) -> ReplayPlan:
    def changed(side: ReplaySide) -> ReplaySide:
        if side.places is None:
            return side
        around = side.places.surroundings
        places = msgspec.structs.replace(side.places, env=env(side.places), home=around.home, cwd=around.cwd)
        return msgspec.structs.replace(side, places=places)

    return msgspec.structs.replace(plan, baseline=changed(plan.baseline), candidate=changed(plan.candidate), **fields)


def _named(env: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    return {name: env[name] for name in names if name in env}
