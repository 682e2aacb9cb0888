"""SequelRings: of the last events of every node of a live stream, when their other node went on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from sdgad.history.entering import Entering
from sdgad.history.growing import GrowingArrays
from sdgad.history.rings import NodeRings
from sdgad.history.state import Array, State
from sdgad.history.tail import SequelLinks
from sdgad.history.window import Sequels

_BITS = 32  # of the number of an event of a node


class SequelRings(GrowingArrays, State[Entering]):
    """A ring per slot, in which event number i of a node lies at i mod S.

    An event stands in the rings of both its nodes. `slot` and `twin` are where it stands at the other one: its slot, and
    which event of that node it is. So when a node has its next event, the newest one before it is found again at the node it
    was with, and is told the time (`next`). A place that no event has taken yet holds zeros.
    """

    def __init__(self, length: int, nodes: NodeRings) -> None:
        self.length = length
        self._nodes = nodes
        super().__init__(
            "sequels.",
            {
                "slot": (np.int64, (length,)),
                "twin": (np.int64, (length,)),
                "next": (float, (length,)),
            },
        )

    def enter(self, rows: Entering) -> None:
        """The rings of their nodes have seen the events."""
        assert rows.before is not None
        assert rows.met is not None
        halves, begins = rows.halves, rows.halves.start
        number = np.repeat(rows.before, halves.size) + halves.rank
        numbers = np.empty_like(rows.slot)
        numbers[halves.event, halves.side] = number
        loop = rows.slot[:, 0] == rows.slot[:, 1]
        numbers[loop, 1] = numbers[loop, 0]
        other, twin = (array[halves.event, 1 - halves.side] for array in (rows.slot, numbers))
        # of the event before each, at the same node: where it stands at its other node
        slot, event = np.append(0, other[:-1]), np.append(0, twin[:-1])
        slot[begins], event[begins], there = self._newest(halves.each, rows.before, rows.met)
        known = np.ones(len(slot), bool)
        known[begins] = there
        self.remember(np.union1d(halves.each, slot[known]))

        stays = halves.latest(self.length)
        place = halves.slot[stays], number[stays] % self.length
        for name, values in (("slot", other[stays]), ("twin", twin[stays]), ("next", np.inf)):
            self[name][place] = values
        count = self._nodes["count"][slot]
        known &= (event < count) & (event >= count - self.length)
        self["next"][slot[known], event[known] % self.length] = rows.seconds[halves.event[known]]

    def _newest(self, slot: Array, count: Array, met: Array) -> tuple[Array, Array, Array]:
        """Of the newest event of each slot: where it stands at its other node, which is called `met`, and whether it does."""
        place = slot, (count - 1) % self.length
        other = self["slot"][place]
        return other, self["twin"][place], (count > 0) & (self._nodes["life"][other] == met)

    def of(self, slot: Array, seconds: Array, seen: Array) -> Sequels:
        """Those of the nodes in some slots `[n, 2]`, who see all that has entered and the first `seen` of each other."""
        nodes = self._nodes
        mask, _ = nodes.last(slot[..., None], self.length)
        number = nodes["count"][slot][..., None] - np.arange(self.length, 0, -1)
        at = slot[..., None]
        then = nodes["past_time"][at, number % nodes.length]
        after = np.where(mask, self["next"][at, number % self.length], 0.0)
        if len(slot) > 1:
            after = self._told(after, np.where(mask, (at << _BITS) | number, -1), slot, seconds, seen)
        until = np.where(after < np.inf, after, seconds[:, None, None])
        wait = np.where(mask, until - then, 0.0).astype(np.float32)
        return Sequels(torch.from_numpy(wait), torch.from_numpy(mask))

    def _told(self, after: Array, key: Array, slot: Array, seconds: Array, seen: Array) -> Array:
        """`after`, where the events that are looked at together are themselves what comes next for each other's past."""
        nodes, own = self._nodes, slot.reshape(-1)
        count = nodes["count"][own]
        other, twin, there = self._newest(own, count, nodes["past_node"][own, (count - 1) % nodes.length])
        told, first = np.unique(np.where(there, (other << _BITS) | twin, -1), return_index=True)
        found = np.searchsorted(told, key).clip(max=len(told) - 1)
        row = first[found] // 2  # the first event that tells it
        visible = (told[found] == key) & (key >= 0) & (after == np.inf) & (row < seen[:, None, None])
        return np.where(visible, seconds[row], after)

    def fill(self, slot: Array, life: Array, met: Array, links: SequelLinks) -> None:
        """Empty slots go on from what a stored stream knew of its nodes, called `life`, and of whom they `met`."""
        at = np.zeros(max(int(life.max(initial=-1)), int(met.max(initial=-1))) + 1, np.int64)
        at[life] = slot
        number = self._nodes["count"][slot][:, None] - np.arange(self.length, 0, -1)
        which, column = np.nonzero(number >= 0)
        place = slot[which], number[which, column] % self.length
        told = {"slot": at[met.clip(min=0)], "twin": links.number, "next": links.next}
        for name, values in told.items():
            self[name][place] = np.asarray(values)[which, column]

    def load(self, arrays: Mapping[str, Array]) -> None:
        slot, twin = arrays["sequels.slot"], arrays["sequels.twin"]
        if slot.size and (slot.min() < 0 or slot.max() >= len(slot) or twin.min() < 0):
            raise ValueError("the array sequels.slot speaks of nobody")
        super().load(arrays)
