"""LocalState: the state of a detector whose nats are measured by recent events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import torch
from torch import Tensor

from sdgad.detectors.own_state import OwnState
from sdgad.detectors.sdgad.evidence.recent import Recent
from sdgad.events.stream import Array
from sdgad.history.window import Window, WindowShape


class LocalState(OwnState):
    """Scores of nats that another state (one of an encoder's memory, or none) says, as measured by what is recent.

    To enter is to be scored: what is usual cannot be known of events that nobody looked at. So `update` costs what scoring does.
    """

    def __init__(self, nats: OwnState, recent: Recent, score: Callable[[Array], Array]) -> None:
        self._nats, self._recent, self._score = nats, recent, score
        self._before: Recent | None = None

    @property
    def in_order(self) -> bool:  # type: ignore[override]
        return self._nats.remembers

    def cuts(self, t: Array) -> Array:
        return self._nats.cuts(t)

    # ------------------------------------------------------------------ events
    def score(self, window: Window) -> Array:
        return self._score(self._recent.after(self._nats.score(window), _seconds([window.time]))[0])

    def through(self, window: Window) -> Array:
        return self._moved(self._nats.through(window), [window.time])

    def padded_through(self, window: Window, size: int) -> Array:
        return self._moved(self._nats.padded_through(window, size), [window.time])

    def all_through(self, windows: Iterable[Window]) -> Array:
        times: list[Tensor | None] = []

        def timed() -> Iterator[Window]:
            for window in windows:
                times.append(window.time)
                yield window

        return self._moved(self._nats.all_through(timed()), times)

    def enter(self, rows: Window) -> None:
        if len(rows):
            self.through(rows)

    def _moved(self, nats: Array, times: list[Tensor | None]) -> Array:
        measured, self._recent = self._recent.after(nats, _seconds(times))
        return self._score(measured)

    # ------------------------------------------------------------------ undo
    def begin(self) -> None:
        self._nats.begin()
        self._before = self._recent

    def settle(self) -> None:
        self._nats.settle()
        self._before = None

    def undo(self) -> None:
        self._nats.undo()
        if self._before is not None:
            self._recent, self._before = self._before, None

    # ------------------------------------------------------------------ files
    def arrays(self) -> dict[str, Array]:
        return {**self._nats.arrays(), **self._recent.arrays()}

    def need_fit(self, nodes: int, shape: WindowShape) -> None:
        self._nats.need_fit(nodes, shape)

    def load(self, arrays: Mapping[str, Array]) -> None:
        recent = Recent.from_arrays(arrays)
        if self._nats.remembers:
            self._nats.load(arrays)
        self._recent = recent


def _seconds(times: list[Tensor | None]) -> Array:
    found: Array = np.empty(0)
    if times:
        assert all(time is not None for time in times), "a LocalState needs Window.time"
        found = torch.cat([time for time in times if time is not None]).cpu().numpy()
    return found
