"""NodeRings: what is known of every node of a live stream, its last K events in a ring buffer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sdgad.history.context import RATE_SCALES
from sdgad.history.entering import Entering
from sdgad.history.growing import GrowingArrays
from sdgad.history.state import Array, State
from sdgad.history.stream_rate import SCALES
from sdgad.history.tail import Tail


class NodeRings(GrowingArrays, State[Entering]):
    """One row per slot: counters, decayed rates, and rings in which event number i of a node lies at i mod K.

    A place that no event has taken yet holds zeros. `life` is what Windows call the node in the slot. `numbered` rings
    also know which events of the stream they hold, and tell those that enter how a node's events are linked.
    """

    def __init__(self, length: int, msg_width: int, context_width: int, *, numbered: bool = False) -> None:
        self.length = length
        self.numbered = numbered
        self._rings = ("past_node", "past_time", "past_msg", "past_context") + numbered * ("past_event",)
        super().__init__(
            "nodes.",
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
            | ({"past_event": (np.int64, (length,))} if numbered else {}),
        )

    def time_of_last(self, slot: Array, nth: int = 1) -> Array:
        """When the n-th last event of each slot happened; 0, the beginning of the stream, where there is none."""
        count = self["count"][slot]
        times = self["past_time"][slot, (count - nth) % self.length]
        return np.where(count >= nth, times, 0.0)

    def last(self, slot: Array, length: int) -> tuple[Array, Array]:
        """Of the last events of each slot, `[…, 1]`, newest last: whether they are there, and their places in its ring."""
        back = np.arange(length, 0, -1)
        count = self["count"][slot]
        return count >= back, (count - back) % self.length

    def enter(self, rows: Entering) -> None:
        """Events become past of both endpoints; the pair table has seen them."""
        assert rows.meeting is not None
        halves, seconds = rows.halves, rows.seconds
        node, event, side, start, size = halves.slot, halves.event, halves.side, halves.start, halves.size
        each, now = halves.each, seconds[event[start]]
        self.remember(each)

        before = rows.before = self["count"][each]
        rows.met = self["past_node"][each, (before - 1) % self.length]
        decay = np.exp((now - self.time_of_last(each))[:, None] / -SCALES)  # of nothing, where nothing was
        self["rate"][each] = self["rate"][each] * decay + size[:, None]
        self["first"][each] = np.where(before == 0, now, self["first"][each])
        counted = {
            "as_source": side == 0,
            "as_destination": rows.slot[event, 1] == node,
            "partners": rows.meeting[event],
        }
        for name, flag in counted.items():
            self[name][each] += np.add.reduceat(flag.astype(np.int64), start)

        if self.numbered:
            _link(rows, event, side, self.last_event(each), start)
        stays = halves.latest(self.length)
        place = (np.repeat(before, size) + halves.rank)[stays] % self.length
        node, event, other = node[stays], event[stays], 1 - side[stays]
        self["past_node"][node, place] = rows.life[event, other]
        self["past_time"][node, place] = seconds[event]
        self["past_msg"][node, place] = rows.msg[event]
        self["past_context"][node, place] = rows.context[event]
        if self.numbered:
            self["past_event"][node, place] = rows.first + event
        self["count"][each] += size

    def last_event(self, slot: Array) -> Array:
        """Number of the newest event of each slot, −1 where there is none."""
        count = self["count"][slot]
        return np.where(count > 0, self["past_event"][slot, (count - 1) % self.length], -1)

    def fill(self, slot: Array, life: Array, tail: Tail) -> None:
        """Empty slots go on from what a stored stream knew."""
        self["life"][slot] = life
        for name in ("count", "as_source", "as_destination", "partners", "first", "rate"):
            self[name][slot] = getattr(tail, name).numpy()
        number = tail.count.numpy()[:, None] - np.arange(self.length, 0, -1)  # of each past event, from 0
        which, column = np.nonzero(number >= 0)
        place = number[which, column] % self.length
        for name in self._rings:
            self[name][slot[which], place] = getattr(tail, name).numpy()[which, column]

    # ------------------------------------------------------------------ files
    def arrays(self) -> dict[str, Array]:
        """All rows, for a file; of the rings the places that are taken."""
        out = super().arrays()
        taken = self._taken(self["count"])
        return out | {self.prefix + name: out[self.prefix + name][taken] for name in self._rings}

    def load(self, arrays: Mapping[str, Array]) -> None:
        count = arrays[f"{self.prefix}count"]
        whole = dict(arrays)
        for name in self._rings:
            ring = np.zeros((len(count), *self[name].shape[1:]), self[name].dtype)
            ring[self._taken(count)] = arrays[self.prefix + name]
            whole[self.prefix + name] = ring
        super().load(whole)

    def _taken(self, count: Array) -> Array:
        taken: Array = np.arange(self.length) < count[:, None]
        return taken


def _link(rows: Entering, event: Array, side: Array, newest: Array, start: Array) -> None:
    """Tell events what came before them at both endpoints, from half-events by node; of each node from `start` on.

    All events of a node come at one time and see its `newest` one; each but the first of them follows another.
    """
    sees = np.repeat(newest, np.diff(start, append=len(event)))
    previous = np.append(-1, rows.first + event[:-1])
    previous[start] = newest
    rows.sees, rows.previous = np.full_like(rows.slot, -1), np.full_like(rows.slot, -1)
    rows.sees[event, side], rows.previous[event, side] = sees, previous  # a self-loop is there as its source
