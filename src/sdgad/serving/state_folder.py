"""State that survives: a folder with one snapshot, used by one process at a time."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from sdgad.atomic import need_outside_models
from sdgad.detectors.live import LiveScorer
from sdgad.errors import InputError, ModelFolderError
from sdgad.serving.consumed import Consumed

REST = 9  # times as long as a snapshot took, before the next one


class StateFolder:
    """A live history and how far its input was read, in one file that is replaced in one step.

    It is due after `every` lines, and after `seconds` if there is anything new; but a large history, whose snapshots
    take long, is not written more often than a tenth of the time allows.
    """

    def __init__(self, folder: Path, live: LiveScorer, *, every: int = 1000, seconds: float = 10.0) -> None:
        self.path = folder / "state.safetensors"
        self._folder, self._live = folder, live
        self._every, self._seconds = every, seconds
        self._saved = Consumed()
        self._moment = time.monotonic()
        self._rest = 0.0

    def __enter__(self) -> Self:
        if (self._folder / "config.json").exists():
            raise InputError(f"{self._folder} is a model folder; the state needs one of its own.")
        need_outside_models(self._folder)
        try:
            self._folder.mkdir(exist_ok=True)
            self._lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as problem:
            raise InputError(f"{self._folder} cannot hold the state: {problem.strerror}.") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise InputError(f"{self._folder} is in use by another process.") from None
        for torn in self._folder.glob(f".{self.path.name}.*"):  # a snapshot whose process was killed
            if torn.is_dir():
                shutil.rmtree(torn, ignore_errors=True)
            else:  # of an older version
                torn.unlink(missing_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._lock)

    def resume(self) -> Consumed:
        """Put the live history where the last snapshot was taken, if there is one, and say how far that is."""
        if self.path.exists():
            note = self._live.restore(self.path)
            try:
                self._saved = Consumed(int(note["lines"]), int(note["checksum"]))
            except (KeyError, TypeError, ValueError):
                raise ModelFolderError(f"{self.path} does not say how many lines it has consumed.") from None
        return Consumed(self._saved.lines, self._saved.checksum)

    def patience(self, consumed: Consumed) -> float | None:
        """Seconds until a snapshot is due; None if there is nothing new."""
        if consumed.lines == self._saved.lines:
            return None
        return max(0.0, self._moment + max(self._seconds, self._rest) - time.monotonic())

    def is_due(self, consumed: Consumed) -> bool:
        rested = time.monotonic() >= self._moment + self._rest
        return (consumed.lines - self._saved.lines >= self._every and rested) or self.patience(consumed) == 0

    def save(self, consumed: Consumed) -> None:
        """Take a snapshot, unless there is nothing new. The answers so far must have been written."""
        if consumed.lines > self._saved.lines or not self.path.exists():
            start = time.monotonic()
            self._live.snapshot(self.path, {"lines": consumed.lines, "checksum": consumed.checksum})
            self._saved = Consumed(consumed.lines, consumed.checksum)
            self._rest = REST * (time.monotonic() - start)
        self._moment = time.monotonic()
