"""State that survives: a folder with one snapshot, used by one process at a time."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from sdgad.atomic import need_outside_models
from sdgad.detectors.live import LiveScorer
from sdgad.durable import folder_to_disk
from sdgad.errors import InputError, ModelFolderError
from sdgad.locks import lock_now
from sdgad.serving.acknowledgements import Acknowledgements
from sdgad.serving.consumed import Consumed

REST = 9  # times as long as a snapshot took, before the next one


class StateFolder:
    """A live history and how far its input was read, in one file that is replaced in one step.

    It is due after `every` lines, and after `seconds` if there is anything new; but a large history, whose snapshots
    take long, is not written more often than a tenth of the time allows. Where the reader sends acknowledgements, a
    snapshot waits beside the one before until the reader is done with all lines that it counts.
    """

    def __init__(
        self,
        folder: Path,
        live: LiveScorer,
        *,
        every: int = 1000,
        seconds: float = 10.0,
        acks: Acknowledgements | None = None,
    ) -> None:
        self.path = folder / "state.safetensors"
        self.acks = acks
        self._waiting = folder / f".{self.path.name}.waiting"
        self._folder, self._live = folder, live
        self._every, self._seconds = every, seconds
        self._saved = self._safe = (
            Consumed()
        )  # by the last snapshot, and by the last one that is in its place
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
        if not lock_now(self._lock):
            os.close(self._lock)
            raise InputError(f"{self._folder} is in use by another process.")
        self._clean()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clean()
        os.close(self._lock)

    def _clean(self) -> None:
        """No snapshot stays whose process was killed, or that nobody acknowledged."""
        for torn in self._folder.glob(f".{self.path.name}.*"):
            if torn.is_dir():
                shutil.rmtree(torn, ignore_errors=True)
            else:
                torn.unlink(missing_ok=True)

    def resume(self) -> Consumed:
        """Put the live history where the last snapshot was taken, if there is one, and say how far that is."""
        if self.path.exists():
            note = self._live.restore(self.path)
            try:
                self._saved = self._safe = Consumed(int(note["lines"]), int(note["checksum"]))
            except (KeyError, TypeError, ValueError):
                raise ModelFolderError(f"{self.path} does not say how many lines it has consumed.") from None
        if self.acks is not None:
            self.acks.line = self._saved.lines
        return Consumed(self._saved.lines, self._saved.checksum)

    @property
    def waits(self) -> bool:
        """Whether a snapshot is not yet acknowledged."""
        return self._safe is not self._saved

    @property
    def wake(self) -> int | None:
        """A descriptor to look at while a snapshot waits."""
        return self.acks.descriptor if self.acks is not None and self.waits else None

    def patience(self, consumed: Consumed) -> float | None:
        """Seconds until a snapshot is due; None if there is nothing new, or if one waits already."""
        if self.waits or consumed.lines == self._saved.lines:
            return None
        return max(0.0, self._moment + max(self._seconds, self._rest) - time.monotonic())

    def is_due(self, consumed: Consumed) -> bool:
        if self.waits:
            return False
        rested = time.monotonic() >= self._moment + self._rest
        return (consumed.lines - self._saved.lines >= self._every and rested) or self.patience(consumed) == 0

    def save(self, consumed: Consumed) -> None:
        """Take a snapshot, unless there is nothing new. The answers so far must have been written."""
        if consumed.lines > self._saved.lines or not self.path.exists():
            start = time.monotonic()
            note = {"lines": consumed.lines, "checksum": consumed.checksum}
            self._live.snapshot(self.path if self.acks is None else self._waiting, note)
            self._saved = Consumed(consumed.lines, consumed.checksum)
            if self.acks is None:
                self._in_place()
            self._rest = REST * (time.monotonic() - start)
        self._moment = time.monotonic()

    def hear(self, answered: int) -> None:
        """Take what the reader acknowledges; the snapshot that waited for it takes its place."""
        if self.acks is None:
            return
        self.acks.hear(answered)
        if self.waits and self.acks.line >= self._saved.lines:
            self._waiting.replace(self.path)
            self._in_place()
        elif self.waits and self.acks.ended:
            raise BrokenPipeError  # the reader has gone, though the answers may still find a place in its pipe

    def finish(self, consumed: Consumed, answered: int, patience: float | None = None) -> None:
        """A last snapshot, and its acknowledgement: wait for the reader, some seconds at most."""
        self._heard(answered, patience)
        self.save(consumed)
        self._heard(answered, patience)

    def _heard(self, answered: int, patience: float | None) -> None:
        if self.acks is not None:
            if self.waits:
                self.acks.reaches(self._saved.lines, answered, patience)
            self.hear(answered)

    def _in_place(self) -> None:
        self._safe = self._saved
        folder_to_disk(self._folder)
