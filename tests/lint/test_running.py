"""The rules that need a run: samples are fired through the engine, in a copy of the project."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hookwright.cases.case import Case
from hookwright.cases.run import Runner
from hookwright.config import Places
from hookwright.config.trust import TrustPolicy
from hookwright.lint import RULES, LintRule
from hookwright.lint.catalogue.samples import bash, conf, group, python, script
from lint.projects import check_running, line_of, write

RUNNING = [rule for rule in RULES.values() if rule.bad.trust]


@pytest.mark.parametrize("rule", RUNNING, ids=lambda rule: rule.id)
def test_the_bad_sample_is_caught_at_its_line(rule: LintRule, tmp_path: Path) -> None:
    root = write(rule.bad, tmp_path / "project")
    found = check_running(root, tmp_path / "home")
    name, line = line_of(rule.bad)
    places = {(str(Path(item.at.path).relative_to(root)), item.at.line) for item in found if item.rule == rule.id}
    assert (name, line) in places


@pytest.mark.parametrize("rule", RUNNING, ids=lambda rule: rule.id)
def test_the_good_sample_is_left_alone(rule: LintRule, tmp_path: Path) -> None:
    root = write(rule.good, tmp_path / "project")
    assert [item for item in check_running(root, tmp_path / "home") if item.rule == rule.id] == []


def test_an_endpoint_that_refuses_with_a_status_is_found(tmp_path: Path) -> None:
    answers = {"/403": (403, b"no"), "/text": (200, b"denied"), "/ok": (200, b"{}")}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            status, body = answers[self.path]
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            base = f"http://127.0.0.1:{server.server_address[1]}"
            handlers = [{"type": "http", "url": base + path, "timeout": 5} for path in answers]
            root = write(conf({"PreToolUse": [group(*handlers, matcher="Bash")]}), tmp_path / "project")
            found = [item for item in check_running(root, tmp_path / "home") if item.rule == "HK517"]
        finally:
            server.shutdown()
            thread.join()
    assert [item.at.pointer for item in found] == [f"hooks.PreToolUse[0].hooks[{number}].url" for number in (0, 1)]


def test_what_only_a_run_shows_is_found(tmp_path: Path) -> None:
    odd = {
        "HK501": "import sys\n\nsys.stdout.write('{' + chr(34) + 'reason: no}')\n",
        "HK502": "import sys\n\nsys.stdout.write('{}' * 2)\n",
        "HK503": "import subprocess\n\nsubprocess.run(['echo', 'banner'])\n"
        'subprocess.run([\'echo\', \'{"decision": "block", "reason": "no"}\'])\n',
    }
    for rule, body in odd.items():
        root = write(script("odd.py", python(body)), tmp_path / rule)
        found = [item for item in check_running(root, tmp_path / "home") if item.rule == rule]
        assert [item.at.pointer for item in found] == ["hooks.PreToolUse[0].hooks[0].command"], rule


def test_a_finding_of_a_check_is_not_repeated_by_a_run(tmp_path: Path) -> None:
    root = write(RULES["HK502"].bad, tmp_path / "project")
    assert len([item for item in check_running(root, tmp_path / "home") if item.rule == "HK502"]) == 1


def test_the_project_is_copied_and_left_as_it_was(tmp_path: Path) -> None:
    body = bash('echo x > "$CLAUDE_PROJECT_DIR/made"\necho y > "$HOME/made"\nrm -f "$CLAUDE_PROJECT_DIR/kept"\n')
    root = write(script("odd.sh", body, event="Stop"), tmp_path / "project")
    (root / "kept").write_text("here")
    check_running(root, tmp_path / "home")
    assert (root / "kept").read_text() == "here"
    assert not (root / "made").exists()
    assert not (tmp_path / "home" / "made").exists()


@pytest.mark.needs("git")
def test_a_hook_that_calls_git_behaves_as_it_does_in_a_case(tmp_path: Path) -> None:
    """Broken JSON is printed wherever git does not see the branch, the ignored file, or the user's name."""
    body = bash(
        'cd "$CLAUDE_PROJECT_DIR"\n'
        "branch=$(git rev-parse --abbrev-ref HEAD)\nuser=$(git config user.name)\n"
        'if [ -e big ] || [ "$branch $user" != "trunk Ada" ]; then printf "%s" "{\\"a\\": "; echo "}"; exit 0; fi\n'
        'printf \'{"systemMessage": "%s"}\' "$branch"\n'
    )
    root = write(script("branch.sh", body, event="Stop"), tmp_path / "project")
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "HOOKWRIGHT_MANAGED_SETTINGS": str(home / "none")}
    (root / ".gitignore").write_text("big\n")
    (root / "big").write_text("x")
    for command in (("init", "-q", "-b", "trunk"), ("add", "."), ("commit", "-q", "-m", "one")):
        subprocess.run(["git", "-C", root, *command], check=True, env=env)

    async def in_a_case() -> tuple[str, ...]:
        places = Places(project=str(root), home=str(home), env=env, trust=TrustPolicy.EVERYTHING)
        async with Runner(places, always_scratch=True) as runner:
            return (await runner.run(Case(name="git", event="Stop", path="test"))).outcome.system_messages

    assert asyncio.run(in_a_case()) == ("trunk",)
    assert [item.what for item in check_running(root, home) if item.rule == "HK501"] == []
