"""What the library has to say to a command that runs for weeks: each kind of note at once, and once."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager


class _Once(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        if str(record.msg) not in self._told:  # the sentence before names and numbers are put in
            self._told.add(str(record.msg))
            print(record.getMessage(), file=sys.stderr, flush=True)


@contextmanager
def telling_once() -> Iterator[None]:
    """In place of the notes of other commands, which wait for the end."""
    logger = logging.getLogger("sdgad")
    before, logger.handlers = logger.handlers, [_Once()]
    try:
        yield
    finally:
        logger.handlers = before
