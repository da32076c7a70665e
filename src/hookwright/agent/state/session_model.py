"""The session's model: which one is asked may change, what it cost is counted."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import msgspec

from hookwright.models.anthropic import ALIASES
from hookwright.models.types import Delta, Model, Request, Response, Usage

#: Dollars for writing a million tokens into a prompt cache, where no price list says more.
CACHE_WRITE_PRICE = 3.75
#: Seconds that a prompt cache lives without being read.
CACHE_LIFE = 300.0


def resolve(name: str) -> str:
    """Spell out the short name of a model."""
    return ALIASES.get(name, name)


class SessionModel:
    """A model in the sense of `hookwright.models.types.Model` whose main model can be switched."""

    def __init__(self, inner: Model) -> None:
        self._inner = inner
        self.main_model = inner.main_model
        self.usage = Usage()
        #: Seconds spent waiting for answers.
        self.seconds = 0.0
        #: Tokens that the last answer of the main conversation was given on.
        self.context_tokens = 0
        self.last_response: float | None = None

    @property
    def small_model(self) -> str:
        """Name the model for hooks: the configured small one, else the main one."""
        small = self._inner.small_model
        return self.main_model if small == self._inner.main_model else small

    async def complete(self, request: Request) -> Response:
        """Ask and wait for the whole answer."""
        started = time.monotonic()
        try:
            response = await self._inner.complete(self._named(request))
        finally:
            self.seconds += time.monotonic() - started
        self.usage += response.usage
        return response

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Ask and give the answer piece by piece."""
        started = time.monotonic()
        try:
            async for delta in self._inner.stream(self._named(request)):
                if isinstance(delta, Response):
                    self.usage += delta.usage
                yield delta
        finally:
            self.seconds += time.monotonic() - started

    def count(self, response: Response) -> None:
        """Remember how much the main conversation has grown."""
        self.context_tokens = response.usage.context_tokens + response.usage.output_tokens
        self.last_response = time.time()

    @property
    def cache_warm(self) -> bool:
        """Tell whether the provider may still have the conversation in its cache."""
        return self.last_response is not None and time.time() - self.last_response < CACHE_LIFE

    @property
    def cache_write_usd(self) -> float:
        """Estimate what writing the conversation into the cache again would cost."""
        return round(self.context_tokens * CACHE_WRITE_PRICE / 1_000_000, 4)

    async def close(self) -> None:
        """Let go of connections."""
        await self._inner.close()

    def _named(self, request: Request) -> Request:
        return request if request.model is not None else msgspec.structs.replace(request, model=self.main_model)
