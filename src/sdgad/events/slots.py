"""NodeSlots: which slot of a live buffer belongs to which raw id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from sdgad.events.stream import EventStream
from sdgad.events.vocabulary import NodeTable, need_sides

Array = np.ndarray[Any, Any]


class NodeSlots:
    """Slots by raw id, found in O(1), given to unseen ids as they come, and taken back from forgotten ones.

    New ids take free slots first, then the next numbers, in order of appearance: as long as nothing is forgotten, a
    slot is the number that a `NodeTable` gives. Ids are compared as text.
    """

    def __init__(self, sides: int = 1) -> None:
        self._slot: list[dict[str, int]] = [{} for _ in range(sides)]  # per side (sources, destinations)
        self._free: list[int] = []
        self._size = 0
        self._given: list[tuple[int, str, bool]] | None = (
            None  # in a trial: side, id, whether the slot was free
        )

    @classmethod
    def of(cls, table: NodeTable) -> NodeSlots:
        """Each node of a table in the slot of its number."""
        slots = cls(table.sides)
        for side, (names, codes) in enumerate(zip(table.names, table.codes, strict=True)):
            slots._slot[side] = dict(zip(names.to_pylist(), codes.tolist(), strict=True))
        slots._size = table.size
        return slots

    def __len__(self) -> int:
        return sum(map(len, self._slot))

    def of_events(self, events: EventStream, rows: Array) -> Array:
        """`[n, 2]` slots of the endpoints of some rows."""
        names = events.vocabulary.names
        need_sides(events.vocabulary, len(self._slot))
        both = np.stack([events.src[rows], events.dst[rows]], 1)
        codes, first, inverse = np.unique(both, return_index=True, return_inverse=True)
        border = len(names[0])
        texts: list[str] = []
        for part, start in zip(names, (0, border), strict=False):
            here = codes[(codes >= start) & (codes < start + len(part))] - start
            texts += part.take(pa.array(here)).cast(pa.large_string()).to_pylist()
        slots = np.empty(len(codes), np.int64)
        for i in np.argsort(first, kind="stable").tolist():
            side = int(len(names) == 2 and codes[i] >= border)
            slots[i] = self._of(side, texts[i])
        found: Array = slots[inverse].reshape(-1, 2)
        return found

    def _of(self, side: int, name: str) -> int:
        slot = self._slot[side].get(name)
        if slot is not None:
            return slot
        used_before = bool(self._free)
        if used_before:
            slot = self._free.pop()
        else:
            slot, self._size = self._size, self._size + 1
        self._slot[side][name] = slot
        if self._given is not None:
            self._given.append((side, name, used_before))
        return slot

    def release(self, slots: Array) -> None:
        """These are free; whoever had one is unseen from now on."""
        going = set(slots.tolist())
        self._slot = [{name: slot for name, slot in side.items() if slot not in going} for side in self._slot]
        self._free = sorted(going | set(self._free), reverse=True)

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Slots that are given within are taken back at the end."""
        given = self._given = []
        try:
            yield
        finally:
            for side, name, used_before in reversed(given):
                slot = self._slot[side].pop(name)
                if used_before:
                    self._free.append(slot)
                else:
                    self._size = slot
            self._given = None

    # ------------------------------------------------------------------ files
    def arrays(self) -> dict[str, Array]:
        """Names as UTF-8 with their lengths, for a file."""
        out = {"slots.free": np.array(self._free, np.int64), "slots.size": np.array([self._size])}
        for i, side in enumerate(self._slot):
            encoded = [name.encode() for name in side]
            out[f"slots.{i}.text"] = np.frombuffer(b"".join(encoded), np.uint8)
            out[f"slots.{i}.length"] = np.array([len(name) for name in encoded], np.int64)
            out[f"slots.{i}.slot"] = np.array(list(side.values()), np.int64)
        return out

    def load(self, arrays: Mapping[str, Array]) -> None:
        """The inverse of `arrays`."""
        for i in range(len(self._slot)):
            text, ends = arrays[f"slots.{i}.text"].tobytes(), np.cumsum(arrays[f"slots.{i}.length"])
            starts = ends - arrays[f"slots.{i}.length"]
            names = [text[a:b].decode() for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
            self._slot[i] = dict(zip(names, arrays[f"slots.{i}.slot"].tolist(), strict=True))
        self._free = arrays["slots.free"].tolist()
        self._size = int(arrays["slots.size"][0])
