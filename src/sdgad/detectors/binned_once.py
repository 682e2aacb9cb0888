"""Boosted trees that are grown in rounds, and whose rows are binned in the first of them alone."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier


class BinnedOnce(HistGradientBoostingClassifier):  # type: ignore[misc]
    """scikit-learn bins the rows anew in every round of a warm start, which takes a third of the time; the bins are the same.

    Every round has to be given the same rows, and so has a model that is begun anew.
    """

    _kept: tuple[Any, Any] | None = None

    def anew(self, seed: int) -> Self:
        """One of the same options that has not grown yet, with another seed; rows that were binned once are not binned again."""
        made: Self = clone(self).set_params(random_state=seed % 2**32)
        made._kept = self._kept
        return made

    def _bin_data(self, *given: Any, **named: Any) -> Any:
        if self._kept is None:
            self._kept = super()._bin_data(*given, **named), self.__dict__["_bin_mapper"]
        binned, self._bin_mapper = self._kept
        return binned
