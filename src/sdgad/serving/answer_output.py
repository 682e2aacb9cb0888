"""Where answers go: every byte of them or an error, and in a file never half a line."""

from __future__ import annotations

import fcntl
import json
import os
import select
import stat
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from sdgad.durable import to_disk
from sdgad.errors import InputError

NAME = "The answers"
BEGINNING = b'{"line": '  # of every answer
_TAIL = 1 << 20  # bytes at the end of a file in which the beginning of its last line is looked for


class AnswerOutput:
    """Writes past all buffers, since what a buffer holds is neither written nor refused.

    `out` is a pipe, a terminal, a file, or anything else with `write` and `flush`.
    """

    def __init__(self, out: BinaryIO) -> None:
        out.flush()
        self._out = out
        self._raw = getattr(out, "raw", out)
        self._descriptor = _descriptor(out)
        self._is_file = self._descriptor is not None and stat.S_ISREG(os.fstat(self._descriptor).st_mode)

    def mend(self, *, repeated: bool) -> None:
        """Let the next answer begin a line, whatever a crash has left at the end of the file.

        A piece of an answer is cut off where it is `repeated`; anything else that has no end gets one.
        """
        rest = self._unfinished()
        if not rest:
            return
        if repeated and _is_piece(rest):
            self._shorten(len(rest))
        else:
            self._write(b"\n")

    def write(self, answers: Sequence[dict[str, Any]]) -> None:
        """All of them, or an error; then no file ends with half of one."""
        if answers:
            self._write(b"".join(json.dumps(answer, allow_nan=False).encode() + b"\n" for answer in answers))

    def settle(self) -> None:
        """Answers in a file are on the disk before a snapshot that counts them is."""
        if self._is_file:
            assert self._descriptor is not None
            to_disk(self._descriptor, NAME)

    def close(self) -> None:
        """The reader learns that this was all."""
        if self._descriptor is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._descriptor)
            os.close(nowhere)
            self._is_file = False

    def _write(self, data: bytes) -> None:
        written = 0
        try:
            while written < len(data):
                count = self._raw.write(
                    data[written:] if written else data
                )  # may take less than it was given
                if count is None:
                    self._wait()
                else:
                    written += count
            self._out.flush()
        except BaseException as problem:
            if written < len(data):
                self._cut(data, written)
            if isinstance(problem, BrokenPipeError) or not isinstance(problem, OSError):
                raise
            raise InputError(f"{NAME} cannot be written: {problem.strerror or problem}.") from problem

    def _wait(self) -> None:
        """Until a pipe that was made not to wait takes more."""
        select.select([], [self._raw], [])

    def _cut(self, data: bytes, written: int) -> None:
        """Take back what a full disk has taken of a line."""
        piece = written - (data.rfind(b"\n", 0, written) + 1)
        if piece:
            with suppress(OSError):  # the next start mends it
                self._shorten(piece)

    def _shorten(self, count: int) -> None:
        if self._is_file:
            assert self._descriptor is not None
            end = os.fstat(self._descriptor).st_size
            if self._at_end(end):  # nobody else has added anything
                os.ftruncate(self._descriptor, end - count)
                if not self._appends():
                    os.lseek(self._descriptor, end - count, os.SEEK_SET)

    def _unfinished(self) -> bytes:
        """What follows the last line end of the file that answers are added to, as far as that can be known."""
        if not self._is_file:
            return b""
        assert self._descriptor is not None
        end = os.fstat(self._descriptor).st_size
        if self._appends():
            os.lseek(self._descriptor, end, os.SEEK_SET)  # where the first write would go
        if end == 0 or not self._at_end(end):
            return b""
        try:
            again = os.open(f"/proc/self/fd/{self._descriptor}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return b""  # it may be written only
        try:
            tail = os.pread(again, min(end, _TAIL), max(0, end - _TAIL))
        finally:
            os.close(again)
        return tail[tail.rfind(b"\n") + 1 :]

    def _appends(self) -> bool:
        assert self._descriptor is not None
        return bool(fcntl.fcntl(self._descriptor, fcntl.F_GETFL) & os.O_APPEND)

    def _at_end(self, end: int) -> bool:
        assert self._descriptor is not None
        return os.lseek(self._descriptor, 0, os.SEEK_CUR) == end


def _is_piece(rest: bytes) -> bool:
    """Whether it is the beginning of an answer, and not a whole one."""
    if not (rest.startswith(BEGINNING) or BEGINNING.startswith(rest)):
        return False
    try:
        json.loads(rest)
    except (ValueError, RecursionError):
        return True
    return False


def _descriptor(out: BinaryIO) -> int | None:
    try:
        return out.fileno()
    except (OSError, ValueError, AttributeError):  # in memory
        return None
