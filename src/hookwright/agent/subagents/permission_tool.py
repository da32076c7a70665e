"""`--permission-prompt-tool`: a tool of an MCP server answers permission questions instead of a person."""

from __future__ import annotations

from hookwright.agent.state.session import AskPermission, Permission, PermissionQuestion
from hookwright.agent.subagents.session_servers import SessionServers
from hookwright.errors import ConfigError, McpError
from hookwright.protocol.jsontext import Json, parse_json
from hookwright.text import did_you_mean


def asking_tool(name: str, servers: SessionServers) -> AskPermission:
    """Return the question to a tool by its full name; raise ConfigError if no connected server has it.

    The tool gets `tool_name`, `input` and `tool_use_id`. Its text is a JSON object: `{"behavior": "allow"}`, also with
    `updatedInput`, or `{"behavior": "deny", "message": …}`. Law: an error or any other answer is a no.
    """
    if name not in servers.tools:
        known = ", ".join(sorted(servers.tools)) or "none"
        hint = did_you_mean(name, servers.tools)
        raise ConfigError(f"--permission-prompt-tool {name}: no MCP server has this tool (tools: {known}){hint}")

    async def ask(question: PermissionQuestion) -> Permission:
        given = {"tool_name": question.tool_name, "input": dict(question.tool_input)}
        try:
            answer = await servers.call(name, {**given, "tool_use_id": question.tool_use_id})
        except McpError as error:
            return _no(name, str(error))
        return _no(name, answer.text) if answer.is_error else _read(name, answer.text)

    return ask


def _read(name: str, text: str) -> Permission:
    value, problem = parse_json(text)
    if problem is not None or not isinstance(value, dict) or value.get("behavior") not in ("allow", "deny"):
        return _no(name, f'it answered {text[:200]!r} instead of {{"behavior": "allow" or "deny"}}')
    updated: Json = value.get("updatedInput")
    return Permission(
        allow=value["behavior"] == "allow",
        message=str(value.get("message") or ""),
        updated_input=updated if isinstance(updated, dict) else None,
    )


def _no(name: str, reason: str) -> Permission:
    return Permission(allow=False, message=f"The permission tool {name} did not decide: {reason}")
