"""`python -m detent.cli`."""

from __future__ import annotations

import sys

from detent.cli import main

sys.exit(main())
