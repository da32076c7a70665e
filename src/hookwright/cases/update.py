"""Record actual results in a file of cases; comments and order are kept."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hookwright.cases.case import CaseResult, decision_word
from hookwright.cases.firing import PROJECT
from hookwright.errors import MissingExtra
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome
from hookwright.storage import replace_file


def actual(result: CaseResult) -> dict[str, Json]:
    """Return the result with the keys of `expect`: what differs, or what matters when the case expects nothing."""
    known = _recorded(result)
    if result.case.expect is None:
        wanted = ("decision", *(key for key in _RECORDED if known[key] not in (None, {}, 0)))
        return {key: known[key] for key in wanted}
    failed = {problem.key.split(".")[0] for problem in result.problems}
    return {key: known[key] for key in known if key in failed}


#: Recorded for a case without expectations, where there is a value.
_RECORDED = ("reason", "context", "system_message", "updated_input", "updated_output", "fields", "errors", "env_file")


def _recorded(result: CaseResult) -> dict[str, Json]:
    outcome, cwd = result.outcome, result.cwd
    stop = outcome.stop
    return {
        "decision": decision_word(outcome),
        "reason": _pattern(_reason(outcome), cwd),
        "context": _pattern("\n".join([*outcome.context, *outcome.plain]) or None, cwd),
        "system_message": _pattern("\n".join(outcome.system_messages) or None, cwd),
        "stop": stop is not None,
        "updated_input": _portable(outcome.updated_input, cwd),
        "updated_output": _portable(outcome.updated_output, cwd),
        "fields": _portable(dict(outcome.fields), cwd),
        "ran": len(outcome.runs),
        "skipped": [skip.handler.label for skip in outcome.skips],
        "errors": outcome.errors,
        "codes": [diagnostic.code for diagnostic in outcome.diagnostics],
        "env_file": _pattern(result.env_file or None, cwd),
        "files": {name: None if text is None else {"is": text} for name, text in result.files.items()},
    }


def _reason(outcome: Outcome) -> str | None:
    """Return the reason without the commands before it, which a pattern need not repeat."""
    text = outcome.reason or (outcome.stop.reason if outcome.stop is not None else None)
    for run in outcome.runs if text is not None else ():
        text = str(text).replace(f"[{run.handler.label}]: ", "")
    return text


def _pattern(text: str | None, cwd: str) -> str | None:
    """Return a pattern that matches exactly this text; only special characters are escaped."""
    if text is None:
        return None
    escaped = re.sub(r"[\\^$.|?*+()\[\]{}]", lambda found: "\\" + found[0], text.strip())
    return escaped.replace(re.sub(r"[.+()\[\]]", lambda found: "\\" + found[0], cwd), PROJECT) if cwd else escaped


def _portable(value: Json, cwd: str) -> Any:
    if isinstance(value, str):
        return value.replace(cwd, PROJECT) if cwd else value
    if isinstance(value, Mapping):
        return {key: _portable(item, cwd) for key, item in value.items()}
    return [_portable(item, cwd) for item in value] if isinstance(value, list | tuple) else value


def update_file(path: str, results: Sequence[CaseResult]) -> int:
    """Write the results into the failed cases of one file; return how many were changed."""
    found = {result.case.index: actual(result) for result in results if result.fired and not result.passed}
    changes = {index: happened for index, happened in found.items() if happened}
    if not changes:
        return 0
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".json"):
        top = json.loads(text)
        _put(top, changes)
        new = json.dumps(top, indent=2, ensure_ascii=False) + "\n"
    else:
        new = _updated_yaml(text, changes)
    replace_file(path, new.encode())
    return len(changes)


def _updated_yaml(text: str, changes: Mapping[int, dict[str, Json]]) -> str:
    try:
        from ruamel.yaml import YAML
    except ImportError:
        raise MissingExtra("Writing YAML", "yaml") from None
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 110
    dash = re.search(r"^( *)- +", text, re.MULTILINE)
    if dash is not None:
        yaml.indent(mapping=2, sequence=len(dash[1]) + 2, offset=len(dash[1]))
    top = yaml.load(text)
    _put(top, changes)
    out = io.StringIO()
    yaml.dump(top, out)
    return out.getvalue()


def _put(top: Any, changes: Mapping[int, dict[str, Json]]) -> None:
    cases = top["cases"] if isinstance(top, Mapping) else top
    for index, happened in changes.items():
        written = cases[index].get("expect")
        if not isinstance(written, dict):
            cases[index]["expect"] = happened
            continue
        for key, value in happened.items():
            if key == "errors" and value == 0:
                written.pop(key, None)
            else:
                written[key] = value
