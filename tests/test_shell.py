"""Shell commands: which sub-commands a text comes to, and what a pattern says about them."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookwright.matching.matchers import Match, NoMatch, Undecided
from hookwright.matching.shell import CommandPattern, Wildcard, allowed, analyse_bash, analyse_powershell
from hookwright.matching.shell.bash import _language, _simple
from hookwright.matching.shell.commands import UNKNOWN
from hookwright.matching.shell.tree import read_tree


def cores(command: str) -> list[str]:
    """List the sub-commands without wrappers, assignments and redirections."""
    return [found.spellings[-1] for found in analyse_bash(command).commands]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("", []),
        ("   ", []),
        ("# only a comment", []),
        ("git status", ["git status"]),
        ("  git   status  ", ["git status"]),
        ("a && b || c; d | e |& f & g\nh", list("abcdefgh")),
        ("FOO=1 BAR=2 git status", ["git status"]),
        ("FOO=$(date) git status", ["git status", "date"]),
        ("echo $(git status)", ["echo $(git status)", "git status"]),
        ('echo "$(git clean -f)"', ['echo "$(git clean -f)"', "git clean -f"]),
        ("echo `git status`", ["echo `git status`", "git status"]),
        ("echo '$(git status)'", ["echo '$(git status)'"]),
        ("diff <(git log) >(tee x)", ["diff <(git log) >(tee x)", "git log", "tee x"]),
        ("(cd x; git push)", ["cd x", "git push"]),
        ("{ git push; }", ["git push"]),
        ("f() { git push; }; f", ["git push", "f"]),
        ("function f { git push; }", ["git push"]),
        ("if git diff; then ls; elif pwd; then id; else w; fi", ["git diff", "ls", "pwd", "id", "w"]),
        ("for i in a b; do git push; done", ["git push"]),
        ("while read x; do echo y; done < f", ["read x", "echo y"]),
        ("case x in a) git push;; esac", ["git push"]),
        ("! git push", ["git push"]),
        ("time (git push)", ["time", "git push"]),
        ("coproc git push", ["git push"]),
        ("export A=$(git x)", ["export A=$(git x)", "git x"]),
        ("A=1; B=2 C=3", ["A=1", "B=2 C=3"]),
        ("[ -f x ] && [[ -d y ]]", ["[ -f x ]", "[[ -d y ]]"]),
        ("cat <<EOF\n$(git push)\nEOF", ["cat", "git push"]),
        ("cat <<'EOF'\n$(git push)\nEOF", ["cat"]),
        ("cat <<EOF | grep x\nhi\nEOF", ["cat", "grep x"]),
        ("git status > out 2>&1", ["git status"]),
        ("git > out push --force 2>&1 x", ["git push --force x"]),
        ("2> log git push", ["git push"]),
        ("git \\\n  push", ["git push"]),
        ("g\\it \"push\" 'a b'", ["git push 'a b'"]),
        ("bash -c 'git status'", ["bash -c 'git status'"]),
        ("git push # then rest", ["git push"]),
        ("echo {😀} && git commit -m 'é' naïve", ["echo {😀}", "git commit -m 'é' naïve"]),
    ],
)
def test_sub_commands(command: str, expected: list[str]) -> None:
    assert cores(command) == expected
    assert analyse_bash(command).problem is None


@pytest.mark.parametrize(
    ("command", "core"),
    [
        ("timeout 5 git push", "git push"),
        ("timeout -k 5 --signal=KILL 30 git push", "git push"),
        ("time git push", "git push"),
        ("time -p git push", "git push"),
        ("nice git push", "git push"),
        ("nice -n 5 git push", "git push"),
        ("nice -19 git push", "git push"),
        ("nohup git push", "git push"),
        ("stdbuf -oL -e 0 git push", "git push"),
        ("command git push", "git push"),
        ("command -p git push", "git push"),
        ("builtin cd x", "cd x"),
        ("timeout $X git push", "timeout $X git push"),
        ("noglob git push", "noglob git push"),
        ("xargs git push", "xargs git push"),
        ("nohup nice -n 5 timeout 9 git push", "git push"),
        ("command -v git", "command -v git"),
        ("xargs -n1 git push", "xargs -n1 git push"),
        ("timeout --odd 5 git push", "timeout --odd 5 git push"),
        ("npx git push", "npx git push"),
        ("env A=1 git push", "env A=1 git push"),
        ("sudo git push", "sudo git push"),
        ("timeout 5", "timeout 5"),
        ("nohup", "nohup"),
    ],
)
def test_wrappers_are_taken_off(command: str, core: str) -> None:
    assert cores(command) == [core]


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("npm test &&", "cannot be parsed"),
        ("git push)", "cannot be parsed"),
        ("echo $(", "cannot be parsed"),
        ("if true; then", "cannot be parsed"),
        ("time { ls; }", "keyword"),
        ("coproc X { git push; }", "keyword"),
        ("then ls", "keyword"),
        ("echo ==\nrm -rf x", "words of a command"),
        ("FOO=1 test a =~ \n\nrm -rf x", "words of a command"),
        ("echo `echo \\`ls\\``", "backticks"),
        ("a" * 10_001, "10,000 characters"),
        ("ls\0", "NUL"),
        ("a|" * 1_001 + "a", "1,000 pipes"),
        ("(" * 1_001, "1,000 pipes"),
    ],
)
def test_what_cannot_be_read_is_a_problem(command: str, problem: str) -> None:
    analysis = analyse_bash(command)
    assert analysis.problem is not None
    assert problem in analysis.problem


def test_a_line_that_goes_on_is_one_command() -> None:
    analysis = analyse_bash("echo == \\\n  a \\\n  b\nls")
    assert analysis.problem is None
    assert [command.core[0].raw for command in analysis.commands] == ["echo", "ls"]


@pytest.mark.parametrize(
    ("command", "expands"),
    [
        ("ls", False),
        ("echo '$HOME'", False),
        ("echo \\$HOME", False),
        ("echo $", False),
        ("echo <(ls)", False),
        ("echo $HOME", True),
        ('echo "${HOME:-x}"', True),
        ("echo $(date)", True),
        ("echo `date`", True),
        ("echo $((1 + 2))", True),
        ("X=$HOME", True),
        ("cat <<EOF\n$HOME\nEOF", True),
        ("cat <<'EOF'\n$HOME\nEOF", False),
    ],
)
def test_expansions_are_seen(command: str, expands: bool) -> None:
    assert analyse_bash(command).expands is expands


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("git push", ["git"]),
        ("'git' push", ["git"]),
        ("$CMD push", [None]),
        ("g$X push", [None]),
        ("/bin/g?t push", [None]),
        ("$'\\x67it' push", [None]),
        ("FOO=$X; [ $X ]; export Y=$X", ["FOO=", "[", "export"]),
    ],
)
def test_programs_that_only_the_shell_knows_have_no_name(command: str, names: list[str | None]) -> None:
    assert [found.name for found in analyse_bash(command).commands] == names


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls > out", [(">", "out")]),
        ("ls >> out 2> err < in", [(">>", "out"), (">", "err"), ("<", "in")]),
        ("ls &> log", [("&>", "log")]),
        ("ls 2>&1 >&- <&3", []),
        ("cat <<EOF > out\nx\nEOF", [(">", "out")]),
        ("cat <<< x", []),
        ("(ls) > out", [(">", "out")]),
    ],
)
def test_redirections_to_files_are_listed(command: str, expected: list[tuple[str, str]]) -> None:
    found = analyse_bash(command).redirections
    assert [(redirection.operator, redirection.target.raw) for redirection in found] == expected
    assert [redirection.writes for redirection in found] == [">" in operator for operator, _ in expected]


SIMPLE_WORDS = st.sampled_from(
    ["git", "push", "--force", "-n", "5", "FOO=1", "timeout", "nice", "xargs", "command", "-v", "time", "a/b.c", "x=y"]
)


@given(st.lists(SIMPLE_WORDS, min_size=1, max_size=8), st.data())
def test_the_short_way_and_the_parser_agree(words: list[str], data: st.DataObject) -> None:
    gaps = st.text(" ", min_size=1, max_size=2)
    command = "".join(word + data.draw(gaps) for word in words)
    simple = _simple(command)
    parsed = read_tree(_language(), command)
    if simple is None:
        assert parsed.problem is not None or all(word in ("FOO=1", "x=y") for word in words)
        return
    assert simple == parsed


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.text(max_size=60), st.text("ag $(){}[]|&;<>'\"`\\\n#!=*~", max_size=40)))
def test_any_text_is_analysed(command: str) -> None:
    for analysis in (analyse_bash(command), analyse_powershell(command)):
        assert all(found.core for found in analysis.commands)
        assert all(isinstance(text, str) for found in analysis.commands for text in (found.shape, *found.spellings))


def test_without_the_parser_only_simple_commands_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    analyse_bash.cache_clear()
    _language.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    try:
        assert cores("FOO=1 timeout 5 git push --force") == ["git push --force"]
        problem = analyse_bash("git push && ls").problem
        assert problem is not None
        assert "pip install 'hookwright[rules]'" in problem
    finally:
        monkeypatch.undo()
        analyse_bash.cache_clear()
        _language.cache_clear()
    assert cores("git push && ls") == ["git push", "ls"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("", []),
        ("Remove-Item x", ["remove-item x"]),
        (
            "RM -Recurse 'a b'; gci | % { del x }",
            ["remove-item -recurse 'a b'", "get-childitem", "foreach-object", "remove-item x"],
        ),
        ('& "git" push', ["git push"]),
        ("git push && echo `\n x || dir", ["git push", "write-output x", "get-childitem"]),
        ("Get-Item x # rm y", ["get-item x"]),
        ("<# rm y #> ls", ["get-childitem"]),
        ("echo @'\nrm x\n'@; ls", ["write-output @'\nrm x\n'@", "get-childitem"]),
        ("echo 'it''s; rm x'", ["write-output 'it''s; rm x'"]),
    ],
)
def test_powershell_sub_commands(command: str, expected: list[str]) -> None:
    analysis = analyse_powershell(command)
    assert [found.spellings[-1] for found in analysis.commands] == expected
    assert (analysis.problem, analysis.expands) == (None, False)


@pytest.mark.parametrize(
    ("command", "problem"),
    [("echo 'a", "open quote"), ('echo "$(rm x)"', "inside a string"), ("ls\0", "NUL"), ("a" * 10_001, "longer")],
)
def test_powershell_that_cannot_be_read_is_a_problem(command: str, problem: str) -> None:
    assert problem in str(analyse_powershell(command).problem)


def test_powershell_variables_expand() -> None:
    analysis = analyse_powershell("rm $x; echo @args 'a$b' `$c")
    assert analysis.expands
    assert [UNKNOWN in found.shape for found in analysis.commands] == [True, True]
    assert not analyse_powershell("echo 'a$b' `$c").expands


@pytest.mark.parametrize(
    ("pattern", "fitting", "other"),
    [
        ("npm run build", ["npm run build"], ["npm run build --watch", "npm run"]),
        ("npm run *", ["npm run build", "npm run test --watch", "npm run"], ["npm install", "npm running"]),
        ("git log * main", ["git log -5 main"], ["git log main", "git push origin main"]),
        ("git * main", ["git merge main", "git push origin main"], ["git log"]),
        ("* --version", ["node --version", "bash -c 'echo hi' --version"], ["node -v"]),
        ("ls *", ["ls -la", "ls"], ["lsof"]),
        ("ls:*", ["ls -la", "ls"], ["lsof", "ls:x"]),
        ("ls*", ["ls -la", "lsof", "ls"], ["als"]),
        ("* --help *", ["npm --help x"], ["npm --help"]),
        ("git:* push", ["git:x push"], ["git push"]),
        ("*git*", ["git", "a git b"], ["gi t"]),
        ("a*b*a", ["aba", "a\nbxa"], ["ab", "aa"]),
    ],
)
def test_patterns(pattern: str, fitting: list[str], other: list[str]) -> None:
    compiled = CommandPattern(pattern)
    assert [text for text in (*fitting, *other) if compiled.matches(text)] == fitting


@given(st.text("ab*", max_size=8), st.text("ab", max_size=10))
def test_a_shape_without_unknown_parts_may_match_exactly_when_it_matches(pattern: str, text: str) -> None:
    assert Wildcard(pattern).may_match(text) is Wildcard(pattern).matches(text)


@given(st.text("ab*", max_size=6), st.lists(st.text("ab", max_size=3), min_size=2, max_size=3), st.data())
def test_what_matches_with_some_text_may_match_without_it(pattern: str, parts: list[str], data: st.DataObject) -> None:
    gaps = [data.draw(st.text("ab", max_size=3)) for _ in parts[1:]]
    text = parts[0] + "".join(gap + part for gap, part in zip(gaps, parts[1:], strict=True))
    if Wildcard(pattern).matches(text):
        assert Wildcard(pattern).may_match(UNKNOWN.join(parts))


@pytest.mark.parametrize(
    ("pattern", "shape", "answer"),
    [
        ("git push", f"git {UNKNOWN}", True),
        ("git push", f"ls {UNKNOWN}", False),
        ("git push", f"{UNKNOWN}/bin/git x", False),
        ("git *", f"{UNKNOWN} x", True),
        ("*", UNKNOWN, True),
        ("ab", f"a{UNKNOWN}b", True),
        ("ab", f"a{UNKNOWN}a", False),
    ],
)
def test_unknown_parts(pattern: str, shape: str, answer: bool) -> None:
    assert Wildcard(pattern).may_match(shape) is answer


@pytest.mark.parametrize(
    ("pattern", "command", "answer"),
    [
        ("git *", "$CMD push", True),
        ("git *", "g$X push", True),
        ("git *", "$HOME/bin/tool x", False),
        ("git *", "$HOME/bin/git x", True),
        ("git *", "$X/bin/tool x", True),
        ("git *", '"$X/bin/tool" x', False),
        ("git *", '"$X/bin/git" x', True),
        ("git *", "HOME=git; $HOME/bin/tool x", True),
        ("git *", "/bin/g?t x", True),
        ("git *", "/b*/git x", True),
        ("git *", "/b*/rm x", False),
        ("git *", "git${IFS}x", True),
        ("git *", "{1..3} x", True),
        ("git *", "~ x", True),
        ("git *", "~/bin/tool x", False),
        ("git push *", "git${IFS}push", True),
        ("git push *", "/bin/g*t push", True),
        ("git *", "g?t x", True),
        ("git *", "echo $X", False),
        ("git push *", "git $X", True),
        ("git push *", "git push$X", True),
        ("git push", "git push $X", True),
        ("git push *", "git pull $X", False),
        ("git push *", "git push origin", False),
    ],
)
def test_commands_that_could_turn_out_to_match(pattern: str, command: str, answer: bool) -> None:
    *_, found = analyse_bash(command).commands
    assert CommandPattern(pattern).may_match(found) is answer


ALLOW = {
    ("git *", "git status"): Match,
    ("git *", "git status && git log"): Match,
    ("git *", "git status && ls"): NoMatch,
    ("git *", "echo $(git status)"): NoMatch,
    ("git *", "git log $X"): Match,
    ("git log *", "git log $X"): Undecided,
    ("git log *", "git log -5"): Match,
    ("git *", "$X log"): Undecided,
    ("git *", "git log > out"): Undecided,
    ("git *", "git log 2>&1 > /dev/null"): Match,
    ("git *", "(git log) > out"): Undecided,
    ("git log > out", "git log > out"): Match,
    ("git log", "git log > out"): Undecided,
    ("npm test *", "NODE_ENV=test npm test"): Match,
    ("npm test *", "LD_PRELOAD=x npm test"): Undecided,
    ("npm test *", "PATH=x; npm test"): NoMatch,
    ("npm test *", "timeout 30 npm test"): Match,
    ("timeout *", "timeout 30 rm x"): NoMatch,
    ("command -v *", "command -v git"): Match,
    ("watch *", "watch rm x"): NoMatch,
    ("watch rm x", "watch rm x"): Match,
    ("find *", "find . -name x"): Match,
    ("find *", "find . -delete"): NoMatch,
    ("find *", "find . -exec rm {} +"): NoMatch,
    ("npm *", "npm test &&"): Undecided,
    ("git *", ""): NoMatch,
    ("git *", "git log | tee out"): NoMatch,
    ("git *", 'git commit -m "a && b"'): Match,
    ("git *", "git() { rm x; }; git log"): NoMatch,
}


@pytest.mark.parametrize(("pattern", "command"), ALLOW)
def test_allow_rules_must_be_sure_of_every_sub_command(pattern: str, command: str) -> None:
    answer = allowed([CommandPattern(pattern)], analyse_bash(command))
    assert type(answer) is ALLOW[pattern, command]


def test_each_sub_command_may_be_allowed_by_another_rule() -> None:
    patterns = [CommandPattern("git *"), CommandPattern("npm test")]
    assert allowed(patterns, analyse_bash("git pull && npm test")) == Match()
    assert allowed(patterns, analyse_bash("git pull && npm install")) == NoMatch()
    assert allowed([], analyse_bash("git pull")) == NoMatch()
