"""Reading git commands: which of them need no rule, in which repository.

Law: git runs programs that a repository's own configuration names (`core.fsmonitor`, `diff.external`, filters,
`textconv`, hooks). A reading git command needs no question only if the repository that git would find is an ordinary
one, every key of its configuration is known to start nothing, and each option is in a table. A bare repository that
a folder of the project happens to be is never used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from hookwright.agent.permissions.options import CommandLine, CommandOptions, options, split, with_numbers

_DIFF_NAMES = (
    "name-only name-status stat shortstat numstat dirstat summary patch no-patch raw minimal patience histogram cached"
    " staged merge-base word-diff color-words color no-color ignore-space-change ignore-all-space ignore-blank-lines"
    " ignore-space-at-eol no-renames find-renames find-copies exit-code quiet check full-index binary no-ext-diff"
    " no-textconv no-prefix function-context compact-summary text patch-with-stat abbrev unified"
)
_DIFF_VALUES = "stat unified word-diff diff-filter color abbrev diff-algorithm inter-hunk-context ignore-submodules"
_LOG_NAMES = (
    "oneline graph decorate no-decorate all branches tags remotes merges no-merges first-parent reverse follow"
    " abbrev-commit no-abbrev-commit full-history date-order topo-order author-date-order walk-reflogs left-right"
    " cherry-pick boundary relative-date parents children source regexp-ignore-case fixed-strings all-match"
)
_LOG_VALUES = (
    "max-count skip since after until before author committer grep format pretty date decorate branches tags remotes"
)
_DIFF = options("abBcCDMpRsuwWz", "GSU", _DIFF_NAMES, _DIFF_VALUES)
_LOG = with_numbers(
    options("abBcCDEFgiMmPpRstuwWz", "GLnSU", f"{_DIFF_NAMES} {_LOG_NAMES}", f"{_DIFF_VALUES} {_LOG_VALUES}")
)
_READING: dict[str, CommandOptions] = {
    "blame": options("bcCeflLMnpstw", "L", "porcelain line-porcelain show-name show-number show-email date", "date"),
    "branch": options("arv", "", "all remotes verbose show-current list no-color no-column", ""),
    "describe": options("", "", "all tags always long contains exact-match first-parent", "abbrev match exclude dirty"),
    "diff": _DIFF,
    "log": _LOG,
    "ls-files": options(
        "cdikmostuvz",
        "x",
        "cached deleted modified others ignored stage unmerged exclude-standard full-name",
        "exclude",
    ),
    "remote": options("v", "", "verbose"),
    "rev-parse": options(
        "q",
        "",
        "abbrev-ref verify short show-toplevel git-dir is-inside-work-tree symbolic-full-name is-bare-repository quiet"
        " show-prefix show-cdup all branches tags remotes",
        "short abbrev-ref",
    ),
    "shortlog": options("acens", "", f"numbered summary email {_LOG_NAMES}", _LOG_VALUES),
    "show": _LOG,
    "status": options(
        "bsuvz",
        "",
        "short branch show-stash porcelain long verbose untracked-files ignored no-renames ahead-behind",
        "porcelain untracked-files ignored ignore-submodules",
    ),
}
_WITHOUT_OPERANDS = frozenset(["branch", "remote"])
_LOOK_INTO_SUBMODULES = frozenset(["diff", "status"])
_SIGNATURES = re.compile(r"%G")

_SECTION = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)\s*(?:"(?:[^"\\]|\\.)*")?\s*\]\s*(?:[#;].*)?')
_KEY = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=(.*))?")
_SAFE = {
    "advice": None,
    "branch": {"remote", "merge", "rebase", "pushremote", "description", "vscode-merge-base", "gh-merge-base"},
    "color": None,
    "commit": {"gpgsign", "verbose"},
    "core": {
        *(
            "abbrev",
            "autocrlf",
            "bare",
            "bigfilethreshold",
            "checkstat",
            "commitgraph",
            "compression",
            "eol",
            "filemode",
        ),
        *("ignorecase", "logallrefupdates", "longpaths", "precomposeunicode", "preloadindex", "protecthfs"),
        *(
            "protectntfs",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "symlinks",
            "trustctime",
            "untrackedcache",
        ),
    },
    "extensions": {"objectformat", "worktreeconfig"},
    "fetch": {"prune", "prunetags", "parallel", "writecommitgraph"},
    "gc": {"auto", "autodetach"},
    "index": {"version", "threads"},
    "init": {"defaultbranch"},
    "lfs": {"repositoryformatversion"},
    "maintenance": {"auto", "strategy"},
    "merge": {"conflictstyle", "ff"},
    "pull": {"ff", "rebase"},
    "push": {"default", "followtags", "autosetupremote"},
    "rebase": {"autosquash", "autostash", "updaterefs"},
    "receive": {"denycurrentbranch"},
    "remote": {"url", "pushurl", "fetch", "push", "tagopt", "prune", "mirror", "gh-resolved", "pushdefault"},
    "submodule": {"active", "url"},
    "user": {"name", "email", "signingkey"},
}
_MOST_BYTES = 50_000_000
_GITLINK = b"\x00\x00\xe0\x00"


class _Repository(msgspec.Struct, frozen=True):
    """The folder of a repository, and the one that its work trees share."""

    folder: Path
    common: Path


def reading_git(words: Sequence[str], cwd: str) -> CommandLine | None:
    """Return the operands of a git command that only reads; None if it may do more."""
    rest = list(words[1:] if words[:1] == ["--no-pager"] else words)
    known = _READING.get(rest[0]) if rest else None
    line = split(rest[1:], known) if known is not None else None
    if line is None or (rest[0] in _WITHOUT_OPERANDS and line.operands):
        return None
    if any(map(_SIGNATURES.search, rest)):
        return None
    return line if _is_harmless(cwd, rest[0]) else None


def _is_harmless(cwd: str, action: str) -> bool:
    try:
        found = _discovered(Path(os.path.realpath(cwd)))
        return found is None or (_starts_nothing(found) and not (action in _LOOK_INTO_SUBMODULES and _nests(found)))
    except (OSError, ValueError):
        return False


def _discovered(cwd: Path) -> _Repository | None:
    """Return the repository that git would use; None if there is none. ValueError if it is not an ordinary one."""
    for folder in (cwd, *cwd.parents):
        inside = folder / ".git"
        if inside.is_file():
            return _elsewhere(inside)
        if _is_repository(inside):
            return _Repository(inside, inside)
        if _is_repository(folder):
            raise ValueError(f"{folder} is a bare repository")
    return None


def _elsewhere(pointer: Path) -> _Repository:
    """Return the repository of a work tree, if it names that work tree in its turn."""
    target = pointer.read_text()[:4096].removeprefix("gitdir:").strip()
    folder = (pointer.parent / target).resolve()
    back = (folder / "gitdir").read_text()[:4096].strip()
    if (folder / back).resolve() != pointer.resolve():
        raise ValueError(f"{pointer} names a repository that is not its own")
    common = (folder / (folder / "commondir").read_text()[:4096].strip()).resolve()
    return _Repository(folder, common)


def _is_repository(folder: Path) -> bool:
    head = folder / "HEAD"
    return os.path.lexists(head) and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _starts_nothing(found: _Repository) -> bool:
    if (found.folder / "commondir").exists() and found.folder == found.common:
        return False
    configs = (found.common / "config", found.common / "config.worktree", found.folder / "config.worktree")
    if any(path.exists() and not all(_settings_are_safe(path)) for path in configs):
        return False
    return not any(os.path.lexists(folder / "hooks" / "post-index-change") for folder in (found.folder, found.common))


def _settings_are_safe(config: Path) -> Iterator[bool]:
    """Yield for each line of a configuration whether it is known to start nothing."""
    section = ""
    for line in config.read_text()[: _MOST_BYTES // 1000].splitlines():
        text = line.strip()
        if not text or text.startswith(("#", ";")):
            continue
        if header := _SECTION.fullmatch(line):
            section = header[1].lower()
        elif key := _KEY.fullmatch(line):
            yield _is_safe(section, key[1].lower(), (key[2] or "").strip())
        else:
            yield False


def _is_safe(section: str, key: str, value: str) -> bool:
    if section not in _SAFE or value.endswith("\\"):
        return False
    if (section, key) == ("core", "bare"):
        return value.lower() == "false"
    keys = _SAFE[section]
    return keys is None or key in keys


def _nests(found: _Repository) -> bool:
    """Return whether the index names a repository inside this one, whose own configuration git would read."""
    for index in (found.folder / "index", *found.folder.glob("sharedindex.*")):
        if index.exists() and (index.stat().st_size > _MOST_BYTES or _GITLINK in index.read_bytes()):
            return True
    return False
