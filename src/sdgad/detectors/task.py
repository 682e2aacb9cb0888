"""Task: what a detector may learn from."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from sdgad.events.stream import Array, EventStream
from sdgad.history.index import HistoryIndex

MIN_TRAIN, MIN_VAL = 16, 4
HOLD_OUT = 0.2


@dataclass(frozen=True)
class Task:
    """What a detector may learn from: an index over predecessors, training and validation events, and labels.

    `label` has an entry per row of the index: NaN = unknown. Without a training label, validation labels are unknown too.
    """

    index: HistoryIndex
    train: Tensor
    val: Tensor
    label: Tensor

    @property
    def train_label(self) -> Tensor:
        return self.label[self.train]

    @property
    def val_label(self) -> Tensor:
        return self.label[self.val]

    @property
    def val_has_both_classes(self) -> bool:
        """Whether validation can tell good from bad; an unknown label counts as normal."""
        return 0 < int((self.val_label == 1).sum()) < len(self.val)


FitScores = tuple[Array, Array]  # of the training and of the validation events


def hold_out(events: EventStream) -> tuple[EventStream, EventStream]:
    """Training events and, the last 20% by time, validation events."""
    cut = max(len(events) - max(int(len(events) * HOLD_OUT), MIN_VAL), 0)
    return events[:cut], events[cut:]
