"""What the library has to say while it works: its log, as plain lines on stderr."""

from __future__ import annotations

import logging
import sys


class Notes(logging.Handler):
    """Warnings of the library, at once on a terminal; elsewhere once the command has succeeded.

    So what a script finds on the stderr of a failed command is the error and nothing else.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._held: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stderr.isatty():
            print(record.getMessage(), file=sys.stderr)
        else:
            self._held.append(record.getMessage())

    def tell(self) -> None:
        """Print what was held back."""
        for line in self._held:
            print(line, file=sys.stderr)
        self._held.clear()


def tell(line: str) -> None:
    """Say what is going on; progress is for those who watch."""
    if sys.stderr.isatty():
        print(f"{line} …", file=sys.stderr)
