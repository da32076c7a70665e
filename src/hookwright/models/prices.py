"""List prices of models, for the cost of a session."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from hookwright.models.types import Usage
from hookwright.protocol.matched import canonical_model


class Price(msgspec.Struct, frozen=True):
    """US dollars for a million tokens."""

    input: float
    output: float

    @property
    def cache_write(self) -> float:
        """The price of writing into the cache: a quarter more than reading without one."""
        return self.input * 1.25

    @property
    def cache_read(self) -> float:
        """The price of reading from the cache: a tenth."""
        return self.input * 0.1


#: By canonical name; a model that is not here has no known price.
PRICES: Mapping[str, Price] = {
    "claude-opus-5-5": Price(4, 20),
    "claude-opus-4-6": Price(5, 25),
    "claude-opus-4-5": Price(5, 25),
    "claude-opus-4-1": Price(15, 75),
    "claude-opus-4": Price(15, 75),
    "claude-sonnet-4-6": Price(3, 15),
    "claude-sonnet-4-5": Price(3, 15),
    "claude-sonnet-4": Price(3, 15),
    "claude-haiku-4-5": Price(1, 5),
}


def usd(model: str, usage: Usage) -> float | None:
    """Return the cost of tokens in US dollars; None if the price of the model is not known."""
    price = PRICES.get(canonical_model(model))
    if price is None:
        return None
    parts = (
        usage.input_tokens * price.input,
        usage.output_tokens * price.output,
        usage.cache_creation_input_tokens * price.cache_write,
        usage.cache_read_input_tokens * price.cache_read,
    )
    return sum(parts) / 1_000_000


def total_usd(usage: Mapping[str, Usage]) -> float | None:
    """Return the cost of all models together; None if one of the prices is not known."""
    costs = [usd(model, used) for model, used in usage.items()]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
