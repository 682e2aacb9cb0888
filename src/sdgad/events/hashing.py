"""Raw ids as numbers without a table: for methods that run in constant memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from sdgad.events.stream import EventStream
from sdgad.events.vocabulary import Vocabulary, need_sides

Array = np.ndarray[Any, Any]


def hashed_ids(vocabulary: Vocabulary, codes: Array) -> Array:
    """One int64 ≥ 0 per code (in increasing order): 63 bits of BLAKE2b of the id as text, the same on every machine.

    Ids are compared as text, as a `NodeTable` does. Sources and destinations of a bipartite stream are hashed apart. That two of
    n ids collide has a chance of n² / 2⁶⁴.
    """
    numbers, start = [], 0
    for side, names in enumerate(vocabulary.names):
        salt = bytes([side])
        here = codes[(codes >= start) & (codes < start + len(names))] - start
        digests = (
            hashlib.blake2b(name.encode(), digest_size=8, salt=salt).digest()
            for name in names.take(pa.array(here)).cast(pa.large_string()).to_pylist()
        )
        numbers.append(np.frombuffer(b"".join(digests), "<u8") >> np.uint64(1))
        start += len(names)
    return np.concatenate(numbers).astype(np.int64)


class HashedIds:
    """In place of `NodeSlots` where nothing is kept of a node: its number is its hash."""

    def __init__(self, sides: int = 1) -> None:
        self._sides = sides

    def __len__(self) -> int:
        return 0

    def of_events(self, events: EventStream, rows: Array) -> Array:
        """`[n, 2]` hashes of the endpoints of some rows."""
        need_sides(events.vocabulary, self._sides)
        both = np.stack([events.src[rows], events.dst[rows]], 1)
        occurs = np.zeros(len(events.vocabulary), bool)  # a slice of a stream has the names of the whole
        occurs[both] = True
        codes = np.flatnonzero(occurs)
        number = np.empty(len(occurs), np.int64)
        number[codes] = hashed_ids(events.vocabulary, codes)
        hashes: Array = number[both]
        return hashes

    def release(self, slots: Array) -> None:
        """There is nothing to give back."""

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Nothing is kept, so nothing is undone."""
        yield

    def arrays(self) -> dict[str, Array]:
        return {}

    def load(self, arrays: Mapping[str, Array]) -> None:
        pass
