"""OwnState: what a detector knows that changes as events go by, and how it scores the next ones with it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

import numpy as np

from sdgad.history.state import Array, Nothing, State
from sdgad.history.window import Window, WindowShape


class OwnState(State[Window]):
    """A State that scores. Offline scoring, live scoring, snapshots and the model folder treat all detectors through it.

    Windows come in order of the stream, on the detector's device, and never reach over one of the state's `cuts`. `remembers`:
    whether scores depend on what entered. `in_order`: whether every event must enter at its place in the stream, so that the
    state begins anew where late ones are put in; another takes them as they come. `pads`: whether `score` may be given rows of
    nobody after the others, so that a live scorer shows the model batches of a few shapes only.
    """

    remembers: ClassVar[bool] = True
    in_order: bool = True
    pads: ClassVar[bool] = True

    @abstractmethod
    def score(self, window: Window) -> Array:
        """Scores in (0, 1) of the events that come next; none of them has entered afterwards."""

    def need_fit(self, nodes: int, shape: WindowShape) -> None:
        """A ValueError where what was loaded speaks of others than so many nodes, or of other Windows."""

    def through(self, window: Window) -> Array:
        """Scores of events that are past from then on."""
        scores = self.score(window)
        self.enter(window)
        return scores

    def padded_through(self, window: Window, size: int) -> Array:
        """The same, the model being shown a batch of this size."""
        scores = self.score(window.padded(size))[: len(window)]
        if self.remembers:
            self.enter(window)
        return scores

    def all_through(self, windows: Iterable[Window]) -> Array:
        """The same of several Windows, one after the other."""
        return np.concatenate([self.through(window) for window in windows])


class Stateless(Nothing, OwnState):
    """Of a detector whose scores are a function of the Window alone; `score` gives those of one Window after the other."""

    remembers = False
    in_order = False

    def __init__(self, score: Callable[[Iterable[Window]], Array]) -> None:
        self._score = score

    def score(self, window: Window) -> Array:
        return self._score([window])

    def all_through(self, windows: Iterable[Window]) -> Array:
        return self._score(windows)


def stretches(state: State[Window], seconds: Array, most: int) -> Iterator[slice]:
    """Parts of the events that come next, at these times, between the cuts of a state, of at most `most` rows each."""
    edges = np.unique([0, *state.cuts(seconds).tolist(), len(seconds)])
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        for first in range(start, stop, most):
            yield slice(first, min(first + most, stop))
