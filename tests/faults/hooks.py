"""Run one hostile hook: alone, beside a hook that denies, failing closed; each time the next event must work."""

from __future__ import annotations

import asyncio
import shlex

from faults.hostile import DENY, Fault
from faults.world import SIBLING, World, codes, command, word

#: TERM, then KILL after 1.5 s; the rest is for a busy machine.
OVER = 1.5 + 1.5


async def run_hook(world: World, fault: Fault) -> None:
    """Try a hook in three settings and see what is left."""
    hook = command(fault.command, timeout=fault.limit)
    closed = command(fault.command, timeout=fault.limit, onFailure="block")
    beside = [command(SIBLING), hook]
    async with world.session(("Alone", [hook]), ("Beside", beside), ("Closed", [closed])) as session:
        for tool, want in _wanted(fault).items():
            event = world.event(tool, size=fault.event)
            outcome = await world.fire(session, event, fault.limit if fault.expires else None)
            del event
            world.check(word(outcome) == want, f"{tool}: {want} wanted", outcome)
            world.check(not fault.code or fault.code in codes(outcome), f"{tool}: {fault.code} not named", outcome)
            del outcome
            await world.next_works(session)
        await world.settle(fault.outlive * 3)
    world.check(world.over <= OVER, f"{world.over:.2f} s over the limit, {OVER} allowed")
    world.check(world.peak <= fault.memory, f"{world.peak:.0f} MB over the baseline, {fault.memory} allowed")


async def run_warm(world: World, fault: Fault) -> None:
    """Try a Python hook in a warm interpreter: the first event starts it, later ones find it."""
    code = shlex.split(fault.command)[-1]
    script = world.folder / "hook.py"
    script.write_text(code)
    hook = command(f"PYTHON {script}", timeout=fault.limit, worker="warm")
    async with world.session(("Alone", [hook]), ("Beside", [command(SIBLING), hook])) as session:
        for tool in ("Alone", "Alone", "Alone", "Beside"):
            outcome = await world.fire(session, world.event(tool), fault.limit if fault.expires else None)
            want = DENY if tool == "Beside" else fault.want
            world.check(word(outcome) == want, f"{tool}: {want} wanted", outcome)
            world.check(not fault.code or fault.code in codes(outcome), f"{tool}: {fault.code} not named", outcome)
            world.check("asked-without" not in codes(outcome), f"{tool}: it cannot be warm", outcome)
            await world.next_works(session)
            await asyncio.sleep(0.1)  # a new interpreter is on its way
    await world.settle(fault.outlive * 4)
    world.check(world.over <= OVER, f"{world.over:.2f} s over the limit, {OVER} allowed")


def _wanted(fault: Fault) -> dict[str, str]:
    closed = DENY if fault.fails else fault.want
    return {"Alone": fault.want, "Beside": DENY, "Closed": closed}
