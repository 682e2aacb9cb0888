"""Events as rows of a table, for methods that know no graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sdgad.detectors.pseudo import PseudoEvents
from sdgad.history.context import NAMES, about
from sdgad.history.habits import CIRCLES, RELATIONS, SEQUELS, habits, went_on
from sdgad.history.index import HistoryIndex
from sdgad.history.needs import Needs
from sdgad.history.window import Window, WindowShape

Table = NDArray[np.float32]
SEQUELS_TOLD = 10  # past events of the source, of which rows tell what came next
AT_ONCE = 8192  # events whose past is looked up together
CPU = torch.device("cpu")


@dataclass(frozen=True)
class EventTable:
    """Context features, edge features and, with a history to take them from, habit residuals of all kinds.

    Whoever reads many rows may do so on `device`; the rows themselves are numpy's.
    """

    shape: WindowShape
    device: torch.device = CPU

    def of(self, window: Window) -> Table:
        """The events of a Window."""
        parts = [window.context, window.msg]
        if self.shape.history:
            found = habits(window, self.shape.phases)
            parts += [found.relations, found.deviations, found.surprises, found.circles]
        if self.shape.sequels:
            assert window.sequels is not None
            parts.append(went_on(window.sequels.last(self.shape.sequels)))
        table: Table = torch.cat(parts, 1).cpu().numpy()
        return table

    @property
    def width(self) -> int:
        """How many columns a row has."""
        shape = self.shape
        level = shape.context + shape.msg
        relations = RELATIONS if shape.context else 0
        habits = relations + 4 * level + shape.msg + shape.phases + self._last
        return level + (habits if shape.history else 0)

    @property
    def _last(self) -> int:
        """How many columns tell of what goes on around the two endpoints: circles and sequels."""
        return len(CIRCLES) + self._sequels

    @property
    def _sequels(self) -> int:
        return len(SEQUELS) if self.shape.sequels else 0

    @property
    def needs(self) -> Needs:
        """What it reads in a Window, beside what every Window has."""
        return Needs(sequels=self.shape.sequels)

    @property
    def nothing(self) -> Table:
        """No rows, with all columns: what is made of it has as many as what is made of rows."""
        return np.empty((0, self.width), np.float32)

    def levels(self, table: Table) -> Table:
        """Context and edge features alone."""
        found: Table = table[:, : self.shape.context + self.shape.msg]
        return found

    def levels_about(self, table: Table, side: str) -> Table:
        """Context features of one side: `src`, `dst` or `pair`."""
        places = [place for place, name in enumerate(NAMES) if about(name) == side]
        found: Table = table[:, places if self.shape.context else []]
        return found

    def features(self, table: Table) -> Table:
        """Edge features alone."""
        start = self.shape.context
        found: Table = table[:, start : start + self.shape.msg]
        return found

    def for_densities(self, table: Table) -> Table:
        """All but circles and sequels: of these nearly all values are usual somewhere, and a density is misled by them."""
        found: Table = table[:, : table.shape[1] - self._last] if self.shape.history else table
        return found

    def for_contrast(self, table: Table) -> Table:
        """All but sequels: a pseudo-anomaly has the past of a real source, in which nothing is wrong."""
        found: Table = table[:, : self.width - self._sequels]
        return found

    def relations(self, table: Table) -> Table:
        """Log-ratios, flags and shares inside the context alone."""
        start = self.shape.context + self.shape.msg
        found: Table = table[:, start : start + RELATIONS]
        return found

    def residuals(self, table: Table) -> Table:
        """Relations and deviations alone: the columns that do not drift, in the units of context and edge features."""
        shape = self.shape
        start = shape.context + shape.msg
        found: Table = table[:, start : table.shape[1] - 2 * start - self._last]
        return found

    def deviations(self, table: Table, end: int) -> Table:
        """From the habit of the source, which is end 0, or of the destination, which is end 1."""
        width = self.shape.context + self.shape.msg
        start = width + RELATIONS + end * width
        found: Table = table[:, start : start + width]
        return found

    def feature_habits(self, table: Table) -> Table:
        """Edge features against the habits of source, destination and pair, and in spreads of the first two."""
        context, msg = self.shape.context, self.shape.msg
        width = context + msg
        deviations = width + (RELATIONS if context else 0)
        surprises = deviations + 2 * width + msg + self.shape.phases
        starts = (
            deviations + context,
            deviations + width + context,
            deviations + 2 * width,
            surprises + context,
            surprises + width + context,
        )
        places = [start + i for start in starts for i in range(msg)] if self.shape.history else []
        found: Table = table[:, places]
        return found

    def rows(self, index: HistoryIndex, rows: Tensor) -> Table:
        """The stream's own events, by number."""
        parts = torch.split(rows, AT_ONCE)
        return self._joined(index.rows(part, self.shape.history, self.needs) for part in parts)

    def made(self, index: HistoryIndex, events: PseudoEvents) -> Table:
        """Events that did not happen."""
        parts = (events.take(slice(i, i + AT_ONCE)) for i in range(0, len(events), AT_ONCE))
        return self._joined(
            index.window(part.query, self.shape.history, part.msg, self.needs) for part in parts
        )

    def _joined(self, windows: Iterable[Window]) -> Table:
        return np.concatenate([self.of(window) for window in windows])
