"""The tables of docs/agents.md: what holds in each agent, from the tables of dialects and the recordings."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pages.markdown import page, table

from hookwright.dialects.export.files import TARGETS
from hookwright.dialects.export.losses import general
from hookwright.dialects.model import Dialect, Evidence, FileScope, Moment, Proof, UnknownEvent
from hookwright.dialects.table import dialects

DOCS = Path(__file__).parent.parent
_BLOCK = re.compile(r"(?<=<!-- agents -->\n).*(?=\n<!-- end of agents -->)", re.DOTALL)
_RECORDINGS = DOCS.parent / "tests" / "dialects"
_MUST_STOP = 14


def agents() -> str:
    """Return docs/agents.md with its tables as they must be; the rest of the page is written by hand."""
    made = "\n\n".join([_overview(), _answers()])
    text, found = _BLOCK.subn(lambda _: f"\n{made}\n", (DOCS / "agents.md").read_text())
    if found != 1:
        raise ValueError("docs/agents.md: put the tables between `<!-- agents -->` and `<!-- end of agents -->`")
    return text


def agent_pages() -> dict[str, Callable[[], str]]:
    """Return the page of each agent by its place below docs."""
    return {f"agents/{each.name}.md": partial(_page, each) for each in dialects()}


def _overview() -> str:
    rows = [
        (
            f"[{each.title}](agents/{each.name}.md)",
            each.version,
            each.proof.evidence.value,
            f"`export --to {each.name}`" if each.exported else "read only",
            " and ".join(f"`{file.path}`" for file in each.loads_claude) or "no",
        )
        for each in dialects()
    ]
    heads = ("agent", "version", "evidence", "hooks run there with", "loads Claude Code's files by itself")
    return f"## Agents\n\n{table(heads, rows)}"


def _answers() -> str:
    """Write what each recorded agent does by itself with an answer, and through the bridge."""
    known = [each for each in dialects() if each.proof.evidence is Evidence.RECORDED]
    columns = {each.name: _recorded(each) for each in known}
    labels = list(columns[known[0].name])
    rows = [(label, *(columns[each.name][label] for each in known)) for label in labels]
    heads = ("answer of a PreToolUse hook", *(f"{each.title} {each.version}" for each in known))
    return "\n\n".join(
        [
            "## One hook in each agent: by itself, and through the bridge",
            _prose(
                "After each of the first fourteen answers Hookwright does not run the call. The same hook, unchanged, "
                "was given to the released agents, each headless and in the mode without questions: first in the "
                "agent's own files, then in Claude Code's file behind an export. **Ran** is a call that ran; the word "
                "after the arrow is the bridge. opencode has no such hooks: its own plugins are programs in "
                "JavaScript, and Claude Code's files are not read. The last line is a guard of one file, declared for "
                "`Write|Edit`, that reads `tool_input.file_path`."
            ),
            table(heads, [*rows[:_MUST_STOP], _stopped(known), *rows[_MUST_STOP:]]),
            _prose(
                "These cells are recordings of the agents themselves: `make dialects` runs every one again on the "
                "installed versions and fails if a call that must stop runs through the bridge. `make test` holds the "
                "tables to the recordings and runs the fourteen answers on the real engine."
            ),
        ]
    )


def _stopped(known: Sequence[Dialect]) -> tuple[str, ...]:
    cells = []
    for each in known:
        lines = _lines(each, "answer")[:_MUST_STOP]
        alone, through = (sum(line[cell] in ("refused", "ends") for line in lines) for cell in ("native", "bridged"))
        cells.append(f"**{alone} → {through}**")
    return ("**stopped of these 14**", *cells)


def _prose(text: str, later: str = "") -> str:
    return textwrap.fill(text, 118, subsequent_indent=later, break_long_words=False, break_on_hyphens=False)


_WORDS = {
    "runs": "**ran**",
    "refused": "stopped",
    "ends": "ended the turn",
    "hangs": "**hung**",
    "rewritten": "rewritten",
    "unread": "**not read**",
    "runs, the hook did not fire": "**ran**, did not fire",
}


def _lines(each: Dialect, kind: str) -> list[dict[str, Any]]:
    lines = (_RECORDINGS / each.name / f"{each.version}.jsonl").read_text().splitlines()
    return [entry for line in lines for entry in [json.loads(line)] if entry["kind"] == kind]


def _recorded(each: Dialect) -> dict[str, str]:
    lines = [*_lines(each, "answer"), *_lines(each, "guard")]
    return {
        line.get("label", "a guard of a file"): f"{_WORDS[line['native']]} → {_WORDS[line['bridged']]}"
        for line in lines
    }


def _page(each: Dialect) -> str:
    exported = "Read only: there is no export." if not each.exported else _export(each)
    parts = [
        _prose(
            f"Version {each.version}; {each.proof.evidence.value} ({each.proof.source}). {exported} "
            "[All agents and the rules](../agents.md)."
        ),
        "## What holds and what does not",
        "\n".join(_prose(f"- {line}", "  ") for line in _facts(each)),
        "## Events",
        table(("event", "Claude Code's event", "a refusal", "context", "evidence", "note"), map(_moment, each.moments)),
        "## Tools",
        table(
            ("tool", "Claude Code's tool", "keys with another name", "evidence", "note"),
            [
                (
                    f"`{tool.name}`",
                    f"`{tool.claude}`" if tool.claude else "none",
                    ", ".join(f"`{name}` → `{claude}`" for name, claude in tool.keys),
                    _evidence(tool.proof),
                    tool.note,
                )
                for tool in each.tools
            ],
        ),
        "## Fields of a payload",
        table(
            ("Claude Code's field", "here", "evidence", "note"),
            [
                (
                    f"`{field.claude}`",
                    f"`{field.name}`" if field.name else "not sent",
                    _evidence(field.proof),
                    field.note,
                )
                for field in each.fields
            ],
        ),
        "## Files",
        table(
            ("file", "whose", "evidence", "note"),
            [(f"`{file.path}`", file.scope.value, _evidence(file.proof), file.note) for file in each.files],
        ),
    ]
    return page(each.title, *parts)


def _evidence(proof: Proof) -> str:
    return f"{proof.evidence.value}, {proof.versions}"


def _export(each: Dialect) -> str:
    files = [path for (name, scope), path in TARGETS.items() if name == each.name and scope in tuple(FileScope)]
    return f"`hookwright export --to {each.name}` writes {' or '.join(f'`{path}`' for path in files)}."


def _moment(moment: Moment) -> tuple[str, ...]:
    return (
        f"`{moment.name}`",
        (f"`{moment.claude}`" if moment.exported else f"`{moment.claude}`, not exported") if moment.claude else "none",
        moment.refused_by[0].value if moment.refused_by else "none",
        "yes" if moment.context else "no",
        _evidence(moment.proof),
        moment.note,
    )


def _facts(each: Dialect) -> list[str]:
    clock, answers, matching = each.clock, each.answers, each.matching
    limit = "none" if clock.default is None else f"in {clock.unit.value}; {clock.default:g} s without a setting"
    unknown = "what happens is not known" if each.unknown_event is UnknownEvent.UNSEEN else each.unknown_event.value
    facts = [
        f"Answers ({_evidence(answers.proof)}): {answers.note}.",
        f"A hook that fails: the agent {answers.on_failure.value}; at the time limit it {answers.on_timeout.value}.",
        f"Time limits ({_evidence(clock.proof)}): {limit}.",
        f"Matchers ({_evidence(matching.proof)}): {'; '.join(filter(None, (matching.rule.value, matching.note)))}.",
        f"An unknown event name: {unknown}.",
        f"Order: {each.order}.",
        f"Trust: {each.trust}.",
    ]
    facts += [f"In translation: {line}." for line in general(each)] if each.exported else []
    return [*facts, *(f"Trap: {trap}." for trap in each.traps)]
