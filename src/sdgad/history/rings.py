"""NodeRings: what is known of every node of a live stream, its last K events in a ring buffer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sdgad.history.context import RATE_SCALES
from sdgad.history.grouping import Array
from sdgad.history.growing import GrowingArrays
from sdgad.history.stream_rate import SCALES
from sdgad.history.tail import Tail

RINGS = ("past_node", "past_time", "past_msg", "past_context")


class NodeRings(GrowingArrays):
    """One row per slot: counters, decayed rates, and rings in which event number i of a node lies at i mod K.

    A place that no event has taken yet holds zeros. `life` is what Windows call the node in the slot.
    """

    def __init__(self, length: int, msg_width: int, context_width: int) -> None:
        self.length = length
        super().__init__(
            {
                "life": (np.int64, ()),
                "count": (np.int64, ()),
                "as_source": (np.int64, ()),
                "as_destination": (np.int64, ()),
                "partners": (np.int64, ()),
                "first": (float, ()),
                "rate": (float, (len(RATE_SCALES),)),
                "past_node": (np.int64, (length,)),
                "past_time": (float, (length,)),
                "past_msg": (np.float32, (length, msg_width)),
                "past_context": (np.float32, (length, context_width)),
            }
        )

    def time_of_last(self, slot: Array, nth: int = 1) -> Array:
        """When the n-th last event of each slot happened; 0, the beginning of the stream, where there is none."""
        count = self["count"][slot]
        times = self["past_time"][slot, (count - nth) % self.length]
        return np.where(count >= nth, times, 0.0)

    def enter(self, events: Mapping[str, Array], meeting: Array) -> None:
        """Events become past of both endpoints; all those of one slot happened at one time.

        `meeting`: which of them are the first of their pair.
        """
        slot, life, seconds = events["slot"], events["life"], events["seconds"]
        keep = np.stack([np.ones(len(slot), bool), slot[:, 0] != slot[:, 1]], 1)  # a self-loop is one half
        node = slot[keep]
        event = np.repeat(np.arange(len(slot)), keep.sum(1))
        order = np.argsort(node, kind="stable")
        node, event = node[order], event[order]
        start = np.flatnonzero(np.append(True, node[1:] != node[:-1]))
        size = np.diff(start, append=len(node))
        each, now = node[start], seconds[event[start]]
        self.remember(each)

        before = self["count"][each]
        decay = np.exp((now - self.time_of_last(each))[:, None] / -SCALES)  # of nothing, where nothing was
        self["rate"][each] = self["rate"][each] * decay + size[:, None]
        self["first"][each] = np.where(before == 0, now, self["first"][each])
        as_source = slot[event, 0] == node
        counted = {
            "as_source": as_source,
            "as_destination": slot[event, 1] == node,
            "partners": meeting[event],
        }
        for name, flag in counted.items():
            self[name][each] += np.add.reduceat(flag.astype(np.int64), start)

        rank = np.arange(len(node)) - np.repeat(start, size)
        stays = rank >= np.repeat(size, size) - self.length  # of more than K only the last K
        node, event = node[stays], event[stays]
        place = (np.repeat(before, size) + rank)[stays] % self.length
        self["past_node"][node, place] = life[event, as_source[stays].astype(np.int64)]  # the other endpoint
        self["past_time"][node, place] = seconds[event]
        self["past_msg"][node, place] = events["msg"][event]
        self["past_context"][node, place] = events["context"][event]
        self["count"][each] += size

    def fill(self, slot: Array, life: Array, tail: Tail) -> None:
        """Empty slots go on from what a stored stream knew."""
        self["life"][slot] = life
        for name in ("count", "as_source", "as_destination", "partners", "first", "rate"):
            self[name][slot] = getattr(tail, name).numpy()
        number = tail.count.numpy()[:, None] - np.arange(self.length, 0, -1)  # of each past event, from 0
        which, column = np.nonzero(number >= 0)
        place = number[which, column] % self.length
        for name in RINGS:
            self[name][slot[which], place] = getattr(tail, name).numpy()[which, column]

    # ------------------------------------------------------------------ files
    def arrays(self, prefix: str) -> dict[str, Array]:
        """All rows, for a file; of the rings the places that are taken."""
        out = super().arrays(prefix)
        taken = self._taken(self["count"])
        return out | {prefix + name: out[prefix + name][taken] for name in RINGS}

    def load(self, arrays: Mapping[str, Array], prefix: str) -> None:
        count = arrays[f"{prefix}count"]
        whole = dict(arrays)
        for name in RINGS:
            ring = np.zeros((len(count), *self[name].shape[1:]), self[name].dtype)
            ring[self._taken(count)] = arrays[prefix + name]
            whole[prefix + name] = ring
        super().load(whole, prefix)

    def _taken(self, count: Array) -> Array:
        taken: Array = np.arange(self.length) < count[:, None]
        return taken
