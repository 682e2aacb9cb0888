"""Boosted trees that are grown in rounds, and whose rows are binned in the first of them alone."""

from __future__ import annotations

import threading
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier

from sdgad.events.stream import Array


class _Bins:
    """All rows in bins, and the bins, once somebody has asked for them; several may ask at once."""

    def __init__(self) -> None:
        self.asked = threading.Lock()
        self.made: tuple[Any, Any] | None = None


class BinnedOnce(HistGradientBoostingClassifier):  # type: ignore[misc]
    """scikit-learn bins the rows anew in every round of a warm start, which takes a third of the time; the bins are the same.

    `of(table)` names all rows that it and models begun anew will be given parts of: these are binned together, once. Every round
    has to be given the same rows. Models begun anew may grow beside it.
    """

    _table: Array | None = None  # all rows
    _some: Array | None = None  # which of them it grows on; None: all
    _bins: _Bins | None = None
    _own: Any = None  # its part of these rows

    def of(self, table: Array, some: Array | None) -> Self:
        """Grows on some rows of a table (None: on all of them)."""
        self._table, self._some, self._bins = table, some, _Bins()
        return self

    def anew(self, seed: int, some: Array | None) -> Self:
        """One of the same options that has not grown yet, with another seed, for other rows of the same table."""
        made: Self = clone(self).set_params(random_state=seed)
        made._table, made._some, made._bins = self._table, some, self._bins
        return made

    def _bin_data(self, rows: Any, *given: Any, **named: Any) -> Any:
        if self._bins is None:
            self.of(rows, None)
        assert self._bins is not None
        mapper: Any = self.__dict__["_bin_mapper"]
        with self._bins.asked:
            if self._bins.made is None:
                # of a table of very many rows a sample is drawn: the same, whoever comes first
                mapper.random_state = 0
                self._bins.made = super()._bin_data(self._table, *given, **named), mapper
        binned, self._bin_mapper = self._bins.made
        if self._own is None:
            self._own = binned if self._some is None else np.asfortranarray(binned[self._some])
        return self._own
