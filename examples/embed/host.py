"""Run shell commands as an agent would, with a project's hooks around each: host.py PROJECT COMMAND..."""

import asyncio
import os
import sys
from typing import Any

import hookwright


def show(outcome: hookwright.Outcome) -> None:
    for message in hookwright.messages(outcome):
        if message.reader in (hookwright.Reader.MODEL, hookwright.Reader.USER):
            print(f"{message.reader.value}: {message.text}")


async def main(project: str, commands: list[str]) -> None:
    common: dict[str, Any] = {"session_id": "demo", "transcript_path": f"{project}/demo.jsonl", "cwd": project}
    async with hookwright.open_session(project) as hooks:
        sys.stderr.writelines(f"{problem}\n" for problem in hooks.loaded.diagnostics)
        show(await hooks.fire(hookwright.SessionStart(**common, source="startup")))
        for number, command in enumerate(commands):
            call: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"{number}"}
            before = await hooks.fire(hookwright.PreToolUse(**common, **call))
            show(before)
            if before.stop is not None:
                break
            if before.blocked or isinstance(before.decision, hookwright.Ask | hookwright.Defer):
                continue  # ask, with nobody here to ask, is a no
            call["tool_input"] = before.updated_input or call["tool_input"]
            pipe = asyncio.subprocess.PIPE
            process = await asyncio.create_subprocess_shell(call["tool_input"]["command"], stdout=pipe, cwd=project)
            text = (await process.communicate())[0].decode()
            print(f"tool: {text.strip()}")
            show(await hooks.fire(hookwright.PostToolUse(**common, **call, tool_response={"stdout": text})))
        show(await hooks.fire(hookwright.SessionEnd(**common, reason="other")))


asyncio.run(main(os.path.abspath(sys.argv[1]), sys.argv[2:]))
