"""`hookwright replay` on the history that ships with the repository: reports, exit statuses, files it writes."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from hookwright.cli import main
from hookwright.cli.history.interrupts import Interrupts
from hookwright.cli.history.output import ReportFile
from hookwright.cli.history.replay import replayed
from hookwright.replay.gate import read_gate
from hookwright.replay.past import Coverage
from hookwright.replay.run import Conditions, prepared
from hookwright.replay.sources import past_events
from processes import eventually
from replay.isolated import needs_isolation, working_level
from support import hooks_for, script

pytestmark = needs_isolation

HISTORY = str(Path(__file__).parent.parent.parent / "examples" / "history")
GUARD = """#!/bin/sh
input=$(cat)
case $input in
*'rm -rf'*) echo "no rm -rf" >&2; exit 2 ;;
esac
"""


class Place:
    """A project, a home, and `hookwright` in this process."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root / "project"
        self.root.mkdir()
        self.hooks = root / "hooks"
        self.hooks.mkdir()
        self._capsys = capsys

    def candidate(self, body: str = GUARD, name: str = "guard.sh", **more: Any) -> str:
        path = script(self.hooks / name, body)
        settings = self.root / f"{name}.json"
        hook = {"type": "command", "command": str(path), **more}
        settings.write_text(json.dumps(hooks_for("PreToolUse", hook, matcher="Bash")))
        return str(settings)

    def __call__(self, *args: str) -> tuple[int, str, str]:
        status = main(["replay", *args])
        said = self._capsys.readouterr()
        return status, said.out, said.err


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Place:
    home = tmp_path / "home"
    home.mkdir()
    for name in [name for name in os.environ if name.startswith(("CLAUDE", "HOOKWRIGHT", "XDG"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HOOKWRIGHT_MANAGED_SETTINGS", str(home / "none"))
    found = Place(tmp_path, capsys)
    monkeypatch.chdir(found.root)
    return found


@pytest.fixture
def report(place: Place) -> Callable[..., str]:
    def made(*args: str) -> str:
        _, out, err = place(HISTORY, "--candidate", place.candidate(), "--baseline", "none", *args)
        assert "Traceback" not in err
        return out

    return made


def test_the_report_says_what_was_read_what_changed_and_what_became_of_it(
    report: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lines = report().splitlines()
    assert lines[0].startswith("history   3 files, ")
    assert lines[1] == "          43 calls in 2 sessions"
    assert lines[2] == "not seen  3 calls never reached a hook"
    assert any(f"isolated ({working_level()}), no network" in line for line in lines)
    row = next(line for line in lines if line.startswith("  stricter"))
    assert row.split() == ["stricter", "1", "1", "1", "0", "0", "0"]
    assert any(line.startswith("    rm -rf build dist") for line in lines)
    assert any("though they ran and succeeded: 1 of 1 (100%)" in line for line in lines)
    assert all(len(line) <= 100 for line in lines)


def test_the_object_begins_with_the_coverage_and_has_every_change(report: Callable[..., str]) -> None:
    found = json.loads(report("--json"))
    assert list(found)[:2] == ["version", "coverage"]
    assert found["coverage"]["calls"] == 43
    assert found["settings"]["isolation"] == working_level()
    assert found["buckets"]["stricter"]["events"] == 1
    (change,) = found["changes"]
    assert change["about"] == "rm -rf build dist"
    assert (change["fate"], change["likely_false"]) == ("succeeded", True)
    assert (change["before"]["decision"], change["now"]["decision"]) == ("none", "deny")
    (handler,) = found["handlers"]
    assert handler["pure"]
    assert handler["reused"] > 0
    assert handler["stricter"] == 1


def test_lines_begin_with_the_coverage_and_end_with_the_totals(report: Callable[..., str]) -> None:
    first, change, last = map(json.loads, report("--format", "jsonl").splitlines())
    assert (first["kind"], first["coverage"]["calls"]) == ("coverage", 43)
    assert (change["kind"], change["bucket"]) == ("change", "stricter")
    assert (last["kind"], last["partial"]) == ("report", False)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_page_is_one_private_file_without_script(place: Place, report: Callable[..., str]) -> None:
    assert report("--format", "html", "--out", "replay.html") == ""
    path = place.root / "replay.html"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    page = _Page()
    page.feed(path.read_text())
    names = [tag for tag, _ in page.tags]
    assert names.count("details") == 1
    assert "svg" in names
    assert not {"script", "img", "link", "iframe", "a"} & set(names)
    policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert not any(name.startswith("on") or name == "style" for _, attrs in page.tags for name in attrs)


HOSTILE = "rm -rf <script>alert(1)</script> --token ghp_abcdefghijklmnopqrstuvwxyz0123456789 \x1b[31m|`x`"


@pytest.fixture
def written(place: Place) -> Callable[[str], str]:
    """Write the report of one hostile call in any format; the call is replayed once."""
    payload = {
        "session_id": "s",
        "transcript_path": "/t.jsonl",
        "cwd": str(place.root),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": HOSTILE},
        "tool_use_id": "t1",
    }
    (place.root / "events.jsonl").write_text(json.dumps({"payload": payload, "decision": "none"}) + "\n")
    gate, coverage = read_gate("stricter", None), Coverage()
    conditions = Conditions(isolation=working_level() or "", jobs=1)
    source = past_events(["events.jsonl"], coverage=coverage)
    with prepared(source, place.candidate(), "none", conditions=conditions) as ready:
        found = replayed(ready, coverage, ReportFile("json", None, gate), Interrupts())

    def write(kind: str) -> str:
        ReportFile(kind, "report", gate).end(found, 0)
        return (place.root / "report").read_text()

    return write


def test_formats_for_ci_are_well_formed_and_name_the_handler(written: Callable[[str], str]) -> None:
    tree = ElementTree.fromstring(written("junit"))
    failed = [case.get("name") for case in tree.iter("testcase") if case.find("failure") is not None]
    assert failed == ["stricter", "stricter"]  # the limit, and the handler that crosses it
    sarif = json.loads(written("sarif"))
    (result,) = sarif["runs"][0]["results"]
    assert result["ruleId"] == "replay-stricter"
    assert "1 event in 1 session stricter" in result["message"]["text"]
    lines = written("github").splitlines()
    assert lines[0].startswith("::notice title=hookwright replay::1 events")
    assert re.match(r"::error file=guard.sh.json,line=1,title=hookwright replay stricter::", lines[1])
    assert "| stricter | 1 | 1 | 0 | 0 | 0 | 1 |" in written("md").splitlines()


def test_credentials_and_markup_of_a_history_stay_text(written: Callable[[str], str]) -> None:
    for kind in ("pretty", "json", "html", "junit", "sarif", "github", "md"):
        out = written(kind)
        assert ("rm -rf" in out) is (kind not in ("sarif", "github")), kind  # those two name handlers, never calls
        assert "ghp_" not in out, kind
        assert "\x1b" not in out, kind
        assert "<script" not in out or kind in ("pretty", "json"), kind
        assert "|`" not in out or kind in ("pretty", "json", "html", "junit"), kind


def test_changed_events_become_cases_that_pass(place: Place, report: Callable[..., str]) -> None:
    report("--cases", "history.json")
    (case,) = json.loads((place.root / "history.json").read_text())
    assert case["expect"]["decision"] == "deny"
    assert stat.S_IMODE((place.root / "history.json").stat().st_mode) == 0o600
    assert main(["test", "history.json", "--settings", place.candidate(), "--trust"]) == 0
    status, _, err = place(HISTORY, "--candidate", place.candidate(), "--cases", "history.json")
    assert status == 2
    assert "--cases history.json: already exists; name a new file" in err


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (("--fail-on", "looser,errors"), 0, ""),
        (("--fail-on", "stricter"), 1, "1 event is stricter"),
        (("--max-likely-false", "50%"), 1, "1 of 1 call now refused ran then and succeeded: 100.0%"),
        (("--fail-on", "slow:0.001ms"), 1, "the limit is 0.001 ms"),
        (("--fail-on", "strictr"), 2, "Did you mean `stricter`?"),
        (("--sample", "0"), 2, "--sample 0: write a number of events or a share of them"),
        (("--budget", "soon"), 2, "--budget soon: write a time"),
        (("--session", "zzz"), 2, "nothing to replay: no event of 3 files with 43 calls was chosen"),
        (("--isolation", "none"), 2, "Add --trust if you want that"),
        (("--baseline", "git:HEAD"), 2, "git:HEAD: the hooks of a revision are not those you trusted"),
    ],
)
def test_the_exit_status_and_what_it_means(place: Place, options: tuple[str, ...], status: int, said: str) -> None:
    found, _, err = place(HISTORY, "--candidate", place.candidate(), "--baseline", "none", *options)
    assert found == status
    assert said in err


def test_without_a_history_it_says_where_it_looked(place: Place) -> None:
    status, _, err = place()
    assert status == 2
    assert "there is no transcript of this project of the last 30 days" in err


def test_a_sample_is_named_in_the_report(report: Callable[..., str]) -> None:
    assert "a sample of 10 events, seed 3" in report("--sample", "10", "--seed", "3")


def test_nothing_a_replayed_hook_does_is_left(place: Place) -> None:
    body = f"#!/bin/sh\necho x > {place.root}/made; rm -f {place.root}/kept; echo x > $HOME/made\n"
    (place.root / "kept").write_text("")
    status, out, _ = place(HISTORY, "--candidate", place.candidate(body, "writer.sh"), "--baseline", "none", "--json")
    assert status == 0
    assert json.loads(out)["handlers"][0]["runs"] > 0
    assert not json.loads(out)["handlers"][0]["pure"]
    assert (place.root / "kept").exists()
    assert not (place.root / "made").exists()
    assert not Path(os.environ["HOME"], "made").exists()


SLOW = "#!/bin/sh\ninput=$(cat)\nsleep 0.1\ncase $input in *'rm -rf'*) exit 2 ;; esac\n"


def test_ctrl_c_leaves_a_valid_partial_report(place: Place) -> None:
    command = [sys.executable, "-m", "hookwright.cli", "replay", HISTORY]
    options = ["--candidate", place.candidate(SLOW, "slow.sh"), "--baseline", "none"]
    options += ["--format", "jsonl", "--no-cache", "--jobs", "1"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*command, *options], **pipes, start_new_session=True, text=True) as running:  # type: ignore[call-overload]
        assert json.loads(running.stdout.readline())["kind"] == "coverage"
        assert json.loads(running.stdout.readline())["kind"] == "change"  # the first session is done
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=30)
    assert running.returncode == 130, err
    found = json.loads(out.splitlines()[-1])
    assert (found["kind"], found["partial"]) == ("report", True)
    assert 0 < found["events"] < found["settings"]["total"]
    assert "Traceback" not in err


@pytest.mark.parametrize("moment", [0.1, 0.6, None])
def test_ctrl_c_at_any_moment_leaves_a_valid_report_and_no_process(place: Place, moment: float | None) -> None:
    command = [sys.executable, "-m", "hookwright.cli", "replay", HISTORY, "--format", "json", "--jobs", "2"]
    options = ["--candidate", place.candidate(SLOW, "slow.sh"), "--baseline", "none", "--no-cache"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*command, *options], **pipes, start_new_session=True, text=True) as running:  # type: ignore[call-overload]
        # The command has begun when the last of its libraries is there.
        while running.poll() is None and "/_ctypes." not in Path(f"/proc/{running.pid}/maps").read_text():
            time.sleep(0.01)
        time.sleep(random.uniform(0, 1.5) if moment is None else moment)
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode in (130, 0), err
    assert "Traceback" not in err
    if out:
        assert json.loads(out)["partial"] is (running.returncode == 130)
    else:
        assert running.returncode == 130  # before the command began
    assert eventually(lambda: not _has_members(running.pid))


def _has_members(group: int) -> bool:
    """Return whether a process of a group is alive; helpers of multiprocessing end a moment after their owner."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_hooks_of_the_project_need_trust(place: Place) -> None:
    place.hooks = place.root
    status, out, _ = place(HISTORY, "--candidate", place.candidate(), "--baseline", "none", "--fail-on", "undecided")
    assert status == 1
    assert "hooks that are not trusted did not run for 22 events" in out
    assert "never ran" not in out
    status, out, _ = place(HISTORY, "--candidate", place.candidate(), "--baseline", "none", "--trust")
    assert "1 event in 1 session" in out
