"""Hooks in Deep Agents: `create_deep_agent(model, hooks=HookwrightHooks("."))`.

`deepagents.create_deep_agent(middleware=[hooks])` gives the hooks to the main agent alone: what a subagent runs is not
asked about. The function here gives them to every agent it can reach, and names those it cannot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import deepagents
from deepagents.middleware.subagents import GENERAL_PURPOSE_SUBAGENT

from hookwright.adapters.langchain import HookwrightHooks
from hookwright.errors import ConfigError

#: A subagent as the framework describes it, of any of its kinds.
Spec = Mapping[str, Any]

_GENERAL = GENERAL_PURPOSE_SUBAGENT["name"]


def create_deep_agent(model: Any = None, tools: Any = None, *, hooks: HookwrightHooks, **fields: Any) -> Any:
    """Make a deep agent whose main agent, declared subagents and general-purpose subagent all have the hooks.

    The other arguments are those of `deepagents.create_deep_agent`. A subagent that is a compiled graph without these
    hooks, or runs on a server, is reported; raise ConfigError for it if the hooks are strict.
    """
    given = fields.pop("subagents", None) or ()
    texts = list(_out_of_reach(given))
    if texts and hooks.bridge.setup.strict:
        raise ConfigError("\n".join(texts))
    for text in texts:
        hooks.bridge.say(text)
    return deepagents.create_deep_agent(
        model,
        tools,
        middleware=_with(hooks, fields.pop("middleware", ())),
        subagents=[_reached(hooks, one) for one in (*_general(given, fields.get("skills")), *given)],
        **fields,
    )


def _general(given: Sequence[Spec], skills: list[str] | None) -> Iterator[Spec]:
    """Yield the general-purpose subagent that the framework would add by itself, without the hooks."""
    if not any(one["name"] == _GENERAL and "graph_id" not in one for one in given):
        yield {**GENERAL_PURPOSE_SUBAGENT, **({"skills": skills} if skills is not None else {})}


def _reached(hooks: HookwrightHooks, subagent: Spec) -> Any:
    """Return a declared subagent with the hooks; another kind as it is."""
    if "graph_id" in subagent or "runnable" in subagent:
        return subagent
    return {**subagent, "middleware": _with(hooks, subagent.get("middleware", ()))}


def _with(hooks: HookwrightHooks, middleware: Sequence[Any]) -> list[Any]:
    return [hooks, *(one for one in middleware if one is not hooks)]


def _out_of_reach(subagents: Sequence[Spec]) -> Iterator[str]:
    """Yield what to say about subagents that the hooks cannot be given to."""
    for one in subagents:
        if "graph_id" in one:
            yield (
                f"subagent `{one['name']}` runs on a server: these hooks do not see what it does. Give it hooks there, "
                "or declare it with a prompt and tools."
            )
        elif "runnable" in one and not _hooked(one["runnable"]):
            yield (
                f"subagent `{one['name']}` is a compiled graph without these hooks, and they cannot be added to it. "
                "Build it with `create_agent(…, middleware=[hooks])`, or declare it with a prompt and tools."
            )


def _hooked(graph: Any) -> bool:
    nodes = getattr(graph, "nodes", None) or ()
    return any(name.startswith(f"{HookwrightHooks.__name__}.") for name in nodes)
