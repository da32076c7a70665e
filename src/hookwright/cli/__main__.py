"""`python -m hookwright.cli`."""

from __future__ import annotations

import sys

from hookwright.cli import main

sys.exit(main())
