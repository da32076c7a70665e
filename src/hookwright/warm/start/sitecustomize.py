"""Hold an interpreter right before its script, and continue in a fork of it for every event.

Python imports `sitecustomize` as the last step before it runs the script of its command line. Found through
PYTHONPATH, this module takes its place: it waits there, and only a fork returns from it, with the streams,
environment and working directory of one event. From then on the interpreter runs as usual. So `__main__`, `sys.argv`,
tracebacks, exit codes and the order of finalisation are not imitated: they are those of an interpreter started with
exactly this command line.

It runs inside the hook's own interpreter: standard library only, Python 3.10 and later, no imports that remain. If
anything goes wrong the process exits; the script must never run without an event.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType
    from typing import Any, NoReturn

#: The exit status of an interpreter that cannot be held.
UNUSABLE = 86
#: `madvise` makes private copies of all pages now, not one by one while the hook runs.
_POPULATE_WRITE = 23
_MESSAGE = 1 << 18


class Unusable(Exception):
    """This interpreter is unusual; the hook must be started the ordinary way."""


class Guest:
    """The interpreter's side of the zygote."""

    def __init__(self, allowed: Iterable[str], script: str) -> None:
        self._before = set(sys.modules) - {"sitecustomize"}
        self._allowed = frozenset(allowed)
        self._script = script
        self._customize: ModuleType | None = None
        self._kept: set[str] = set()
        self._madvise: Callable[[int, int], None] | None = None
        self._shown = _shown_environment()

    def hold(self) -> ModuleType | None:
        """Serve until a fork gets an event; return in that fork, with the site's own customisation if there is one."""
        folder = os.path.dirname(os.path.realpath(self._script))
        before, after = _folders()
        facts: dict[str, Any] = {"argv": list(sys.orig_argv), "stamps": _stamps(self._script, after)}
        facts["folders"] = [stamp for stamp in map(_stamp, [folder, *before]) if stamp is not None]
        self._customize = _own_customisation()
        facts["preloaded"] = _preload(self._script, folder, self._allowed)
        self._kept = set(sys.modules)
        facts["env"] = dict(os.environ)
        if len(os.listdir("/proc/self/task")) != 1:
            raise Unusable("it runs threads before its script starts")
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        self._madvise = _find_madvise()
        _make_ending_cheap()
        self._serve(facts)
        return self._customize

    # ── the zygote ──────────────────────────────────────────────────────────

    def _serve(self, facts: dict[str, Any]) -> None:
        """Fork on request and report how forks ended; return in a fork that got an event."""
        import _socket
        import select

        control = _socket.socket(fileno=os.dup(0))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)  # a fork that keeps the channel open would hide our end from the host
        os.close(nothing)
        control.send(b"R" + ascii(facts).encode())
        poll = select.poll()
        poll.register(control.fileno(), select.POLLIN)
        children: dict[int, int] = {}
        while True:
            for fd, _ in poll.poll():
                if fd in children:
                    poll.unregister(fd)
                    pid, status = os.waitpid(children.pop(fd), 0)
                    os.close(fd)
                    control.send(b"X%d %d" % (pid, status))
                    continue
                if not control.recv(_MESSAGE):
                    os._exit(0)
                ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
                pid = os.fork()
                if pid == 0:
                    theirs.close()
                    control.close()
                    for other in children:
                        os.close(other)
                    self._become(ours)
                    return
                ours.close()
                watch = os.pidfd_open(pid)
                children[watch] = pid
                poll.register(watch, select.POLLIN)
                rights = theirs.fileno().to_bytes(4, sys.byteorder)
                control.sendmsg([b"S%d" % pid], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
                theirs.close()

    # ── a fork ──────────────────────────────────────────────────────────────

    def _become(self, channel: Any) -> None:
        """Wait for one event and take over its streams, directory and environment."""
        import _socket

        os.setsid()
        if self._madvise is not None:
            _populate(self._madvise)
        data, rights, _, _ = channel.recvmsg(_MESSAGE, _socket.CMSG_SPACE(12))
        if not data:
            os._exit(0)
        received = rights[0][2]
        for stream in range(3):
            fd = int.from_bytes(received[4 * stream : 4 * stream + 4], sys.byteorder)
            os.dup2(fd, stream)
            os.close(fd)
        channel.close()
        folder, *changes = data.split(b"\0")
        os.chdir(folder)
        for change in changes:
            name, equals, value = change.partition(b"=")
            if equals:
                os.environb[name] = value
                self._show(name, value)
            else:
                os.environb.pop(name, None)
        self._clean_up()

    def _show(self, name: bytes, value: bytes) -> None:
        """Write a variable into the initial environment the system shows for this process, if it fits.

        Processes a hook left are found and ended by such a variable. The block is only for show: the process uses a
        copy, made when the variable was set.
        """
        address, size = self._shown.get(name, (0, 0))
        if len(value) <= size:
            try:
                memory = os.open("/proc/self/mem", os.O_WRONLY)
            except OSError:  # read-only /proc, as in some containers: the hook runs, and is found by its group alone
                return
            try:
                os.pwrite(memory, value.ljust(size, b"\0"), address)
            except OSError:
                pass
            finally:
                os.close(memory)

    def _clean_up(self) -> None:
        """Leave the interpreter as the site's customisation would have left it, plus the preloaded modules."""
        for name in set(sys.modules) - self._kept:
            del sys.modules[name]
        for place, finder in sys.path_importer_cache.items():
            if not _is_standard(place) and finder is not None and hasattr(finder, "invalidate_caches"):
                finder.invalidate_caches()
        logging: Any = sys.modules.get("logging")
        if logging is not None and "logging" not in self._before:
            import time

            logging._startTime = time.time() if isinstance(logging._startTime, float) else time.time_ns()
        if self._customize is not None:
            sys.modules["sitecustomize"] = self._customize
        # A module frozen out of the collector would keep the script's objects from being finalised.
        main = type(sys)("__main__")
        main.__dict__.update(sys.modules["__main__"].__dict__)
        sys.modules["__main__"] = main


def _own_customisation() -> ModuleType | None:
    """Run the `sitecustomize` Python would have found otherwise."""
    sys.modules.pop("sitecustomize", None)
    try:
        __import__("sitecustomize")  # the other one: our folder is no longer on the path
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        return None
    return sys.modules["sitecustomize"]


def _shown_environment() -> dict[bytes, tuple[int, int]]:
    """Find the address and the size of each value in the environment the system shows for this process."""
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    address, places = int(fields[47]), {}  # env_start, the 50th field
    with open("/proc/self/environ", "rb") as file:
        for entry in file.read().split(b"\0"):
            name, _, value = entry.partition(b"=")
            places[name] = (address + len(name) + 1, len(value))
            address += len(entry) + 1
    return places


def _is_standard(path: str) -> bool:
    library = os.path.dirname(os.__file__)
    inside = path == library or path.startswith(library + os.sep)
    return inside and "site-packages" not in path and "dist-packages" not in path


def _stamp(path: str) -> tuple[str, int, int, int] | None:
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return (path, facts.st_ino, facts.st_size, facts.st_mtime_ns)


def _folders() -> tuple[list[str], list[str]]:
    """Return the folders of the path before the standard library, and those after it."""
    before: list[str] = []
    after: list[str] = []
    found = before
    for folder in map(os.path.abspath, sys.path):
        if _is_standard(folder):
            found = after
        elif os.path.isdir(folder):
            found.append(folder)
    return before, after


def _stamps(script: str, folders: list[str]) -> list[tuple[str, int, int, int]]:
    """Return the stamps of the files and folders this start depended on."""
    paths = [os.path.abspath(script), os.path.realpath(sys.executable), os.path.join(sys.prefix, "pyvenv.cfg")]
    for folder in folders:
        paths.append(folder)
        paths += sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".pth"))
    return [stamp for stamp in map(_stamp, paths) if stamp is not None]


# ── modules of the standard library that the script will import anyway ──────


def _preload(script: str, folder: str, allowed: frozenset[str]) -> list[str]:
    """Import what the script and the modules next to it import; return the new top-level names."""
    before = set(sys.modules)
    for name in sorted(_named(script, folder) & allowed):
        try:
            __import__(name)
        except ImportError:  # not part of this installation; the script will raise it itself
            continue
    fresh = set(sys.modules) - before
    for name in fresh:
        spec = getattr(sys.modules[name], "__spec__", None)
        origin = getattr(spec, "origin", None)
        if origin not in (None, "built-in", "frozen") and not _is_standard(origin):
            raise Unusable(f"{name} of the standard library is shadowed by {origin}")
    tops = {name.partition(".")[0] for name in fresh} - {name.partition(".")[0] for name in before}
    shadowed = tops & {entry.partition(".")[0] for entry in os.listdir(folder)}
    if shadowed:
        raise Unusable(f"{min(shadowed)} next to the script shadows the standard library")
    return sorted(tops)


def _named(script: str, folder: str) -> set[str]:
    """Return the modules named in import statements; a wrong match only costs time."""
    names: set[str] = set()
    todo, done = [script], 0
    while todo and done < 32:
        done += 1
        for name in _imports(todo.pop()):
            helper = os.path.join(folder, name + ".py")
            if name not in names and "." not in name and os.path.isfile(helper):
                todo.append(helper)
            names.add(name)
    return names


def _imports(path: str) -> list[str]:
    with open(path, "rb") as file:
        lines = file.read(1 << 20).decode("utf-8", "replace").replace(";", "\n").splitlines()
    found = []
    for line in lines:
        words = line.replace(",", " ").replace("(", " ").split()
        if words[:1] == ["import"]:
            found += words[1:]
        elif words[:1] == ["from"] and len(words) > 3:
            found += [words[1], *(f"{words[1]}.{name}" for name in words[3:])]
    return found


# ── less work at the end of a fork ──────────────────────────────────────────


def _make_ending_cheap() -> None:
    """Keep the standard library out of the collector and out of the clearing of modules at exit.

    The script's own modules and objects are finalised as usual. Finalising the library as well would only copy memory
    the fork shares with its parent: more than half of the time of a small hook.
    """
    import atexit
    import gc

    library = sys.stdlib_module_names
    names = [name for name in sys.modules if name.partition(".")[0] in library and name not in _ESSENTIAL]
    cycle: list[object] = [sys.modules[name] for name in names]
    cycle.append(cycle)  # only the collector could free it, and the collector skips it

    def forget(names: list[str] = names, modules: dict[str, ModuleType] = sys.modules) -> None:
        for name in names:
            modules.pop(name, None)

    atexit.register(forget)  # registered first, so called last: after everything the script registers
    gc.collect()
    gc.freeze()


_ESSENTIAL = ("sys", "builtins", "__main__")


def _find_madvise() -> Callable[[int, int], None] | None:
    try:
        import _ctypes

        class Size(_ctypes._SimpleCData):  # type: ignore[type-arg]
            _type_ = "L"

        address = _ctypes.dlsym(_ctypes.dlopen(None, 0), "madvise")  # type: ignore[arg-type]
        call = _ctypes.call_cdeclfunction
    except (ImportError, AttributeError, OSError):  # only slower without it
        return None

    def madvise(start: int, size: int) -> None:
        call(address, (Size(start), Size(size), _POPULATE_WRITE))

    return madvise


def _populate(madvise: Callable[[int, int], None]) -> None:
    """Copy shared pages while the fork waits, so none are copied while the hook runs."""
    with open("/proc/self/maps", "rb") as file:
        lines = file.read().splitlines()
    for line in lines:
        span, access = line.split(None, 2)[:2]
        if access.startswith(b"rw") and access.endswith(b"p"):
            start, end = (int(text, 16) for text in span.split(b"-"))
            madvise(start, end - start)


# ── at import ───────────────────────────────────────────────────────────────


def _leave_path(original: str) -> None:
    """Undo what made Python find this module."""
    folder = os.path.dirname(__file__)
    sys.path[:] = [place for place in sys.path if place != folder]
    sys.path_importer_cache.pop(folder, None)
    if original:
        os.environ["PYTHONPATH"] = original[1:]
    else:
        del os.environ["PYTHONPATH"]


def _run(order: str) -> ModuleType | None:
    """Obey "probe", PYTHONPATH, answer or "hold", PYTHONPATH, script, modules …; one on each line."""
    kind, original, subject, *allowed = order.split("\n")
    _leave_path(original)
    if kind == "probe":
        os.write(1, subject.encode())
        os._exit(0)
    return Guest(allowed, subject).hold()


def _fail(error: BaseException) -> NoReturn:
    try:
        os.write(2, f"{type(error).__name__}: {error}".encode("utf-8", "backslashreplace"))
    finally:
        os._exit(UNUSABLE)


_order = os.environ.pop("HOOKWRIGHT_WARM", None)
_found = None
if _order is not None:
    try:
        _found = _run(_order)
    except BaseException as _error:  # continuing would run the script without an event
        _fail(_error)
if _found is None:
    raise ImportError("there is no sitecustomize", name="sitecustomize")
