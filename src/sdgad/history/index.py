"""HistoryIndex: the histories of a whole stream as stored positions, so that a batch of them is one gather."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from sdgad.events.clock import Clock
from sdgad.history.context import PHASE_NAMES, RATE_SCALES, RECENT, Past, describe
from sdgad.history.grouping import Array
from sdgad.history.needs import NONE, Needs
from sdgad.history.positions import Positions, Ties, at, between
from sdgad.history.query import Asked, Query, Seen
from sdgad.history.tail import SequelLinks, Tail
from sdgad.history.window import Hop, Sequels, Window, WindowShape

CHUNK = 1 << 17


class HistoryIndex(Positions):
    """The past of every event of a stream, and of events that might have happened.

    `ties="strict"` (the paper: histories hold t' < t): rows with the same time never see each other.
    `ties="arrival"`: rows that arrived earlier at the same time count as history. `context=False` leaves the
    context features out. A pair that was silent for more than `pair_age` seconds is new again. All that a query
    reads is a tensor on `device`. What the index says of an event depends on that event and on those before it
    alone, to the last bit. Edge features may come in several parts, one after the other.
    """

    def __init__(
        self,
        src: Array,
        dst: Array,
        t: Array,
        msg: Array | Sequence[Array] | None = None,
        *,
        num_nodes: int | None = None,
        clock: Clock | None = None,
        ties: Ties = "strict",
        context: bool = True,
        pair_age: float | None = None,
        device: str | torch.device = "cpu",
    ) -> None:
        super().__init__(
            src,
            dst,
            t,
            num_nodes=num_nodes,
            clock=clock,
            ties=ties,
            context=context,
            pair_age=pair_age,
            device=device,
        )
        parts = [] if msg is None else [msg] if isinstance(msg, np.ndarray) else msg
        width = parts[0].shape[1] if parts else 0
        self._msg = torch.empty(self._count + 1, width, device=self.device)
        self._msg[-1] = 0  # padding
        start = 0
        for part in parts:
            self._msg[start : start + len(part)] = torch.from_numpy(np.ascontiguousarray(part, np.float32))
            start += len(part)
        self._context = torch.zeros(self._count + 1, len(self.context_names), device=self.device)
        for start in range(0, self._count if context else 0, CHUNK):
            rows = torch.arange(start, min(start + CHUNK, self._count), device=self.device)
            self._context[start : start + len(rows)] = self.context(self.stored(rows))

    def msg(self, rows: Tensor) -> Tensor:
        """`[B, d]` edge features of the stream's own events."""
        return at(self._msg, rows)

    def stored_context(self, rows: Tensor) -> Tensor:
        """`[B, C]` context features of the stream's own events."""
        return at(self._context, rows)

    def shape(self, history: int) -> WindowShape:
        """The widths of the Windows that this index gives."""
        phases = len(PHASE_NAMES) if self.context_names and self.clock.wall_clock else 0
        return WindowShape(history, self.msg_width, len(self.context_names), phases)

    @property
    def msg_width(self) -> int:
        """d, how many edge features there are."""
        return self._msg.shape[1]

    def context(self, query: Query) -> Tensor:
        """`[B, C]` float32 context features of the queried events."""
        if not self.context_names:
            return torch.zeros(len(query), 0, device=self.device)
        origin = float(self._origin) * self.clock.seconds
        return describe(self._past(query), query.time + origin, self.clock)

    def asked(self, query: Query, msg: Tensor | None = None) -> Asked:
        """Queried events with edge features `msg`, `[B, d]`, and the context that they have."""
        if msg is None:
            msg = torch.zeros(len(query), self.msg_width, device=self.device)
        context = [self.context(query.take(slice(i, i + CHUNK))) for i in range(0, len(query), CHUNK)]
        return Asked(query.seen, msg, torch.cat(context) if context else self._context[:0])

    def asked_rows(self, rows: Tensor) -> Asked:
        """The stream's own events, by number."""
        return Asked(self._seen_from(rows), self.msg(rows), self.stored_context(rows))

    def window(self, query: Query, history: int, msg: Tensor | None = None, needs: Needs = NONE) -> Window:
        """The Window of queried events; `msg` are their edge features, `[B, d]`."""
        return self.look_up(self.asked(query, msg), history, needs)

    def rows(self, rows: Tensor, history: int, needs: Needs = NONE) -> Window:
        """The Window of the stream's own events, by number."""
        return self.look_up(self.asked_rows(rows), history, needs)

    def look_up(self, asked: Asked, history: int, needs: Needs = NONE) -> Window:
        """The Window of events of whatever kind: a few gathers, which ask nothing of the host."""
        seen = asked.seen
        slot, mask = self._last(seen.node, seen.position, history)
        past = at(self._half_event, slot)
        other = at(self._half_other, slot).long()
        gap = seen.time[:, None, None] - at(self._time, past)
        return Window(
            node=seen.node,
            msg=asked.msg,
            context=asked.context,
            past_node=other,
            past_gap=gap.float() * mask,
            past_msg=at(self._msg, past),
            past_context=at(self._context, past),
            mask=mask,
            time=seen.time if needs.stamped else None,
            event=seen.event if needs.stamped else None,
            hop=self._hop(seen, past, other, mask, needs) if needs.hop else None,
            sequels=self._sequels(seen, needs.sequels) if needs.sequels else None,
        )

    def _hop(self, seen: Seen, past: Tensor, node: Tensor, mask: Tensor, needs: Needs) -> Hop:
        """The last events of the other `node` of each past event, `[B, 2, L]`: what that event saw, or what the root sees."""
        before, time = seen.before[:, None, None], seen.time[:, None, None]
        if needs.at == "event":
            time = at(self._time, past)
            side = at(self._node, past)[..., :1] != node[..., None]  # of a self-loop either will do
            end = at(self._position, past).gather(-1, side.long()).squeeze(-1)
        else:
            end = self._ends(self._half_key, node, before)
        slot, there = self._last(node.clamp(min=0), end, needs.hop)
        recent = at(self._half_event, slot) >= (before - needs.reach)[..., None]
        there = there & mask[..., None] & recent
        slot = torch.where(there, slot, len(self._half_event) - 1)
        event = at(self._half_event, slot)
        return Hop(
            node=at(self._half_other, slot).long(),
            gap=(time[..., None] - at(self._time, event)).float() * there,
            msg=at(self._msg, event),
            context=at(self._context, event),
            mask=there,
        )

    def _sequels(self, seen: Seen, length: int) -> Sequels:
        """When the other node of each of the last events had its next one, where that is before the current event."""
        slot, mask = self._last(seen.node, seen.position, length)
        after = at(self._sequel, slot)
        came = mask & (at(self._half_event, after) < seen.before[:, None, None])
        until = torch.where(came, at(self._time, at(self._half_event, after)), seen.time[:, None, None])
        wait = until - at(self._time, at(self._half_event, slot))
        return Sequels(torch.where(mask, wait, 0.0).float(), mask)

    @cached_property
    def _twin(self) -> Tensor:
        """Where the event of each half-event stands at its other node; a self-loop where it stands. Made for who asks."""
        event, slot = torch.sort(self._half_event[:-1], stable=True)
        same = event[1:] == event[:-1]
        other = slot.clone()
        other[:-1] = torch.where(same, slot[1:], other[:-1])
        other[1:] = torch.where(same, slot[:-1], other[1:])
        twin = torch.full_like(self._half_event, len(slot))
        twin[slot] = other.int()
        return twin

    @cached_property
    def _sequel(self) -> Tensor:
        """Where the next half-event of that other node stands; at the padding where there is none."""
        after, end = self._twin + 1, at(self._start, self._half_other[:-1].long() + 1)
        after[:-1] = torch.where(after[:-1] < end, after[:-1], len(after) - 1)
        after[-1] = len(after) - 1
        return after

    def _last(self, node: Tensor, end: Tensor, length: int) -> tuple[Tensor, Tensor]:
        """The last half-events of some nodes before some positions, newest last, and whether there are so many."""
        slot = end[..., None] - torch.arange(length, 0, -1, device=self.device)
        mask = slot >= at(self._start, node)[..., None]
        return torch.where(mask, slot, len(self._half_event) - 1), mask

    def linked(self, rows: Tensor) -> dict[str, Array]:
        """The stream's own events as `RecentEvents` keeps them."""
        node = at(self._node, rows).long()
        start = at(self._start, node)

        def newest(end: Tensor) -> Tensor:
            """The event before a position, −1 if that is another node's."""
            return torch.where(end > start, at(self._half_event, (end - 1).clamp(min=0)), -1).long()

        columns = {
            "node": node,
            "seconds": at(self._time, rows),
            "msg": self.msg(rows),
            "context": self.stored_context(rows),
            "sees": newest(at(self._position, rows)),
            "previous": newest(self._ends(self._half_key, node, rows[:, None])),
        }
        return {name: column.cpu().numpy() for name, column in columns.items()}

    def tail(self, node: Tensor, before: int, length: int) -> Tail:
        """What is known of some nodes, of all pairs and of the stream after the first `before` events."""
        count = torch.tensor(before, device=self.device)
        start, end = at(self._start, node), self._ends(self._half_key, node, count)
        slot, _ = self._last(node, end, length)
        event = at(self._half_event, slot)
        last = torch.where(end > start, end - 1, len(self._half_event) - 1)
        rank = torch.arange(len(self._pair_keys) - 1, device=self.device)
        now = self._time[before - 1].expand(len(rank))
        pair, pair_end = self._last_pair(rank, now, count.expand(len(rank)))
        pair_start = at(self._pair_start, pair)
        met = pair_end > pair_start
        return Tail(
            count=end - start,
            as_source=between(self._source_count, start, end),
            as_destination=between(self._destination_count, start, end),
            partners=between(self._partner_count, start, end),
            first=at(self._time, at(self._half_event, start)),
            rate=at(self._rate, last) if self.context_names else torch.zeros(len(node), len(RATE_SCALES)),
            past_node=at(self._half_other, slot).long(),
            past_time=at(self._time, event),
            past_msg=at(self._msg, event),
            past_context=at(self._context, event),
            past_event=event.long(),
            pair_nodes=torch.stack(
                [self._pair_keys[:-1] // self._nodes, self._pair_keys[:-1] % self._nodes], 1
            )[met],
            pair_count=(pair_end - pair_start)[met],
            pair_forward=between(self._forward_count, pair_start, pair_end)[met],
            pair_last=at(self._time, at(self._pair_event, pair_end[met] - 1)),
            stream_time=self._time[before - 1],
            stream_rate=self._rate_stream[before - 1]
            if self.context_names
            else torch.zeros(len(RATE_SCALES)),
        )

    def sequels_after(self, node: Tensor, before: int, length: int) -> SequelLinks:
        """Of the last events of some nodes after the first `before` ones: where they stand at their other node, what came."""
        slot, mask = self._last(node, self._ends(self._half_key, node, torch.tensor(before)), length)
        other = at(self._half_other, slot).long()
        twin, after = at(self._twin, slot).long(), at(self._sequel, slot)
        came = mask & (at(self._half_event, after) < before)
        return SequelLinks(
            number=torch.where(mask, twin - at(self._start, other.clamp(min=0)), 0),
            next=torch.where(
                came, at(self._time, at(self._half_event, after)), torch.where(mask, torch.inf, 0.0)
            ),
        )

    def _past(self, query: Query) -> Past:
        """Read counts, gaps and rates off the positions; what there is not is read off the padding."""
        start, end = at(self._start, query.node), query.position
        pair_start, pair_end = at(self._pair_start, query.pair), query.pair_position
        seen = end > start
        last = torch.where(seen, end - 1, len(self._half_event) - 1)
        recent = torch.where(end - RECENT >= start, end - RECENT, len(self._half_event) - 1)
        last_pair = torch.where(pair_end > pair_start, pair_end - 1, len(self._pair_event) - 1)
        last_stream = torch.where(query.before > 0, query.before - 1, self._count)

        def since(event: Tensor) -> Tensor:
            """Seconds since an event; since the stream began, at time 0, if it is padding."""
            time = query.time.view(-1, *[1] * (event.ndim - 1))
            return (time - at(self._time, event)).clamp(min=0)

        gap, gap_stream = since(at(self._half_event, last)), since(last_stream)
        count_pair = pair_end - pair_start
        count_forward = between(self._forward_count, pair_start, pair_end)
        return Past(
            count=(end - start).double(),
            count_role=torch.stack(
                [
                    between(self._source_count, start[:, 0], end[:, 0]),
                    between(self._destination_count, start[:, 1], end[:, 1]),
                ],
                1,
            ).double(),
            count_pair=count_pair.double(),
            count_same=torch.where(query.forward, count_forward, count_pair - count_forward).double(),
            partners=between(self._partner_count, start, end).double(),
            gap=gap,
            gap_recent=since(at(self._half_event, recent)),
            gap_pair=since(at(self._pair_event, last_pair)),
            gap_stream=gap_stream,
            age=torch.where(seen, since(at(self._half_event, start)), 0.0),
            rate=at(self._rate, last) * torch.exp(gap[..., None] / -self._scales),
            rate_stream=at(self._rate_stream, last_stream) * torch.exp(gap_stream[:, None] / -self._scales),
        )
