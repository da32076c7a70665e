"""The flags of `run` and `chat`: each is an option of the agent by its name, or read by the command itself."""

from __future__ import annotations

import argparse
import os

import pytest

from hookwright.agent.headless.arguments import options_of, read_options
from hookwright.agent.state.options import AgentOptions, ContinueLatest, NewSession, ResumeSession
from hookwright.cli.parsers import parser_of

#: Arguments that are not options of the agent: what the command prints and reads, and what `start` is made of.
START = {"continue_", "resume", "fork_session", "session_id", "resume_session_at", "resume_drops_turn"}
COMMAND = {
    "chat": {"prompt", "theme", "plain", "script", "debug_file"},
    "run": {
        *("prompt", "print", "output_format", "input_format", "verbose", "include_hook_events"),
        *("include_partial_messages", "script", "debug_file", "agents_json", "init", "init_only", "maintenance"),
        *("permission_prompt_tool", "json_schema_text", "system_prompt_file", "effort", "thinking", "betas"),
        *("max_thinking_tokens", "replay_user_messages", "thinking_display", "task_budget"),
        "session_mirror",
    },
}
ENV = {"A": "B"}


def actions(name: str) -> list[argparse.Action]:
    return [action for action in parser_of(name)._actions if action.dest != "help"]


@pytest.mark.parametrize("name", COMMAND)
def test_every_flag_is_an_option_or_read_by_the_command(name: str) -> None:
    dests = {action.dest for action in actions(name)}
    assert dests - set(AgentOptions.__struct_fields__) - START == COMMAND[name]


@pytest.mark.parametrize("name", COMMAND)
def test_an_option_that_is_not_given_keeps_its_default(name: str) -> None:
    journal = name == "run"
    assert options_of(parser_of(name).parse_args([]), ENV) == AgentOptions(env=ENV, journal=journal)


@pytest.mark.parametrize("name", COMMAND)
def test_every_given_option_arrives(name: str) -> None:
    fields = set(AgentOptions.__struct_fields__)
    plain = AgentOptions(env=ENV, journal=name == "run")
    for action in actions(name):
        if action.dest in fields:
            line = [action.option_strings[0], *([] if action.nargs == 0 else ["7"])]
            seen = options_of(parser_of(name).parse_args(line), ENV)
            changed = {field for field in fields if getattr(seen, field) != getattr(plain, field)}
            assert changed == {action.dest}, line
            assert not isinstance(getattr(seen, action.dest), list), "options are frozen"


def test_values_are_read_once() -> None:
    line = "--allowedTools Read --allowed-tools Bash --setting-sources user,local --add-dir x --context-limit 0"
    seen = options_of(parser_of("run").parse_args(line.split()), ENV)
    assert seen.allowed_tools == ("Read", "Bash")
    assert seen.setting_sources == ("user", "local")
    assert seen.add_dirs == (os.path.abspath("x"),)
    assert seen.context_limit is None


def test_a_start_is_made_of_several_flags() -> None:
    def start(line: str) -> object:
        return read_options(parser_of("run").parse_args(line.split()), ENV).start

    assert start("") == NewSession()
    assert start("--session-id s") == NewSession("s")
    assert start("-c --fork-session") == ContinueLatest(True)
    assert start("-r s --session-id other") == ResumeSession("s")
