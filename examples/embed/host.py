"""Run shell commands as an agent would, with a project's hooks around each: host.py PROJECT COMMAND..."""

import asyncio
import os
import sys

import hookwright as hw


def show(outcome: hw.Outcome) -> None:
    for message in hw.messages(outcome):
        if message.reader in (hw.Reader.MODEL, hw.Reader.USER):
            print(f"{message.reader.value}: {message.text}")


async def main(project: str, commands: list[str]) -> None:
    async with hw.open_session(project, session_id="demo") as session:
        sys.stderr.writelines(f"{problem}\n" for problem in session.loaded.diagnostics)
        show(await session.fire(hw.SessionStart, source="startup"))
        for command in commands:
            call = session.event(hw.PreToolUse, tool_name="Bash", tool_input={"command": command})
            before = await session.fire(call)
            show(before)
            if before.stop is not None:
                break
            if before.blocked or isinstance(before.decision, hw.Ask | hw.Defer):
                continue  # ask, with no user to ask, is a no
            used = before.updated_input or call.tool_input
            pipe = asyncio.subprocess.PIPE
            process = await asyncio.create_subprocess_shell(used["command"], stdout=pipe, cwd=project)
            text = (await process.communicate())[0].decode()
            print(f"tool: {text.strip()}")
            done = {"tool_name": "Bash", "tool_input": used, "tool_use_id": call.tool_use_id}
            show(await session.fire(hw.PostToolUse, **done, tool_response={"stdout": text}))
        show(await session.fire(hw.SessionEnd, reason="other"))


asyncio.run(main(os.path.abspath(sys.argv[1]), sys.argv[2:]))
