"""Write docs/rules.md from the table of rules; with `--check` only report whether it is out of date."""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import hookwright.lint
from hookwright.lint import FAMILIES, RULES, LintRule, Sample

PAGE = Path(__file__).parent / "rules.md"
LINT = Path(hookwright.lint.__file__).parent
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
#: How the docstring of a function names the rules it finds: `HK405 and HK406: …`.
CLAIM = re.compile(r"((?:HK\d{3}(?:, | and )?)+): ")

HEAD = """# The rules of `hookwright check`

This page is generated from the table that `hookwright check` itself uses: `python docs/generate_rules.py`.
Each rule has a bad sample, in which it finds the line marked with `←`, and a good one, in which it finds nothing; both
are tests. `hookwright rules HK401` prints the same.

The messages describe what Claude Code does, and what Hookwright does where it differs. Rules marked † are found, or
found more reliably, with `hookwright check --run`, which fires sample events at trusted hooks in a scratch copy of the
project. Rules marked * are opinions, or matter on other systems only: they are reported with `--strict`, or when
`--select` names them.

## Suppressing a finding

In a script or in the frontmatter of a skill or agent, on the line of the finding or alone on the line above it:

```bash
exit 1  # hookwright: ignore HK401 -- the wrapper turns 1 into 2
```

JSON has no comments. For settings and plugins, add an entry to `.claude/hookwright.json` (in a plugin:
`.claude-plugin/hookwright.json`), a file Claude Code never reads:

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

`path` is relative to the project and may contain `*`; `pointer` is optional and covers everything below it. A
suppression without a reason has no effect and is itself a finding (HK001); so is one that suppresses nothing (HK002).
"""


def page() -> str:
    """Return the whole page."""
    families = [line for title, rules in FAMILIES.items() for line in _family(title, rules)]
    return "\n".join([HEAD, *_overview(), *families, *_sources()])


def homes() -> dict[str, list[tuple[str, str]]]:
    """Return rule -> (file, function), for every function of the linter whose docstring names rules."""
    found: dict[str, list[tuple[str, str]]] = {}
    for path in (
        *sorted((LINT / "agents").glob("*.py")),
        *sorted((LINT / "checks").glob("*.py")),
        LINT / "running.py",
        LINT / "suppress.py",
    ):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            claim = CLAIM.match(ast.get_docstring(node) or "") if isinstance(node, FUNCTIONS) else None
            for rule in re.findall(r"HK\d{3}", claim[1]) if claim is not None else ():
                found.setdefault(rule, []).append((path.relative_to(LINT).as_posix(), node.name))
    return found


def _sources() -> Iterator[str]:
    places: dict[tuple[str, str], list[str]] = {}
    for rule, (place, *_) in sorted(homes().items()):
        places.setdefault(place, []).append(rule)
    yield "## Source of each rule"
    yield ""
    yield "For contributors: the function that finds a rule, in `src/hookwright/lint`."
    yield ""
    yield "| Rules | File | Function |"
    yield "|---|---|---|"
    for (file, name), rules in sorted(places.items(), key=lambda item: item[1]):
        yield f"| {', '.join(rules)} | `{file}` | `{name}` |"
    yield ""


def _overview() -> Iterator[str]:
    yield f"## All {len(RULES)} rules"
    yield ""
    yield "| Rule | Severity | What it finds |"
    yield "|---|---|---|"
    for rule in RULES.values():
        mark = (" †" if rule.runs else "") + (" *" if rule.strict else "")
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
        *([f"with `{rule.needs}`"] if rule.needs else []),
        *(["with `--strict`"] if rule.strict else []),
    ]
    yield f"*{', '.join(notes)}.* {rule.summary}"
    yield ""
    yield rule.why
    yield ""
    yield f"Fix: {rule.fix}"
    yield ""
    yield from _sample("Bad", rule.bad)
    yield from _sample("Good", rule.good)


def _sample(title: str, sample: Sample) -> Iterator[str]:
    notes = [
        *([f"on {sample.event}"] if sample.event else []),
        *([f"`{sample.option}`"] if sample.option else []),
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
