"""Arrays that share their first axis and grow at its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

Array = np.ndarray[Any, Any]
FEWEST = 64


class GrowingArrays:
    """Named arrays of `size` rows each. New rows are zeros; room is made by doubling, so a row costs O(1).

    What is changed after `begin`, given that it was remembered before, can be undone until `settle`. In a file the
    arrays' names begin with `prefix`. Who never has more than `most` rows says so: no room is made for more.
    """

    def __init__(
        self,
        prefix: str,
        columns: Mapping[str, tuple[DTypeLike, tuple[int, ...]]],
        most: int | None = None,
    ) -> None:
        self.prefix = prefix
        self.size = 0
        self._most = np.inf if most is None else most
        self._journal: list[tuple[Array, dict[str, Array]]] | None = None
        self.size_before = 0
        self._columns = {name: np.zeros((0, *shape), dtype) for name, (dtype, shape) in columns.items()}

    def __len__(self) -> int:
        return self.size

    @property
    def room(self) -> int:
        """Bytes that are taken, for rows to come too."""
        return sum(array.nbytes for array in self._columns.values())

    def __getitem__(self, name: str) -> Array:
        """The rows of one array, to be read and written in place; a later `resize` may move them."""
        return self._columns[name][: self.size]

    def resize(self, size: int) -> None:
        """Append rows of zeros, or drop the last ones."""
        for name, array in self._columns.items():
            if size > len(array):
                rows = int(max(size, min(max(size + size // 8, 2 * len(array), FEWEST), self._most)))
                room = np.zeros((rows, *array.shape[1:]), array.dtype)
                room[: self.size] = array[: self.size]
                self._columns[name] = room
            elif size < self.size:
                array[size : self.size] = 0
        self.size = size

    def append(self, rows: Mapping[str, Array]) -> None:
        """Put rows at the end."""
        start = self.size
        self.resize(start + len(next(iter(rows.values()))))
        for name, values in rows.items():
            self[name][start:] = values

    def take(self, rows: Array) -> dict[str, Array]:
        """Copies of some rows."""
        return {name: array[rows] for name, array in self._columns.items()}

    def put(self, rows: Array, values: Mapping[str, Array]) -> None:
        """The inverse of `take`."""
        for name, array in values.items():
            self._columns[name][rows] = array

    def clear(self, rows: Array) -> None:
        """Set some rows to zero."""
        for array in self._columns.values():
            array[rows] = 0

    def keep(self, rows: Array) -> None:
        """Only these rows, in this order."""
        kept = self.take(rows)
        self.resize(0)
        self.append(kept)

    # ------------------------------------------------------------------ undo
    def begin(self) -> None:
        """From here on, `remember` notes what `undo` puts back."""
        self._journal, self.size_before = [], self.size

    def remember(self, rows: Array) -> None:
        """Some rows are about to change."""
        if self._journal is not None:
            self._journal.append((rows, self.take(rows)))

    def settle(self) -> None:
        """What was changed stays."""
        self._journal = None

    def undo(self) -> None:
        """Back to where `begin` was called."""
        for rows, values in reversed(self._journal or []):
            self.put(rows, values)
        self._journal = None
        self.resize(self.size_before)

    # ------------------------------------------------------------------ files
    def arrays(self) -> dict[str, Array]:
        """All rows, for a file."""
        return {self.prefix + name: self[name] for name in self._columns}

    def load(self, arrays: Mapping[str, Array]) -> None:
        """The inverse of `arrays`; a missing or misshapen array is a KeyError or ValueError."""
        found = {name: arrays[self.prefix + name] for name in self._columns}
        if len({len(array) for array in found.values()}) != 1:
            raise ValueError(f"the arrays {self.prefix}* differ in length")
        for name, array in found.items():
            own = self._columns[name]
            if array.shape[1:] != own.shape[1:] or array.dtype != own.dtype:
                raise ValueError(f"the array {self.prefix}{name} is not of the expected kind")
        self.resize(0)
        self.append(found)
