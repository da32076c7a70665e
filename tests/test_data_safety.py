"""What is kept survives a crash at any byte, and writers at the same time never mix their lines."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookwright.agent.transcript import Envelope, Transcript, load
from hookwright.agent.transcript.lines import read_lines
from hookwright.config.truststore import FileCopy, Record, TrustStore
from hookwright.errors import TrustError
from hookwright.observers.journal import Journal
from hookwright.observers.journal.reader import Filter, records
from hookwright.observers.recorder import Recorder
from support import command
from test_engine import at, engine, group

ENVELOPE = Envelope(session_id="s", cwd="/w", version="0")


def fire(folder: Path, observer: Any, text: str = "echo 'é\u2028' >&2; exit 2") -> None:
    made = engine(folder, group("PreToolUse", command(text)), observers=[observer])
    asyncio.run(made.fire(at("PreToolUse", folder)))


def whole(lines: bytes) -> list[Any]:
    """Read the lines that are complete."""
    found = []
    for line in lines.split(b"\n"):
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def test_a_journal_cut_at_any_byte_is_read_and_continued(tmp_path: Path) -> None:
    state = tmp_path / "state"
    path = state / "journal.jsonl"
    fire(tmp_path, Journal(str(state)))
    fire(tmp_path, Journal(str(state)))
    recorded = path.read_bytes()
    journal = Journal(str(state))
    extra = {"kind": "event", "t": 1.0, "text": "é\u2028"}
    for cut in range(len(recorded) + 1):
        path.write_bytes(recorded[:cut])
        before = list(records(str(state), Filter()))
        complete = [line for line in whole(recorded[:cut]) if line["kind"] in ("run", "event")]
        assert [(record["kind"], record["t"]) for record in before] == [(line["kind"], line["t"]) for line in complete]
        journal._write([], extra)
        after = list(records(str(state), Filter()))
        assert after[-1] == extra
        assert after[:-1] == before, cut
    assert journal.problem is None


def test_a_recording_cut_at_any_byte_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    fire(tmp_path, Recorder(str(path)))
    recorded = path.read_bytes()
    for cut in range(0, len(recorded) + 1, 61):
        path.write_bytes(recorded[:cut])
        fire(tmp_path, Recorder(str(path)), "exit 0")
        assert whole(path.read_bytes())[-1]["decision"] == "none"


def test_a_trust_store_cut_at_any_byte_trusts_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    store = TrustStore(str(path))
    entries = [
        Record(f"digest-{n}", '{"a": "é"}', f"place {n}", (FileCopy("a", "b", "c", "text\n"),)) for n in range(3)
    ]
    store.record("/project", entries)
    recorded = path.read_bytes()
    trusted = store.decisions("/project")
    for cut in range(len(recorded)):
        path.write_bytes(recorded[:cut])
        with pytest.raises(TrustError):
            store.decisions("/project")
        with pytest.raises(TrustError):
            store.record("/project", entries)
        assert path.read_bytes() == recorded[:cut]
    path.write_bytes(recorded)
    assert store.decisions("/project") == trusted
    assert [item.name for item in tmp_path.iterdir() if item.name.endswith(".tmp")] == []


@pytest.mark.parametrize("flip", [0x01, 0x20, 0x80])
def test_a_trust_store_with_any_byte_changed_is_read_or_refused(flip: int, tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    store = TrustStore(str(path))
    store.record("/project", [Record("digest-1", "entry", "place")])
    recorded = path.read_bytes()
    for at_ in range(len(recorded)):
        path.write_bytes(recorded[:at_] + bytes([recorded[at_] ^ flip]) + recorded[at_ + 1 :])
        try:
            found = store.decisions("/project")
        except TrustError:
            continue
        assert len(found) <= 1


def test_a_transcript_cut_at_any_byte_goes_on(tmp_path: Path) -> None:
    """A line that was torn is lost, what stands above is not, and the next line is whole."""
    path = tmp_path / "s.jsonl"
    transcript = Transcript(str(path), ENVELOPE)
    for number in range(3):
        transcript.user(f"prompt {number} é\u2028")
    transcript.close()
    recorded = path.read_bytes()
    for cut in range(len(recorded) + 1):
        path.write_bytes(recorded[:cut])
        before = load(str(path)).entries
        assert list(before) == whole(recorded[:cut])
        going_on = Transcript(str(path), ENVELOPE, parent=before[-1]["uuid"] if before else None)
        going_on.user("again")
        going_on.close()
        after = load(str(path)).entries
        assert list(after[:-1]) == list(before)
        assert after[-1]["message"]["content"] == "again"


WRITER = """
import asyncio, sys
from hookwright.agent.transcript import Envelope, Transcript
from hookwright.observers.journal import Journal
journal = Journal(sys.argv[1])
transcript = Transcript(sys.argv[1] + "/shared.jsonl", Envelope(session_id="s", cwd="/w", version="0"))
for number in range(int(sys.argv[3])):
    journal._write([], {"kind": "event", "who": sys.argv[2], "number": number, "filler": "é" * (number % 5000)})
    transcript.user(f"{sys.argv[2]}-{number} " + "x" * (number * 37 % 20000))
"""


def test_four_writers_at_once_never_mix_a_line_and_lose_none(tmp_path: Path) -> None:
    count = 300
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(who), str(count)]) for who in range(4)
    ]
    assert [writer.wait(60) for writer in writers] == [0] * 4
    journal = (tmp_path / "journal.jsonl").read_bytes()
    # A writer that looks while another one writes may take its half for torn, and leave an empty line.
    lines = [json.loads(line) for line in journal.split(b"\n") if line]
    for who in range(4):
        assert [line["number"] for line in lines if line.get("who") == str(who)] == list(range(count))
    said = [line["message"]["content"].split(" ")[0] for line in read_lines(str(tmp_path / "shared.jsonl"))]
    assert sorted(said) == sorted(f"{who}-{number}" for who in range(4) for number in range(count))
