"""Run shell commands as an agent would, with a project's hooks around each: host.py PROJECT COMMAND..."""

import asyncio
import os
import sys
from typing import Any

import detent


def show(outcome: detent.Outcome) -> None:
    for message in detent.messages(outcome):
        if message.reader in (detent.Reader.MODEL, detent.Reader.USER):
            print(f"{message.reader.value}: {message.text}")


async def main(project: str, commands: list[str]) -> None:
    common: dict[str, Any] = {"session_id": "demo", "transcript_path": f"{project}/demo.jsonl", "cwd": project}
    async with detent.open_session(project) as hooks:
        sys.stderr.writelines(f"{problem}\n" for problem in hooks.loaded.diagnostics)
        show(await hooks.fire(detent.SessionStart(**common, source="startup")))
        for number, command in enumerate(commands):
            call: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"{number}"}
            before = await hooks.fire(detent.PreToolUse(**common, **call))
            show(before)
            if before.stop is not None:
                break
            if before.blocked or isinstance(before.decision, detent.Ask | detent.Defer):
                continue  # ask, with nobody here to ask, is a no
            call["tool_input"] = before.updated_input or call["tool_input"]
            pipe = asyncio.subprocess.PIPE
            process = await asyncio.create_subprocess_shell(call["tool_input"]["command"], stdout=pipe, cwd=project)
            text = (await process.communicate())[0].decode()
            print(f"tool: {text.strip()}")
            show(await hooks.fire(detent.PostToolUse(**common, **call, tool_response={"stdout": text})))
        show(await hooks.fire(detent.SessionEnd(**common, reason="other")))


asyncio.run(main(os.path.abspath(sys.argv[1]), sys.argv[2:]))
