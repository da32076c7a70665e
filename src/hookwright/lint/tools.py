"""The tools that matchers can mean: names, inputs, classes, and names that are gone or belong to other agents."""

from __future__ import annotations

from collections.abc import Mapping

from hookwright.matching.matchers import Matcher

#: Input fields of the tools hooks usually check; required ones first.
INPUTS: Mapping[str, tuple[str, ...]] = {
    "Bash": ("command", "description", "timeout", "run_in_background"),
    "PowerShell": ("command", "description", "timeout", "run_in_background"),
    "Write": ("file_path", "content"),
    "Edit": ("file_path", "old_string", "new_string", "replace_all"),
    "NotebookEdit": ("notebook_path", "new_source", "cell_id", "cell_type", "edit_mode"),
    "Read": ("file_path", "offset", "limit", "pages"),
    "Glob": ("pattern", "path"),
    "Grep": ("pattern", "path", "glob", "output_mode", "type", "head_limit", "multiline", "-i", "-n", "-A", "-B", "-C"),
    "WebFetch": ("url", "prompt", "offset"),
    "WebSearch": ("query", "allowed_domains", "blocked_domains"),
    "Agent": ("prompt", "description", "subagent_type", "model", "run_in_background", "isolation"),
}

#: Every tool of Claude Code that is known by name.
TOOLS = frozenset(INPUTS) | frozenset(
    [
        "AskUserQuestion",
        "BashOutput",
        "CronCreate",
        "CronDelete",
        "CronList",
        "EndConversation",
        "EnterPlanMode",
        "EnterWorktree",
        "ExitPlanMode",
        "ExitWorktree",
        "KillShell",
        "LSP",
        "ListAgents",
        "ListMcpResourcesTool",
        "Monitor",
        "ReadMcpResourceTool",
        "ReportFindings",
        "SendMessage",
        "Skill",
        "SlashCommand",
        "StructuredOutput",
        "SubagentHandback",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskOutput",
        "TaskStop",
        "TaskUpdate",
        "TeamCreate",
        "TeamDelete",
        "TodoWrite",
        "ToolSearch",
    ]
)

#: Tools that no longer exist, with their replacement.
STALE: Mapping[str, str] = {
    "Task": "`Task` is now `Agent`; the old name still matches it",
    "MultiEdit": "`MultiEdit` is no longer a tool; use `Edit`",
    "LS": "`LS` is no longer a tool; use `Glob` or `Bash`",
    "NotebookRead": "`NotebookRead` is no longer a tool; use `Read`",
}

#: Tool names of other agents.
FOREIGN: Mapping[str, str] = {
    "run_shell_command": "Bash",
    "execute_command": "Bash",
    "exec_command": "Bash",
    "shell": "Bash",
    "Shell": "Bash",
    "terminal": "Bash",
    "read_file": "Read",
    "write_file": "Write",
    "write_to_file": "Write",
    "replace": "Edit",
    "apply_patch": "Edit",
    "str_replace_editor": "Edit",
    "str_replace_based_edit_tool": "Edit",
    "edit_file": "Edit",
    "web_fetch": "WebFetch",
    "google_web_search": "WebSearch",
}

SHELL_TOOLS = ("Bash", "PowerShell")
WRITE_TOOLS = ("Write", "Edit", "NotebookEdit")
#: Tools whose unconditional approval lets the agent change or send something.
POWERFUL = frozenset(["Bash", "PowerShell", "Write", "Edit", "NotebookEdit", "WebFetch", "Agent"])


def matched(matcher: Matcher) -> frozenset[str]:
    """Return the known tools a matcher covers."""
    return frozenset(tool for tool in TOOLS if matcher.matches(tool))
