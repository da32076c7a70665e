"""List prices of models, for the cost of a session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from hookwright.models.types import Usage
from hookwright.protocol.matched import canonical_model


class Price(msgspec.Struct, frozen=True):
    """US dollars for a million tokens."""

    input: float
    output: float
    #: Reading from the cache, as a part of reading without one.
    cached: float = 0.1
    #: The price of a request that reads more than `long_from` tokens; None if it is the same.
    long: Price | None = None
    long_from: int = 0

    def of(self, usage: Usage) -> float:
        """Return the cost of one request; writing into the cache costs a quarter more than reading without one."""
        if self.long is not None and usage.context_tokens > self.long_from:
            return self.long.of(usage)
        parts = (
            usage.input_tokens * self.input,
            usage.output_tokens * self.output,
            usage.cache_creation_input_tokens * self.input * 1.25,
            usage.cache_read_input_tokens * self.input * self.cached,
        )
        return sum(parts) / 1_000_000


def _gpt(input_: float, output: float) -> Price:
    """Return a price of GPT-6.1; a request of more than 272,000 tokens costs more."""
    return Price(input_, output, 0.05, Price(input_ * 2, output * 1.5, 0.05), 272_000)


#: By canonical name; a model that is not here has no known price.
PRICES: Mapping[str, Price] = {
    "claude-fable-5-1": Price(10, 50, 0.025),
    "claude-fable-5": Price(10, 50),
    "claude-opus-5-5": Price(4, 20, 0.05),
    "claude-opus-5": Price(5, 25),
    "claude-opus-4-8": Price(5, 25),
    "claude-opus-4-7": Price(5, 25),
    "claude-opus-4-6": Price(5, 25),
    "claude-opus-4-5": Price(5, 25),
    "claude-opus-4-1": Price(15, 75),
    "claude-opus-4": Price(15, 75),
    "claude-sonnet-5-5": Price(2, 10),
    "claude-sonnet-5": Price(2, 10),
    "claude-sonnet-4-6": Price(3, 15),
    "claude-sonnet-4-5": Price(3, 15),
    "claude-sonnet-4": Price(3, 15),
    "claude-haiku-5-5": Price(0.1, 0.5, 0.1, Price(0.5, 2.5), 100_000),
    "claude-haiku-4-5": Price(1, 5),
    "gpt-6.1-sol": _gpt(2, 10),
    "gpt-6.1-terra": _gpt(1, 5),
}


def is_priced(model: str) -> bool:
    """Return whether the price of a model is known."""
    return canonical_model(model) in PRICES


def usd(model: str, usage: Usage) -> float | None:
    """Return the cost of one request in US dollars; None if the price of the model is not known."""
    price = PRICES.get(canonical_model(model))
    return None if price is None else price.of(usage)


def total_usd(costs: Iterable[float | None]) -> float | None:
    """Return the sum of costs; None if one of them is not known."""
    total = 0.0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total
