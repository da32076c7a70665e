"""Measure the terminal app on a real terminal: first paint, and a conversation of 10,000 messages.

python bench/tui.py            both
python bench/tui.py --runs 20  more first paints
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
import uuid
from pathlib import Path

# In the place of this folder, whose file of the same name would be found first.
sys.path[0] = str(Path(__file__).parent.parent / "tests")

from hookwright.agent.transcript import project_folder, session_path  # noqa: E402 - the path comes first
from tui.chats import START, Chat, text  # noqa: E402
from tui.terminal import PAGE_UP, Terminal  # noqa: E402

MESSAGES = 10_000
CTRL_HOME, CTRL_END = "\x1b[1;5H", "\x1b[1;5F"

ANSWER = """Message {number}: I looked at `src/module_{number}.py` and found **two** things.

1. The loop reads every line twice.
2. The cache is never emptied.

```python
def read(path: str) -> list[str]:
    return open(path).read().splitlines()  # number {number}
```
"""


def first_paint(runs: int) -> tuple[list[float], list[float]]:
    """Time from the start of the process to a painted prompt that takes keys; on the clock, and of the processor."""
    clock, processor = [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory(prefix="d") as folder:
            chat = Chat(Path(folder))
            chat.script([text("Hi.")])
            started = time.perf_counter()
            with chat.open() as terminal:
                terminal.wait(START)
                clock.append(time.perf_counter() - started)
                processor.append(processor_time(terminal.process.pid))
    return clock, processor


def processor_time(pid: int) -> float:
    """Tell the seconds that a process has computed, which others on the machine change little."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def write_session(chat: Chat, messages: int) -> None:
    """Write the transcript of a long conversation."""
    session = str(uuid.uuid4())
    path = Path(session_path(project_folder(str(chat.home / ".claude"), str(chat.project), {}), session))
    path.parent.mkdir(parents=True)
    parent = None
    with path.open("w") as file:
        for number in range(messages // 2):
            for role in ("user", "assistant"):
                name = str(uuid.uuid4())
                content = f"Question {number}: what is wrong with module {number}?"
                if role == "assistant":
                    content = [{"type": "text", "text": ANSWER.format(number=number)}]
                entry = {"type": role, "uuid": name, "parentUuid": parent, "sessionId": session}
                entry |= {"cwd": str(chat.project), "timestamp": "2026-01-01T00:00:00.000Z", "isSidechain": False}
                message = {"role": role, "content": content}
                message |= {"id": f"msg_{number}"} if role == "assistant" else {}
                file.write(json.dumps({**entry, "message": message}) + "\n")
                parent = name


def long_conversation(keys: int) -> dict[str, list[float]]:
    """Resume 10,000 messages, scroll, jump and type."""
    with tempfile.TemporaryDirectory(prefix="d") as folder:
        chat = Chat(Path(folder))
        chat.script([text("A new answer.")])
        write_session(chat, MESSAGES)
        started = time.perf_counter()
        with chat.open("--continue") as terminal:
            terminal.wait(f"number {MESSAGES // 2 - 1}")
            opened = time.perf_counter() - started
            terminal.wait("scripted ·")
            found = {"open to the last message": [opened]}
            found["page up, key to new screen"] = [changed(terminal, PAGE_UP) for _ in range(keys)]
            found["to the beginning"] = [until(terminal, CTRL_HOME, "Question 0:")]
            found["to the end"] = [until(terminal, CTRL_END, f"number {MESSAGES // 2 - 1}")]
            letters = "".join(random.Random(1).choices("abcdefghij", k=keys))
            found["a typed letter, key to screen"] = [
                until(terminal, letters[number], letters[: number + 1]) for number in range(keys)
            ]
            terminal.send("\x03")
            terminal.wait(START)
            found["prompt to the end of the answer"] = [until(terminal, "go\r", "A new answer.")]
            terminal.resize(72, 30)
            started = time.perf_counter()
            terminal.wait("╰" + "─" * 70 + "╯")
            terminal.wait("A new answer.")
            found["resize to the new shape"] = [time.perf_counter() - started]
            return found


def changed(terminal: Terminal, key: str) -> float:
    before = terminal.text
    started = time.perf_counter()
    terminal.send(key)
    terminal.until(lambda shown: shown != before, "another screen")
    return time.perf_counter() - started


def until(terminal: Terminal, key: str, words: str) -> float:
    started = time.perf_counter()
    terminal.send(key)
    terminal.wait(words)
    return time.perf_counter() - started


def line(name: str, found: list[float]) -> str:
    """Write one figure."""
    ordered = sorted(found)
    figures = f"median {statistics.median(ordered) * 1000:7.1f} ms"
    if len(ordered) > 1:
        figures += f"   min {ordered[0] * 1000:7.1f}   max {ordered[-1] * 1000:7.1f}   n {len(ordered)}"
    return f"{name:<36} {figures}"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15, help="first paints")
    parser.add_argument("--keys", type=int, default=60, help="keys of each kind in the long conversation")
    args = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    clock, processor = first_paint(args.runs)
    print(line("first paint, process to prompt", clock))
    print(line("  of it processor time", processor))
    print(f"a conversation of {MESSAGES} messages:")
    for name, found in long_conversation(args.keys).items():
        print("  " + line(name, found))


if __name__ == "__main__":
    main()
