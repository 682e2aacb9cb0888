"""DetectorSubject: the detector that is checked, fitted once for all checks."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sdgad.checks.saying import CLOSE, close, same
from sdgad.checks.streams import Payments, payments
from sdgad.detectors.base import Detector
from sdgad.detectors.folder import read_folder
from sdgad.detectors.tags import Tags
from sdgad.events.stream import Array, EventStream
from sdgad.registry import need_subclass

TIES = ("strict", "arrival")


class DetectorSubject:
    """A class of detectors, with the options that it is checked under (`check_options`), on a device.

    Checks get shallow copies of one fitted detector: no verb may change what copies share.
    """

    def __init__(self, cls: type[Detector], *, device: str = "cpu", **options: Any) -> None:
        need_subclass(cls, Detector)
        self.cls = cls
        self.device = device
        self.options: dict[str, Any] = {**cls.check_options, **options, "device": device}
        self._fitted: dict[str, Detector] = {}
        self._scores: dict[str, Array] = {}

    def __str__(self) -> str:
        return f"Detector {getattr(self.cls, 'name', self.cls.__name__)!r}"

    @property
    def tags(self) -> Tags:
        return self.cls.tags

    @property
    def stream(self) -> Payments:
        return payments()

    def made(self, **options: Any) -> Detector:
        """A new one, with other options where they are given."""
        return self.cls(**{**self.options, **options})

    def fitted(self, train: EventStream, val: EventStream | None, **options: Any) -> Detector:
        """A new one, fitted on these events."""
        return self.made(**options).fit(train, val=val)

    def detector(self, ties: str = "strict") -> Detector:
        """A copy of the one that was fitted on the stream."""
        if ties not in self._fitted:
            self._fitted[ties] = self.fitted(self.stream.train, self.stream.val, ties=ties)
        return copy.copy(self._fitted[ties])

    def scores(self, ties: str = "strict") -> Array:
        """Of the test part, by that one."""
        if ties not in self._scores:
            self._scores[ties] = self.detector(ties).decision_function(self.stream.test)
        return self._scores[ties].copy()

    def alike(self, found: Any, expected: Any, what: str) -> None:
        """What two fits give has to be the same, bit for bit; on a GPU, where sums have no fixed order, nearly."""
        if self.device == "cpu":
            same(found, expected, what)
        else:
            close(found, expected, what, 100 * CLOSE)

    def load(self, folder: Path) -> Detector:
        """What is in a model folder, whether or not the class is registered."""
        return self.cls.from_files(read_folder(folder))

    def reloaded(self, detector: Detector, *, history: bool = True) -> Detector:
        """The detector after a way through a model folder."""
        with scratch() as folder:
            detector.save(folder / "model", history=history)
            return self.load(folder / "model")


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone afterwards."""
    with TemporaryDirectory(prefix="sdgad-check-") as folder:
        yield Path(folder)


def remembered(detector: Detector) -> bytes:
    """All that a detector remembers, as the file of a live scorer that goes on from it."""
    with scratch() as folder:
        detector.live().snapshot(folder / "state")
        return (folder / "state").read_bytes()
