"""All workers of one session."""

from __future__ import annotations

from hookwright.warm.pool import Interpreters
from hookwright.warm.residents import Residents


class Workers:
    """The held interpreters and resident processes, kept across reloads of the settings."""

    def __init__(self) -> None:
        self.interpreters = Interpreters()
        self.residents = Residents()

    async def aclose(self) -> None:
        """End all of them and wait until they are gone."""
        await self.residents.aclose()
        await self.interpreters.aclose()
