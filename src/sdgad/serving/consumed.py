"""How far an input has been read, and that it is the same input when it is read again."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from sdgad.errors import InputError
from sdgad.serving.line_source import Line, LineSource


@dataclass
class Consumed:
    """The number of lines that were answered, and a checksum (CRC-32) of them, which can be continued."""

    lines: int = 0
    checksum: int = 0

    def add(self, line: Line) -> None:
        self.lines += 1
        self.checksum = zlib.crc32(b"too long\n" if line is None else line + b"\n", self.checksum)

    def skip(self, source: LineSource) -> None:
        """Take as many lines from the beginning of an input, which must be the same; `stop` may cut it short."""
        seen = Consumed()
        while seen.lines < self.lines and not source.finished:
            for line in source.take(min(self.lines - seen.lines, 4096)):
                seen.add(line)
        if source.stopped:
            return
        if seen.lines < self.lines:
            raise InputError(
                f"The input ends after {seen.lines} lines, fewer than the {self.lines} that were consumed before."
            )
        if seen != self:
            raise InputError(
                f"The first {self.lines} lines of the input are not those that were consumed before."
            )
