"""How Hookwright itself calls git: with options that keep a repository's own configuration from starting programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

#: A repository may name programs in its configuration; a hostile one is unpacked with its `.git` folder.
_SAFE = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.editor=false",
    "core.sshCommand=false",
    "core.alternateRefsCommand=true",
    "credential.helper=",
    "protocol.ext.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
)
#: Prints the configuration with the scope of each entry, for `with_own_filters`.
LISTING = ("config", "--list", "--show-scope", "--includes", "-z")
#: Scopes of a configuration that a repository carries.
_OF_REPOSITORY = frozenset({"local", "worktree"})
#: Values with which a filter and a hook of a configuration run nothing, and a checkout does not fail for it.
_OFF = {
    "filter": {"clean": "", "smudge": "", "process": "", "required": "false"},
    "hook": {"command": "true", "enabled": "false"},
}


def git_command(folder: str, *arguments: str) -> list[str]:
    """Return the words of a git call in a folder.

    Law: no hook, file system monitor, pager, editor or helper of the repository is started, and a bare repository that
    is checked in as a folder is not used. A call that writes or compares files also needs `with_own_filters`.
    """
    options = [word for setting in _SAFE for word in ("-c", setting)]
    return ["git", *options, "--no-optional-locks", "-C", folder, *arguments]


def with_own_filters(listing: str, env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which git runs no filter and no hook that only the repository configures.

    Law: of every filter that the repository's own configuration mentions, only what the user's or the system's
    configuration says is run; where they say nothing, files are checked out as they are stored. Nothing is fetched:
    a repository may name the program that would do it.
    """
    found = {**env, "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
    number = int(env["GIT_CONFIG_COUNT"]) if env.get("GIT_CONFIG_COUNT", "").isdecimal() else 0
    for key, value in _overrides(list(_entries(listing))):  # as variables: a name may contain `=`
        found[f"GIT_CONFIG_KEY_{number}"], found[f"GIT_CONFIG_VALUE_{number}"] = key, value
        number += 1
    return {**found, "GIT_CONFIG_COUNT": str(number)}


def _entries(listing: str) -> Iterator[tuple[str, str, str]]:
    """Yield scope, key and value of each entry."""
    words = iter(listing.split("\0"))
    for scope, entry in zip(words, words, strict=False):
        key, _, value = entry.partition("\n")
        yield scope, key, value


def _overrides(entries: list[tuple[str, str, str]]) -> Iterator[tuple[str, str]]:
    """Yield each key of a filter or a hook that the repository sets, with the value it has without the repository.

    A key that neither sets stays unset: git does not run `smudge` where `process` is set, even to nothing.
    """
    own = {key: value for scope, key, value in entries if scope not in _OF_REPOSITORY}
    foreign = dict.fromkeys(key for scope, key, _ in entries if scope in _OF_REPOSITORY)
    for section in dict.fromkeys(key.rpartition(".")[0] for key in foreign):
        kind = section.partition(".")[0]
        for name, off in _OFF.get(kind, {}).items():
            key = f"{section}.{name}"
            if key in foreign or name in ("required", "enabled"):
                yield key, own.get(key, off)
