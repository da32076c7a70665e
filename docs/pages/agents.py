"""The tables of docs/agents.md: what holds in each agent, from the tables of dialects and the recordings."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

from pages.markdown import table

from hookwright.dialects.export.files import TARGETS
from hookwright.dialects.export.losses import general
from hookwright.dialects.model import Dialect, Evidence, FileScope, Moment
from hookwright.dialects.table import dialects

DOCS = Path(__file__).parent.parent
_BLOCK = re.compile(r"(?<=<!-- agents -->\n).*(?=\n<!-- end of agents -->)", re.DOTALL)
_RECORDINGS = DOCS.parent / "tests" / "dialects"
_MUST_STOP = 14


def agents() -> str:
    """Return docs/agents.md with its tables as they must be; the rest of the page is written by hand."""
    made = "\n\n".join([_overview(), _answers(), *(_section(each) for each in dialects())])
    text, found = _BLOCK.subn(lambda _: f"\n{made}\n", (DOCS / "agents.md").read_text())
    if found != 1:
        raise ValueError("docs/agents.md: put the tables between `<!-- agents -->` and `<!-- end of agents -->`")
    return text


def _overview() -> str:
    rows = [
        (
            f"[{each.title}](#{_anchor(each.title)})",
            each.version,
            each.proof.evidence.value,
            f"`export --to {each.name}`" if each.exported else "read only",
            "yes" if each.loads_claude else "no",
        )
        for each in dialects()
    ]
    heads = ("agent", "version", "evidence", "hooks run there with", "loads Claude Code's file by itself")
    return f"## Agents\n\n{table(heads, rows)}"


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _answers() -> str:
    """Write what each recorded agent does by itself with an answer, and that the bridge stops it."""
    known = [each for each in dialects() if each.proof.evidence is Evidence.RECORDED]
    columns = {each.name: _recorded(each) for each in known}
    labels = list(columns[known[0].name])
    rows = [(label, *(columns[each.name][label] for each in known)) for label in labels]
    stopped = [
        sum(cell in ("stopped", "ends the turn") for cell in list(column.values())[:_MUST_STOP])
        for column in columns.values()
    ]
    total = ("**stopped of the first 14**", *(f"**{count}**" for count in stopped))
    heads = ("answer of a PreToolUse hook", *(f"{each.title} {each.version}" for each in known))
    return "\n\n".join(
        [
            "## One hook, read by each agent itself",
            _prose(
                "After each of the first fourteen answers Hookwright does not run the call. The same hook, unchanged, "
                "was given to the released agents, each headless and in the mode without questions. **Ran** is a "
                "call that must not have run."
            ),
            table(heads, [*rows, total]),
            _prose(
                "Through `hookwright hook --from` all fourteen stop in every agent with an export, as that agent reads "
                "the answer: `tests/dialects/test_bridged.py` runs them on the real engine, `make dialects` on the "
                "installed agents."
            ),
        ]
    )


def _prose(text: str, later: str = "") -> str:
    return textwrap.fill(text, 118, subsequent_indent=later, break_long_words=False, break_on_hyphens=False)


_WORDS = {
    "runs": "**ran**",
    "refused": "stopped",
    "ends": "ends the turn",
    "hangs": "**hung**",
    "rewritten": "rewritten",
}


def _recorded(each: Dialect) -> dict[str, str]:
    lines = (_RECORDINGS / each.name / f"{each.version}.jsonl").read_text().splitlines()
    found = [entry for line in lines for entry in [json.loads(line)] if entry["kind"] == "answer"]
    return {entry["label"]: _WORDS[entry["native"]] for entry in found}


def _section(each: Dialect) -> str:
    exported = "Read only: there is no export." if not each.exported else _export(each)
    parts = [
        f"## {each.title}",
        _prose(f"Version {each.version}; {each.proof.evidence.value} ({each.proof.source}). {exported}"),
        table(("event", "Claude Code's event", "a refusal", "context", "evidence", "note"), map(_moment, each.moments)),
        table(
            ("tool", "Claude Code's tool", "keys with another name", "evidence", "note"),
            [
                (
                    f"`{tool.name}`",
                    f"`{tool.claude}`" if tool.claude else "none",
                    ", ".join(f"`{name}` → `{claude}`" for name, claude in tool.keys),
                    tool.proof.evidence.value,
                    tool.note,
                )
                for tool in each.tools
            ],
        ),
        table(("file", "whose", "note"), [(f"`{file.path}`", file.scope.value, file.note) for file in each.files]),
        "\n".join(_prose(f"- {line}", "  ") for line in _facts(each)),
    ]
    return "\n\n".join(parts)


def _export(each: Dialect) -> str:
    files = [path for (name, scope), path in TARGETS.items() if name == each.name and scope in tuple(FileScope)]
    return f"`hookwright export --to {each.name}` writes {' or '.join(f'`{path}`' for path in files)}."


def _moment(moment: Moment) -> tuple[str, ...]:
    return (
        f"`{moment.name}`",
        (f"`{moment.claude}`" if moment.exported else f"`{moment.claude}`, not exported") if moment.claude else "none",
        moment.refused_by[0].value if moment.refused_by else "none",
        "yes" if moment.context else "no",
        moment.proof.evidence.value,
        moment.note,
    )


def _facts(each: Dialect) -> list[str]:
    missing = [f"`{field.claude}`" for field in each.fields if not field.name]
    clock = each.clock
    limit = "no limit" if clock.default is None else f"{clock.default:g} s without a setting"
    facts = [
        f"Answers: {each.answers.note}.",
        f"A hook that fails: the agent {each.answers.on_failure.value}; at the time limit it "
        f"{each.answers.on_timeout.value}.",
        f"Time limits: in {clock.unit.value}; {limit}.",
        f"Matchers: {each.matching.rule.value}" + (f"; {each.matching.note}." if each.matching.note else "."),
        f"An unknown event name: the agent {each.unknown_event.value}.",
        f"Order: {each.order}.",
        f"Trust: {each.trust}.",
    ]
    facts += [f"Fields that are not sent: {', '.join(missing)}."] if missing else []
    facts += [f"In translation: {line}." for line in general(each)] if each.exported else []
    return [*facts, *(f"Trap: {trap}." for trap in each.traps)]
