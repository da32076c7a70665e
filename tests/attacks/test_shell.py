"""Commands that looked harmless to a reader of shell text and were not: each ran a program without a question."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from hookwright import Deny, Places, fire_sync
from hookwright.agent.permissions import (
    Behavior,
    Mode,
    Origin,
    Permit,
    Rules,
    ToolCall,
    Workspace,
    decide,
    spoken_rules,
)
from hookwright.agent.tools import TOOLS
from hookwright.matching.conditions import Match, Reading, Undecided, Where, parse_rule
from hookwright.matching.shell import analyse_bash
from hookwright.protocol.outcome import NO_OPINION
from support import event, hooks_for, settings

WHERE = Where(cwd="/w", home="/home/u", anchor="/w")
MODES = [Mode.DEFAULT, Mode.PLAN, Mode.DONT_ASK, Mode.ACCEPT_EDITS]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "project").mkdir()
    return Workspace(root=str(tmp_path / "project"), home=str(tmp_path))


def permits(workspace: Workspace, command: str, mode: Mode, *allow: str) -> bool:
    rules, notes = spoken_rules(allow, Behavior.ALLOW, Origin.CLI)
    assert notes == ()
    call = ToolCall.of(TOOLS["Bash"], {"command": command}, workspace.root)
    return isinstance(decide(call, mode, Rules(rules), NO_OPINION, workspace), Permit)


def sees(rule: str, command: str) -> bool:
    """Return whether a guard with this rule runs, in every reading of a guard."""
    readings = (Reading.CONDITION, Reading.ASK, Reading.DENY)
    answers = [parse_rule(rule).match("Bash", {"command": command}, WHERE, reading) for reading in readings]
    return all(isinstance(answer, Match | Undecided) for answer in answers)


# ── here-documents and ${…} ─────────────────────────────────────────────────

IN_DOCUMENTS = [
    "cat <<E\n`touch PWNED`\nE",
    "cat <<-E\n\t$(touch PWNED)\n\tE",
    "cat <<-E\n\t`touch PWNED`\n\tE\n",
    "cat <<E\n${x:-`touch PWNED`}\nE",
    "cat <<E\n${x:-$(touch PWNED)}\nE",
    "cat <<E\n\"'`touch PWNED`'\"\nE",
    "cat <<E\n\\\\`touch PWNED`\nE",
    "cat <<A <<B\na\nA\n`touch PWNED`\nB",
    "cat <<E; ls\n`touch PWNED`\nE",
    "cat <<E | cat\n`touch PWNED`\nE",
    "cat << E\n$(cat <<F\n`touch PWNED`\nF\n)\nE",
]
IN_BRACES = [
    'echo "${x:-`touch PWNED`}"',
    "echo ${x:-`touch PWNED`}",
    "echo ${x/a/`touch PWNED`}",
    "echo ${x#`touch PWNED`}",
    "echo ${x:=`touch PWNED`}",
    "echo \"${x:-'$(touch PWNED)'}\"",
    'echo "${x:-"`touch PWNED`"}"',
    "echo ${x:`touch PWNED`}",
    "echo ${x[`touch PWNED`]}",
    "echo ${x:-<(touch PWNED)}",
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("command", [*IN_DOCUMENTS, *IN_BRACES])
def test_a_substitution_in_a_document_or_a_brace_needs_a_question(
    workspace: Workspace, command: str, mode: Mode
) -> None:
    assert not permits(workspace, command, mode)
    assert not permits(workspace, command, mode, "Bash(cat *)", "Bash(echo *)")
    assert sees("Bash(touch *)", command)


@pytest.mark.parametrize(
    ("allow", "command"),
    [
        ("Bash(git commit *)", "git commit -F - <<E\n`touch PWNED`\nE"),
        ("Bash(git log *)", "TERM=${x:-`touch PWNED`} git log"),
        ("Bash(git log *)", 'TERM="${x:-`touch PWNED`}" git log'),
    ],
)
def test_an_allow_rule_does_not_cover_a_hidden_substitution(workspace: Workspace, allow: str, command: str) -> None:
    assert not permits(workspace, command, Mode.DEFAULT, allow)


# ── words from elsewhere ────────────────────────────────────────────────────

XARGS = [
    "echo '. -maxdepth 0 -exec touch PWNED ;' | xargs find",
    "echo /home/me/.ssh/id_rsa | xargs cat",
    "echo --output=/home/me/.bashrc | xargs git log -1 --format=tformat:x",
    "echo /home/me/Documents | xargs rm -rf",
    "echo /home/me/x | nohup xargs cat",
    "ls | xargs -n1 cat",
    "ls | xargs",
    "env cat f",
    "sh -c 'cat f'",
    "exec cat f",
    "busybox cat f",
    "find . -exec cat {} +",
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("command", XARGS)
def test_a_runner_needs_a_question(workspace: Workspace, command: str, mode: Mode) -> None:
    assert not permits(workspace, command, mode)
    allowed = ["Bash(echo *)", "Bash(ls *)", "Bash(find *)", "Bash(cat *)", "Bash(git log *)", "Bash(rm *)"]
    assert not permits(workspace, command, mode, *allowed)


@pytest.mark.parametrize(
    ("allow", "command"),
    [
        ("Bash(find *)", "find . ${A:--exec} touch PWNED \\;"),
        ("Bash(find *)", "find . {-delete,-print}"),
        ("Bash(find *)", "find . $'-delete'"),
        ("Bash(find *)", "find . -exe? touch PWNED \\;"),
        ("Bash(find *)", "find . $X"),
        ("Bash(git log *)", "timeout $X git log"),
        ("Bash(git log *)", "nice -n $X git log"),
        ("Bash(git log *)", "xargs git log"),
        ("Bash(git log *)", "noglob git log"),
    ],
)
def test_an_allow_rule_covers_only_words_that_are_known(workspace: Workspace, allow: str, command: str) -> None:
    assert not permits(workspace, command, Mode.DEFAULT, allow)


# ── programs that Bash runs and a guard must see ────────────────────────────

UNSEEN = [
    "rm${IFS}v",
    "rm${IFS}-rf${IFS}v",
    '$"rm" v',
    "r\\\nm v",
    "$'rm'${IFS}v",
    "$'\\x72m' v",
    "exec rm v",
    "exec -a x rm v",
    "eval rm v",
    "eval 'rm v'",
    'eval "$x"',
    "trap 'rm v' EXIT",
    "trap -- 'rm v' 0",
    ". /dev/stdin <<< 'rm v'",
    "source ./file",
    "shopt -s expand_aliases; alias x='rm v'\nx",
    "BASH_ALIASES[x]='rm v'; x",
    "mapfile -C 'rm v' -c 1 <<< a",
    "readarray -tC 'rm v' -c 1 x <<< a",
    "compgen -C 'rm v'",
    "compgen -W '$(rm v)'",
    "hash -p /bin/rm x; x v",
    "test -v 'a[$(rm v)]'",
    "[ -v 'a[$(rm v)]' ]",
    "[[ -v 'a[$(rm v)]' ]]",
    "x='a[$(rm v)]'; (( x ))",
    "x='a[$(rm v)]'; echo $((x))",
    "x='a[$(rm v)]'; [[ x -eq 1 ]]",
    "x='a[$(rm v)]'; let y=x",
    "declare -i y='a[$(rm v)]'",
    "printf -v 'a[$(rm v)]' x",
    "read 'a[$(rm v)]' <<< x",
    "unset 'a[$(rm v)]'",
    "x='$(rm v)'; echo ${x@P}",
    "x='a[$(rm v)]'; echo ${!x}",
    "PS4='$(rm v)'; set -x; ls",
    "PS4='$(rm v)' bash -xc ls",
    "BASH_ENV=f bash -c ls",
    "env BASH_ENV=f bash -c ls",
    "jobs -x rm v",
    "/bin/rm v",
    "/b*/rm v",
    "/bin/r? v",
    "$x v",
    'set -- rm v; "$@"',
    'a=(rm v); "${a[@]}"',
    "HOME=rm; ~ v",
    "{rm,v}",
    "env rm v",
    "env -i A=1 rm v",
    "env -S 'rm v'",
    "sudo rm v",
    "sudo -u bob rm v",
    "sudo -i rm v",
    "sh -c 'rm v'",
    "bash -c 'rm v'",
    "bash -ec 'ls; rm v'",
    "bash --norc -o pipefail -c 'rm v'",
    "bash -c \"bash -c 'rm v'\"",
    "bash -c '\"$@\"' _ rm v",
    "bash <<< 'rm v'",
    "bash <<'E'\nrm v\nE",
    "echo rm v | sh",
    "cat x | bash -s",
    "bash <(echo rm v)",
    "find . -exec rm {} \\;",
    "find . -name x -execdir sh -c 'rm {}' \\;",
    "find . $A rm {} +",
    "ls | xargs rm",
    "ls | xargs -n1 rm",
    "ls | xargs -I{} rm {}",
    "ls | xargs -I % sh -c 'rm %'",
    "ls | xargs --unknown rm",
    "ls | xargs env",
    "echo rm | xargs -I{} {} v",
    "timeout $T rm v",
    "timeout --odd 5 rm v",
    "nice -n 5 env rm v",
    "busybox rm v",
    "setsid rm v",
    "flock f rm v",
    "flock f -c 'rm v'",
    "watch 'rm v'",
    "su -c 'rm v'",
    "script -c 'rm v'",
    "command rm v",
    "coproc rm v",
    "builtin eval 'rm v'",
    "command eval 'rm v'",
]


@pytest.mark.parametrize("command", UNSEEN)
def test_a_guard_sees_the_program(command: str) -> None:
    assert sees("Bash(rm *)", command)


@pytest.mark.parametrize(
    "command",
    [
        "find . -name '*.py'",
        "ls | xargs grep x",
        "sudo apt-get update",
        "env FOO=1 make test",
        "bash -c 'make test'",
        "bash script.sh",
        'git commit -m "rm x"',
        "echo rm x",
        "printf '%s\\n' rm",
        '[ "$x" = y ] && ls',
        "[ -f rm ]",
        '"$HOME/bin/tool" x',
        "echo $((1 + 2))",
        "cat a.txt | head -n 5",
        'for f in a b; do wc -l "$f"; done',
    ],
)
def test_a_guard_is_not_in_doubt_about_ordinary_commands(command: str) -> None:
    assert not sees("Bash(rm *)", command)


# ── texts that stop a reader ────────────────────────────────────────────────

DEEP = [
    f"[[ {'a && ' * 1_800}a ]]; touch PWNED",
    f"[[ {'! ' * 3_000}a ]]; touch PWNED",
    f"[ {'a -a ' * 1_800}a ]; touch PWNED",
    "env " * 2_400 + "touch PWNED",
    "xargs " * 1_600 + "touch PWNED",
    "nohup " * 1_600 + "touch PWNED",
    "find . " + "-exec find . " * 700 + "touch PWNED",
    "eval " * 1_900 + "touch PWNED",
    "echo " + "$(" * 900 + "touch PWNED" + ")" * 900,
    "echo " + "${x:-" * 1_900,
    "echo " + "${x:-" * 1_500 + "}" * 1_500 + "; touch PWNED",
    '"' * 9_001 + "; touch PWNED",
    "{ " * 4_000 + "touch PWNED",
    "if " * 3_000 + "touch PWNED",
    "! " * 4_000 + "touch PWNED",
    "a=" * 4_900 + "; touch PWNED",
    "cat " + "<<E " * 2_000 + "\ntouch PWNED",
    "`" * 9_000 + "touch PWNED",
    "ls " + "*a" * 4_000 + "b; touch PWNED",
    "case x in " + "a|" * 900 + "b) touch PWNED;; esac",
    "(" * 900 + "touch PWNED" + ")" * 900,
]


@pytest.mark.parametrize("command", DEEP, ids=lambda text: text[:20])
def test_a_deep_command_is_in_doubt_within_a_budget(command: str) -> None:
    started = time.process_time()
    analyse_bash(command)
    assert sees("Bash(touch *)", command)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("command", DEEP[:3], ids=lambda text: text[:20])
def test_firing_an_event_with_a_deep_command_runs_the_guard(command: str, tmp_path: Path) -> None:
    guard = {"type": "command", "command": "exit 2", "if": "Bash(touch *)"}
    settings(tmp_path / "home", hooks_for("PreToolUse", guard))
    places = Places(project=str(tmp_path), env={"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")})
    fired = event("PreToolUse", cwd=str(tmp_path), tool_name="Bash", tool_input={"command": command})
    assert isinstance(fire_sync(fired, places).decision, Deny)
