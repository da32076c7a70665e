"""Clients for `hookwright.models.types.Model`: the Messages API, chat completions, and a scripted model."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hookwright.errors import HookwrightError

if TYPE_CHECKING:
    from hookwright.models.types import Model


def from_environment(env: Mapping[str, str], *, script: str | Path | None = None) -> Model:
    """Choose a model: a script if one is given, else by the key that is set, else one whose answers say what to set."""
    if script is not None:
        from hookwright.models.script import load_script
        from hookwright.models.scripted import ScriptedModel

        return ScriptedModel(load_script(script))
    match _family(env):
        case "anthropic":
            from hookwright.models.anthropic import AnthropicModel

            return AnthropicModel.from_environment(env)
        case "openai":
            from hookwright.models.openai import OpenAIModel

            return OpenAIModel.from_environment(env)
    from hookwright.models.scripted import Unconfigured

    return Unconfigured()


def has_key(env: Mapping[str, str]) -> bool:
    """Return whether a key of a provider is set."""
    return _family(env) is not None


def prefetch(env: Mapping[str, str]) -> threading.Thread | None:
    """Import the SDK `from_environment` would use, in a thread; it takes up to a second."""
    family = _family(env)
    if family is None:
        return None
    thread = threading.Thread(target=_load, args=(family,), name="hookwright-prefetch", daemon=True)
    thread.start()
    return thread


def _family(env: Mapping[str, str]) -> str | None:
    if env.get("ANTHROPIC_API_KEY") or env.get("ANTHROPIC_AUTH_TOKEN"):
        return "anthropic"
    return "openai" if env.get("OPENAI_API_KEY") else None


def _load(family: str) -> None:
    from hookwright.models import anthropic, openai

    with contextlib.suppress(HookwrightError):  # the first call that needs a missing extra reports it
        (anthropic if family == "anthropic" else openai).load()
