"""Boosted trees that are grown in rounds, and whose rows are binned in the first of them alone."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier

from sdgad.events.stream import Array


class BinnedOnce(HistGradientBoostingClassifier):  # type: ignore[misc]
    """scikit-learn bins the rows anew in every round of a warm start, which takes a third of the time; the bins are the same.

    `of(table)` names all rows that it and models begun anew will be given parts of: these are binned together, once. Every round
    has to be given the same rows.
    """

    _table: Array | None = None  # all rows
    _some: Array | None = None  # which of them it grows on; None: all
    _kept: tuple[Any, Any] | None = None  # all rows in bins, and the bins
    _own: Any = None  # its part of these rows

    def of(self, table: Array, some: Array | None) -> Self:
        """Grows on some rows of a table (None: on all of them)."""
        self._table, self._some = table, some
        return self

    def anew(self, seed: int, some: Array | None) -> Self:
        """One of the same options that has not grown yet, with another seed, for other rows of the same table."""
        made: Self = clone(self).set_params(random_state=seed)
        made._kept = self._kept
        assert self._table is not None
        return made.of(self._table, some)

    def _bin_data(self, rows: Any, *given: Any, **named: Any) -> Any:
        if self._kept is None:
            table = rows if self._table is None else self._table
            self._kept = super()._bin_data(table, *given, **named), self.__dict__["_bin_mapper"]
        binned, self._bin_mapper = self._kept
        if self._own is None:
            self._own = binned if self._some is None else np.asfortranarray(binned[self._some])
        return self._own
