"""The readers: what shell, Python and JavaScript programs do, in one small language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hookwright.lint.guards import answers, decision, exits, program_refusals
from hookwright.lint.programs.blocks import points
from hookwright.lint.programs.ir import Asks, Branch, Call, Eat, Hole, Object, Program, Say, Stream, Text, text
from hookwright.lint.programs.ir import Test as Asked
from hookwright.lint.programs.javascript.reader import read_javascript
from hookwright.lint.programs.python.reader import read_python
from hookwright.lint.programs.shell import jq
from hookwright.lint.programs.shell.reader import read_shell
from hookwright.lint.programs.template import NotJson, Several, plain, read_template

READERS: dict[str, Callable[[str], Program]] = {"sh": read_shell, "py": read_python, "js": read_javascript}


def read(language: str, source: str) -> Program:
    return READERS[language](source)


def codes(program: Program) -> list[int | None]:
    return [leave.code for _, leave in exits(program)]


def asked_by(program: Program) -> list[Asked]:
    found = [point.stmt for point in points(program.body) if isinstance(point.stmt, Branch)]
    return [atom for branch in found for arm in branch.arms for atom, _ in arm.test.atoms()]


# ── how programs leave ──────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("sh", "exit 2", [2]),
        ("sh", "exit", [None]),
        ("sh", 'exit "$code"', [None]),
        ("sh", "code=2\nexit $code", [2]),
        ("sh", "exit 258", [2]),
        ("sh", "if x; then exit 2; else exit 1; fi", [2, 1]),
        ("sh", "deny() { exit 2; }\ndeny", [2]),
        ("sh", "deny() { exit 2; }\nx && deny || exit 0", [2, 0]),
        ("sh", "case $x in a) exit 1;; *) exit 2;; esac", [1, 2]),
        ("sh", "( exit 2 )\nexit 0", [0]),
        ("sh", "( exit 2 )", [2]),
        ("sh", "x=$(exit 2)\necho hi", []),
        ("sh", "a | while read -r l; do exit 2; done\nexit 0", [0]),
        ("sh", "python3 -c 'import sys; sys.exit(2)'", [2]),
        ("sh", "set -e\n( exit 2 )\nexit 0", [2, 0]),
        ("sh", "exec python3 x.py", [None]),
        ("py", "import sys\nsys.exit(2)", [2]),
        ("py", "import sys\nsys.exit()", [0]),
        ("py", "import sys\nsys.exit('no')", [1]),
        ("py", "raise SystemExit(2)", [2]),
        ("py", "from sys import exit\nexit(2)", [2]),
        ("py", "import sys as s\ns.exit(2)", [2]),
        ("py", "import os\nos._exit(2)", [2]),
        ("py", "import sys\ndef main():\n    if x:\n        return 2\n    return 0\nsys.exit(main())", [2, 0]),
        ("py", "import sys\ndef main():\n    print()\nsys.exit(main())", [0]),
        ("py", "import sys\nCODE = 2\nsys.exit(CODE)", [2]),
        ("py", "import asyncio, sys\nasync def main():\n    sys.exit(2)\nasyncio.run(main())", [2]),
        ("py", "import sys\ndef f():\n    f()\nf()\nsys.exit(2)", [2]),
        ("js", "process.exit(2)", [2]),
        ("js", "process.exit()", [0]),
        ("js", "process.exitCode = 2;", [2]),
        ("js", "function deny() { process.exit(2); }\ndeny();", [2]),
        ("js", "const deny = () => process.exit(2);\nif (x) deny();", [2]),
        ("js", "process.stdin.on('end', () => { process.exit(2); });", [2]),
        ("js", "(async () => { process.exit(2); })();", [2]),
        ("js", "main().catch(() => process.exit(1));\nasync function main() { process.exit(2); }", [2, 1]),
        ("js", "bad && process.exit(2);", [2]),
    ],
)
def test_the_status_of_every_way_out_is_known(language: str, source: str, expected: list[int | None]) -> None:
    assert codes(read(language, source)) == expected


# ── what they print ─────────────────────────────────────────────────────────

DENY = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}
INNER = '{"hookEventName": "PreToolUse", "permissionDecision": "deny"}'
JSON = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}'


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("sh", f"echo '{JSON}'"),
        ("sh", f"printf '%s\\n' '{JSON}'"),
        ("sh", f"cat <<EOF\n{JSON}\nEOF"),
        ("sh", f"cat <<'EOF'\n{JSON}\nEOF"),
        ("sh", f"answer='{JSON}'\necho \"$answer\""),
        ("sh", f"f() {{ echo '{JSON}'; }}\nf"),
        ("sh", 'jq -n \'{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "deny"}}\''),
        ("sh", "jq -n --arg d deny '{hookSpecificOutput: {hookEventName: \"PreToolUse\", permissionDecision: $d}}'"),
        ("sh", f"echo '{JSON}' | cat"),
        ("sh", f"python3 -c 'import json; print(json.dumps({JSON}))'"),
        ("py", f"import json\nprint(json.dumps({JSON}))"),
        ("py", f"import json, sys\njson.dump({JSON}, sys.stdout)"),
        ("py", f"import json, sys\nsys.stdout.write(json.dumps({JSON}))"),
        ("py", f"import json\nout = {{}}\nout['hookSpecificOutput'] = {INNER}\nprint(json.dumps(out))"),
        (
            "py",
            "import json\ndef deny(d):\n    return {'hookSpecificOutput': {'hookEventName': 'PreToolUse', "
            "'permissionDecision': d}}\nprint(json.dumps(deny('deny')))",
        ),
        ("py", f"print('''{JSON}''')"),
        ("js", f"console.log(JSON.stringify({JSON}))"),
        ("js", f"process.stdout.write(JSON.stringify({JSON}))"),
        (
            "js",
            f"const out = {{}};\nout.hookSpecificOutput = {JSON}.hookSpecificOutput;\nconsole.log(JSON.stringify(out))",
        ),
        ("js", f"const deny = () => ({JSON});\nconsole.log(JSON.stringify(deny()))"),
        ("js", f"console.log('{JSON}')"),
    ],
)
def test_an_answer_is_read_however_it_is_printed(language: str, source: str) -> None:
    (answer,) = answers(read(language, source))
    assert answer.object is not None
    assert plain(answer.object) == DENY
    assert decision(answer) == "deny"
    assert len(program_refusals(read(language, source))) == 1


@pytest.mark.parametrize(
    ("source", "stream"),
    [
        ("echo hi", Stream.OUT),
        ("echo hi >&2", Stream.ERR),
        ("echo hi 1>&2", Stream.ERR),
        ("echo hi >/dev/stderr", Stream.ERR),
        ("{ echo hi; } >&2", Stream.ERR),
        ("echo hi >> log", Stream.AWAY),
        ("echo hi >/dev/null 2>&1", Stream.AWAY),
        ("x=$(echo hi)", Stream.AWAY),
        ("echo hi | grep -q x", Stream.AWAY),
        ("f() { echo hi; }\nf >&2", Stream.ERR),
    ],
)
def test_streams_are_followed(source: str, stream: Stream) -> None:
    said = [point.stmt for point in points(read_shell(source).body) if isinstance(point.stmt, Say)]
    assert said[0].stream is stream


# ── what they read ──────────────────────────────────────────────────────────

COMMAND = frozenset({"event.tool_input.command"})


SHELL_READS = (
    'c=$(jq -r .tool_input.command)\nif [ "$c" = x ]; then :; fi',
    "in=$(cat)\nc=$(echo \"$in\" | jq -r '.tool_input.command // empty')\n[[ $c == x ]] && :",
    'in=$(cat)\nc=$(jq -r \'.tool_input["command"]\' <<<"$in")\ntest "$c" = x && :',
    "in=$(cat)\nc=$(printf '%s' \"$in\" | jq -r '.tool_input | .command')\n[ \"$c\" = x ] || :",
    'jq -r .tool_input.command | while read -r c; do [ "$c" = x ] && :; done',
)
PYTHON_READS = (
    "e = json.load(sys.stdin)\nif e['tool_input']['command'] == 'x':\n    pass",
    "c = json.load(sys.stdin).get('tool_input', {}).get('command', '')\nif c == 'x':\n    pass",
    "e = json.loads(sys.stdin.read())\nt = e['tool_input']\nif t['command'].strip() == 'x':\n    pass",
    "def f(c):\n    return c == 'x'\nif f(json.load(sys.stdin)['tool_input']['command']):\n    pass",
    "with open(0) as file:\n    c = json.loads(file.read())['tool_input']['command']\nif 'x' == c:\n    pass",
)
NODE_READS = (
    "const e = JSON.parse(require('fs').readFileSync(0));\nif (e.tool_input.command === 'x') {}",
    "const { tool_input: { command } } = JSON.parse(fs.readFileSync(0, 'utf8'));\nif (command === 'x') {}",
    "let d = '';\nprocess.stdin.on('data', c => { d += c; });\nprocess.stdin.on('end', () => {\n"
    "  const e = JSON.parse(d);\n  if (e.tool_input?.command === 'x') {}\n});",
    "async function main() {\n  let d = '';\n  for await (const c of process.stdin) d += c;\n"
    "  if (JSON.parse(d).tool_input.command === 'x') {}\n}\nmain();",
)
READS = [
    *(("sh", source) for source in SHELL_READS),
    *(("py", f"import json, sys\n{source}") for source in PYTHON_READS),
    *(("js", source) for source in NODE_READS),
]


@pytest.mark.parametrize(("language", "source"), READS)
def test_a_field_of_the_event_is_followed_to_its_test(language: str, source: str) -> None:
    asked = [test for test in asked_by(read(language, source)) if test.kind is Asks.EQUALS]
    assert [(test.origins, test.patterns) for test in asked] == [(COMMAND, ("x",))]


@pytest.mark.parametrize(
    ("language", "source", "kind", "patterns"),
    [
        ("sh", 'grep -q "a b" <<<"$c"', Asks.REGEX, ("a b",)),
        ("sh", 'echo "$c" | grep -qF "a b"', Asks.CONTAINS, ("a b",)),
        ("sh", 'echo "$c" | grep -q -e x', Asks.REGEX, ("x",)),
        ("sh", '[[ "$c" == *"a b"* ]]', Asks.GLOB, ("*a b*",)),
        ("sh", '[[ "$c" =~ ^a ]]', Asks.REGEX, ("^a",)),
        ("py", '"a b" in c', Asks.CONTAINS, ("a b",)),
        ("py", "c.startswith(('a', 'b'))", Asks.PREFIX, ("a", "b")),
        ("py", "re.search(r'a\\s', c)", Asks.REGEX, ("a\\s",)),
        ("py", "re.match('a', c)", Asks.REGEX, ("^a",)),
        ("py", "any(p in c for p in ['a b', 'c d'])", Asks.CONTAINS, ("a b", "c d")),
        ("py", "PATTERN.search(c)", Asks.REGEX, ("q",)),
        ("py", "c in {'a', 'b'}", Asks.EQUALS, None),
        ("js", "/a b/.test(c)", Asks.REGEX, ("a b",)),
        ("js", "c.includes('a b')", Asks.CONTAINS, ("a b",)),
        ("js", "['a', 'b'].some(p => c.startsWith(p))", Asks.PREFIX, ("a", "b")),
        ("js", "c.match(/x/)", Asks.REGEX, ("x",)),
    ],
)
def test_conditions_are_understood(language: str, source: str, kind: Asks, patterns: tuple[str, ...] | None) -> None:
    whole = {
        "sh": f"c=$(jq -r .tool_input.command)\nif {source}; then :; fi\n",
        "py": f"import json, re, sys\nPATTERN = re.compile('q')\nc = json.load(sys.stdin)['tool_input']['command']\n"
        f"if {source}:\n    pass\n",
        "js": f"const c = JSON.parse(fs.readFileSync(0)).tool_input.command;\nif ({source}) {{}}\n",
    }[language]
    (asked,) = asked_by(read(language, whole))
    assert (asked.kind, asked.origins) == (kind, COMMAND)
    assert patterns is None or asked.patterns == patterns


@pytest.mark.parametrize(
    ("language", "source", "names"),
    [
        ("sh", 'echo "$A ${B} ${C:-x} $1 $?"', ["A", "B", "C"]),
        ("sh", "A=1\necho $A", []),
        ("py", "import os\nos.environ['A']\nos.environ.get('B')\nos.getenv('C', 'x')", ["A", "B", "C"]),
        ("js", "process.env.A; process.env['B'];", ["A", "B"]),
    ],
)
def test_variables_of_the_environment_are_noted(language: str, source: str, names: list[str]) -> None:
    assert [read.name for read in read(language, source).env] == names


@pytest.mark.parametrize(
    ("source", "eaters"),
    [
        ("in=$(cat)\necho $in", ["cat"]),
        ("jq .x\njq .y", ["jq", "jq"]),
        ("jq .x file", []),
        ('jq .x <<<"$in"', []),
        ("jq -n '{}'", []),
        ("echo x | jq .y", []),
        ("python3 -c 'import json,sys; json.load(sys.stdin)'", ["Python"]),
        ("read -r line", []),
    ],
)
def test_readers_of_stdin_are_noted(source: str, eaters: list[str]) -> None:
    found = [point.stmt.by for point in points(read_shell(source).body) if isinstance(point.stmt, Eat)]
    assert found == eaters


def test_started_programs_are_noted_with_their_words() -> None:
    shell = read_shell('timeout 5 curl -s "$URL" && FOO=1 command make -s test')
    python = read_python("import subprocess\nsubprocess.run(['make', 'x'])\nsubprocess.run(f'lint {p}', shell=True)")
    node = read_javascript("execSync(`lint ${p}`); spawnSync('make', ['x']);")
    for program, expected in (
        (shell, [["curl", "-s", " "], ["make", "-s", "test"]]),
        (python, [["make", "x"], ["lint  "]]),
        (node, [["lint  "], ["make", "x"]]),
    ):
        calls = [point.stmt for point in points(program.body) if isinstance(point.stmt, Call)]
        assert [[word.known for word in call.words] for call in calls] == expected


# ── jq and templates ────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("source", "paths"),
    [
        (".tool_input.command", [("tool_input", "command")]),
        (".a // .b // empty", [("a",), ("b",)]),
        ('.a["b"].c?', [("a", "b", "c")]),
        (".a | .b", [("a",), ("a", "b")]),
        (".a | {x: .b}", [("a",)]),
        ("[.a, .b] | @tsv", [("a",), ("b",)]),
        ("{x: .a.b}", [("a", "b")]),
        ("length", []),
    ],
)
def test_the_fields_of_a_filter_are_found(source: str, paths: list[tuple[str, ...]]) -> None:
    assert [found.path for found in jq.field_paths(source)] == paths


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ('{a: "x", "b": 1, c: [true, null]}', {"a": "x", "b": 1, "c": [True, None]}),
        ("{a: $v}", {"a": "given"}),
        ("{$v}", {"v": "given"}),
        ('{a: "no \\($v)!"}', {"a": "no given!"}),
        ("{a: .b}", {"a": "…"}),
        ("{a: (.b | length), c: 1}", {"a": "…", "c": 1}),
    ],
)
def test_the_object_of_a_filter_is_built(source: str, value: Any) -> None:
    built = jq.build(source, {"v": text("given")})
    assert isinstance(built, Object)
    assert plain(built) == value


@pytest.mark.parametrize(
    ("parts", "value"),
    [
        (('{"a": "x"}',), {"a": "x"}),
        (('{"a": "', Hole(), '"}'), {"a": "…"}),
        (('{"a": ', Hole(), ', "b": [1, -2.5e3, false]}'), {"a": "…", "b": [1, -2500.0, False]}),
        (('{"a": "\\u00e9\\n"}',), {"a": "é\n"}),
    ],
)
def test_json_with_holes_is_read(parts: tuple[Any, ...], value: Any) -> None:
    found = read_template(Text(parts))
    assert isinstance(found, Object)
    assert plain(found) == value


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('{"a": 1,}', NotJson(8)),
        ('{"a" 1}', NotJson(5)),
        ('{"a": "x', NotJson(8)),
        ("{a: 1}", NotJson(1)),
        ('{"a": tru}', NotJson(6)),
    ],
)
def test_json_that_is_none_tells_where(source: str, expected: NotJson) -> None:
    assert read_template(text(source)) == expected


def test_two_documents_tell_where_the_second_begins() -> None:
    found = read_template(text('{"a": 1}\n{"b": 2}'))
    assert isinstance(found, Several)
    assert found.offset == 9
