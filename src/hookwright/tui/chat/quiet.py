"""When a dialog may take keys: once the user has stopped typing."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Seconds without a key after which the next key is meant for the dialog on the screen.
QUIET = 0.7


class QuietTime:
    """The time since the last key.

    Law: a key is for a dialog if no key was pressed in the QUIET seconds before it and the dialog has been open that
    long. A key that comes earlier belongs to text begun before: it is dropped, and the time starts again.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since = clock()

    def restart(self) -> None:
        """Count a key that was not for the dialog, or the dialog becoming visible."""
        self._since = self._clock()

    @property
    def reached(self) -> bool:
        """Whether the user has stopped typing."""
        return self._clock() - self._since >= QUIET

    def admits(self, *, has_meaning: bool) -> bool:
        """Return whether a key is for the dialog; one without a meaning there is text, as are the keys after it."""
        admitted = has_meaning and self.reached
        if not admitted:
            self.restart()
        return admitted
