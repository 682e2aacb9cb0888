"""What the library has to say while it works: its log, as plain lines on stderr."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sdgad.cli.manner import Manner, manner, watched
from sdgad.cli.naming import as_options

TRAINING = "sdgad.training"  # what it says is of no use later


class Notes(logging.Handler):
    """Warnings of the library, at once on a terminal; elsewhere once the command has succeeded.

    So the last line that a script finds on the stderr of a failed command is the error. Only the epochs of a training are told
    as they end, where no bar shows them: who looks into the log of a job shall see that it gets on.
    """

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self._held: dict[str, None] = {}  # each once

    def emit(self, record: logging.LogRecord) -> None:
        if manner() is Manner.quiet:
            return
        if manner() is Manner.verbose:
            _print(f"{record.levelname.lower()} {record.name}: {record.getMessage()}")
            return
        if record.levelno < logging.WARNING and (record.name != TRAINING or watched()):
            return
        if sys.stderr.isatty() or record.name == TRAINING:
            _print(as_options(record.getMessage()))
        else:
            self._held[as_options(record.getMessage())] = None

    def tell(self) -> None:
        """Print what was held back."""
        for line in self._held:
            _print(line)
        self._held.clear()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """To the library, whose log is as it was afterwards."""
        logger = logging.getLogger("sdgad")
        before = logger.level
        logger.addHandler(self)
        logger.setLevel(logging.DEBUG)
        try:
            yield
        finally:
            logger.removeHandler(self)
            logger.setLevel(before)


def tell(line: str) -> None:
    """Say what is going on; progress is for those who watch."""
    if watched() or manner() is Manner.verbose:
        _print(f"{line} …")


def mention(line: str) -> None:
    """Say what was done, where stdout is taken."""
    if manner() is not Manner.quiet:
        _print(line)


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
