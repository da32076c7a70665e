"""Every promise of docs/security.md has a test, and every incident that it lists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text()

#: How a promise begins → the tests that keep it.
PROMISES = {
    "An edit of a trusted hook": ["security/test_guards.py::test_a_changed_guard_does_not_run_and_is_named"],
    "A changed guard does not run": [
        "security/test_guards.py::test_a_changed_guard_that_fails_closed_refuses",
        "security/test_guards.py::test_its_entry_cannot_be_weakened_either",
    ],
    "A hook that is switched off by a change": [
        "attacks/test_changed_guard.py::test_every_output_says_that_a_guard_changed",
    ],
    "A rewrite cannot get past a guard": [
        "attacks/test_rewrite.py::test_a_managed_guard_sees_what_a_user_hook_rewrote",
        "attacks/test_rewrite.py::test_a_user_s_guard_sees_what_a_project_hook_rewrote",
        "attacks/test_rewrite.py::test_a_project_guard_that_fails_closed_sees_it_also",
        "attacks/test_rewrite.py::test_a_permission_request_hook_cannot_pass_a_guard",
        "attacks/test_rewrite.py::test_a_host_s_answer_cannot_pass",
    ],
    "A refusal is not lost on the way out": [
        "attacks/test_answers.py::test_the_model_cannot_send_a_guard_to_the_background",
        "attacks/test_answers.py::test_an_answer_with_something_around_it_is_reported",
        "attacks/test_answers.py::test_an_answer_with_something_around_it_fails_closed",
        "attacks/test_answers.py::test_what_a_child_prints_after_the_exit_does_not_undo_the_answer",
        "attacks/test_engine.py::test_fire_never_raises",
    ],
    "Hooks that appear or disappear": [
        "security/test_guards.py::test_a_trusted_guard_that_is_taken_away_is_told",
        "security/test_incidents.py::test_worm_a_hook_that_appears_in_user_settings_is_told",
        "test_session.py::test_a_config_change_hook_may_block_the_change",
    ],
    "The reference agent never changes": [
        "security/test_incidents.py::test_cve_2026_25725_the_agent_creates_the_settings_file_that_was_missing",
        "security/test_trust.py::test_the_case_of_a_name_hides_nothing",
    ],
    "Managed hooks are an outer layer": [
        "test_engine.py::test_a_managed_refusal_keeps_the_inner_hooks_from_starting",
        "test_session.py::test_user_settings_cannot_switch_managed_hooks_off",
    ],
    "Text from a user or a model never becomes": [
        "security/test_injection.py::test_no_field_of_any_event_reaches_a_shell"
    ],
    "A hook runs in its own session": [
        "executors/test_process.py::test_process_leads_its_own_session_without_terminal",
        "executors/test_process_end.py::test_a_marked_daemon_ends_with_its_process",
        "test_watchdog.py::test_a_killed_host_takes_its_hooks_with_it",
        "faults/test_faults.py::test_fault",
    ],
    "Output is held in bounded memory": [
        "faults/test_faults.py::test_fault",
        "test_spill.py::test_the_limit_is_ten_thousand_characters",
    ],
    "Output of hooks, projects and models cannot control": [
        "security/test_terminal.py::test_no_escape_reaches_the_screen",
        "security/test_terminal.py::test_the_review_shows_what_a_direction_mark_would_hide",
    ],
    "No pattern and no input can make": [
        "security/test_bounds.py::test_no_matcher_explodes",
        "security/test_bounds.py::test_no_rule_explodes",
        "test_journal.py::test_no_text_takes_long_to_redact",
    ],
    "HTTP hooks: only URLs": [
        "executors/test_http.py::test_allowlist_is_asked_before_anything_is_sent",
        "executors/test_http.py::test_a_value_cannot_add_a_header",
        "executors/test_http.py::test_redirects_are_not_followed",
        "executors/test_http.py::test_proxy_variables_have_no_effect",
        "security/test_bounds.py::test_a_trusted_project_hook_never_connects_to_metadata",
    ],
    "With `CLAUDE_CODE_SUBPROCESS_ENV_SCRUB=1`": ["security/test_secrets.py::test_credentials_can_be_kept_from_hooks"],
    "The journal records what ran": [
        "security/test_secrets.py::test_inputs_outputs_and_prompts_are_not_in_the_journal",
        "security/test_secrets.py::test_everything_that_is_kept_is_private",
        "test_journal.py::test_credentials_in_any_dress_are_left_out",
    ],
    "No input can forge a line": [
        "security/test_injection.py::test_a_reason_cannot_forge_a_line_of_the_journal_or_the_transcript",
        "security/test_injection.py::test_law_a_record_is_one_line_for_every_reader",
    ],
    "`hookwright chat` ends when its terminal goes away": [
        "attacks/test_hangup.py::test_a_closed_terminal_ends_the_chat",
        "attacks/test_hangup.py::test_a_hang_up_with_the_terminal_still_there_ends_the_chat",
        "attacks/test_hangup.py::test_a_plain_chat_ends_with_its_terminal",
    ],
    "Transcripts, journal and trust store survive": [
        "test_data_safety.py::test_a_journal_cut_at_any_byte_is_read_and_continued",
        "test_data_safety.py::test_a_trust_store_cut_at_any_byte_trusts_all_or_nothing",
        "test_data_safety.py::test_a_transcript_cut_at_any_byte_goes_on",
        "test_data_safety.py::test_four_writers_at_once_never_mix_a_line_and_lose_none",
    ],
}


def part(heading: str) -> str:
    return PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]


def functions(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("heading", ["Guards protect themselves", "What the engine does for you"])
def test_every_promise_has_tests(heading: str) -> None:
    said = re.findall(r"^- (.*)$", part(heading), re.MULTILINE)
    assert said
    for sentence in said:
        assert any(sentence.startswith(begin) for begin in PROMISES), sentence


@pytest.mark.parametrize("begin", PROMISES)
def test_the_tests_of_a_promise_are_there(begin: str) -> None:
    assert f"\n- {begin}" in PAGE
    for name in PROMISES[begin]:
        path, _, test = name.partition("::")
        assert test in functions(ROOT / "tests" / path), name


def test_every_incident_has_a_test() -> None:
    named = functions(Path(__file__).parent / "test_incidents.py")
    text = " ".join(named)
    for incident in re.findall(r"(?:CVE|GHSA)-[\w-]+", part("Known incidents")):
        short = incident.lower().replace("-", "_")
        assert short in text or incident == "CVE-2025-54135", (
            incident
        )  # the same flaw as CVE-2025-54136, by another road
    rows = [line for line in part("Known incidents").splitlines() if line.startswith("| ")][2:]
    assert len(named - {"everything", "attacks", "components", "victim", "refused_review"}) >= len(rows)


@pytest.mark.req("R-364")
def test_the_page_says_that_there_is_no_sandbox_and_what_is_not_protected() -> None:
    assert "Hooks run with the full rights of the user" in part("There is no sandbox")
    assert len(re.findall(r"^- \*\*", part("What is not protected"), re.MULTILINE)) >= 10
