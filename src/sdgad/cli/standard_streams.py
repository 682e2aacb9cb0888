"""Standard input, output and error that were closed, are full, or that nobody reads any more."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO


class _Whisper(io.FileIO):
    """Where notes go. That nobody can hear them must not end the work that they are about."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except OSError:
            return len(memoryview(data).cast("B"))


def open_closed_streams() -> None:
    """Let no file take the number of a standard stream that is closed, or notes would be written into it.

    Python has None in place of such a stream; errors are then told to nobody, and commands go on.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    words = getattr(sys.stderr, "encoding", "utf-8")
    notes = io.BufferedWriter(_Whisper(2, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(notes, words, errors="replace", line_buffering=True)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115


def not_open(stream: TextIO | None) -> bool:
    """Whether the standard output was closed when Python began, whatever has been put into its place since."""
    return stream is None or sys.__stdout__ is None


def empty_output() -> None:
    """What is left in the buffer goes out, or nowhere: at the end of Python it would fail once more, and be told of."""
    try:
        sys.stdout.flush()
        return
    except (OSError, ValueError, AttributeError):
        pass
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):  # there is no file behind it
        pass
