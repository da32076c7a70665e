"""Trust domains of handlers; a worker never serves two of them."""

from __future__ import annotations

import os
from collections.abc import Hashable

from hookwright.protocol.sources import Source


def domain(source: Source) -> Hashable:
    """Return the trust domain of a handler: its scope, its plugin or component, and the folder that declares it."""
    return (source.scope, source.from_project, source.plugin, source.component, os.path.dirname(source.path))
