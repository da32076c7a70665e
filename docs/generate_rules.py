"""Write docs/rules.md from the table of rules; with `--check` only tell whether it is out of date."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from hookwright.lint import FAMILIES, RULES, LintRule, Sample

PAGE = Path(__file__).parent / "rules.md"

HEAD = """# The rules of `hookwright check`

This page is made from the table that `hookwright check` itself uses: `python docs/generate_rules.py`.
Each rule has a bad sample that it catches, at the line marked with `←`, and a good one on which it is silent; both are
tests. `hookwright rules HK401` prints the same.

The messages say what Claude Code does; where Hookwright decides otherwise, they say both. Rules marked † are found, or
found better, with `hookwright check --run`, which fires samples at trusted hooks in a copy of the project.

## Suppressing a finding

In a script or in the head of a skill or agent, on the line of the finding or alone on the line above it:

```bash
exit 1  # hookwright: ignore HK401 -- the wrapper turns 1 into 2
```

JSON has no comments. For settings and plugins the entry stands in `.claude/hookwright.json` (in a plugin
`.claude-plugin/hookwright.json`), a file that Claude Code never reads:

```json
{
  "ignore": [
    {
      "id": "HK213",
      "path": ".claude/settings.json",
      "pointer": "hooks.PreToolUse[0]",
      "reason": "no PowerShell on our machines"
    }
  ]
}
```

`path` is relative to the project and may have `*`; `pointer` is optional and covers everything below it. A suppression
without a reason does not count and is itself a finding (HK001); one that suppresses nothing is a remark (HK002).
"""


def page() -> str:
    """Write the whole page."""
    return "\n".join(
        [HEAD, *_overview(), *(line for title, rules in FAMILIES.items() for line in _family(title, rules))]
    )


def _overview() -> Iterator[str]:
    yield f"## All {len(RULES)} rules"
    yield ""
    yield "| Rule | Severity | What it finds |"
    yield "|---|---|---|"
    for rule in RULES.values():
        mark = " †" if rule.runs else ""
        yield f"| [{rule.title}](#{_anchor(rule)}){mark} | {rule.severity.value} | {_cell(rule.summary)} |"
    yield ""


def _family(title: str, rules: tuple[LintRule, ...]) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    for rule in rules:
        yield from _rule(rule)


def _rule(rule: LintRule) -> Iterator[str]:
    yield f"### {rule.title}"
    yield ""
    notes = [
        rule.severity.value,
        *(["† with `--run`"] if rule.runs else []),
        *(["with `--target`"] if rule.needs_target else []),
    ]
    yield f"*{', '.join(notes)}.* {rule.summary}"
    yield ""
    yield rule.why
    yield ""
    yield f"Write: {rule.fix}"
    yield ""
    yield from _sample("Bad", rule.bad)
    yield from _sample("Good", rule.good)


def _sample(title: str, sample: Sample) -> Iterator[str]:
    notes = [
        *([f"on {sample.event}"] if sample.event else []),
        *([f"`--target {sample.target}`"] if sample.target else []),
    ]
    for name, lines in sample.marked("  ←"):
        yield f"{title}, `{name}`{', ' + ', '.join(notes) if notes else ''}:"
        yield ""
        yield f"```{_language(name)}"
        yield from lines
        yield "```"
        yield ""


def _language(name: str) -> str:
    return {".sh": "bash", ".py": "python", ".js": "javascript", ".mjs": "javascript", ".json": "jsonc"}.get(
        Path(name).suffix, "text"
    )


def _anchor(rule: LintRule) -> str:
    return rule.title.lower().replace(" ", "-")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Write the page, or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page is out of date")
    check = parser.parse_args().check
    text = page()
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    if check:
        print("docs/rules.md is out of date; run: python docs/generate_rules.py")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    print("docs/rules.md written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
