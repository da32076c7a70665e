"""How Hookwright itself calls git: with options that keep a repository's own configuration from starting programs."""

from __future__ import annotations

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
)


def git_command(folder: str, *arguments: str) -> list[str]:
    """Return the words of a git call in a folder.

    Law: no hook, file system monitor, pager, editor or helper of the repository is started, and a bare repository that
    is checked in as a folder is not used. Filters of a checkout are git's own business and still run.
    """
    options = [word for setting in _SAFE for word in ("-c", setting)]
    return ["git", *options, "--no-optional-locks", "-C", folder, *arguments]
