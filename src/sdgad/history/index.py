"""HistoryIndex: the histories of a whole stream as stored positions, so that a batch of them is one gather.

The 2E half-events (an event seen from one endpoint; a self-loop is one half-event) are sorted once by (node,
time, arrival). For event k and endpoint x, the position of the first half-event of x that k must not see is
stored; the history of x at k is the slice of L before that position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.history.context import PHASE_NAMES, RATE_SCALES, RECENT, Past, context_names, describe
from sdgad.history.grouping import Array, Grouping, running_count
from sdgad.history.recurrence import decayed_counts
from sdgad.history.tail import Tail
from sdgad.history.window import Window, WindowShape

Ties = Literal["strict", "arrival"]
CHUNK = 1 << 17
MOST = 2**30 - 1  # events and nodes, so that positions and node numbers fit int32


@dataclass(frozen=True)
class Query:
    """Events whose past is asked for, as positions in the index: of stored events, or found by a search."""

    node: Tensor  # [B, 2]
    time: Tensor  # [B] float64, seconds since the first event of the index
    before: Tensor  # [B] events of the index with a smaller number are visible
    position: Tensor  # [B, 2] end of the endpoint's visible half-events
    pair: Tensor  # [B] number of the pair; one past the last if it never occurs
    pair_position: Tensor  # [B] end of the pair's visible events
    forward: Tensor  # [B] bool, whether the source has the smaller number

    def __len__(self) -> int:
        return len(self.time)

    def take(self, rows: Tensor) -> Query:
        """Some of the events."""
        return Query(*(getattr(self, f.name)[rows] for f in fields(self)))

    @classmethod
    def cat(cls, queries: Sequence[Query]) -> Query:
        """Several queries of one index as one."""
        return cls(*(torch.cat([getattr(q, f.name) for q in queries]) for f in fields(cls)))


class HistoryIndex:
    """The past of every event of a stream, and of events that might have happened.

    `ties="strict"` (the paper: histories hold t' < t): rows with the same time never see each other.
    `ties="arrival"`: rows that arrived earlier at the same time count as history. `context=False` leaves the
    context features out. A pair that was silent for more than `pair_age` seconds is new again. All that a query
    reads is a tensor on `device`. What the index says of an event depends on that event and on those before it
    alone, to the last bit.
    """

    def __init__(
        self,
        src: Array,
        dst: Array,
        t: Array,
        msg: Array | None = None,
        *,
        num_nodes: int | None = None,
        clock: Clock | None = None,
        ties: Ties = "strict",
        context: bool = True,
        pair_age: float | None = None,
        device: str | torch.device = "cpu",
    ) -> None:
        if ties not in ("strict", "arrival"):
            raise InputError(f"ties={ties!r} is not one of strict, arrival.")
        if np.any(t[1:] < t[:-1]):
            raise InputError("The events of an index must be sorted by time.")
        self.clock = clock or Clock()
        self.ties: Ties = ties
        self.context_names = context_names(self.clock) if context else ()
        self.device = torch.device(device)
        self._count = len(t)
        self._origin = t[0] if len(t) else 0
        self._pair_age = np.inf if pair_age is None else pair_age
        used = int(max(src.max(initial=-1), dst.max(initial=-1))) + 1
        self._nodes = used if num_nodes is None else num_nodes
        if used > self._nodes or min(src.min(initial=0), dst.min(initial=0)) < 0:
            raise InputError(f"The nodes of an index must be numbered 0 to {self._nodes - 1}.")
        if max(self._count, self._nodes) > MOST:
            raise InputError(f"An index holds at most {MOST:,} events and nodes.")
        self._build(src.astype(np.int64), dst.astype(np.int64), t)
        width = 0 if msg is None else msg.shape[1]
        self._msg = torch.zeros(self._count + 1, width, device=self.device)  # the last row is padding
        if msg is not None:
            self._msg[:-1] = self._tensor(msg, np.float32)
        self._context = torch.zeros(self._count + 1, len(self.context_names), device=self.device)
        for start in range(0, self._count if context else 0, CHUNK):
            rows = torch.arange(start, min(start + CHUNK, self._count), device=self.device)
            self._context[start : start + len(rows)] = self.context(self.stored(rows))

    def __len__(self) -> int:
        return self._count

    def msg(self, rows: Tensor) -> Tensor:
        """`[B, d]` edge features of the stream's own events."""
        return _at(self._msg, rows)

    def stored_context(self, rows: Tensor) -> Tensor:
        """`[B, C]` context features of the stream's own events."""
        return _at(self._context, rows)

    def shape(self, history: int) -> WindowShape:
        """The widths of the Windows that this index gives."""
        phases = len(PHASE_NAMES) if self.context_names and self.clock.wall_clock else 0
        return WindowShape(history, self.msg_width, len(self.context_names), phases)

    @property
    def msg_width(self) -> int:
        return self._msg.shape[1]

    # ------------------------------------------------------------------ build
    def _build(self, src: Array, dst: Array, t: Array) -> None:
        """Per event: its endpoints, its time, and where what it must not see begins."""
        seconds = np.asarray((t - self._origin) * self.clock.seconds, np.float64)
        fresh = np.ones(self._count, bool)
        fresh[1:] = t[1:] != t[:-1]
        instant = np.cumsum(fresh, dtype=np.int32) - 1
        before = np.flatnonzero(fresh)[instant] if self.ties == "strict" else np.arange(self._count)
        self._node = self._tensor(np.stack([src, dst], 1), np.int32)
        self._forward = self._tensor(src <= dst, np.bool_)
        self._time = self._tensor(np.append(seconds, 0.0), np.float64)  # the last entry is padding
        self._before = self._tensor(before, np.int32)
        meeting = self._build_pairs(src, dst, seconds, instant)
        halves = self._build_halves(src, dst, instant, meeting)
        if self.context_names:
            self._scales = self._tensor(np.array(RATE_SCALES), np.float64)
            self._rate = self._rates(seconds[halves.event], halves.start)
            self._rate_stream = self._rates(seconds, np.array([0, self._count]))

    def _build_pairs(self, src: Array, dst: Array, seconds: Array, instant: Array) -> Array:
        """Events by (pair, arrival), one entry of padding at the end; returns who is first of its pair.

        What is silent for too long begins anew: a key (two nodes) can be several pairs, one after the other.
        """
        count = self._count
        key = np.minimum(src, dst) * self._nodes + np.maximum(src, dst)
        keys, rank = np.unique(key, return_inverse=True)
        pair = rank if np.isinf(self._pair_age) else _split_by_silence(rank, seconds, self._pair_age)
        number = int(pair.max(initial=-1)) + 1
        pairs = Grouping.of(pair, np.arange(count, dtype=np.int32), instant, number)
        self._pair = self._tensor(np.append(pair, number), np.int32)
        self._pair_position = self._tensor(pairs.first_unseen(strict=self.ties == "strict"), np.int32)
        self._pair_keys = self._tensor(np.append(keys, np.iinfo(np.int64).max), np.int64)
        self._pair_start = self._tensor(pairs.start, np.int64)
        self._pair_event = self._tensor(np.append(pairs.event, count), np.int32)
        pair_key = rank[pairs.event] * (count + 1) + pairs.event
        self._pair_key = self._tensor(np.append(pair_key, np.iinfo(np.int64).max), np.int64)
        self._forward_count = self._tensor(running_count((src <= dst)[pairs.event]), np.int32)
        return np.asarray(pairs.position == pairs.start[pair])

    def _build_halves(self, src: Array, dst: Array, instant: Array, meeting: Array) -> Grouping:
        """Half-events by (node, arrival), one entry of padding at the end; `meeting`: first of their pair."""
        count = self._count
        # in order of arrival: source first, then destination unless it is the same node
        keep = np.stack([np.ones(count, bool), src != dst], 1)
        half = np.cumsum(keep, dtype=np.int32).reshape(count, 2) - 1  # so a self-loop has one half, twice
        event = np.repeat(np.arange(count, dtype=np.int32), keep.sum(1))
        halves = Grouping.of(np.stack([src, dst], 1)[keep], event, instant, self._nodes)
        owner, source, destination = halves.group, src[halves.event], dst[halves.event]
        self._position = self._tensor(halves.first_unseen(strict=self.ties == "strict")[half], np.int32)
        self._start = self._tensor(halves.start, np.int64)
        self._half_event = self._tensor(np.append(halves.event, count), np.int32)
        self._half_other = self._tensor(np.append(source + destination - owner, -1), np.int32)
        self._half_key = self._tensor(owner * (count + 1) + halves.event, np.int64)
        self._source_count = self._tensor(running_count(source == owner), np.int32)
        self._destination_count = self._tensor(running_count(destination == owner), np.int32)
        self._partner_count = self._tensor(running_count(meeting[halves.event]), np.int32)
        return halves

    def _rates(self, seconds: Array, bounds: Array) -> Tensor:
        """`[n + 1, 3]` decayed counts just after each element, anew in every group; the last row pads."""
        start = bounds[:-1][bounds[:-1] < bounds[1:]]
        gap = np.diff(seconds, prepend=seconds[:1])
        gap[start] = 0.0
        rates = np.zeros((len(seconds) + 1, len(RATE_SCALES)))
        for column, scale in enumerate(RATE_SCALES):
            rates[:-1, column] = decayed_counts(gap, start, scale)
        return self._tensor(rates, np.float64)

    def _tensor(self, array: Array, dtype: type[np.generic]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array, dtype)).to(self.device)

    # ------------------------------------------------------------------ queries
    def stored(self, rows: Tensor) -> Query:
        """The stream's own events, by number."""
        return Query(
            node=_at(self._node, rows).long(),
            time=_at(self._time, rows),
            before=_at(self._before, rows).long(),
            position=_at(self._position, rows).long(),
            pair=_at(self._pair, rows).long(),
            pair_position=_at(self._pair_position, rows).long(),
            forward=_at(self._forward, rows),
        )

    def hypothetical(self, src: Tensor, dst: Tensor, time: Tensor, before: Tensor | None = None) -> Query:
        """Events that did not happen, at `time` seconds since the first event; one search for all of them.

        They see the events with a number below `before` (`stored(rows).before`: what those rows see). By
        default they see all that is strictly earlier and, under arrival ties, all of their own time.
        """
        if before is None:
            side = "left" if self.ties == "strict" else "right"
            before = torch.searchsorted(self._time[:-1], time.contiguous(), side=side)
        node = torch.stack([src, dst], 1)
        position = self._ends(self._half_key, node, before[:, None])
        key = torch.minimum(src, dst) * self._nodes + torch.maximum(src, dst)
        rank = torch.searchsorted(self._pair_keys, key)
        rank = torch.where(_at(self._pair_keys, rank) == key, rank, len(self._pair_keys) - 1)
        pair, pair_position = self._last_pair(rank, time, before)
        return Query(node, time, before, position, pair, pair_position, src <= dst)

    def _last_pair(self, rank: Tensor, time: Tensor, before: Tensor) -> tuple[Tensor, Tensor]:
        """The pair of each key that is alive at a time, and the end of its visible events; one past the last if none."""
        end = self._ends(self._pair_key, rank, before)
        last = torch.where(end > 0, end - 1, self._count)
        silence = time - _at(self._time, _at(self._pair_event, last))
        alive = self._has_rank(last, rank) & (silence <= self._pair_age)
        begins = ~alive & self._has_rank(end, rank) & (_at(self._pair_start, self._pair_of(end)) == end)
        found = torch.where(alive, self._pair_of(last), self._pair_of(end))
        pair = torch.where(alive | begins, found, len(self._pair_start) - 1)
        return pair, torch.where(alive | begins, end, self._count)

    def _pair_of(self, position: Tensor) -> Tensor:
        return _at(self._pair, _at(self._pair_event, position)).long()

    def _has_rank(self, position: Tensor, rank: Tensor) -> Tensor:
        """Whether the event at a position is of a key; the padding is of none."""
        return _at(self._pair_key, position) // (self._count + 1) == rank

    def context(self, query: Query) -> Tensor:
        """`[B, C]` float32 context features of the queried events."""
        if not self.context_names:
            return torch.zeros(len(query), 0, device=self.device)
        origin = float(self._origin) * self.clock.seconds
        return describe(self._past(query), query.time + origin, self.clock)

    def window(self, query: Query, history: int, msg: Tensor | None = None) -> Window:
        """The Window of queried events; `msg` are their edge features, `[B, d]`."""
        if msg is None:
            msg = torch.zeros(len(query), self.msg_width, device=self.device)
        context = self.context(query)
        return self._window(query.node, query.time, query.position, history, msg=msg, context=context)

    def rows(self, rows: Tensor, history: int) -> Window:
        """The Window of the stream's own events, by number."""
        node, time, position = _at(self._node, rows).long(), _at(self._time, rows), _at(self._position, rows)
        msg, context = self.msg(rows), self.stored_context(rows)
        return self._window(node, time, position, history, msg=msg, context=context)

    def _window(
        self, node: Tensor, time: Tensor, position: Tensor, history: int, *, msg: Tensor, context: Tensor
    ) -> Window:
        slot = position[:, :, None] - torch.arange(history, 0, -1, device=self.device)
        mask = slot >= _at(self._start, node)[:, :, None]
        slot = torch.where(mask, slot, len(self._half_event) - 1)
        event = _at(self._half_event, slot)
        gap = time[:, None, None] - _at(self._time, event)
        return Window(
            node=node,
            msg=msg,
            context=context,
            past_node=_at(self._half_other, slot).long(),
            past_gap=gap.float() * mask,
            past_msg=_at(self._msg, event),
            past_context=_at(self._context, event),
            mask=mask,
        )

    def tail(self, node: Tensor, before: int, length: int) -> Tail:
        """What is known of some nodes, of all pairs and of the stream after the first `before` events."""
        count = torch.tensor(before, device=self.device)
        start, end = _at(self._start, node), self._ends(self._half_key, node, count)
        slot = end[:, None] - torch.arange(length, 0, -1, device=self.device)
        mask = slot >= start[:, None]
        event = _at(self._half_event, torch.where(mask, slot, len(self._half_event) - 1))
        last = torch.where(end > start, end - 1, len(self._half_event) - 1)
        rank = torch.arange(len(self._pair_keys) - 1, device=self.device)
        now = self._time[before - 1].expand(len(rank))
        pair, pair_end = self._last_pair(rank, now, count.expand(len(rank)))
        pair_start = _at(self._pair_start, pair)
        met = pair_end > pair_start
        return Tail(
            count=end - start,
            as_source=_between(self._source_count, start, end),
            as_destination=_between(self._destination_count, start, end),
            partners=_between(self._partner_count, start, end),
            first=_at(self._time, _at(self._half_event, start)),
            rate=_at(self._rate, last) if self.context_names else torch.zeros(len(node), len(RATE_SCALES)),
            past_node=_at(self._half_other, torch.where(mask, slot, len(self._half_event) - 1)).long(),
            past_time=_at(self._time, event),
            past_msg=_at(self._msg, event),
            past_context=_at(self._context, event),
            pair_nodes=torch.stack(
                [self._pair_keys[:-1] // self._nodes, self._pair_keys[:-1] % self._nodes], 1
            )[met],
            pair_count=(pair_end - pair_start)[met],
            pair_forward=_between(self._forward_count, pair_start, pair_end)[met],
            pair_last=_at(self._time, _at(self._pair_event, pair_end[met] - 1)),
            stream_time=self._time[before - 1],
            stream_rate=self._rate_stream[before - 1]
            if self.context_names
            else torch.zeros(len(RATE_SCALES)),
        )

    def _ends(self, key: Tensor, group: Tensor, before: Tensor) -> Tensor:
        """End of the visible items of some groups, in an array sorted by (group, event)."""
        return torch.searchsorted(key, group * (self._count + 1) + before)

    def _past(self, query: Query) -> Past:
        """Read counts, gaps and rates off the positions; what there is not is read off the padding."""
        start, end = _at(self._start, query.node), query.position
        pair_start, pair_end = _at(self._pair_start, query.pair), query.pair_position
        seen = end > start
        last = torch.where(seen, end - 1, len(self._half_event) - 1)
        recent = torch.where(end - RECENT >= start, end - RECENT, len(self._half_event) - 1)
        last_pair = torch.where(pair_end > pair_start, pair_end - 1, len(self._pair_event) - 1)
        last_stream = torch.where(query.before > 0, query.before - 1, self._count)

        def since(event: Tensor) -> Tensor:
            """Seconds since an event; since the stream began, at time 0, if it is padding."""
            time = query.time.view(-1, *[1] * (event.ndim - 1))
            return (time - _at(self._time, event)).clamp(min=0)

        gap, gap_stream = since(_at(self._half_event, last)), since(last_stream)
        count_pair = pair_end - pair_start
        count_forward = _between(self._forward_count, pair_start, pair_end)
        return Past(
            count=(end - start).double(),
            count_role=torch.stack(
                [
                    _between(self._source_count, start[:, 0], end[:, 0]),
                    _between(self._destination_count, start[:, 1], end[:, 1]),
                ],
                1,
            ).double(),
            count_pair=count_pair.double(),
            count_same=torch.where(query.forward, count_forward, count_pair - count_forward).double(),
            partners=_between(self._partner_count, start, end).double(),
            gap=gap,
            gap_recent=since(_at(self._half_event, recent)),
            gap_pair=since(_at(self._pair_event, last_pair)),
            gap_stream=gap_stream,
            age=torch.where(seen, since(_at(self._half_event, start)), 0.0),
            rate=_at(self._rate, last) * torch.exp(gap[..., None] / -self._scales),
            rate_stream=_at(self._rate_stream, last_stream) * torch.exp(gap_stream[:, None] / -self._scales),
        )


def _at(table: Tensor, rows: Tensor) -> Tensor:
    """`table[rows]` for rows of any shape; index_select is several times faster on a CPU."""
    return table.index_select(0, rows.reshape(-1)).view(*rows.shape, *table.shape[1:])


def _between(running: Tensor, start: Tensor, end: Tensor) -> Tensor:
    """How many of the slice start : end are counted by a running count."""
    return _at(running, end) - _at(running, start)


def _split_by_silence(group: Array, seconds: Array, most: float) -> Array:
    """Numbers of the parts of each group (0, 1, … in order of the groups) between silences of more than `most`."""
    order = np.argsort(group, kind="stable")
    fresh = np.ones(len(group), bool)
    fresh[1:] = (group[order][1:] != group[order][:-1]) | (np.diff(seconds[order]) > most)
    part = np.empty(len(group), np.int64)
    part[order] = np.cumsum(fresh) - 1
    return part
