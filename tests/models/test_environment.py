"""Which model is used, and that nothing heavy is loaded before it is needed."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from hookwright.models import from_environment, prefetch
from hookwright.models._requests import api_timeout
from hookwright.models.anthropic import DEFAULT_MODEL, AnthropicModel
from hookwright.models.openai import OpenAIModel
from hookwright.models.scripted import NO_MODEL, ScriptedModel
from hookwright.models.types import ApiError, Request

KEY = {"ANTHROPIC_API_KEY": "k"}


def test_a_key_chooses_the_family() -> None:
    assert isinstance(from_environment(KEY), AnthropicModel)
    assert isinstance(from_environment({"ANTHROPIC_AUTH_TOKEN": "t"}), AnthropicModel)
    assert isinstance(from_environment({"OPENAI_API_KEY": "k"}), OpenAIModel)
    assert isinstance(from_environment({"OPENAI_API_KEY": "k", **KEY}), AnthropicModel)
    assert isinstance(from_environment({"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "k"}), OpenAIModel)


def test_a_script_goes_before_every_key(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("- - text: from the script\n")
    model = from_environment(KEY, script=path)
    assert isinstance(model, ScriptedModel)
    assert asyncio.run(model.complete(Request(messages=[]))).text == "from the script"


@pytest.mark.req("R-121")
def test_the_environment_names_the_models() -> None:
    plain = from_environment(KEY)
    assert (plain.main_model, plain.small_model) == (DEFAULT_MODEL, DEFAULT_MODEL)
    main = from_environment({**KEY, "ANTHROPIC_MODEL": "claude-opus-5"})
    assert (main.main_model, main.small_model) == ("claude-opus-5", "claude-opus-5")
    small = from_environment(
        {**KEY, "ANTHROPIC_MODEL": "opus", "ANTHROPIC_SMALL_FAST_MODEL": "claude-3-5-haiku-latest"}
    )
    assert (small.main_model, small.small_model) == ("claude-opus-5-5", "claude-3-5-haiku-latest")
    other = from_environment({"OPENAI_API_KEY": "k", "OPENAI_MODEL": "gpt-4.1"})
    assert (other.main_model, other.small_model) == ("gpt-4.1", "gpt-4.1")


def test_without_a_key_the_model_says_what_is_missing() -> None:
    async def main() -> None:
        model = from_environment({})
        for _ in range(2):
            assert (await model.complete(Request(messages=[{"role": "user", "content": "hi"}]))).text == NO_MODEL
        with pytest.raises(ApiError, match="no model is configured"):
            await model.complete(Request(messages=[], purpose="prompt-hook"))

    asyncio.run(main())


def loaded(code: str) -> set[str]:
    """Run code in a fresh interpreter and tell which SDKs it loaded."""
    tail = "import sys; print(*[name for name in ('anthropic', 'openai', 'ruamel') if name in sys.modules])"
    return set(
        subprocess.run(
            [sys.executable, "-c", f"{code}; {tail}"], capture_output=True, check=True, text=True
        ).stdout.split()
    )


def test_choosing_a_model_loads_no_sdk() -> None:
    code = (
        "from hookwright.models import *; import hookwright.models as m; m.from_environment({'ANTHROPIC_API_KEY': 'k'})"
    )
    executors = "import hookwright.executors.prompt, hookwright.executors.agent"
    assert loaded(f"{code}; m.from_environment({{'OPENAI_API_KEY': 'k'}}); {executors}") == set()


def test_prefetch_loads_the_sdk_that_will_be_used() -> None:
    assert loaded("from hookwright.models import prefetch; prefetch({'OPENAI_API_KEY': 'k'}).join()") == {"openai"}
    assert prefetch({}) is None


def test_a_missing_sdk_is_told_with_the_extra() -> None:
    code = (
        "import sys, asyncio; sys.modules['anthropic'] = None\n"
        "from hookwright.models.types import Request; from hookwright.models import from_environment, prefetch\n"
        "env = {'ANTHROPIC_API_KEY': 'k'}; prefetch(env).join()\n"
        "asyncio.run(from_environment(env).complete(Request(messages=[])))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.rstrip().endswith("pip install 'hookwright[anthropic]'")


@pytest.mark.parametrize(
    ("text", "seconds"), [("", 600.0), ("1500", 1.5), ("0", 600.0), ("-5", 600.0), ("soon", 600.0), ("٣", 600.0)]
)
def test_the_silence_of_an_api_has_a_limit(text: str, seconds: float) -> None:
    assert api_timeout({"API_TIMEOUT_MS": text}) == seconds
