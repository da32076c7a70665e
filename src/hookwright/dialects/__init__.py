"""How other coding agents speak about hooks: one frozen table per agent, and pure translations to and from it."""
