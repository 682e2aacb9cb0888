"""What kinds of evidence by boosted trees have in common."""

from __future__ import annotations

from collections.abc import Mapping

from sdgad.detectors.event_table import Table
from sdgad.detectors.sdgad.evidence.base import Kind
from sdgad.detectors.trees import BoostedTrees
from sdgad.events.stream import Array


class BoostedKind(Kind):
    """Log-odds of boosted trees."""

    _trees: BoostedTrees

    @property
    def trees(self) -> BoostedTrees:
        """Which columns led to what they say, an explanation reads off them."""
        return self._trees

    def columns(self, rows: Table) -> Table:
        """Those that it looks at."""
        return rows

    def raw(self, rows: Table) -> Array:
        return self._trees.raw_score(self.columns(rows), self.table.device)

    def arrays(self) -> dict[str, Array]:
        return self._trees.arrays()

    def load(self, arrays: Mapping[str, Array]) -> None:
        columns = self.columns(self.table.nothing).shape[1]
        self._trees = BoostedTrees.from_arrays(arrays).need_for(columns)
