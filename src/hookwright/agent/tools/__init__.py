"""The tools of the reference agent.

| file | what it knows |
|---|---|
| `tool` | `Tool`, `ToolResult`, `Effect`; results of calls that failed, were stopped or never ran |
| `schema` | checks inputs and outputs against a small part of JSON Schema |
| `context` | `ToolContext`, what the tools of one agent work with |
| `shells`, `envfiles` | processes of Bash calls, ended with the session; env files of hooks, checked before use |
| `board` | the task list, and the changes the gate decides on |
| `bash` `read` `write` `edit` `glob` `grep` `webfetch` `tasks` | one tool or one family per file |
| `files`, `patch` | shared by several tools |

The life of a call, as a loop runs it:

    tool = TOOLS.get(name)                          # else unknown_tool(name)
    tool.problem(arguments)                         # a problem: never_ran(problem); no hook runs
    arguments = tool.normalise(arguments, cwd, home)
    tool.objection(arguments)                       # the same
    ...                                             # PreToolUse; a rewritten input goes through problem and normalise
    result = await tool.run(arguments, context)     # is_error: PostToolUseFailure, else PostToolUse
    tool.fits(rewritten), tool.render(rewritten)    # updatedToolOutput
"""

from hookwright.agent.tools.bash import BASH
from hookwright.agent.tools.board import Board, Change, Completed, Created, Task
from hookwright.agent.tools.context import ToolContext
from hookwright.agent.tools.edit import EDIT
from hookwright.agent.tools.envfiles import EnvFiles
from hookwright.agent.tools.glob import GLOB
from hookwright.agent.tools.grep import GREP
from hookwright.agent.tools.read import READ
from hookwright.agent.tools.shells import BackgroundShell, ShellEnded, Shells
from hookwright.agent.tools.tasks import TASK_CREATE, TASK_LIST, TASK_UPDATE
from hookwright.agent.tools.tool import (
    Effect,
    Text,
    Tool,
    ToolResult,
    absolute,
    failed,
    interrupted,
    never_ran,
    parameters,
    shape,
    unknown_tool,
)
from hookwright.agent.tools.webfetch import WEB_FETCH
from hookwright.agent.tools.write import WRITE
from hookwright.text import cut_middle

#: Every tool that needs only a ToolContext, by name.
TOOLS: dict[str, Tool] = {
    tool.name: tool for tool in (BASH, READ, WRITE, EDIT, GLOB, GREP, WEB_FETCH, TASK_CREATE, TASK_UPDATE, TASK_LIST)
}

__all__ = [
    "TOOLS",
    "BackgroundShell",
    "Board",
    "Change",
    "Completed",
    "Created",
    "Effect",
    "EnvFiles",
    "ShellEnded",
    "Shells",
    "Task",
    "Text",
    "Tool",
    "ToolContext",
    "ToolResult",
    "absolute",
    "cut_middle",
    "failed",
    "interrupted",
    "never_ran",
    "parameters",
    "shape",
    "unknown_tool",
]
