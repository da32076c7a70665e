"""The literal table of hostile hooks: one PreToolUse event, one command, one right decision.

Nothing here knows an engine, so the same table runs on Hookwright and on its peers. `PYTHON` in a command stands for an
interpreter; a command runs in a shell, in a folder of its own.
"""

from __future__ import annotations

import json
import shlex
import signal
from typing import Any

import msgspec

#: Seconds that a hook gets which must be ended, and one that must not.
SHORT, LONG = 0.7, 30.0

NONE, DENY, ALLOW = "none", "deny", "allow"


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One hostile hook and what it must come to."""

    name: str
    command: str
    #: The decision that the event must come to: none, deny or allow.
    want: str
    #: The diagnostic that must name the cause; empty where the hook did nothing wrong.
    code: str = ""
    #: The hook meant to deny and was not understood: an engine that reads more than it must may deny.
    meant: bool = False
    #: The hook gave no verdict, so with `onFailure: block` the event is refused.
    fails: bool = False
    #: Bytes of text in the event.
    event: int = 0
    #: The hook must be ended at its limit.
    expires: bool = False
    #: Processes that live on, because the hook left them in the background and ended by itself.
    outlive: int = 0
    #: MB over the baseline that the host may take.
    memory: int = 64
    #: Part of the short form.
    quick: bool = True

    @property
    def limit(self) -> float:
        """Tell the hook's time limit in seconds."""
        return SHORT if self.expires else LONG

    def right(self, word: str) -> bool:
        """Tell whether a decision is one that this hook may come to."""
        return word == self.want or self.want == ALLOW or (self.meant and word == DENY)


def answer(word: str = "deny", **more: Any) -> str:
    """Write a PreToolUse answer."""
    body = {"hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": "told"}
    return json.dumps({"hookSpecificOutput": body, **more})


def python(code: str) -> str:
    """Write a command that runs Python code."""
    return f"exec PYTHON -c {shlex.quote(code)}"


def says(text: str, then: str = "exit 0") -> str:
    """Write a command that prints a text as it is."""
    return f"printf '%s' {shlex.quote(text)}; {then}"


def prints(expression: str, status: int = 0) -> str:
    """Write a command that prints the bytes of a Python expression."""
    return python(f"import sys; sys.stdout.buffer.write({expression}); sys.stdout.flush(); sys.exit({status})")


MB = 1024 * 1024
_DENIAL = answer()
_BYTES = repr(_DENIAL.encode())
_DEEP = "b'[' * 100_000 + b']' * 100_000"
_HANG = "sleep 60"

STDIN = (
    Fault(
        name="never reads a 50 MB event and hangs",
        command=f"exec {_HANG}",
        want=NONE,
        code="timeout",
        fails=True,
        event=50 * MB,
        expires=True,
        memory=260,
        quick=False,
    ),
    Fault(
        name="never reads a 50 MB event and denies",
        command=says(_DENIAL),
        want=DENY,
        event=50 * MB,
        memory=260,
        quick=False,
    ),
    Fault(name="never reads a 1 MB event and denies", command=says(_DENIAL), want=DENY, event=MB),
    Fault(name="closes stdin at once and denies", command="exec 0<&-; exit 2", want=DENY, event=MB),
    Fault(
        name="closes stdin at once, 50 MB event",
        command="exec 0<&-; exit 2",
        want=DENY,
        event=50 * MB,
        memory=260,
        quick=False,
    ),
    Fault(name="reads one byte and denies", command="head -c 1 >/dev/null; exit 2", want=DENY, event=MB),
    Fault(name="closes all three streams", command="exec 0<&- 1>&- 2>&-; exit 2", want=DENY, event=MB),
)

OUTPUT = (
    Fault(
        name="prints 1 GB and exits 2",
        command="head -c 1073741824 /dev/zero; exit 2",
        want=DENY,
        code="output-too-large",
        memory=96,
        quick=False,
    ),
    Fault(name="prints 20 MB and exits 2", command="head -c 20000000 /dev/zero; exit 2", want=DENY, memory=96),
    Fault(
        name="prints 20 MB on stderr and exits 2",
        command="head -c 20000000 /dev/zero >&2; exit 2",
        want=DENY,
        memory=96,
    ),
    Fault(
        name="prints an answer of 1 GB",
        command=python(
            'import sys; out = sys.stdout.buffer; out.write(b\'{"systemMessage": "\')\n'
            "for _ in range(1024): out.write(b'x' * 1048576)\nout.write(b'\"}')"
        ),
        want=NONE,
        code="output-too-large",
        fails=True,
        memory=96,
        quick=False,
    ),
    Fault(
        name="prints without end",
        command="exec yes",
        want=NONE,
        code="timeout",
        fails=True,
        expires=True,
        memory=96,
    ),
    Fault(
        name="prints a byte a second past the limit",
        command="while :; do printf x; sleep 1; done",
        want=NONE,
        code="timeout",
        fails=True,
        expires=True,
    ),
    Fault(
        name="prints a denial, then hangs",
        command=says(_DENIAL, f"exec {_HANG}"),
        want=NONE,
        meant=True,
        code="timeout",
        fails=True,
        expires=True,
    ),
    Fault(
        name="writes a denial byte by byte",
        command=python(f"import os, time\nfor byte in {_BYTES}: os.write(1, bytes([byte])); time.sleep(0.0005)"),
        want=DENY,
    ),
)

BYTES = (
    Fault(name="invalid UTF-8 and exit 2", command=prints(r"b'\xff\xfe\x80'", 2), want=DENY),
    Fault(name="invalid UTF-8 on stderr and exit 2", command=r"printf '\377\376' >&2; exit 2", want=DENY),
    Fault(
        name="invalid UTF-8 inside a denial",
        command=prints(rf"{_BYTES}.replace(b'told', b't\xffld')"),
        want=DENY,
    ),
    Fault(name="NUL bytes and exit 2", command=prints(r"b'\0' * 4096", 2), want=DENY),
    Fault(
        name="NUL inside a denial",
        command=prints(rf"{_BYTES}.replace(b'told', b't\0ld')"),
        want=NONE,
        meant=True,
        code="broken-json",
        fails=True,
    ),
    Fault(name="BOM before a denial", command=prints(rf"b'\xef\xbb\xbf' + {_BYTES}"), want=DENY),
    Fault(
        name="a denial in UTF-16",
        command=prints(f"{_DENIAL!r}.encode('utf-16')"),
        want=NONE,
        meant=True,
        code="not-utf-8",
    ),
    Fault(
        name="lone surrogates in a denial",
        command=says(_DENIAL.replace("told", r"t\ud800ld")),
        want=DENY,
    ),
    Fault(
        name="control and bidirectional characters in a denial",
        command=says(_DENIAL.replace("told", r"\u001b[2J\u202etold\u0007")),
        want=DENY,
    ),
)

JSON = (
    Fault(
        name="100,000 nested brackets in a denial",
        command=prints(f"{_BYTES}[:-1] + b', \"x\": ' + {_DEEP} + b'}}'"),
        want=NONE,
        meant=True,
        code="broken-json",
        fails=True,
    ),
    Fault(name="100,000 nested brackets and exit 2", command=prints(_DEEP, 2), want=DENY),
    Fault(
        name="a 1 MB number in a denial",
        command=prints(f"{_BYTES}[:-1] + b', \"x\": ' + b'9' * 1_000_000 + b'}}'"),
        want=DENY,
    ),
    Fault(
        name="a 10 MB number in a denial",
        command=prints(f"{_BYTES}[:-1] + b', \"x\": ' + b'9' * 10_000_000 + b'}}'"),
        want=NONE,
        meant=True,
        code="output-too-large",
        fails=True,
        memory=96,
    ),
    Fault(
        name="duplicate keys, the last denies",
        command=says('{"decision": "approve", "decision": "block", "reason": "told"}'),
        want=DENY,
    ),
    Fault(
        name="duplicate keys, the last allows",
        command=says('{"decision": "block", "decision": "approve", "reason": "told"}'),
        want=ALLOW,
        code="duplicate-key",
    ),
    Fault(
        name="100,000 unknown keys in a denial",
        command=prints(f"{_BYTES}[:-1] + b''.join(b', \"k%d\": 1' % n for n in range(100_000)) + b'}}'"),
        want=DENY,
        code="unknown-answer-key",
        memory=128,
    ),
    Fault(
        name="NaN in a denial",
        command=prints(f"{_BYTES}[:-1] + b', \"x\": NaN}}'"),
        want=NONE,
        meant=True,
        code="broken-json",
        fails=True,
    ),
    Fault(
        name="a denial of the wrong shape",
        command=says('{"hookSpecificOutput": [{"permissionDecision": "deny"}]}'),
        want=NONE,
        meant=True,
        code="invalid-answer",
        fails=True,
    ),
)

PROCESSES = (
    Fault(
        name="ignores TERM",
        command=f"trap '' TERM; {_HANG}; {_HANG}",
        want=NONE,
        code="timeout",
        fails=True,
        expires=True,
    ),
    Fault(
        name="ignores every signal it can",
        command=python(
            "import signal, time\n"
            "for s in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}: signal.signal(s, signal.SIG_IGN)\n"
            "time.sleep(60)"
        ),
        want=NONE,
        code="timeout",
        fails=True,
        expires=True,
        quick=False,
    ),
    Fault(
        name="double-forks and hangs",
        command=f"({_HANG} & ) & {_HANG}",
        want=NONE,
        code="timeout",
        fails=True,
        expires=True,
    ),
    Fault(
        name="makes a daemon with a session of its own and hangs",
        command=python(
            "import os, time\n"
            "if os.fork() == 0:\n    os.setsid()\n    if os.fork():\n        os._exit(0)\n    time.sleep(60)\n"
            "time.sleep(60)"
        ),
        want=NONE,
        code="timeout",
        fails=True,
        expires=True,
    ),
    Fault(
        name="leaves a child that holds stdout, and denies",
        command=f"{_HANG} & {says(_DENIAL)}",
        want=DENY,
        outlive=1,
    ),
    Fault(
        name="leaves a child that floods stdout, and denies",
        command=f"{says(_DENIAL, ':')}; exec PYTHON -c "
        + shlex.quote("import os, time\nif os.fork() == 0:\n    while True: os.write(2, b'x' * 4096)"),
        want=DENY,
        memory=96,
    ),
    Fault(
        name="forks 200 processes and hangs",
        command=f"n=0; while [ $n -lt 200 ]; do {_HANG} & n=$((n+1)); done; wait",
        want=NONE,
        code="timeout",
        fails=True,
        expires=True,
        quick=False,
    ),
    Fault(
        name="forks until it is ended",
        command=python(
            "import os, time\n"
            "for _ in range(400):\n"
            "    try: pid = os.fork()\n"
            "    except OSError: break\n"
            "    if pid == 0: time.sleep(60); os._exit(0)\n"
            "    time.sleep(0.005)\n"
            "time.sleep(60)"
        ),
        want=NONE,
        code="timeout",
        fails=True,
        expires=True,
        quick=False,
    ),
    Fault(
        name="stops itself",
        command="kill -STOP $$; exit 2",
        want=NONE,
        code="timeout",
        fails=True,
        expires=True,
    ),
    Fault(
        name="stops its whole group and ignores TERM",
        command="trap '' TERM; kill -STOP 0; exit 2",
        want=NONE,
        code="timeout",
        fails=True,
        expires=True,
    ),
    Fault(
        name="stops a child that holds stdout, and denies",
        command=f"(kill -STOP $(sh -c 'echo $PPID')) & {says(_DENIAL)}",
        want=DENY,
        outlive=1,
    ),
    Fault(name="exits 2 by a child that is killed", command="sh -c 'kill -9 $$'; exit 2", want=DENY),
    Fault(name="becomes another program", command=f"exec sh -c {shlex.quote('exit 2')}", want=DENY),
    Fault(
        name="is not there",
        command="./no-such-hook",
        want=NONE,
        code="launch-failed",
        fails=True,
    ),
    Fault(
        name="eats memory up to its limit",
        command="ulimit -v 300000; " + python("x = bytearray(2_000_000_000)"),
        want=NONE,
        code="exit-status",
        fails=True,
    ),
    Fault(
        name="opens descriptors up to its limit and denies",
        command="ulimit -n 64; "
        + python("import os, sys\ntry:\n    while True: os.open('/dev/null', 0)\nexcept OSError: sys.exit(2)"),
        want=DENY,
    ),
)

_DEADLY = sorted(
    number
    for number in set(signal.Signals)
    - {
        *(signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT),
        *(signal.SIGCHLD, signal.SIGURG, signal.SIGWINCH),
    }
    if number < 32
)

SIGNALS = tuple(
    Fault(
        name=f"dies by {signal.Signals(number).name}",
        command=python(
            f"import os, signal; signal.signal({int(number)}, signal.SIG_DFL) if {int(number)} != 9 else None; "
            f"os.kill(os.getpid(), {int(number)})"
        ),
        want=NONE,
        code="killed",
        fails=True,
        quick=number in (signal.SIGTERM, signal.SIGSEGV),
    )
    for number in (*_DEADLY, signal.SIGKILL)
)

FAULTS: dict[str, Fault] = {
    fault.name: fault for table in (STDIN, OUTPUT, BYTES, JSON, PROCESSES, SIGNALS) for fault in table
}
