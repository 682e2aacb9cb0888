"""Lines as they arrive: wait for one, take those that are waiting already, be woken to stop."""

from __future__ import annotations

import os
import select
import time
from collections import deque
from types import TracebackType
from typing import Self

Line = bytes | None  # without its end; None in place of a line that is too long

LONGEST = 16 << 20  # bytes, as in files
_CHUNK = 1 << 16


class LineSource:
    """The lines of a file descriptor (a pipe, a file, a terminal), cut at b"\\n"; the last one needs none.

    Nothing waits for more than one line, and nothing but the rest of a line is ever held back.
    """

    def __init__(self, descriptor: int, longest: int = LONGEST) -> None:
        self._descriptor, self._longest = descriptor, longest
        self._lines: deque[Line] = deque()
        self._part = bytearray()  # of a line whose end has not come
        self._length = 0  # of that line; beyond `longest` the part is given up
        self._held = 0  # bytes of lines that wait
        self._ended = self._torn = self.stopped = False
        self._alarm, self._bell = os.pipe()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._alarm)
        os.close(self._bell)

    @property
    def finished(self) -> bool:
        """No line will come: the input has ended and all is taken, or `stop` was called."""
        return self.stopped or (self._ended and not self._lines)

    @property
    def torn(self) -> bool:
        """All lines are taken, and the last one had no end: whoever writes it may not have finished."""
        return self._torn and not self._lines

    def stop(self) -> None:
        """Give out no more lines; a `take` that is waiting returns. A signal handler may call it."""
        if not self.stopped:
            self.stopped = True
            os.write(self._bell, b"!")

    def take(self, most: int = 1, patience: float | None = None, wake: int | None = None) -> list[Line]:
        """The next lines: waits for the first one, `patience` seconds at most, then takes only what is there.

        None came if the list is empty: because of patience, `stop`, the end, or something to read at `wake`. As many
        lines as are longer together than one may be are enough, whatever `most` is.
        """
        until = None if patience is None else time.monotonic() + patience
        while not (self._lines or self.finished):
            if not self._ready(None if until is None else max(0.0, until - time.monotonic()), wake):
                return []
            self._read()
        while len(self._lines) < most and self._held < self._longest and not self._ended and self._ready(0.0):
            self._read()
        if self.stopped:
            return []
        taken = [self._lines.popleft() for _ in range(min(most, len(self._lines)))]
        self._held -= sum(len(line) for line in taken if line is not None)
        return taken

    def _ready(self, seconds: float | None, wake: int | None = None) -> bool:
        """Whether there is something to read (or the end), now or within some seconds."""
        watched = [self._descriptor, self._alarm] + ([] if wake is None else [wake])
        ready, _, _ = select.select(watched, [], [], seconds)
        return self._descriptor in ready and self._alarm not in ready

    def _read(self) -> None:
        chunk = os.read(self._descriptor, _CHUNK)
        if not chunk:
            self._ended = True
            if self._length:
                self._torn = True
                self._finish_line()
            return
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._extend(end)
            self._finish_line()
        self._extend(rest)

    def _extend(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length > self._longest:
            self._part.clear()
        else:
            self._part += piece

    def _finish_line(self) -> None:
        fits = self._length <= self._longest
        self._lines.append(bytes(self._part) if fits else None)
        self._held += self._length if fits else 0
        self._part.clear()
        self._length = 0
