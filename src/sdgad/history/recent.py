"""RecentEvents: the latest events of a live stream, linked, so that what a past event saw can be looked up again."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import DTypeLike
from torch import Tensor

from sdgad.history.entering import Entering
from sdgad.history.growing import GrowingArrays
from sdgad.history.needs import Needs
from sdgad.history.state import Array, State
from sdgad.history.window import NOBODY, Hop, WindowShape

NO_EVENT = -1  # its number


class RecentEvents(GrowingArrays, State[Entering]):
    """A ring in which event number i of the stream lies at i mod `reach`.

    Per endpoint of an event: `sees` is the number of the node's newest event that it sees, `previous` that of the node's
    event just before it. They differ under strict ties alone, where events of one time do not see each other but are
    both past of a later one. The last H events of a node that an event sees are then H steps: one by `sees`, the
    others by `previous`, each of them for a whole batch at once.
    """

    def __init__(self, reach: int, shape: WindowShape) -> None:
        super().__init__("recent.", _columns(shape), most=reach)
        self.reach = reach
        self.resize(1)  # before the first event comes there is a row to read, for nobody

    def enter(self, rows: Entering) -> None:
        """The rings of their nodes have told the events their links."""
        assert rows.sees is not None
        assert rows.previous is not None
        links = {"node": rows.life, "sees": rows.sees, "previous": rows.previous}
        columns = rows.columns
        self.write(rows.number, links | {name: columns[name] for name in ("seconds", "msg", "context")})

    def write(self, number: Array, columns: Mapping[str, Array]) -> None:
        """Events of consecutive numbers; of more than there is room for, the last ones."""
        last = slice(max(0, len(number) - self.reach), None)
        place = number[last] % self.reach
        self.remember(place[place < len(self)])
        self.resize(max(len(self), int(place.max(initial=0)) + 1))
        self.put(place, {name: column[last] for name, column in columns.items()})

    def hop(self, event: Array, node: Array, before: Array, length: int) -> Hop:
        """The last events of `node`, an endpoint of `event`, that the event sees, among the latest of a stream.

        `event` (NO_EVENT where there is none) and `node` are `[B, 2, L]`; `before` `[B]` events were in the stream.
        """
        since = (before - self.reach).clip(min=0)[:, None, None]
        number = np.empty((*event.shape, length), np.int64)
        here, step = np.where(event >= since, event, NO_EVENT), "sees"
        for back in range(length - 1, -1, -1):
            place = here.clip(min=0) % self.reach
            side = (self["node"][place, 0] != node).astype(np.int64)
            there = np.where(here >= 0, self[step][place, side], NO_EVENT)
            here = number[..., back] = np.where(there >= since, there, NO_EVENT)
            step = "previous"
        mask, place = number >= 0, number.clip(min=0) % self.reach
        return hop_of(
            mask,
            node=self["node"][place].sum(-1) - node[..., None],
            gap=self["seconds"][event.clip(min=0) % self.reach][..., None] - self["seconds"][place],
            msg=self["msg"][place],
            context=self["context"][place],
        )

    def load(self, arrays: Mapping[str, Array]) -> None:
        if len(arrays["recent.seconds"]) > self.reach:
            raise ValueError(f"there are more than {self.reach} recent events")
        super().load(arrays)


def most_bytes(needs: Needs, shape: WindowShape) -> int:
    """What the recent events take at most, live."""
    if needs.hop == 0 or needs.at == "root":
        return 0
    row = sum(np.dtype(kind).itemsize * math.prod(size) for kind, size in _columns(shape).values())
    return row * needs.reach


def in_words(needs: Needs, shape: WindowShape) -> str:
    """How far second hops reach, and what that costs."""
    cost = f": {most_bytes(needs, shape) / 2**20:.1f} MiB live" if needs.at == "event" else ""
    return f"second hops reach the stream's latest {needs.reach:,} events{cost}"


def _columns(shape: WindowShape) -> dict[str, tuple[DTypeLike, tuple[int, ...]]]:
    return {
        "node": (np.int64, (2,)),
        "seconds": (float, ()),
        "msg": (np.float32, (shape.msg,)),
        "context": (np.float32, (shape.context,)),
        "sees": (np.int64, (2,)),
        "previous": (np.int64, (2,)),
    }


def hop_of(mask: Array, node: Array, gap: Array, msg: Array, context: Array) -> Hop:
    """A Hop of what was read, its empty slots as they have to be."""

    def shown(values: Array, nothing: int = 0) -> Tensor:
        there = mask.reshape(*mask.shape, *[1] * (values.ndim - mask.ndim))
        return torch.from_numpy(np.where(there, values, values.dtype.type(nothing)))

    return Hop(
        node=shown(node, NOBODY),
        gap=shown(gap.astype(np.float32)),
        msg=shown(msg),
        context=shown(context),
        mask=torch.from_numpy(mask),
    )
