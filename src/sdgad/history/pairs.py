"""PairTable: what is known of each pair of nodes, in arrays, found by hashing whole batches at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sdgad.history.entering import Entering
from sdgad.history.growing import GrowingArrays
from sdgad.history.state import Array, State

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: spreads neighbouring keys (Knuth, vol. 3)
_NODE_BITS = 31


def pair_key(src: Array, dst: Array) -> Array:
    """One int64 per unordered pair of node numbers below 2^31."""
    key: Array = (np.minimum(src, dst) << _NODE_BITS) | np.maximum(src, dst)
    return key


def nodes_of(key: Array) -> tuple[Array, Array]:
    """The inverse of `pair_key`: the smaller and the larger node."""
    return key >> _NODE_BITS, key & ((1 << _NODE_BITS) - 1)


class PairTable(State[Entering]):
    """Rows of `count`, `forward` (of these: from the smaller node to the larger) and `last` (seconds), by pair.

    A pair that was silent for more than `age` seconds is new again. An open-addressing hash table with linear
    probing, at most half full; every step of a search is taken by all keys of a batch together.
    """

    def __init__(self, age: float = np.inf) -> None:
        self._age = age
        self.rows = GrowingArrays(
            "pairs.",
            {"key": (np.int64, ()), "count": (np.int64, ()), "forward": (np.int64, ()), "last": (float, ())},
        )
        self._rehash(64)
        self._cell_before = self._cell

    def __len__(self) -> int:
        return len(self.rows)

    def between(self, src: Array, dst: Array, seconds: Array) -> tuple[Array, Array, Array]:
        """Of each pair: its events, those in the direction src → dst, and the time of the last; 0 where there is none."""
        if len(self.rows) == 0:
            nothing = np.zeros(len(src))
            return nothing, nothing, nothing
        row = self.find(pair_key(src, dst))
        known = (row >= 0) & (seconds - self.rows["last"][row] <= self._age)
        count, forward, last = (
            np.where(known, self.rows[name][row], 0) for name in ("count", "forward", "last")
        )
        return count, np.where(src <= dst, forward, count - forward), last

    def enter(self, rows: Entering) -> None:
        rows.meeting = self.meet(rows.life[:, 0], rows.life[:, 1], rows.seconds)

    def meet(self, src: Array, dst: Array, seconds: Array) -> Array:
        """Count events, those of a pair all at one time; returns which of them are the first of their pair."""
        each, first, inverse = np.unique(pair_key(src, dst), return_index=True, return_inverse=True)
        row = self.find(each)
        unknown = row < 0
        self.rows.remember(row[~unknown])
        row[unknown] = self.add(each[unknown])
        rows = self.rows
        anew = unknown | (seconds[first] - rows["last"][row] > self._age)
        for name in ("count", "forward"):
            rows[name][row[anew]] = 0
        rows["count"][row] += np.bincount(inverse)
        rows["forward"][row] += np.bincount(inverse, src <= dst).astype(np.int64)
        rows["last"][row] = seconds[first]
        meeting = np.zeros(len(src), bool)
        meeting[first[anew]] = True
        return meeting

    def find(self, key: Array) -> Array:
        """Row of each key, −1 where it is not known."""
        keys = self.rows["key"]
        cell = self._home(key)
        row = self._cell[cell]
        searching = np.flatnonzero(row >= 0)
        searching = searching[keys[row[searching]] != key[searching]]
        while len(searching):
            cell[searching] = (cell[searching] + 1) & self._mask
            row[searching] = self._cell[cell[searching]]
            searching = searching[row[searching] >= 0]
            searching = searching[keys[row[searching]] != key[searching]]
        return row

    def add(self, key: Array) -> Array:
        """Rows of distinct keys that are not known yet, all zeros but for the key."""
        start = len(self.rows)
        row = np.arange(start, start + len(key))
        self.rows.resize(start + len(key))
        self.rows["key"][start:] = key
        if 2 * len(self.rows) > len(self._cell):
            self._rehash(4 * len(self.rows))
        else:
            self._place(key, row)
        return row

    def begin(self) -> None:
        self.rows.begin()
        self._cell_before = self._cell

    def settle(self) -> None:
        self.rows.settle()

    def undo(self) -> None:
        """Back to where `begin` was called: rows that came since leave their cells."""
        if self._cell is not self._cell_before:  # a larger table, in which old rows may lie behind new ones
            self.rows.undo()
            self._rehash(4 * len(self.rows))
            return
        new = self.rows["key"][self.rows.size_before :].copy()
        cell, going = self._home(new), self.rows.size_before + np.arange(len(new))
        while len(going):  # as the last ones to come they are in nobody's way
            here = self._cell[cell] == going
            self._cell[cell[here]] = -1
            cell, going = (cell[~here] + 1) & self._mask, going[~here]
        self.rows.undo()

    def keep(self, nodes: Array, now: float) -> None:
        """Forget all pairs but those between two of these nodes, and of those the ones that are too old."""
        low, high = nodes_of(self.rows["key"])
        recent = now - self.rows["last"] <= self._age
        self.rows.keep(np.flatnonzero(recent & np.isin(low, nodes) & np.isin(high, nodes)))
        self._rehash(4 * len(self.rows))

    def arrays(self) -> dict[str, Array]:
        return self.rows.arrays()

    def load(self, arrays: Mapping[str, Array]) -> None:
        self.rows.load(arrays)
        self._rehash(4 * len(self.rows))

    def fill(self, nodes: Array, count: Array, forward: Array, last: Array) -> None:
        """Into an empty table: pairs of a smaller and a larger node, `[P, 2]`, and what is known of them."""
        self.add(pair_key(nodes[:, 0], nodes[:, 1]))
        for name, values in {"count": count, "forward": forward, "last": last}.items():
            self.rows[name][:] = values

    def _home(self, key: Array) -> Array:
        home: Array = ((key.astype(np.uint64) * _MULTIPLIER) >> self._shift).astype(np.int64)
        return home

    def _rehash(self, cells: int) -> None:
        bits = max(6, int(cells - 1).bit_length())
        self._shift = np.uint64(64 - bits)
        self._mask = (1 << bits) - 1
        self._cell = np.full(1 << bits, -1, np.int64)
        self._place(self.rows["key"], np.arange(len(self.rows)))

    def _place(self, key: Array, row: Array) -> None:
        """Each row into the first free cell after its home; of those that meet at one cell the last one wins."""
        cell = self._home(key)
        while len(row):
            free = self._cell[cell] < 0
            self._cell[cell[free]] = row[free]
            waiting = self._cell[cell] != row
            cell, row = (cell[waiting] + 1) & self._mask, row[waiting]
