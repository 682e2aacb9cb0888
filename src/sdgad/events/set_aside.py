"""Rows that cannot be used: the file is refused, or they are set aside and the others read as if they were not there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeVar, get_args

import numpy as np
import pyarrow as pa

from sdgad.errors import AtRow, BadRows, InputError, row_numbers

logger = logging.getLogger("sdgad.events")

Policy = Literal["error", "skip", "keep"]
"""Unusable rows and suspicious ones: refused, set aside; or the suspicious ones kept, the unusable ones refused."""

T = TypeVar("T")


def need_policy(policy: str) -> None:
    """One of the three."""
    if policy not in get_args(Policy):
        raise InputError(f"bad_rows={policy!r} is not one of {', '.join(get_args(Policy))}.")


class Aside:
    """The rows of one table that are left, and why others are not."""

    def __init__(self, where: str, policy: Policy, count: int) -> None:
        need_policy(policy)
        self.where, self.policy, self.count = where, policy, count
        self.kept: np.ndarray[Any, Any] = np.arange(count)
        self._reasons: list[str] = []

    def read(self, table: pa.Table, read: Callable[[pa.Table], T]) -> tuple[pa.Table, T]:
        """What `read` makes of those rows of the table that it can use, and these."""
        while True:
            try:
                with self.numbering():
                    return table, read(table)
            except BadRows as bad:
                table = self._without(table, bad)

    @contextmanager
    def numbering(self) -> Iterator[None]:
        """Errors within speak of rows as they stood before some were set aside."""
        try:
            yield
        except AtRow as problem:
            raise AtRow.of(problem.place, int(self.kept[problem.row]), problem.problem) from None

    def _without(self, table: pa.Table, bad: BadRows) -> pa.Table:
        if self.policy != "skip":
            raise bad
        rows = (self.kept[bad.rows] + 1).tolist()
        column = bad.place.removeprefix(f"{self.where}, ")
        self._reasons.append(f"{row_numbers(rows)} ({column}: {bad.problem})")
        left = np.delete(np.arange(len(self.kept)), bad.rows)
        self.kept = self.kept[left]
        if not len(left):
            raise InputError(f"{self.where} has no row that can be used: {self._told()}.")
        return table.take(pa.array(left))

    def tell(self) -> None:
        """How many rows are set aside, which, and why."""
        if self._reasons:
            many = self.count - len(self.kept)
            logger.warning(
                "%s: set aside %s of %s rows: %s.",
                self.where,
                f"{many:,}",
                f"{self.count:,}",
                self._told(),
            )

    def _told(self) -> str:
        return "; ".join(self._reasons)
