"""What a session is asked for and cannot do: a protection is refused, everything else is reported once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hookwright.agent.state.options import AgentOptions
from hookwright.errors import ConfigError
from hookwright.models.prices import PRICES, is_priced
from hookwright.protocol.jsontext import Json

NO_SANDBOX = "commands cannot be run in a sandbox here"
INSTEAD = "remove it, and run the whole program in a container instead"
#: Set to `true` by a client of the Agent SDK that wants to rewind files.
CHECKPOINTS = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"


def wants_sandbox(settings: Json) -> bool:
    """Return whether settings ask for a sandbox."""
    sandbox = settings.get("sandbox") if isinstance(settings, Mapping) else None
    return isinstance(sandbox, Mapping) and bool(sandbox.get("enabled"))


def refuse(options: AgentOptions, settings: Mapping[str, Json], model: str) -> None:
    """Raise ConfigError for a protection that cannot be given.

    Law: settings that demand a sandbox (`failIfUnavailable`) and a budget for a model without a known price are
    errors, before any hook runs.
    """
    if wants_sandbox(settings) and settings["sandbox"].get("failIfUnavailable"):
        raise ConfigError(f"the settings set sandbox.failIfUnavailable, and {NO_SANDBOX}; {INSTEAD}")
    if options.max_budget_usd is not None and not is_priced(model):
        known = ", ".join(PRICES)
        raise ConfigError(f"--max-budget-usd: the price of {model} is not known, so a budget cannot be kept ({known})")


def without_effect(options: AgentOptions, settings: Mapping[str, Json]) -> Iterator[str]:
    """Yield a sentence for everything the options and settings ask for in vain."""
    if wants_sandbox(settings):
        yield f"The settings enable the sandbox, but {NO_SANDBOX}: every command has your full rights."
    if options.env.get(CHECKPOINTS, "").lower() in ("1", "true"):
        yield "File checkpoints are not kept here: files cannot be rewound. Use git."
