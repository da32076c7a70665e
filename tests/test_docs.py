"""The documentation is true: pages are up to date, links lead somewhere, and what they show is run."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import coverage_map
from docpages import (
    HAND_WRITTEN,
    PAGES,
    ROOT,
    Block,
    World,
    anchors,
    blocks,
    headings,
    links,
    projects,
    run_block,
    section,
    steps,
    without_blocks,
)
from hookwright.cli import COMMANDS
from hookwright.cli import main as hookwright
from hookwright.config import Places
from hookwright.config.trust import TrustPolicy
from hookwright.protocol.diagnostics import CODES
from hookwright.protocol.events import CATALOGUE, UNSENT
from hookwright.protocol.wire import camel
from hookwright.visibility import Reader
from replay.isolated import working_level

KIT = ROOT / "tests" / "conformance" / "kit"
GUIDE = (ROOT / "docs" / "guide.md").read_text()
README = (ROOT / "README.md").read_text()


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def json_of(text: str) -> dict[str, object]:
    """Parse one value; with JSON Lines, check each line."""
    try:
        return dict(json.loads(text))
    except json.JSONDecodeError:
        for line in text.splitlines():
            json.loads(line)
        return {}


def read(name: str) -> str:
    return (ROOT / name).read_text()


def rows(text: str) -> dict[str, list[str]]:
    """Read the tables of a text: first cell without its link → the other cells."""
    found = {}
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith("| ---"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            found[re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cells[0]).strip("`")] = cells[1:]
    return found


# ── what pages show is what happens ─────────────────────────────────────────

#: The page's part on anti-patterns has its own test below, and one run is enough.
PARTS = [
    (path, number, part)
    for path in HAND_WRITTEN
    for number, part in enumerate(projects(path.read_text()))
    if any(block.runnable for block in part) and not any("HK703" in block.text for block in part)
]


@pytest.mark.parametrize("part", [pytest.param(part, id=f"{name_of(path)}-{n}") for path, n, part in PARTS])
def test_what_a_page_shows_is_what_happens(part: list[Block], tmp_path: Path) -> None:
    if shutil.which("jq") is None and any("jq " in block.text for block in part):
        pytest.skip("needs jq, which is not installed")
    for framework in ("pydantic_ai", "agent_framework", "langchain", "google.adk", "agents", "strands"):
        if any(re.search(rf"^from {framework}[. ]", block.text, re.MULTILINE) for block in part):
            pytest.importorskip(framework)
    if any("dask " in block.text and block.runnable for block in part):
        pytest.importorskip("distributed")
    if any("hookwright replay " in block.text for block in part) and working_level() is None:
        pytest.skip("hooks cannot be isolated on this machine")
    world = World(tmp_path)
    for block in part:
        run_block(block, world)


def test_the_runner_of_pages_notices_a_lie(tmp_path: Path) -> None:
    (block,) = blocks("```console\n$ echo one; echo two\none\n…ree\n```\n")
    with pytest.raises(AssertionError, match="the page says"):
        run_block(block, World(tmp_path))


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_json_in_pages_is_json_and_settings_load_without_a_word(path: Path, tmp_path: Path) -> None:
    """Settings that show a mistake on purpose are followed by the message about it, which the page's run checks."""
    page = path.read_text()
    for block in blocks(page):
        if block.language != "json":
            continue
        value = json_of(block.text)
        if "hooks" not in value or block.file == ".claude/settings.local.json":
            continue
        loaded = Places(
            project=str(tmp_path), env={}, home=str(tmp_path), settings=(block.text,), trust=TrustPolicy.EVERYTHING
        ).load()
        assert [str(problem) for problem in loaded.diagnostics] == [], f"line {block.line}"


@pytest.mark.parametrize("path", HAND_WRITTEN, ids=name_of)
def test_python_in_pages_compiles(path: Path) -> None:
    for block in blocks(path.read_text()):
        if block.language == "python":
            ast.parse(block.text)


@pytest.mark.parametrize("path", HAND_WRITTEN, ids=name_of)
def test_shell_scripts_in_pages_have_no_syntax_error_and_no_bare_variable(path: Path) -> None:
    for block in blocks(path.read_text()):
        if block.language == "bash":
            done = subprocess.run(["bash", "-n"], input=block.text, text=True, capture_output=True, check=False)
            assert done.stderr == "", f"line {block.line}"
            words = re.sub(r"\"[^\"]*\"|'[^']*'|\$\$|\$\?|#.*", "", block.text)
            assert not re.search(r"(?<![=\w])\$\{?[a-z]\w*", words), f"line {block.line}: quote the variable"


# ── links ───────────────────────────────────────────────────────────────────


@pytest.mark.req("R-377")
@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    for link in links(path.read_text()):
        if link.startswith("https://"):
            continue
        target, _, anchor = link.partition("#")
        page = (path.parent / target).resolve() if target else path
        assert page.exists(), f"{link}: no such file"
        if anchor:
            assert anchor in anchors(page.read_text()), f"{link}: no such heading"


def linked_pages(path: Path) -> set[Path]:
    """Return the pages that a page links to."""
    targets = (link.partition("#")[0] for link in links(path.read_text()) if not link.startswith("https://"))
    return {(path.parent / target).resolve() for target in targets if target} & set(PAGES)


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = {ROOT / "README.md"}
    while waiting:
        reached |= waiting
        waiting = {page for path in waiting for page in linked_pages(path)} - reached
    assert [name_of(path) for path in PAGES if path not in reached] == []


def test_the_index_lists_every_page_of_the_documentation() -> None:
    index = ROOT / "docs" / "README.md"
    assert index in linked_pages(ROOT / "README.md")
    listed = linked_pages(index)
    assert [
        name_of(path) for path in PAGES if path.is_relative_to(ROOT / "docs") and path not in {*listed, index}
    ] == []


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_pages_speak_of_the_project_alone(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"(?<![\w/])/(?:work|root)\b", text)
    assert not re.search("[\U0001f300-\U0001faff\u2600-\u26ff]", text), "no emojis"
    if path in HAND_WRITTEN:
        prose = [line for line in without_blocks(text).splitlines() if not line.startswith("|")]
        assert max(map(len, prose)) <= 120


# ── generated pages ─────────────────────────────────────────────────────────


@pytest.mark.req("R-385")
def test_the_reference_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_every_diagnostic_has_its_heading() -> None:
    assert headings(read("docs/reference/diagnostics.md"))[1:] == list(CODES)


def test_every_event_has_a_section_with_its_fields() -> None:
    page = read("docs/reference/events.md")
    for name, cls in CATALOGUE.items():
        text = section(page, name)
        for field in cls.__struct_fields__:
            if field in UNSENT or field in ("session_id", "transcript_path", "cwd", "prompt_id", "effort"):
                continue
            if field in ("agent_id", "agent_type") and "Subagent" not in name:
                continue
            assert f"`{field}`" in text, f"{name} {field}"
        for field in cls.rules.output:
            assert f"`hookSpecificOutput.{camel(field)}`" in text, f"{name} {field}"
        assert f"Exit 2: {cls.rules.exit_2.value}" in text
        assert f"Default timeout: {cls.rules.timeout:g} s" in text
        assert (f"Matcher: `{cls.rules.target}`" if cls.rules.target else "Matcher: none") in text


@pytest.mark.req("R-385")
def test_tables_of_exit_codes_and_readers_have_every_event_and_say_what_the_registry_says() -> None:
    exits = rows(section(read("docs/reference/exit-codes.md"), "Exit 2 by event"))
    readers = rows(read("docs/reference/visibility.md").partition("## Where the model reads it")[0])
    for name, cls in CATALOGUE.items():
        assert exits[name][0] == cls.rules.exit_2.value
        context = readers[name][2]
        takes_context = "additional_context" in cls.rules.output.keys() - cls.rules.discarded
        assert (context == Reader.MODEL.value) is takes_context, name
        message = Reader.MODEL if cls.rules.message_to_model else Reader.USER
        assert (readers[name][4] == message.value) is cls.rules.system_message, name


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_of_commands_has_every_option_that_help_prints(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hookwright([command, "--help"])
    page = section(read("docs/reference/cli.md"), f"hookwright {command}")
    options = set(re.findall(r"(?<![\w-])--[a-zA-Z][\w-]*", capsys.readouterr().out)) - {"--help"}
    assert {option for option in options if option not in page} == set()


def test_the_page_of_settings_is_silent_about_no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    assert importlib.import_module("pages.settings").undescribed_variables() == set()


def test_the_page_of_names_has_every_public_name() -> None:
    page = read("docs/reference/api.md")
    for name in dir(importlib.import_module("hookwright")):
        if name != "__version__":
            assert f"### {name}\n" in page or f"`{name}`" in page, name


# ── the README and the guide ────────────────────────────────────────────────


@pytest.mark.req("R-377")
def test_the_readme_has_a_hooks_section_and_names_the_ways_in() -> None:
    hooks = section(README, "Hooks")
    assert "docs/guide.md" in links(hooks)
    assert "docs/reference/events.md" in links(hooks)
    targets = re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE)
    for target in ("demo", "test"):
        assert f"make {target}" in README
        assert target in targets


def test_every_target_of_the_makefile_is_phony_and_documented() -> None:
    makefile = read("Makefile")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    phony = re.search(r"^\.PHONY:((?:.*\\\n)*.*)", makefile, re.MULTILINE)
    assert phony
    assert set(phony[1].replace("\\", " ").split()) == targets
    assert set(re.findall(r"^make ([a-z-]+)", read("CONTRIBUTING.md"), re.MULTILINE)) <= targets


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 140


def test_numbers_in_the_readme_are_right() -> None:
    others = int(re.search(r"and (\d+) more", README)[1])  # type: ignore[index]
    assert others + 4 == len(CATALOGUE)
    recipes = [path for path in (ROOT / "examples" / "recipes").iterdir() if path.is_dir()]
    assert f"{len(recipes)} small examples" in README.replace("\n", " ")
    lines = len(read("examples/embed/host.py").splitlines())
    assert f"in {lines} lines" in README
    assert lines < 40


@pytest.mark.req("R-378")
def test_the_guide_has_every_part() -> None:
    parts = headings(GUIDE)
    assert {"Overview", "Configuration", "Events", "Examples", "Troubleshooting"} <= set(parts)
    pointers = section(GUIDE, "Events")
    for name in CATALOGUE:
        assert f"reference/events.md#{name.lower()}" in links(pointers), name


def test_the_guide_lists_every_recipe() -> None:
    recipes = {f"../examples/recipes/{path.name}" for path in (ROOT / "examples" / "recipes").iterdir()}
    assert {link for link in links(GUIDE) if link.startswith("../examples/recipes/")} == recipes


@pytest.mark.req("R-379")
def test_the_guide_tells_how_to_keep_stdout_clean() -> None:
    text = section(GUIDE, "JSON is the only thing on stdout")
    (example,) = blocks(text)
    assert "1>&2" in example.text
    assert "Use stderr for" in text


@pytest.mark.needs("jq")
@pytest.mark.req("R-379")
def test_the_example_that_keeps_stdout_clean_does(tmp_path: Path) -> None:
    world = World(tmp_path)
    (example,) = blocks(section(GUIDE, "JSON is the only thing on stdout"))
    run_block(example, world)
    done = subprocess.run(
        [world.project / str(example.file)],
        input='{"tool_input": {"file_path": "a \\"quoted\\" name.py"}}',
        capture_output=True,
        text=True,
        env=world.env,
        check=True,
    )
    assert json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] == 'formatted a "quoted" name.py'
    assert "formatting" in done.stderr


@pytest.mark.req("R-380")
def test_the_guide_sets_the_four_texts_apart() -> None:
    table = rows(section(GUIDE, "Four texts, four readers"))
    assert {name: table[name][0] for name in ("additionalContext", "reason", "systemMessage", "stopReason")} == {
        "additionalContext": "model",
        "reason": "model or user",
        "systemMessage": "user",
        "stopReason": "user, then model",
    }


@pytest.mark.req("R-381")
@pytest.mark.parametrize("trouble", ["Empty output", "JSON that fails", "Context that does not arrive"])
def test_each_trouble_is_reproduced_on_the_page(trouble: str, tmp_path: Path) -> None:
    world = World(tmp_path)
    settings, console = blocks(section(GUIDE, trouble))
    run_block(settings, world)
    run_block(console, world)
    assert "$ hookwright fire" in console.text


SITUATIONS = {
    "It must apply every time.": "a hook",
    "It is a preference or a convention.": "the instructions file (`CLAUDE.md`)",
    "A tool or path is never allowed, whatever the content.": "a permission rule: `deny`",
    "Whether it is allowed depends on content or state.": "PreToolUse, exit 2 or deny",
    "Format, lint or test what was written.": "PostToolUse with matcher `Edit\\|Write`",
    "The model needs facts at the beginning.": "SessionStart, plain stdout",
    "Each prompt needs a fact, or some prompts are refused.": "UserPromptSubmit",
    "Work is not done until a check passes.": "Stop, with the `stop_hook_active` guard",
    "The user should be informed.": "Notification, or `systemMessage`",
    "The rule cannot be written as code.": "a prompt or agent hook",
    "A task may only be completed if a check passes.": "TaskCompleted, exit 2",
    "Changes of the configuration must be recorded or refused.": "ConfigChange",
    "Worktrees without git, or prepared in a special way.": "WorktreeCreate and WorktreeRemove",
}


@pytest.mark.req("R-382")
def test_the_guide_maps_situations_to_mechanisms() -> None:
    table = rows(section(GUIDE, "Which mechanism"))
    assert {situation: cells[0] for situation, cells in table.items() if situation in SITUATIONS} == SITUATIONS


@pytest.mark.req("R-370")
@pytest.mark.parametrize("advice", ["type of a field", "`..`", "absolute paths", "Quote every", "arrays", "`eval`",
                                    "`.env`", "`.git/`", "keys and certificates"])  # fmt: skip
def test_the_guide_gives_the_advice_on_safe_scripts(advice: str) -> None:
    assert advice in section(GUIDE, "Safe scripts")


@pytest.mark.needs("jq")
@pytest.mark.req("R-370")
def test_the_safe_scripts_of_the_guide_refuse_what_they_say(tmp_path: Path) -> None:
    world = World(tmp_path)
    for block in blocks(section(GUIDE, "Safe scripts")):
        run_block(block, world)


ANTI_PATTERNS = {
    "A matcher that is too broad": "HK705",
    "A slow synchronous hook": "HK703",
    "An endless Stop hook": "HK621",
    "Exit 2 with JSON": "HK508",
    "An unquoted variable": "HK306",
}


@pytest.mark.needs("jq")
@pytest.mark.req("R-383")
def test_anti_patterns_are_documented_and_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = section(GUIDE, "Anti-patterns")
    named = {name.partition(":")[0]: cells[-1] for name, cells in rows(text).items()}
    assert {name: named[name].split(", ")[0] for name in ANTI_PATTERNS} == ANTI_PATTERNS
    hookwright(["rules", "--json"])
    known = set(re.findall(r"HK\d{3}", capsys.readouterr().out))
    assert set(re.findall(r"HK\d{3}", text)) <= known
    *_, console = blocks(text)
    found = "".join(printed for _, printed in steps(console.text))
    assert set(re.findall(r"HK\d{3}", found)) == set(ANTI_PATTERNS.values())
    world = World(tmp_path)
    for block in blocks(text):
        run_block(block, world)


@pytest.mark.req("R-384")
def test_how_to_test_hooks_is_told_to_authors_and_contributors() -> None:
    languages = {block.language for block in blocks(section(GUIDE, "Test your hooks")) if block.runnable}
    assert {"console", "python"} <= languages
    assert "docs/guide.md#test-your-hooks" in links(section(read("CONTRIBUTING.md"), "Tests"))


@pytest.mark.req("R-364")
def test_the_documentation_says_that_there_is_no_sandbox() -> None:
    text = section(read("docs/security.md"), "There is no sandbox")
    assert "full rights of the user" in text
    assert "docs/security.md" in links(README)
    assert "security.md" in links(GUIDE)


# ── deviations ──────────────────────────────────────────────────────────────


def kit_deviations() -> dict[str, set[str]]:
    """Read from the cases which of them show a deliberate difference."""
    found: dict[str, set[str]] = {}
    for path in KIT.glob("*/*.json"):
        case = json.loads(path.read_text())
        for number in (case.get("deviation") or "").split():
            found.setdefault(number, set()).add(case["id"])
    return found


def test_every_deviation_has_a_section_that_names_its_cases() -> None:
    page = read("docs/deviations.md")
    titles = {title.split(":")[0]: title for title in headings(page) if re.match(r"D\d+:", title)}
    decided = re.findall(r"^\| (D\d+) \|", read("docs/requirements.md"), re.MULTILINE)
    assert list(titles) == decided
    for number, cases in kit_deviations().items():
        text = section(page, titles[number])
        named = text.partition("Case")[2]
        assert set(re.findall(r"`([a-z0-9-]+)`", named)) == cases, number


def test_tests_that_the_deviations_name_exist() -> None:
    named = re.findall(r"`(tests/[\w/.]+)::(\w+)`", read("docs/deviations.md"))
    assert named
    for path, test in named:
        assert f"def {test}(" in read(path)


def test_every_row_that_disagrees_with_a_description_has_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolution that names a source, S0 to S4, says that this source describes something else."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    found = importlib.import_module("pages.differences").resolved(read("docs/requirements.md"))
    notes = {row: resolution for row, _, _, resolution in found}
    named = re.findall(r"R-\d{3}", section(read("docs/deviations.md"), "In sentences"))
    assert len(named) == len(set(named))
    assert set(named) <= set(notes)
    assert {row for row, note in notes.items() if re.search(r"\bS[0-4]\b|sources", note)} - set(named) == set()


# ── embedding ───────────────────────────────────────────────────────────────


def test_the_table_of_host_duties_has_every_event() -> None:
    table = rows(section(read("docs/embedding.md"), "What a host does at each event"))
    assert set(CATALOGUE) <= set(table)


# ── CI ──────────────────────────────────────────────────────────────────────


def test_the_commands_of_the_workflow_and_of_pre_commit_are_run_on_the_page() -> None:
    page = read("docs/ci.md")
    configured = [block.text for block in blocks(page) if block.language == "yaml"]
    wanted = re.findall(r"(?:run|entry): (hookwright .*)", "".join(configured))
    assert len(wanted) == 4
    run = [command for block in blocks(page) if block.language == "console" for command, _ in steps(block.text)]
    assert [command for command in wanted if not any(line.split(";")[0] == command for line in run)] == []


# ── requirement rows ────────────────────────────────────────────────────────


def test_every_row_is_read() -> None:
    assert [row.id for row in coverage_map.all_rows()] == [f"R-{number:03}" for number in range(1, 417)]


def test_no_mark_names_an_unknown_row() -> None:
    known = {row.id for row in coverage_map.all_rows()}
    marks = (*coverage_map.all_marks(), *coverage_map.case_marks())
    unknown = [f"{mark.path}:{mark.line} {mark.row}" for mark in marks if mark.row not in known]
    assert unknown == []


def test_the_map_finds_marks_wherever_they_stand() -> None:
    source = """
pytestmark = pytest.mark.req("R-001")

@pytest.mark.req("R-002", "R-003")
@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.req("R-004"))])
def test(x): ...
"""
    found = {mark.row for mark in coverage_map.read_marks(source, Path("t.py"))}
    assert found == {"R-001", "R-002", "R-003", "R-004"}


def test_the_map_names_what_no_test_names() -> None:
    listed = coverage_map.read_rows("## 1. One\n| R-001 | first | 0 | | |\n| R-002 | second | 0 | | |\n## 2. Two\n")
    assert list(coverage_map.report(listed, {"R-001"}, {"R-001"}, None)) == [
        " 1. One: 1 of 2 named, 1 proven by mutation",
        "      R-002  second",
        "total: 1 of 2 rows are named by a test, 1 are proven by mutation",
    ]


def test_every_row_is_named_and_a_case_counts() -> None:
    marks = [*coverage_map.all_marks(), *coverage_map.case_marks()]
    assert sorted({row.id for row in coverage_map.all_rows()} - {mark.row for mark in marks}) == []
    assert {"R-247", "R-261"} <= {mark.row for mark in coverage_map.case_marks()}


def test_a_proof_is_a_marked_test_that_noticed_a_mutant() -> None:
    marked = {(str(mark.path), mark.row) for mark in coverage_map.all_marks()}
    record = json.loads(coverage_map.RECORD.read_text())["rows"]
    assert [row for row, proof in record.items() if (proof["test"].split("::")[0], row) not in marked] == []
