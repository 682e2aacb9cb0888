"""LivePast: all that has entered a live history, and what it says of the events that come next."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from sdgad.history.context import RECENT, Past
from sdgad.history.entering import Entering
from sdgad.history.growing import GrowingArrays
from sdgad.history.index import HistoryIndex
from sdgad.history.needs import Needs
from sdgad.history.pairs import PairTable
from sdgad.history.recent import NO_EVENT, RecentEvents, hop_of
from sdgad.history.rings import NodeRings
from sdgad.history.sequels import SequelRings
from sdgad.history.state import Array, State, Together
from sdgad.history.stream_rate import SCALES, StreamRate
from sdgad.history.window import NOBODY, Hop, WindowShape


class LivePast(Together[Entering]):
    """Per pair its counters; per node a ring of its last K events, counters and decayed rates; the stream's own rate.

    K = max(L, 10), more where second hops are those of now. Where they are those of then, also the stream's latest events;
    and where somebody needs sequels, those of every node's last events.
    """

    def __init__(self, shape: WindowShape, pair_age: float | None, needs: Needs) -> None:
        self._history, self._needs = shape.history, needs
        length = max(shape.history, RECENT, needs.sequels, needs.hop if needs.at == "root" else 0)
        self.pairs = PairTable(np.inf if pair_age is None else pair_age)
        self.nodes = NodeRings(length, shape.msg, shape.context, numbered=needs.hop > 0)
        self.stream = StreamRate()
        self.recent = RecentEvents(needs.reach, shape) if needs.hop and needs.at == "event" else None
        self.sequels = SequelRings(needs.sequels, self.nodes) if needs.sequels else None
        more = [part for part in (self.recent, self.sequels) if part is not None]
        parts: list[State[Any]] = [self.pairs, self.nodes, self.stream, *more]  # as events enter them
        super().__init__(parts)

    # ------------------------------------------------------------------ slots
    def room_for(self, slots: int) -> None:
        """So many slots there are, or more."""
        for rows in self._by_slot:
            rows.resize(max(len(rows), slots))

    def clear(self, slot: Array) -> None:
        """Nothing is left of who was there."""
        for rows in self._by_slot:
            rows.clear(slot)

    def move_in(self, slot: Array, life: Array) -> None:
        """Nodes in their slots; where another one lived before, nothing is left of it."""
        before = self.nodes["life"][slot]
        for rows in self._by_slot:
            rows.remember(np.unique(slot))
        self.clear(np.unique(slot[before != life]))
        self.nodes["life"][slot] = life

    @property
    def _by_slot(self) -> list[GrowingArrays]:
        return [self.nodes] if self.sequels is None else [self.nodes, self.sequels]

    # ------------------------------------------------------------------ what is past
    def fill(self, slot: Array, life: Array, index: HistoryIndex, before: int, now: float) -> None:
        """Into an empty history: what the first events of an index say of the nodes in some slots, of pairs and the stream."""
        tail = index.tail(torch.from_numpy(life), before, self.nodes.length)
        self.nodes.fill(slot, life, tail)
        pairs = (tail.pair_nodes, tail.pair_count, tail.pair_forward, tail.pair_last)
        self.pairs.fill(*(part.numpy() for part in pairs))
        self.pairs.keep(life, now)
        self.stream.time, self.stream.rate = float(tail.stream_time), tail.stream_rate.numpy().copy()
        if self.sequels is not None:
            links = index.sequels_after(torch.from_numpy(life), before, self.sequels.length)
            self.sequels.fill(slot, life, tail.past_node.numpy()[:, -self.sequels.length :], links)
        if self.recent is not None:
            number = np.arange(max(0, before - self.recent.reach), before)
            self.recent.write(number, index.linked(torch.from_numpy(number)))

    def of(self, slot: Array, life: Array, t: Array, seconds: Array, *, strict: bool) -> Past:
        """Counts, gaps and rates as the index has them (`HistoryIndex.context`)."""
        nodes = self.nodes
        count_pair, count_same, last_pair = self.pairs.between(life[:, 0], life[:, 1], seconds)
        last_stream, rate_stream = self.stream.before(t, seconds, strict=strict)
        role = np.stack([nodes["as_source"][slot[:, 0]], nodes["as_destination"][slot[:, 1]]], 1)
        count, scales = nodes["count"][slot], torch.from_numpy(-SCALES)

        def since(then: Array) -> Tensor:
            now = seconds.reshape(-1, *[1] * (then.ndim - 1))
            return torch.from_numpy((now - then).clip(min=0))

        def counted(numbers: Array) -> Tensor:
            return torch.from_numpy(numbers).double()

        gap, gap_stream = since(nodes.time_of_last(slot)), since(last_stream)
        return Past(
            count=counted(count),
            count_role=counted(role),
            count_pair=counted(count_pair),
            count_same=counted(count_same),
            partners=counted(nodes["partners"][slot]),
            gap=gap,
            gap_recent=since(nodes.time_of_last(slot, RECENT)),
            gap_pair=since(last_pair),
            gap_stream=gap_stream,
            age=torch.where(torch.from_numpy(count > 0), since(nodes["first"][slot]), 0.0),
            rate=torch.from_numpy(nodes["rate"][slot]) * torch.exp(gap[..., None] / scales),
            rate_stream=torch.from_numpy(rate_stream) * torch.exp(gap_stream[:, None] / scales),
        )

    def histories(self, slot: Array, seconds: Array) -> dict[str, Any]:
        """The last L events of the endpoints, as in a Window."""
        nodes, at = self.nodes, slot[:, :, None]
        mask, place = nodes.last(at, self._history)
        gap = np.where(mask, seconds[:, None, None] - nodes["past_time"][at, place], 0.0)
        return {
            "past_node": torch.from_numpy(np.where(mask, nodes["past_node"][at, place], NOBODY)),
            "past_gap": torch.from_numpy(gap.astype(np.float32)),
            "past_msg": torch.from_numpy(nodes["past_msg"][at, place]),
            "past_context": torch.from_numpy(nodes["past_context"][at, place]),
            "mask": torch.from_numpy(mask),
        }

    def hop(self, slot: Array, seconds: Array, before: Array) -> Hop:
        """The second hop of events that see the first `before` ones of the stream, `[B]`."""
        nodes, length = self.nodes, self._needs.hop
        at = slot[:, :, None]
        there, place = nodes.last(at, self._history)
        other = np.where(there, nodes["past_node"][at, place], 0)
        if self.recent is not None:
            event = np.where(there, nodes["past_event"][at, place], NO_EVENT)
            return self.recent.hop(event, other, before, length)
        at = other[..., None]  # without a retention a node is its slot
        mask, place = nodes.last(at, length)
        mask &= there[..., None] & (
            nodes["past_event"][at, place] >= (before - self._needs.reach)[:, None, None, None]
        )
        return hop_of(
            mask,
            node=nodes["past_node"][at, place],
            gap=seconds[:, None, None, None] - nodes["past_time"][at, place],
            msg=nodes["past_msg"][at, place],
            context=nodes["past_context"][at, place],
        )
