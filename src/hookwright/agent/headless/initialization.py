"""The `initialize` request: what a host adds to a session before it opens."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from hookwright.agent.headless.callbacks import AskHost, InvalidCallbacks, callback_hooks
from hookwright.agent.state.components import AgentType, read_agents
from hookwright.agent.state.options import AgentOptions
from hookwright.code_hooks import Hooks
from hookwright.errors import ConfigError
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode

#: Fields of an agent that a host may send and that have no effect here.
_IGNORED = ("skills", "memory", "mcpServers", "initialPrompt", "effort")
#: Fields of the request that are read.
_READ = frozenset(
    {
        *("subtype", "hooks", "agents", "skills", "sdkMcpServers", "systemPrompt", "appendSystemPrompt", "jsonSchema"),
        "forwardSubagentText",
    }
)


class InvalidInitialization(ValueError):
    """An `initialize` request that cannot be applied; the message names the place."""


class Initialization(msgspec.Struct, frozen=True, kw_only=True):
    """A host's hooks, agents, skills, servers and prompts."""

    hooks: Hooks | None = None
    agents: Mapping[str, AgentType] = msgspec.field(default_factory=dict)
    #: None for every skill.
    skills: tuple[str, ...] | None = None
    #: MCP servers inside the host.
    servers: tuple[str, ...] = ()
    system_prompt: str | None = None
    append_system_prompt: str | None = None
    json_schema: Mapping[str, Json] | None = None
    #: Whether the host wants to see what subagents say and think.
    forward_subagent_text: bool = False
    #: What has no effect, for the user.
    notes: tuple[str, ...] = ()

    def applied(self, options: AgentOptions) -> AgentOptions:
        """Return options with what the host adds; its agents take precedence over those of the command line."""
        config = {"mcpServers": {name: {"type": "sdk", "name": name} for name in self.servers}}
        return msgspec.structs.replace(
            options,
            agents={**options.agents, **self.agents},
            skills=self.skills if self.skills is not None else options.skills,
            mcp_config=(*options.mcp_config, encode(config).decode()) if self.servers else options.mcp_config,
            system_prompt=self.system_prompt if self.system_prompt is not None else options.system_prompt,
            append_system_prompt=self.append_system_prompt or options.append_system_prompt,
            json_schema=self.json_schema if self.json_schema is not None else options.json_schema,
        )


def read_initialization(request: Mapping[str, Json], ask: AskHost) -> Initialization:
    """Read an `initialize` request; raise InvalidInitialization for one that cannot be applied as a whole."""
    agents = request.get("agents") or {}
    try:
        hooks = callback_hooks(request["hooks"], ask) if request.get("hooks") else None
        kinds = read_agents(agents, "agents")
    except (InvalidCallbacks, ConfigError) as error:
        raise InvalidInitialization(str(error)) from None
    return Initialization(
        hooks=hooks,
        agents=kinds,
        skills=_names(request, "skills"),
        servers=_names(request, "sdkMcpServers") or (),
        system_prompt=_text(request, "systemPrompt"),
        append_system_prompt=_text(request, "appendSystemPrompt"),
        json_schema=_object(request, "jsonSchema"),
        forward_subagent_text=request.get("forwardSubagentText") is True,
        notes=_without_effect(request, agents),
    )


def _without_effect(request: Mapping[str, Json], agents: Mapping[str, Json]) -> tuple[str, ...]:
    parts = [key for key, value in request.items() if value and key not in _READ]
    parts += [f"agents.{name}.{key}" for name, fields in agents.items() for key in _IGNORED if fields.get(key)]
    return tuple(f"{part} has no effect here" for part in parts)


def _names(request: Mapping[str, Json], key: str) -> tuple[str, ...] | None:
    value = request.get(key)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InvalidInitialization(f"{key}: {value!r} is not a list of names")
    return tuple(value)


def _text(request: Mapping[str, Json], key: str) -> str | None:
    value = request.get(key)
    if isinstance(value, list):  # several parts
        value = "\n\n".join(str(part) for part in value)
    if not isinstance(value, str | None):
        raise InvalidInitialization(f"{key}: {value!r} is not a string")
    return value


def _object(request: Mapping[str, Json], key: str) -> Mapping[str, Json] | None:
    value = request.get(key)
    if not isinstance(value, Mapping | None):
        raise InvalidInitialization(f"{key}: {value!r} is not an object")
    return value
