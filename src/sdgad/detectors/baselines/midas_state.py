"""What MIDAS knows of a stream: sketches of fixed size, and how they score the next events."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from sdgad.detectors.baselines.midas_kernel import Kernel, count_events, filter_events, run
from sdgad.detectors.baselines.sketches import Places
from sdgad.detectors.own_state import OwnState
from sdgad.events.held import held
from sdgad.history.state import Array, FewValues
from sdgad.history.window import Window

CHUNK = 1 << 14  # events whose places are held at a time
REACH = 1 << 12  # powers of the decay that are kept
PREFIX = "midas."

MOST, MOST_TICKS = 1e100, 2.0**53  # of what is in a file

FAINT = 1e-30  # stands for a raw score of 0; far below any other
HALF = 1000.0  # the raw score that becomes 0.5
_ROOT_OF_HALF = math.sqrt(math.sqrt(math.sqrt(HALF)))


def bounded(raw: Array) -> Array:
    """Raw scores in [0, 10¹⁰⁰] → (0, 1): 1 / (1 + (1000 / raw)^(1/8)), the logistic function of ln(raw / 1000) / 8.

    Strictly monotone: raw scores below 10¹² that differ by more than a part in 10¹³ never tie. 0 is taken for 10⁻³⁰.
    Sums, quotients and square roots are rounded exactly, so that the bits are the same on every machine.
    """
    root: Array = np.sqrt(np.sqrt(np.sqrt(raw + FAINT)))
    return root / (root + _ROOT_OF_HALF)


class MidasState(FewValues[Window], OwnState):
    """Counts and scores events in the order in which they come, each after all before it, also those of one time.

    Tick number of an event: ⌊seconds since the first event / tick⌋ + 1. A new set of cells replaces the old one with every batch,
    so that to undo is to take the old one back, and a batch that fails leaves no trace.
    """

    values = ("_cells",)
    pads = False
    kernel: ClassVar[Kernel]
    firsts: ClassVar[dict[str, float]]  # what a cell holds at first, in the order of the kernel's arguments

    def __init__(self, tick: float, places: Places, decay: float) -> None:
        self._tick, self._places = tick, places
        self._options: list[Any] = [np.cumprod([1.0] + [decay] * REACH), places.sketches, places.rows]
        self._cells: dict[str, Array] = {
            name: np.full(len(places), first)
            if first
            else np.zeros(len(places))  # zeros take no room until they are used
            for name, first in self.firsts.items()
        }
        self._cells["seen"] = np.zeros(len(places), np.int64)
        self._cells["clock"] = np.array([1.0, 0.0, 1.0])

    # ------------------------------------------------------------------ events
    def _after(self, window: Window) -> tuple[dict[str, Array], Array]:
        """The cells after these events, and their raw scores."""
        assert window.time is not None
        node, seconds = window.node.cpu().numpy(), window.time.cpu().numpy()
        cells = {name: array.copy() for name, array in self._cells.items()}
        raw = np.empty(len(seconds))
        for start in range(0, len(seconds), CHUNK):
            part = slice(start, start + CHUNK)
            tick = np.floor(seconds[part] / self._tick) + 1.0
            events = (self._places.of(node[part]), tick, raw[part])
            run(self.kernel, len(seconds), *events, *cells.values(), *self._options)
        return cells, raw

    def score(self, window: Window) -> Array:
        return bounded(self._after(window)[1])

    def through(self, window: Window) -> Array:
        self._cells, raw = self._after(window)
        return bounded(raw)

    def enter(self, rows: Window) -> None:
        self._cells, _ = self._after(rows)

    # ------------------------------------------------------------------ files
    def arrays(self) -> dict[str, Array]:
        return {PREFIX + name: array for name, array in self._cells.items()}

    def load(self, arrays: Mapping[str, Array]) -> None:
        cells = {}
        for name, mine in self._cells.items():
            found = held(arrays, PREFIX + name, mine.dtype.str, mine.shape, low=0, high=MOST)
            cells[name] = np.array(found, mine.dtype)
        t, ended, growth = cells["clock"].tolist()
        if not (1 <= t <= MOST_TICKS and 0 <= ended < t and growth >= 1 and t % 1 == ended % 1 == 0):
            raise ValueError(f"{PREFIX}clock tells no time.")
        if cells["seen"].max() > ended:  # they are used as numbers of places
            raise ValueError(f"{PREFIX}seen counts ticks that have not ended.")
        if "grown" in cells and not 1 <= cells["grown"].min() <= cells["grown"].max() <= growth:
            raise ValueError(f"{PREFIX}grown is beyond the growth so far.")
        self._cells = cells

    @property
    def ended(self) -> int:
        """Ticks that have ended, each after some event."""
        return int(self._cells["clock"][1])


class Counts(MidasState):
    """MIDAS and MIDAS-R: the counts go on."""

    kernel = staticmethod(count_events)
    firsts: ClassVar[dict[str, float]] = {"now": 0.0, "total": 0.0}


class FilteredCounts(MidasState):
    """MIDAS-F: what looks like an attack does not become normal."""

    kernel = staticmethod(filter_events)
    firsts: ClassVar[dict[str, float]] = {"now": 0.0, "total": 0.0, "score": 0.0, "grown": 1.0}

    def __init__(self, tick: float, places: Places, decay: float, threshold: float) -> None:
        super().__init__(tick, places, decay)
        self._options.append(threshold)
