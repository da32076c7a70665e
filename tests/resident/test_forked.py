"""A command in a fork of the daemon: it has its caller's surroundings and nothing of the daemon's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

#: A process in the place of the daemon: a test run has threads and streams of its own.
DAEMON = """
import asyncio, json, os, sys
from hookwright.resident.forked import run_forked
from hookwright.resident.messages import Request

def surroundings(argv):
    print(json.dumps([argv, os.getcwd(), dict(os.environ), sys.stdin.read()]))
    return 7

request = Request(("fire", "Stop"), sys.argv[1], {"OF_THE_CALLER": "1"}, b"event", "")
reply = asyncio.run(run_forked(request, surroundings))
print(reply.status, reply.stdout.decode())
"""


def test_a_command_has_the_environment_of_its_caller_alone(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", DAEMON, str(tmp_path)],
        env={**os.environ, "OF_THE_DAEMON": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    status, _, found = ran.stdout.partition(" ")
    assert status == "7"
    assert json.loads(found) == [["fire", "Stop"], str(tmp_path), {"OF_THE_CALLER": "1"}, "event"]
