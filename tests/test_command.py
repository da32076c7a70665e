"""Command hooks, with real processes: what is started, where, with which environment, and what comes back."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookwright.background import Background
from hookwright.executors.command import CommandExecutor
from hookwright.processes.guard import mark_prefix
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import CommandHandler
from hookwright.protocol.host import Host
from hookwright.protocol.job import Job
from hookwright.protocol.replies import Exited, Failed, Failure, Reply, TimedOut
from hookwright.protocol.sources import Component, Plugin, Scope, Source
from hookwright.protocol.wire import encode_event
from support import event, script


def run(
    command: str, folder: Path, moment: Event | None = None, host: Host | None = None, index: int = 0, **fields: Any
) -> Reply:
    source = fields.pop("source", Source(Scope.USER))
    timeout = fields.pop("limit", 20.0)
    handler = CommandHandler(source=source, command=command, **fields)
    happening = moment if moment is not None else event("PreToolUse", cwd=str(folder))
    surroundings = host if host is not None else place(folder)
    job = Job(handler, happening, encode_event(happening), index, "hook-1", timeout)

    async def main() -> Reply:
        return await CommandExecutor(surroundings, Background())(job)

    return asyncio.run(main())


def place(folder: Path, **changes: Any) -> Host:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "INHERITED": "yes", "OTEL_TRACES_EXPORTER": "otlp"}
    fields = {"project_dir": str(folder), "env": env, "home": str(folder), "config_dir": str(folder / ".claude")}
    return Host(**{**fields, **changes})


def stdout(reply: Reply) -> str:
    assert isinstance(reply, Exited), reply
    return reply.stdout.decode()


@pytest.mark.req("R-103", "R-386")
def test_the_command_runs_in_a_shell(tmp_path: Path) -> None:
    assert stdout(run("echo a b | tr a-z A-Z && echo done", tmp_path)) == "A B\ndone\n"


@pytest.mark.req("R-104", "R-386")
def test_quoted_paths_and_arguments_arrive_intact(tmp_path: Path) -> None:
    script(tmp_path / "my hook.sh", 'printf "[%s]" "$@"')
    assert stdout(run('"./my hook.sh" --arg "a b"', tmp_path)) == "[--arg][a b]"


@pytest.mark.req("R-105", "R-305")
def test_the_exec_form_has_no_shell_and_expands_placeholders(tmp_path: Path) -> None:
    reply = run("printf", tmp_path, args=("[%s]", "$HOME", "a b", "${CLAUDE_PROJECT_DIR}/x", "*"))
    assert stdout(reply) == f"[$HOME][a b][{tmp_path}/x][*]"


@pytest.mark.req("R-106")
def test_programs_are_found_through_the_path_of_the_hook(tmp_path: Path) -> None:
    script(tmp_path / "bin" / "mine", "echo found")
    host = place(tmp_path, settings_env={"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})
    assert stdout(run("mine", tmp_path, host=host)) == "found\n"
    assert stdout(run("mine", tmp_path, host=host, args=())) == "found\n"
    assert stdout(run("python3 -c 'print(1)'", tmp_path)) == "1\n"


@pytest.mark.req("R-107")
def test_the_working_directory_is_the_sessions_with_a_fallback(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert stdout(run("pwd", tmp_path, event("PreToolUse", cwd=str(tmp_path / "sub")))).strip() == f"{tmp_path}/sub"
    assert stdout(run("pwd", tmp_path, event("PreToolUse", cwd=str(tmp_path / "gone")))).strip() == str(tmp_path)


@pytest.mark.req("R-108")
def test_each_hook_has_its_own_process_group_and_session(tmp_path: Path) -> None:
    ids = "import os; print(os.getpgid(os.getppid()), os.getsid(os.getppid()))"
    out = stdout(run(f"'{sys.executable}' -c '{ids}'; echo $$", tmp_path)).split()
    assert out[0] == out[1] == out[2]
    assert int(out[0]) != os.getpgid(0)


@pytest.mark.req("R-092", "R-099")
@pytest.mark.parametrize("reader", ["cat", "cat < /dev/stdin", "cat /dev/stdin"])
def test_stdin_is_one_line_of_json_and_opens_by_path(reader: str, tmp_path: Path) -> None:
    moment = event("PreToolUse", cwd=str(tmp_path))
    raw = stdout(run(reader, tmp_path, moment))
    assert raw == encode_event(moment).decode()
    assert raw.endswith("}\n")
    assert raw.count("\n") == 1
    assert json.loads(raw)["hook_event_name"] == "PreToolUse"


@pytest.mark.req("R-100")
def test_a_hook_that_does_not_read_stdin_is_fine(tmp_path: Path) -> None:
    big = event("PreToolUse", cwd=str(tmp_path), tool_input={"command": "x" * 300_000})
    reply = run("exec true", tmp_path, big)
    assert isinstance(reply, Exited)
    assert reply.status == 0


@pytest.mark.req("R-092")
def test_a_large_event_arrives_whole(tmp_path: Path) -> None:
    big = event("PreToolUse", cwd=str(tmp_path), tool_input={"command": "x" * 3_000_000})
    out = stdout(run("sha256sum", tmp_path, big)).split()[0]
    assert out == hashlib.sha256(encode_event(big)).hexdigest()


@pytest.mark.req("R-110", "R-386")
def test_both_streams_are_captured_separately_and_completely(tmp_path: Path) -> None:
    reply = run("head -c 1000000 /dev/zero | tr '\\0' a; head -c 1000000 /dev/zero | tr '\\0' b >&2", tmp_path)
    assert isinstance(reply, Exited)
    assert (reply.stdout, reply.stderr) == (b"a" * 1_000_000, b"b" * 1_000_000)


@pytest.mark.req("R-113", "R-114", "R-386")
def test_what_cannot_start_comes_back_as_a_reply(tmp_path: Path) -> None:
    missing = run("no-such-program", tmp_path, args=())
    assert isinstance(missing, Failed)
    assert missing.why is Failure.LAUNCH
    assert "no-such-program" in missing.message
    shell = run("no-such-program", tmp_path)
    assert isinstance(shell, Exited)
    assert shell.status == 127
    (tmp_path / "plain.txt").write_text("x")
    assert isinstance(run(str(tmp_path / "plain.txt"), tmp_path, args=()), Failed)


@pytest.mark.req("R-026")
def test_an_empty_command_is_an_error_at_each_run(tmp_path: Path) -> None:
    assert isinstance(run("", tmp_path), Failed)


@pytest.mark.req("R-112")
def test_the_executor_does_not_parse(tmp_path: Path) -> None:
    assert stdout(run("echo '{broken'; exit 0", tmp_path)) == "{broken\n"


@pytest.mark.req("R-386")
@pytest.mark.parametrize("status", [0, 1, 2, 3, 126, 127, 255])
def test_statuses_are_kept(status: int, tmp_path: Path) -> None:
    reply = run(f"exit {status}", tmp_path)
    assert isinstance(reply, Exited)
    assert (reply.status, reply.signal) == (status, None)


def test_death_by_signal_is_told_apart(tmp_path: Path) -> None:
    reply = run("kill -KILL $$", tmp_path)
    assert isinstance(reply, Exited)
    assert (reply.status, reply.signal) == (137, 9)


@pytest.mark.req("R-115")
def test_the_shell_prefix_goes_before_shell_commands_only(tmp_path: Path) -> None:
    prefix = script(tmp_path / "prefix.sh", 'echo "prefixed: $1"; sh -c "$1"')
    host = place(tmp_path, settings_env={"CLAUDE_CODE_SHELL_PREFIX": str(prefix)})
    assert stdout(run("echo 'a b'", tmp_path, host=host)) == "prefixed: echo 'a b'\na b\n"
    assert stdout(run("echo", tmp_path, host=host, args=("x",))) == "x\n"


def environment(reply: Reply) -> dict[str, str]:
    return dict(line.split("=", 1) for line in stdout(reply).split("\0") if "=" in line)


@pytest.mark.req("R-109", "R-304")
def test_the_environment_is_inherited_and_extended(tmp_path: Path) -> None:
    host = place(tmp_path, settings_env={"FROM_SETTINGS": "1"})
    moment = event("PreToolUse", cwd=str(tmp_path), effort={"level": "high"})
    env = environment(run("env -0", tmp_path, moment, host))
    assert env["INHERITED"] == "yes"
    assert env["FROM_SETTINGS"] == "1"
    assert env["CLAUDE_PROJECT_DIR"] == str(tmp_path)
    assert env["CLAUDECODE"] == env["CLAUDE_CODE_CHILD_SESSION"] == "1"
    assert env["CLAUDE_CODE_SESSION_ID"] == moment.session_id
    assert env["CLAUDE_EFFORT"] == "high"
    assert env["CLAUDE_PID"] == str(os.getpid())
    assert not {"CLAUDE_ENV_FILE", "CLAUDE_PLUGIN_ROOT", "CLAUDE_CODE_REMOTE", "OTEL_TRACES_EXPORTER"} & set(env)


def test_hooks_of_a_skill_find_its_folder_as_the_plugin_root(tmp_path: Path) -> None:
    skill = Source(Scope.COMPONENT, f"{tmp_path}/skills/sk/SKILL.md", component=Component("skill", "sk"))
    agent = Source(Scope.COMPONENT, f"{tmp_path}/agents/a.md", component=Component("agent", "a"))
    assert environment(run("env -0", tmp_path, source=skill))["CLAUDE_PLUGIN_ROOT"] == f"{tmp_path}/skills/sk"
    assert "CLAUDE_PLUGIN_ROOT" not in environment(run("env -0", tmp_path, source=agent))


def test_an_option_of_a_plugin_in_shell_text_is_a_failure_that_does_not_block(tmp_path: Path) -> None:
    source = Source(Scope.PLUGIN, plugin=Plugin("p", str(tmp_path), str(tmp_path), (("key", "v"),)))
    reply = run("echo ${user_config.key}", tmp_path, source=source)
    assert isinstance(reply, Failed)
    assert "$CLAUDE_PLUGIN_OPTION_KEY" in reply.message
    assert stdout(run("echo $CLAUDE_PLUGIN_OPTION_KEY", tmp_path, source=source)) == "v\n"


@pytest.mark.req("R-305")
def test_the_project_directory_can_be_used_in_the_command(tmp_path: Path) -> None:
    folder = tmp_path / "a b $(touch injected)"
    script(folder / "hook.sh", "echo ran")
    for command in ('"$CLAUDE_PROJECT_DIR"/hook.sh', '"${CLAUDE_PROJECT_DIR}"/hook.sh'):
        assert stdout(run(command, folder, host=place(folder))) == "ran\n"
    assert not list(tmp_path.rglob("injected"))


@pytest.mark.req("R-306")
def test_plugin_variables_are_set_for_plugin_hooks_only(tmp_path: Path) -> None:
    plugin = Plugin("pl", str(tmp_path / "root"), str(tmp_path / "data"), (("level", "strict"),))
    env = environment(run("env -0", tmp_path, source=Source(Scope.PLUGIN, plugin=plugin)))
    assert (env["CLAUDE_PLUGIN_ROOT"], env["CLAUDE_PLUGIN_DATA"]) == (plugin.root, plugin.data)
    assert env["CLAUDE_PLUGIN_OPTION_LEVEL"] == "strict"


@pytest.mark.req("R-307")
def test_remote_sessions_are_marked(tmp_path: Path) -> None:
    assert environment(run("env -0", tmp_path, host=place(tmp_path, remote=True)))["CLAUDE_CODE_REMOTE"] == "true"


@pytest.mark.req("R-308", "R-309", "R-371")
def test_each_hook_of_four_events_has_its_own_private_env_file(tmp_path: Path) -> None:
    for name in ("SessionStart", "Setup", "CwdChanged", "FileChanged"):
        moment = event(name, cwd=str(tmp_path))
        paths = [environment(run("env -0", tmp_path, moment, index=i))["CLAUDE_ENV_FILE"] for i in (0, 1)]
        assert len(set(paths)) == 2
        assert all(Path(path).stat().st_mode & 0o777 == 0o600 for path in paths)
        assert all(moment.session_id in path for path in paths)


def test_a_hostile_session_id_stays_in_its_folder(tmp_path: Path) -> None:
    moment = event("SessionStart", cwd=str(tmp_path), session_id="../../../../tmp/evil")
    path = environment(run("env -0", tmp_path, moment))["CLAUDE_ENV_FILE"]
    assert Path(path).resolve().is_relative_to(tmp_path / ".claude" / "session-env")


def test_credentials_can_be_scrubbed(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "k", "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "1"}
    assert "ANTHROPIC_API_KEY" not in environment(run("env -0", tmp_path, host=place(tmp_path, env=env)))


@pytest.mark.req("R-369")
def test_no_field_of_an_event_reaches_a_shell(tmp_path: Path) -> None:
    hostile = event("PreToolUse", cwd=str(tmp_path), tool_input={"command": f"$(touch {tmp_path}/x); `touch y`"})
    run("cat > /dev/null; echo $tool_input", tmp_path, hostile)
    assert not (tmp_path / "x").exists()


@pytest.mark.req("R-181", "R-182", "R-186", "R-187")
def test_a_timeout_ends_the_whole_group_and_discards_the_output(tmp_path: Path) -> None:
    answer = '{"decision":"block"}'
    reply = run(f"echo '{answer}'; (trap '' TERM; sleep 3; touch alive) & sleep 30", tmp_path, limit=0.3)
    assert reply == TimedOut(0.3)
    time.sleep(0.2)
    assert not (tmp_path / "alive").exists()


@pytest.mark.req("R-117")
def test_a_child_left_behind_does_not_make_anybody_wait(tmp_path: Path) -> None:
    started = time.monotonic()
    reply = run("sleep 30 & echo done", tmp_path)
    assert stdout(reply) == "done\n"
    assert time.monotonic() - started < 5


@pytest.mark.req("R-112")
@pytest.mark.parametrize("make", [lambda: b"\xff\xfe", lambda: b"\x00nul", lambda: "ü\n".encode()])
def test_bytes_come_before_text(make: Callable[[], bytes], tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(make())
    reply = run("cat data", tmp_path)
    assert isinstance(reply, Exited)
    assert reply.stdout == make()


def test_marks_are_unique_and_handed_down() -> None:
    one, other = mark_prefix({}), mark_prefix({})
    assert one != other
    assert re.fullmatch(r"[0-9a-f]{8}\.", one)
    assert mark_prefix({"HOOKWRIGHT_RUN": "ab.hook-1"}).startswith("ab.hook-1/")
    for odd in ("a b", "a\nb", "x" * 2000, "a=b"):
        assert re.fullmatch(r"[0-9a-f]{8}\.", mark_prefix({"HOOKWRIGHT_RUN": odd}))
