"""Hostile surroundings: full disks, limits that are reached, places that are gone, a clock that jumps."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import stat
import time
from pathlib import Path

import msgspec

from faults.hostile import DENY, NONE, SHORT, answer, says
from faults.limits import at_most, mount
from faults.world import NEXT, SIBLING, World, codes, command, word
from hookwright.config import Places
from hookwright.protocol.outcome import Deny
from hookwright.session import HookSession, open_session

_TALKATIVE = answer("deny", systemMessage="x" * 20_000)
_DENYING = says(answer("deny"))


async def disk_full(world: World) -> None:
    """Fill the disk of the spill and journal folders: hooks decide on, and both are told."""
    mount(world.state, "-o", "size=64k")
    full = world.folder / "full"
    full.mkdir()
    mount(full, "-o", "size=16k")
    event = world.event("Alone", transcript_path=str(full / "session.jsonl"))
    async with world.session(("Alone", [command(says(_TALKATIVE))])) as session:
        outcome = await world.fire(session, event)
        world.check(word(outcome) == DENY and "spill-failed" in codes(outcome), "the spill folder is full", outcome)
        world.check(not list(full.rglob("*.txt")), f"half a spill file stays: {list(full.rglob('*'))}")
        _fill(world.state / "filler")
        for _ in range(20):
            await world.next_works(session)
        told = [notice.code for notice in session.notices]
        world.check(told == ["journal"], f"the full journal was told as {told}")
        (world.state / "filler").unlink()
        await world.next_works(session)
        world.check(_torn(world.state / "journal.jsonl") <= 1, "more than one torn line in the journal")
        last = (world.state / "journal.jsonl").read_bytes().splitlines()[-1]
        world.check(json.loads(last)["decision"] == "deny", f"the line after the full disk: {last!r}")
        await world.settle()


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        size = 4096
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2


def _torn(path: Path) -> int:
    torn = 0
    for line in path.read_bytes().splitlines():
        try:
            json.loads(line)
        except ValueError:
            torn += 1
    return torn


async def descriptors(world: World) -> None:
    """Let the host run out of descriptors at every point of a start: nobody is allowed, nothing is lost."""
    closed = command(_DENYING, onFailure="block")
    async with world.session(("Alone", [command(_DENYING)]), ("Closed", [closed])) as session:
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        used = max(map(int, os.listdir("/proc/self/fd"))) + 1
        for more in range(14):
            resource.setrlimit(resource.RLIMIT_NOFILE, (used + more, before[1]))
            try:
                alone, shut = [await world.fire(session, world.event(tool)) for tool in ("Alone", "Closed")]
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, before)
            fine = word(alone) == DENY or "launch-failed" in codes(alone)
            world.check(fine, f"{more} descriptors left", alone)
            world.check(word(shut) == DENY, f"{more} descriptors left, failing closed", shut)
            await world.next_works(session)
        world.check(word(alone) == DENY, "14 descriptors are not enough", alone)
        await world.settle()


async def processes(world: World) -> None:
    """Let the host run out of processes, and its hooks too."""
    forking = command(f"/bin/true; {_DENYING}")
    closed = command(_DENYING, onFailure="block")
    async with world.session(("Alone", [command(_DENYING)]), ("Closed", [closed]), ("Forking", [forking])) as session:
        with at_most(0):
            outcome = await world.fire(session, world.event("Alone"))
            named = word(outcome) == NONE and "launch-failed" in codes(outcome)
            world.check(named, "no process left", outcome)
            outcome = await world.fire(session, world.event("Closed"))
            world.check(word(outcome) == DENY, "no process left, failing closed", outcome)
        with at_most(1):
            outcome = await world.fire(session, world.event("Alone"))
            world.check(word(outcome) == DENY, "one process left", outcome)
            outcome = await world.fire(session, world.event("Forking"))
            world.check(word(outcome) == DENY, "one process left for a hook that needs two", outcome)
        await world.next_works(session)
        await world.settle()


async def storm(world: World) -> None:
    """Let a hook fork as fast as it can, up to a limit of the system, and hang."""
    bomb = "f() { f & f & sleep 60; }; f"
    async with world.session(
        ("Alone", [command(bomb, timeout=SHORT)]), ("Closed", [command(bomb, timeout=SHORT, onFailure="block")])
    ) as session:
        with at_most(400):
            for tool, want in (("Alone", NONE), ("Closed", DENY)):
                outcome = await world.fire(session, world.event(tool), SHORT)
                world.check(
                    word(outcome) in (want, DENY) and outcome.diagnostics != (), f"{tool}: {want} wanted", outcome
                )
                await _until_quiet(world)
        await world.next_works(session)
        await world.settle()


async def _until_quiet(world: World) -> None:
    for _ in range(50):
        if not world.living():
            return
        await asyncio.sleep(0.02)


async def memory(world: World) -> None:
    """Take the host's memory away: a flood of output still fits, an event that does not is never let through."""
    async with world.session(("Alone", [command("head -c 50000000 /dev/zero; exit 2")])) as session:
        before = _starve()
        try:
            outcome = await world.fire(session, world.event("Alone"))
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)
        world.check(word(outcome) == DENY, "50 MB of output in 80 MB of memory", outcome)
        await world.next_works(session)
        # The JSON library ends its process when an allocation fails, so this host is one that can be spared.
        child = os.fork()
        if child == 0:
            os._exit(_starved(world))
        _, ended = await asyncio.to_thread(os.waitpid, child, 0)
        status = os.waitstatus_to_exitcode(ended)
        world.check(status != _LET_THROUGH, f"a 50 MB event in 80 MB of memory: the host ended with {status}")
        await world.settle()


_LET_THROUGH = 7


def _starve() -> tuple[int, int]:
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 80_000_000, before[1]))
    return before


def _starved(world: World) -> int:
    event = world.event("Alone", size=50_000_000)

    async def fire() -> int:
        guard = {"hooks": {"PreToolUse": [{"hooks": [command("exit 2")]}]}}
        places = Places(project=str(world.project), env=world.env, settings=(json.dumps(guard),))
        async with open_session(places) as session:
            _starve()
            outcome = await session.fire(event)
            return 0 if word(outcome) == DENY else _LET_THROUGH

    asyncio.set_event_loop(None)
    asyncio.events._set_running_loop(None)
    try:
        return asyncio.run(fire())
    except MemoryError:
        return 0


async def clock(world: World) -> None:
    """Let the wall clock jump by up to a year at every look: limits hold, and what is recorded stays sane."""
    looks = [time.time() for _ in range(20)]
    world.check(max(looks) - min(looks) > 3600, "the clock does not jump")
    hanging = command("sleep 60", timeout=SHORT)
    background = command("echo $$ > bg; exec sleep 60", timeout=SHORT, **{"async": True})
    async with world.session(("Alone", [hanging]), ("Late", [background]), ("Fine", [command(_DENYING)])) as session:
        for _ in range(3):
            outcome = await world.fire(session, world.event("Alone"), SHORT)
            world.check(word(outcome) == NONE and "timeout" in codes(outcome), "a hook that hangs", outcome)
            outcome = await world.fire(session, world.event("Fine"))
            world.check(word(outcome) == DENY, "a hook that denies", outcome)
            world.check(0 <= outcome.runs[0].timing.seconds < 10, f"it took {outcome.runs[0].timing.seconds} s")
            await world.next_works(session)
        started = time.monotonic()
        await world.fire(session, world.event("Late"))
        await session.background.wait()
        world.check(time.monotonic() - started < SHORT + 3, "a background hook that hangs")
        (world.project / "bg").unlink()
        await world.settle()
    world.check(world.over <= 2, f"{world.over:.2f} s over the limit")


async def no_home(world: World) -> None:
    """Take the home and the state folder away, make them files, make them read-only."""
    read_only = world.folder / "read-only"
    read_only.mkdir()
    mount(read_only, "-o", "size=64k,ro")
    a_file = world.folder / "file"
    a_file.write_text("")
    for place in (world.folder / "missing" / "home", read_only, a_file):
        env = {**world.env, "HOME": str(place), "HOOKWRIGHT_STATE_DIR": str(place / "state")}
        start = {"SessionStart": [{"hooks": [command("echo hello")]}]}
        settings = {"hooks": {"PreToolUse": [{"hooks": [command(SIBLING)]}], **start}}
        places = Places(project=str(world.project), env=env, settings=(json.dumps(settings),))
        async with open_session(places, journal=True) as session:
            await world.next_works(session)
            world.begin()
            outcome = await session.fire(world.event(NEXT, "SessionStart"))
            told = outcome.plain == ("hello",) or "launch-failed" in codes(outcome)
            world.check(told, f"HOME={place.name}: SessionStart", outcome)
            if place != world.folder / "missing" / "home":
                codes_ = [notice.code for notice in session.notices]
                world.check("journal" in codes_, f"HOME={place.name}: the journal was told as {codes_}")
            await world.settle()


async def own_directory(world: World) -> None:
    """Let a hook delete its own working directory."""
    async with world.session(("Alone", [command('cd / && rm -rf "$OLDPWD"; exit 2')])) as session:
        for _ in range(2):
            outcome = await world.fire(session, world.event("Alone"))
            world.check(word(outcome) == DENY, "a hook that deletes its directory", outcome)
            await world.next_works(session)
        await world.settle()


async def settings_change(world: World) -> None:
    """Let a hook write, break, replace and delete the settings that it came from while it runs."""
    path = world.home / ".claude" / "settings.json"
    for change, then in (
        ("echo '{broken' > \"$F\"", DENY),
        ('rm "$F"; mkdir "$F"', DENY),
        ('rm "$F"; mkfifo "$F"', DENY),
        ("printf '\\377\\376' > \"$F\"", DENY),
        ('head -c 20000000 /dev/zero > "$F"', DENY),
        ('rm "$F"', NONE),
        ("echo '{}' > \"$F\"", NONE),
    ):
        _clear(path)
        guard = command(f"F='{path}'; {change}; exit 2")
        path.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Alone", "hooks": [guard]}]}}))
        async with world.session() as session:
            outcome = await world.fire(session, world.event("Alone"))
            world.check(word(outcome) == DENY, f"{change}: the event itself", outcome)
            outcome = await world.fire(session, world.event("Alone"))
            world.check(word(outcome) == then, f"{change}: the event after it", outcome)
            _told(world, session, change, then)
            await world.settle()


def _told(world: World, session: HookSession, change: str, then: str) -> None:
    codes_ = {notice.code for notice in session.notices}
    wanted = "reload-kept" if then == DENY else "reloaded"
    world.check(wanted in codes_, f"{change}: told as {sorted(codes_)}, {wanted} wanted")


def _clear(path: Path) -> None:
    if path.is_dir():
        path.rmdir()
    elif path.exists() or path.is_fifo():
        path.unlink()


async def nesting(world: World) -> None:
    """Hand over an event that is nested deeper than the stack: the guard still sees the command."""
    deep: object = 1
    for _ in range(5000):
        deep = [deep]
    guard = command("grep -q dangerous && exit 2")
    async with world.session(("Alone", [guard])) as session:
        for value in (deep, {"x": deep, "y": "\ud800"}):
            plain = world.event("Alone")
            event = msgspec.structs.replace(plain, tool_input={"command": "dangerous", "more": value})
            outcome = await world.fire(session, event)
            world.check(isinstance(outcome.decision, Deny), "an event that is nested 5,000 levels deep", outcome)
            await world.next_works(session)
        await world.settle()


async def private_files(world: World) -> None:
    """Have everything made under a mask that hides nothing, and see that it is private all the same."""
    os.umask(0)
    event = world.event("Alone", transcript_path=str(world.folder / "private" / "session.jsonl"))
    async with world.session(("Alone", [command(says(_TALKATIVE))])) as session:
        await world.fire(session, event)
        made = [*(world.folder / "private").rglob("*"), *world.state.rglob("*")]
        world.check(len(made) >= 3, f"only {made} were made")
        for path in made:
            mode = stat.S_IMODE(path.stat().st_mode)
            world.check(mode & 0o077 == 0, f"{path.name} has mode {mode:o}")
        await world.settle()
