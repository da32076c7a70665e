"""Run one function in a view and in a process of its own."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from typing import NoReturn, TypeVar

from hookwright.errors import HookwrightError, ViewEnded
from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.levels import IsolationLevel
from hookwright.replay.isolation.views import View, enter

Result = TypeVar("Result")


def run_isolated(function: Callable[[View], Result], level: IsolationLevel, bounds: Bounds) -> Result:
    """Run a function in a view and return what it returns, or raise what it raises; nothing in the view is left.

    It runs in a fork of this process, so only its result is pickled. In a pool of processes, submit `run_isolated`
    itself with a `functools.partial` of a function of a module. At the level `none` the function also has a process of
    its own.
    """
    return in_fork(lambda: function(enter(level, bounds)))


def in_fork(function: Callable[[], Result]) -> Result:
    """Run a function in a fork of this process; raise ViewEnded if that ends without a result."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        _answer(function, theirs)
    os.close(theirs)
    try:
        with open(ours, "rb") as answer:
            data = answer.read()
    except BaseException:  # an interrupt as well: no process is left in the view
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(child, 0)
    if not data:
        raise ViewEnded(f"the process in the view ended with {os.waitstatus_to_exitcode(status)} and without a result")
    worked, result = pickle.loads(data)
    if not worked:
        raise result
    given: Result = result
    return given


def _answer(function: Callable[[], Result], descriptor: int) -> NoReturn:
    try:
        try:
            data = pickle.dumps((True, function()))
        except BaseException as problem:  # whatever it is, the caller gets it
            data = packed_problem(problem)
        with open(descriptor, "wb") as file:
            file.write(data)
    finally:
        os._exit(0)


def packed_problem(problem: BaseException) -> bytes:
    """Return an error as the answer of another process, or its text if it cannot be sent."""
    try:
        data = pickle.dumps((False, problem))
        pickle.loads(data)
    except Exception:  # an exception of other people's code need not survive pickling
        return pickle.dumps((False, HookwrightError(f"{type(problem).__name__}: {problem}")))
    return data
