"""The options of programs that need no rule: which words are options, which are their values, which are operands.

Law: every option is in the table of its program, or the command is not understood. No option in these tables runs a
program, writes a file, follows links or takes a path as its value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

_NUMBER = re.compile(r"-[0-9]+")


class CommandOptions(msgspec.Struct, frozen=True):
    """The options that a program may have: letters and long names, without and with a value."""

    flags: str = ""
    valued: str = ""
    names: frozenset[str] = frozenset()
    named_values: frozenset[str] = frozenset()
    #: Whether `-5` is an option.
    numbers: bool = False


class CommandLine(msgspec.Struct, frozen=True):
    """The words of a command: the options that were given, and the operands."""

    given: frozenset[str]
    operands: tuple[str, ...]


def options(flags: str = "", valued: str = "", names: str = "", named_values: str = "") -> CommandOptions:
    """Describe the options of a program."""
    return CommandOptions(flags, valued, frozenset(names.split()), frozenset(named_values.split()))


def with_numbers(known: CommandOptions) -> CommandOptions:
    """Add options such as `-5`."""
    return msgspec.structs.replace(known, numbers=True)


def split(words: Sequence[str], known: CommandOptions) -> CommandLine | None:
    """Split the words after a program's name; None if an option is not in the table."""
    given: set[str] = set()
    operands: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            operands += words[at:]
            break
        if not word.startswith("-") or word == "-":
            operands.append(word)
        elif known.numbers and _NUMBER.fullmatch(word):
            given.add(word)
        else:
            names, takes_next = _option(word, known)
            if not names or at + takes_next > len(words):
                return None
            given |= names
            at += takes_next
    return CommandLine(frozenset(given), tuple(operands))


def _option(word: str, known: CommandOptions) -> tuple[set[str], int]:
    """Return the options in one word, none if one is not known; and how many of the next words are its value."""
    if word.startswith("--"):
        name, equals, _ = word[2:].partition("=")
        if name in known.named_values:
            return {name}, 0 if equals or name in known.names else 1
        return ({name} if name in known.names and not equals else set()), 0
    found: set[str] = set()
    for place, letter in enumerate(word[1:], start=2):
        if letter in known.valued:
            return found | {letter}, int(place == len(word))
        if letter not in known.flags:
            return set(), 0
        found.add(letter)
    return found, 0


_CONTEXT = "context after-context before-context max-count color colour"

#: Programs whose operands are paths that they read.
READ_PATHS = {
    "cat": options("AbEeEnsTtuv", "", "number number-nonblank show-all show-ends show-tabs squeeze-blank"),
    "cmp": options("bls", "n", "print-bytes verbose quiet silent", "bytes"),
    "diff": options(
        "abBcdeEinNpqstTuwyZ",
        "CUWxI",
        "unified context brief side-by-side ignore-case ignore-all-space ignore-space-change ignore-blank-lines text"
        " new-file color report-identical-files minimal suppress-common-lines",
        "unified context color width exclude ignore-matching-lines",
    ),
    "du": options(
        "0abchkmsSx", "dt", "all total human-readable summarize bytes apparent-size", "max-depth exclude threshold"
    ),
    "file": options("bi", "", "brief mime mime-type mime-encoding"),
    "head": with_numbers(options("qvz", "cn", "quiet verbose silent", "lines bytes")),
    "ls": options(
        "1aABbCcdFgGhiklmnNopqQrRsStuUvxXZ",
        "Iw",
        "all almost-all human-readable recursive reverse size inode directory classify color full-time author"
        " group-directories-first numeric-uid-gid no-group",
        "color sort time time-style format ignore hide",
    ),
    "md5sum": options("bt"),
    "realpath": options("emqsz", "", "canonicalize-existing canonicalize-missing quiet strip no-symlinks"),
    "sha1sum": options("bt"),
    "sha256sum": options("bt"),
    "sort": options(
        "bdfgiMhnRrVcCmsuz",
        "kt",
        "unique reverse numeric-sort human-numeric-sort version-sort ignore-case stable check general-numeric-sort",
        "key field-separator",
    ),
    "stat": options("ft", "c", "file-system terse", "format printf"),
    "tac": options("br", "s"),
    "tail": with_numbers(options("fFqvz", "cn", "quiet verbose silent follow retry", "lines bytes")),
    "tree": options("adDfFghipsu", "LIP", "dirsfirst noreport gitignore prune"),
    "wc": options("clLmw", "", "bytes chars lines words max-line-length"),
}

#: Programs whose first operand is a pattern, unless one is given by an option.
SEARCH = {
    "egrep": options("acFhHiIlLnoqsvwxbr", "eABCm"),
    "fgrep": options("achHiIlLnoqsvwxbr", "eABCm"),
    "grep": options(
        "abcEFGhHiIlLnoPqrsTUvwxyzZ",
        "eABCm",
        "ignore-case no-ignore-case line-number recursive count files-with-matches files-without-match word-regexp"
        " line-regexp extended-regexp fixed-strings perl-regexp only-matching invert-match quiet silent no-messages"
        " with-filename no-filename text color colour null byte-offset",
        f"{_CONTEXT} include exclude exclude-dir regexp",
    ),
    "rg": options(
        "0.acFhHiIlnNopPqsSuUvwx",
        "eABCgjmMtT",
        "hidden no-ignore no-ignore-vcs ignore-case smart-case case-sensitive line-number no-line-number count"
        " count-matches files files-with-matches files-without-match fixed-strings word-regexp line-regexp multiline"
        " only-matching invert-match quiet no-messages with-filename no-filename no-heading heading json pcre2 stats"
        " trim vimgrep column null text unrestricted pretty",
        f"{_CONTEXT} regexp glob iglob type type-not max-depth max-columns sort sortr threads",
    ),
}

#: Programs whose operands are texts, not paths.
TALK = {
    "basename": options("az", "s", "multiple", "suffix"),
    "cut": options("sz", "bcdf", "only-delimited complement", "bytes characters delimiter fields"),
    "dirname": options("z"),
    "id": options("agGnruz"),
    "nproc": options("", "", "all"),
    "pwd": options("LP"),
    "tr": options("cCdst", "", "complement delete squeeze-repeats truncate-set1"),
    "type": options("apPt"),
    "uname": options("aimnoprsv"),
    "uniq": options("cdDiuz", "fsw", "count repeated unique ignore-case", "skip-fields skip-chars check-chars"),
    "which": options("a", "", "all"),
    "whoami": options(),
}
#: Those of them that would read or write a file that is an operand.
NO_OPERANDS = frozenset(["cut", "nproc", "pwd", "uname", "uniq", "whoami"])

#: Programs that print their words, or nothing.
PRINT = frozenset([":", "echo", "false", "true"])

_FIND_TESTS = frozenset(
    """
    -a -and -daystart -depth -empty -executable -false -ls -mount -nogroup -noleaf -not -nouser -o -or -print
    -print0 -prune -quit -readable -true -writable -xdev ! ( ) ,
    """.split()  # noqa: SIM905 (a table)
)
_FIND_VALUES = frozenset(
    """
    -amin -atime -cmin -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname
    -maxdepth -mindepth -mmin -mtime -name -newermt -path -perm -printf -regex -regextype -size -type -uid -used
    -user -wholename
    """.split()  # noqa: SIM905 (a table)
)


def find_paths(words: Sequence[str]) -> list[str] | None:
    """Return the folders that `find` searches; None if it may do more, or a word is not in the table."""
    at = 0
    while at < len(words) and words[at] not in _FIND_TESTS and not words[at].startswith("-"):
        at += 1
    paths = list(words[:at]) or ["."]
    while at < len(words):
        if words[at] in _FIND_VALUES:
            at += 2
        elif words[at] in _FIND_TESTS:
            at += 1
        else:
            return None
    return paths


#: Programs that create, copy, move and remove the files that are their operands.
WORK = {
    "cp": options(
        "afinpPrRuvd", "", "archive force interactive no-clobber recursive update verbose preserve no-dereference"
    ),
    "mkdir": options("pv", "m", "parents verbose", "mode"),
    "mv": options("finuv", "", "force interactive no-clobber update verbose"),
    "rm": options("dfiIrRv", "", "force recursive verbose dir"),
    "rmdir": options("pv", "", "parents verbose ignore-fail-on-non-empty"),
    "touch": options("acm", "dt", "no-create", "date time"),
}
