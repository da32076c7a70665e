"""What a project would run if it were trusted, and how that differs from what was trusted before."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from hookwright.config.frontmatter import agent_request, component_groups, read_frontmatter
from hookwright.config.items import ABSENT, DIRECTORY, Changed, Item, State, Trusted
from hookwright.config.load import Loaded
from hookwright.config.settings import UNTIL_TRUSTED
from hookwright.config.truststore import FileCopy, Record, TrustStore
from hookwright.protocol.diagnostics import Diagnostic
from hookwright.protocol.jsontext import Json
from hookwright.text import plural, short_path

#: Longer files are not compared line by line.
_MAX_DIFF = 1500


class Reviewed(msgspec.Struct, frozen=True):
    """One thing to trust and its state."""

    item: Item
    state: State

    @property
    def pending(self) -> bool:
        """Whether it has no effect until the user accepts it."""
        return not isinstance(self.state, Trusted)

    def diff(self) -> str:
        """What changed since it was trusted, or all of it if it is new; empty if it is trusted."""
        if not self.pending:
            return ""
        before = self.state.previous if isinstance(self.state, Changed) else Record("", "", "")
        old = {file.path: file for file in before.files}
        new = {file.path: file for file in self.item.files}
        shown = (shown_entry(before.entry), shown_entry(self.item.entry))
        forms = shown if shown[0] != shown[1] else (before.entry, self.item.entry)
        parts = list(_lines("entry", *forms))
        for path in sorted(old.keys() | new.keys()):
            parts += _lines(path, _text(old.get(path)), _text(new.get(path)))
        return "\n".join(parts)

    def whole(self) -> Iterator[tuple[str, str | None]]:
        """The entry and every existing file with its text; None for one that is too large or not text."""
        yield "entry", shown_entry(self.item.entry)
        yield from ((file.path, file.text) for file in self.item.files if file.digest not in (ABSENT, DIRECTORY))


class Review(msgspec.Struct, frozen=True):
    """The items of a project, settings first, and what was trusted and no longer exists."""

    project: str
    items: tuple[Reviewed, ...]
    removed: tuple[Record, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    #: What else the project brings, which only adds text for the model: its skills, agents and commands.
    texts: tuple[str, ...] = ()

    @property
    def ordinary(self) -> tuple[Reviewed, ...]:
        """The pending items that a yes to everything includes; each other one needs its own yes."""
        return tuple(item for item in self.pending if not item.item.caution)

    @property
    def pending(self) -> tuple[Reviewed, ...]:
        """The items that have no effect until the user accepts them."""
        return tuple(item for item in self.items if item.pending)


def review(loaded: Loaded, cwd: str = "") -> Review:
    """Return everything the project supplies, skills and agents included, for the user to accept."""
    reports: list[Diagnostic] = []
    brought: dict[str, int] = {}
    for file in loaded.components():
        if file.from_project:
            head = read_frontmatter(file.path)
            found = component_groups(file, short_path(file.path, cwd or os.getcwd()), head)
            loaded.gate.admit(found.groups)
            if (request := agent_request(file, head)) is not None:
                loaded.gate.add(request)
            reports += found.diagnostics
            brought[file.kind] = brought.get(file.kind, 0) + 1
    items = tuple(Reviewed(item, state) for item, state in loaded.gate.items())
    texts = tuple(f"{count} {kind}" + ("s" if count > 1 else "") for kind, count in brought.items())
    return Review(loaded.project_dir, items, tuple(loaded.gate.removed()), tuple(reports), texts)


def accept(store: TrustStore, project: str, chosen: Iterable[Reviewed]) -> None:
    """Trust the chosen items as they were shown; their files are checked again before they run."""
    by_project: dict[str, list[Reviewed]] = {}
    for item in chosen:
        by_project.setdefault(item.item.project or project, []).append(item)
    for place, items in by_project.items():
        superseded = [item.state.previous.digest for item in items if isinstance(item.state, Changed)]
        store.record(place, [item.item.record for item in items], superseded)


def waits_for_review(diagnostic: Diagnostic) -> bool:
    """Return whether a diagnostic is about a hook or a settings key that is only off until the user trusts it."""
    return diagnostic.code == "untrusted" or UNTIL_TRUSTED in diagnostic.message


def review_line(waiting: Sequence[Diagnostic]) -> str:
    """Write how many hooks and settings keys wait for the user's review, and what to type."""
    hooks = sum(diagnostic.code == "untrusted" for diagnostic in waiting)
    pairs = ((hooks, "hook"), (len(waiting) - hooks, "setting"))
    what = " and ".join(plural(count, word) for count, word in pairs if count)
    are, them = ("is", "it") if len(waiting) == 1 else ("are", "them")
    return f"{what} of this project {are} off until you review {them}: hookwright trust"


#: Defaults of a handler's fields, which a settings file does not write.
_DEFAULTS: tuple[Json, ...] = (None, False, "continue", [], {})
#: Fields of the normal form that a settings file writes under another name.
_KEYS = {
    "kind": "type",
    "condition": "if",
    "status_message": "statusMessage",
    "is_async": "async",
    "async_rewake": "asyncRewake",
    "allowed_env_vars": "allowedEnvVars",
    "continue_on_block": "continueOnBlock",
    "on_failure": "onFailure",
}


def shown_entry(entry: str) -> str:
    """Write the normal form of an entry as its settings file would: its own names, no defaults, no source."""
    if not entry:
        return ""
    value = msgspec.json.decode(entry)
    if not isinstance(value, dict):
        return entry
    if "from" not in value:
        return _pretty(_by_file(value))
    kept = {_KEYS.get(key, key): one for key, one in value.items() if key not in _AROUND and one not in _DEFAULTS}
    if isinstance(limit := kept.get("timeout"), float) and limit.is_integer():
        kept["timeout"] = int(limit)
    handler = {"type": kept.pop("type", None), **kept}
    group = "" if value.get("matcher") is None else f'"matcher": {_written(value["matcher"])}, '
    return f'{_written(value.get("event"))}: [{{{group}"hooks": [{_pretty(handler)}]}}]'


#: Fields of the normal form that are not written inside of the handler.
_AROUND = ("from", "event", "matcher")
_FILES = {"project": ".claude/settings.json", "local": ".claude/settings.local.json"}


def _by_file(value: dict[str, Json]) -> Json:
    """Return settings keys as their file declares them; where two files do, with the name of each."""
    if value.keys() == {"env"}:
        return {"env": _by_file(value["env"])}
    if not value.keys() <= _FILES.keys():
        return value
    return next(iter(value.values())) if len(value) == 1 else {_FILES[scope]: keys for scope, keys in value.items()}


def _pretty(value: Json) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()


def _written(value: Json) -> str:
    return msgspec.json.encode(value).decode()


def _text(file: FileCopy | None) -> str:
    if file is None or file.digest == ABSENT:
        return ""
    return file.text if file.text is not None else f"({file.digest[:16]}…, {file.real})\n"


def _lines(name: str, old: str, new: str) -> Iterator[str]:
    if old == new:
        return
    if old and max(old.count("\n"), new.count("\n")) > _MAX_DIFF:
        # A comparison takes time with the square of the lines; a long file is shown as it is now.
        yield from (f"--- {name} (trusted)", f"+++ {name} (now)", *(f"+{line}" for line in new.splitlines()))
        return
    import difflib  # only a review shows what changed

    yield from difflib.unified_diff(
        old.splitlines(), new.splitlines(), f"{name} (trusted)", f"{name} (now)", lineterm=""
    )
