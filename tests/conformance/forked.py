"""Start `hookwright` quickly, many times: a server that has imported everything forks a process for each call.

The model SDK alone takes a second to import, and the kit starts the agent hundreds of times. What runs is the same
`main` in a process of its own, with the caller's arguments, directory, environment and descriptors.

    python forked.py serve SOCKET            preload and listen
    python forked.py call SOCKET ARGS…       run `hookwright ARGS…`
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import select
import signal
import socket
import struct
import sys


def call(path: str, args: list[str]) -> int:
    """Hand everything over, pass signals on, and end as the other process ends."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(path)
        asked = json.dumps({"args": args, "cwd": os.getcwd(), "env": dict(os.environ)}).encode()
        descriptors = array.array("i", [0, 1, 2])
        line.sendmsg([struct.pack("!I", len(asked))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
        line.sendall(asked)
        (pid,) = struct.unpack("!i", line.recv(4))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda which, frame: os.kill(pid, which))
        (status,) = struct.unpack("!i", line.recv(4) or struct.pack("!i", 1))
    return int(status)


def serve(path: str) -> None:
    """Import once, then fork for every caller; a caller that goes away takes its process with it."""
    import anthropic  # noqa: F401 - the point of this server

    import hookwright.agent.agent
    import hookwright.cli.commands.fire
    import hookwright.cli.commands.run
    import hookwright.models.anthropic  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        print("ready", flush=True)
        while True:
            line, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _supervise(line)
                os._exit(0)
            line.close()


def _supervise(line: socket.socket) -> None:
    head, control, _, _ = line.recvmsg(4, socket.CMSG_SPACE(12))
    descriptors = list(struct.unpack("3i", control[0][2][:12]))
    (size,) = struct.unpack("!I", head)
    asked = b""
    while len(asked) < size:
        asked += line.recv(size - len(asked))
    child = os.fork()
    if child == 0:
        line.close()
        _become(json.loads(asked), descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    line.sendall(struct.pack("!i", child))
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            line.sendall(struct.pack("!i", os.waitstatus_to_exitcode(status)))
            return
        readable, _, _ = select.select([line], [], [], 0.01)
        if readable and not line.recv(1):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)


def _become(asked: dict[str, object], descriptors: list[int]) -> None:
    """Turn this process into the one that the caller asked for."""
    import tempfile

    from hookwright.cli import main

    os.setsid()
    for place, descriptor in enumerate(descriptors):
        os.dup2(descriptor, place)
        os.close(descriptor)
    env, args = asked["env"], asked["args"]
    assert isinstance(env, dict)
    assert isinstance(args, list)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(str(asked["cwd"]))
    tempfile.tempdir = None
    sys.argv = ["hookwright", *args]
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    status = 1
    try:
        status = main(args)
        sys.stdout.flush()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    finally:
        os._exit(status)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(call(sys.argv[2], sys.argv[3:]))
