"""Count-min sketches (Cormode and Muthukrishnan 2005): where the counts of an edge, a source, a destination lie.

A sketch has `rows` × `buckets` cells. Every key has one cell per row; whoever shares it adds to its count, so that the least of
the rows is the best estimate. Here are the places alone; what lies in the cells is the business of whoever counts.
"""

from __future__ import annotations

import numpy as np

from sdgad.history.state import Array

EDGE = 1  # one sketch: of ordered pairs
EDGE_AND_ENDS = 3  # three: of ordered pairs, of sources, of destinations

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mixed(x: Array) -> Array:
    """The 64-bit finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection after which every bit depends on all."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: Array = x ^ (x >> np.uint64(31))
    return result


class Places:
    """Cells of events in `sketches` sketches that lie one after the other, sketch by sketch and row by row.

    Row j of all of them has a key k_j of its own, drawn from the seed, and puts x into bucket ⌊mixed(x + k_j) · buckets / 2⁶⁴⌋
    (of the upper 32 bits): integers alone, so the same on every machine. x is the hash of a source or a destination, or
    mixed(source) + destination of an ordered pair.
    """

    def __init__(self, sketches: int, rows: int, buckets: int, seed: int) -> None:
        self.sketches, self.rows, self.buckets = sketches, rows, buckets
        start = mixed(np.array([seed % 2**64], np.uint64))
        number = np.arange(1, sketches * rows + 1, dtype=np.uint64)
        self._keys = mixed(start + number * _GOLDEN)

    def __len__(self) -> int:
        """Cells in all."""
        return len(self._keys) * self.buckets

    def of(self, node: Array) -> Array:
        """`[n, 2]` hashes of endpoints → `[n · sketches · rows]` numbers of cells, event by event."""
        source, destination = node.astype(np.uint64).T
        known = (mixed(source) + destination, source, destination)
        place = np.empty((len(node), len(self._keys)), np.int64)
        for j, key in enumerate(self._keys):
            upper = mixed(known[j // self.rows] + key) >> np.uint64(32)
            place[:, j] = (upper * np.uint64(self.buckets)) >> np.uint64(32)
            place[:, j] += j * self.buckets
        return place.reshape(-1)
