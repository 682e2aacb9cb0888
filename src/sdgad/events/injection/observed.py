"""Which ordered pairs have been observed, and since when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sdgad.events.stream import Array, EventStream
from sdgad.events.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Observed:
    """Ordered pairs as single numbers, sorted, with the first time of each."""

    nodes: int
    pair: Array
    since: Array

    @classmethod
    def of(cls, events: EventStream, t: Array, reference: EventStream | None, past: Array | None) -> Observed:
        """The pairs of the events at times `t`, and of a reference at times `past` (ids are compared by name)."""
        nodes = events.num_nodes
        pair = events.src * nodes + events.dst
        if reference is not None and past is not None:
            src, dst, known = _recoded(reference, events.vocabulary)
            pair = np.concatenate([(src * nodes + dst)[known], pair])
            t = np.concatenate([past[known], t])
        distinct, inverse = np.unique(pair, return_inverse=True)
        since = np.full(len(distinct), np.inf)
        np.minimum.at(since, inverse, t)
        return cls(nodes, distinct, since)

    def has(self, src: Array, dst: Array) -> Array:
        """Whether each pair has been observed."""
        pair = src * self.nodes + dst
        found: Array = self.pair[self._place(pair)] == pair
        return found

    def since_of(self, src: Array, dst: Array) -> Array:
        """The first time of observed pairs."""
        return self.since[self._place(src * self.nodes + dst)]

    def first(self, pair: int) -> float:
        """The first time of a pair; −∞ if it was never observed, for then any time will do."""
        place = int(self._place(np.array(pair)))
        return float(self.since[place]) if self.pair[place] == pair else -np.inf

    def _place(self, pair: Array) -> Array:
        return np.minimum(np.searchsorted(self.pair, pair), len(self.pair) - 1)


def _recoded(events: EventStream, vocabulary: Vocabulary) -> tuple[Array, Array, Array]:
    """Source and destination under the codes of another vocabulary, and whether it knows both."""
    if events.vocabulary is vocabulary:
        return events.src, events.dst, np.ones(len(events), bool)
    code, start = [], 0
    for mine, theirs in zip(events.vocabulary.names, vocabulary.names, strict=True):
        found = pc.index_in(mine.cast(pa.large_string()), value_set=theirs.cast(pa.large_string()))
        place = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        code.append(np.where(place < 0, -1, place + start))
        start += len(theirs)
    codes = np.concatenate(code)
    src, dst = codes[events.src], codes[events.dst]
    return src, dst, (src >= 0) & (dst >= 0)
