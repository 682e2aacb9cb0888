"""What the reader of the answers says: which lines it is done with."""

from __future__ import annotations

import os
import re
import select
import stat
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from sdgad.errors import InputError

_NUMBER = re.compile(rb"\s*\d{1,18}\s*")
_CHUNK = 1 << 16
_LONGEST = 100  # bytes of a number and what may stand around it


class Acknowledgements:
    """Numbers from a pipe, one on each line: N says that all answers up to that of line N are safe with the reader.

    Opening a named pipe waits until the reader has opened its end.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            if not stat.S_ISFIFO(path.stat().st_mode):
                raise InputError(f"{path} is not a pipe; make one with mkfifo.")
            self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as problem:
            raise InputError(f"{path} cannot be read: {problem.strerror or problem}.") from None
        self._rest = b""
        self.line = 0  # the highest that was acknowledged
        self.ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.descriptor)

    def hear(self, answered: int) -> None:
        """Take what has come; nobody can be done with more lines than were `answered`."""
        while not self.ended and self._ready(0.0):
            self._read(answered)

    def reaches(self, line: int, answered: int, patience: float | None = None) -> bool:
        """Whether that line is acknowledged, within some seconds; a reader who has gone acknowledges nothing more."""
        until = None if patience is None else time.monotonic() + patience
        while self.line < line and not self.ended:
            if not self._ready(None if until is None else max(0.0, until - time.monotonic())):
                break
            self._read(answered)
        return self.line >= line

    def _ready(self, seconds: float | None) -> bool:
        return bool(select.select([self.descriptor], [], [], seconds)[0])

    def _read(self, answered: int) -> None:
        chunk = os.read(self.descriptor, _CHUNK)
        self.ended = not chunk
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > _LONGEST:
            lines.append(self._rest)
        for text in lines:
            number = int(text) if _NUMBER.fullmatch(text) else None
            if number is None or number > answered:
                shown = text[:40].decode("utf-8", "replace")
                raise InputError(
                    f"{self._path}: the reader acknowledges {shown!r}, which is not the number of an answered line."
                )
            self.line = max(self.line, number)
