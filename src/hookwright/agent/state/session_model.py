"""The session's model: it can be switched, and what it costs is counted."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import msgspec

from hookwright.models.anthropic import ALIASES
from hookwright.models.prices import total_usd, usd
from hookwright.models.types import (
    ApiError,
    Delta,
    ErrorKind,
    Model,
    Request,
    Response,
    Retrying,
    Tunable,
    Tuning,
    Usage,
)

#: Dollars for writing a million tokens into a prompt cache, used for every model.
CACHE_WRITE_PRICE = 3.75
#: How often a busy model is asked again before the fallback is asked.
PATIENCE = 2
#: Seconds a prompt cache lives without being read.
CACHE_LIFE = 300.0


def resolve(name: str) -> str:
    """Return the full name for an alias of a model."""
    return ALIASES.get(name, name)


class SessionModel:
    """A model in the sense of `hookwright.models.types.Model` whose main model can be switched."""

    def __init__(self, inner: Model, fallback: str | None = None) -> None:
        self._inner = inner
        #: Asked instead, for one request, when the model is too busy.
        self._fallback = None if fallback is None else resolve(fallback)
        self.main_model = inner.main_model
        self.usage = Usage()
        #: The same by model, in the order of first use.
        self.usage_by_model: dict[str, Usage] = {}
        #: What each model has cost, in US dollars; None where its price is not known.
        self.cost_by_model: dict[str, float | None] = {}
        #: Seconds spent waiting for answers.
        self.seconds = 0.0
        #: Tokens of the main conversation up to its last answer.
        self.context_tokens = 0
        self.last_response: float | None = None

    @property
    def small_model(self) -> str:
        """The model for hooks: the configured small one, else the main one."""
        small = self._inner.small_model
        return self.main_model if small == self._inner.main_model else small

    async def complete(self, request: Request) -> Response:
        """Send a request and wait for the whole response."""
        started = time.monotonic()
        named = self._named(request)
        try:
            response = await self._inner.complete(named)
        except ApiError as error:
            if not self._falls_back(named, error.kind):
                raise
            response = await self._inner.complete(msgspec.structs.replace(named, model=self._fallback))
        finally:
            self.seconds += time.monotonic() - started
        self._add(response)
        return response

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Send a request and yield the response piece by piece."""
        started = time.monotonic()
        named, begun = self._named(request), False
        try:
            async for delta in self._inner.stream(named):
                if not isinstance(delta, Retrying):
                    begun = True
                elif delta.attempt > PATIENCE and self._falls_back(named, delta.error):
                    raise ApiError(f"{named.model} is too busy", kind=delta.error, status=delta.status)
                yield self._counted(delta)
        except ApiError as error:
            if begun or not self._falls_back(named, error.kind):
                raise
            async for delta in self._inner.stream(msgspec.structs.replace(named, model=self._fallback)):
                yield self._counted(delta)
        finally:
            self.seconds += time.monotonic() - started

    def _falls_back(self, request: Request, error: ErrorKind) -> bool:
        """Return whether another model may answer: the model is too busy, and it is not the fallback itself."""
        return error in ("overloaded", "rate_limit") and self._fallback not in (None, request.model)

    def _counted(self, delta: Delta) -> Delta:
        if isinstance(delta, Response):
            self._add(delta)
        return delta

    def _add(self, response: Response) -> None:
        self.usage += response.usage
        name = response.model
        self.usage_by_model[name] = self.usage_by_model.get(name, Usage()) + response.usage
        self.cost_by_model[name] = total_usd([self.cost_by_model.get(name, 0.0), usd(name, response.usage)])

    def count(self, response: Response) -> None:
        """Note the size of the main conversation after a response."""
        self.context_tokens = response.usage.context_tokens + response.usage.output_tokens
        self.last_response = time.time()

    def switch(self, name: str) -> None:
        """Use another main model from now on."""
        self.main_model = name

    def ignored(self, tuning: Tuning) -> tuple[str, ...]:
        """Return which parts of a tuning have no effect on the main model, a sentence each."""
        if isinstance(self._inner, Tunable):
            return self._inner.ignored(tuning, self.main_model)
        return () if tuning == Tuning() else (f"{self.main_model} may ignore thinking, effort, betas and budgets.",)

    def resume(self, context_tokens: int, last_response: float | None) -> None:
        """Continue from the size and the time of an earlier conversation."""
        self.context_tokens = context_tokens
        self.last_response = last_response

    def forget_context(self) -> None:
        """Start counting the main conversation's tokens from zero."""
        self.context_tokens = 0

    @property
    def cache_warm(self) -> bool:
        """Whether the provider may still have the conversation in its cache."""
        return self.last_response is not None and time.time() - self.last_response < CACHE_LIFE

    @property
    def cache_write_usd(self) -> float:
        """The estimated cost of writing the conversation into the cache again."""
        return round(self.context_tokens * CACHE_WRITE_PRICE / 1_000_000, 4)

    async def close(self) -> None:
        """Close connections."""
        await self._inner.close()

    def _named(self, request: Request) -> Request:
        return request if request.model is not None else msgspec.structs.replace(request, model=self.main_model)
