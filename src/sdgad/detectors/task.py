"""Task: what a detector may learn from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from sdgad.detectors.border import Border
from sdgad.detectors.own_state import OwnState, stretches
from sdgad.detectors.tally import pass_bare
from sdgad.detectors.view import View
from sdgad.events.stream import Array, EventStream
from sdgad.history.index import HistoryIndex
from sdgad.history.log import EventLog

MIN_TRAIN, MIN_VAL = 16, 4
HOLD_OUT = 0.2

FitScores = tuple[Array, Array]  # of the training and of the validation events


@dataclass(frozen=True, eq=False)
class Task:
    """What a detector may learn from: predecessors, training and validation events in order of time, and labels.

    Rows `first` to `middle` of the log are for training, those from `middle` on for validation; what comes before is past.
    `label` has an entry per row: NaN = unknown. Without a training label, validation labels are unknown too. `epochs` is how
    long to learn at most, where the caller says so, and `progress` whether somebody is watching.
    """

    log: EventLog
    border: Border
    view: View
    first: int
    middle: int
    label: Tensor
    epochs: int | None = None
    progress: bool = False
    keeps_log: bool = True

    @cached_property
    def index(self) -> HistoryIndex:
        """The history of every event; built when it is first asked for."""
        return self.view.index(self.log, self.border.clock)

    @cached_property
    def train(self) -> Tensor:
        return torch.arange(self.first, self.middle, device=self.label.device)

    @cached_property
    def val(self) -> Tensor:
        return torch.arange(self.middle, len(self.log), device=self.label.device)

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

    def through(self, state: OwnState, most: int) -> FitScores:
        """Scores of training and validation events, by a new state that all events enter in order."""
        parts = [slice(0, self.first), slice(self.first, self.middle), slice(self.middle, len(self.log))]
        _, train, val = [self._part(part, state, most, scored=i > 0) for i, part in enumerate(parts)]
        return train, val

    def _part(self, part: slice, state: OwnState, most: int, *, scored: bool) -> Array:
        if part.start == part.stop or not (scored or state.remembers):
            return np.empty(0)
        log = self.log.take(np.arange(part.start, part.stop))
        seconds = self.border.seconds(log.t, self.log.t[0])
        if not self.keeps_log:
            return pass_bare(log, seconds, state, self.view, most, first=part.start)
        rows = torch.arange(part.start, part.stop, device=self.label.device)
        scores = []
        for stretch in stretches(state, seconds, most):
            window = self.view.rows(self.index, rows[stretch])
            if scored:
                scores.append(state.through(window))
            else:
                state.enter(window)
        return np.concatenate(scores) if scores else np.empty(0)


def hold_out(events: EventStream) -> tuple[EventStream, EventStream]:
    """Training events and, the last 20% by time, validation events."""
    cut = max(len(events) - max(int(len(events) * HOLD_OUT), MIN_VAL), 0)
    return events[:cut], events[cut:]
