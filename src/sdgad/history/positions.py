"""Positions: where, among the half-events of a node and the events of a pair, what an event must not see begins.

The 2E half-events (an event seen from one endpoint; a self-loop is one half-event) are sorted once by (node,
time, arrival). For event k and endpoint x, the position of the first half-event of x that k must not see is
stored; the history of x at k is the slice of L before that position.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.history.context import RATE_SCALES, context_names
from sdgad.history.grouping import Array, Grouping, numbered, running_count
from sdgad.history.query import Query, Seen
from sdgad.history.recurrence import decayed_counts

Ties = Literal["strict", "arrival"]
MOST = 2**30 - 1  # events and nodes, so that positions and node numbers fit int32


class Positions:
    """The stored positions of a stream's events, and those of events that might have happened."""

    def __init__(
        self,
        src: Array,
        dst: Array,
        t: Array,
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

    def __len__(self) -> int:
        return self._count

    @property
    def num_nodes(self) -> int:
        """Nodes are numbered from 0 to one below."""
        return self._nodes

    # ------------------------------------------------------------------ build
    def _build(self, src: Array, dst: Array, t: Array) -> None:
        """Per event: its endpoints, its time, and where what it must not see begins."""
        seconds = np.asarray((t - self._origin) * self.clock.seconds, np.float64)
        fresh = np.ones(self._count, bool)
        fresh[1:] = t[1:] != t[:-1]
        instant = np.cumsum(fresh, dtype=np.int32) - 1
        before = np.flatnonzero(fresh)[instant] if self.ties == "strict" else np.arange(self._count)
        self._node = self._tensor(padded(np.stack([src, dst], 1)), np.int32)
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
        keys, rank = numbered(key, self.device)
        pair = rank if np.isinf(self._pair_age) else _split_by_silence(rank, seconds, self._pair_age)
        number = int(pair.max(initial=-1)) + 1
        pairs = Grouping.of(pair, np.arange(count, dtype=np.int32), instant, number, self.device)
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
        halves = Grouping.of(np.stack([src, dst], 1)[keep], event, instant, self._nodes, self.device)
        owner, source, destination = halves.group, src[halves.event], dst[halves.event]
        position = halves.first_unseen(strict=self.ties == "strict")[half]
        self._position = self._tensor(padded(position), np.int32)
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
            **vars(self._seen_from(rows)),
            pair=at(self._pair, rows).long(),
            pair_position=at(self._pair_position, rows).long(),
            forward=at(self._forward, rows),
        )

    def _seen_from(self, rows: Tensor) -> Seen:
        return Seen(
            node=at(self._node, rows).long(),
            time=at(self._time, rows),
            event=rows,
            before=at(self._before, rows).long(),
            position=at(self._position, rows).long(),
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
        rank = torch.where(at(self._pair_keys, rank) == key, rank, len(self._pair_keys) - 1)
        pair, pair_position = self._last_pair(rank, time, before)
        return Query(node, time, before, before, position, pair, pair_position, src <= dst)

    def _last_pair(self, rank: Tensor, time: Tensor, before: Tensor) -> tuple[Tensor, Tensor]:
        """The pair of each key that is alive at a time, and the end of its visible events; one past the last if none."""
        end = self._ends(self._pair_key, rank, before)
        last = torch.where(end > 0, end - 1, self._count)
        silence = time - at(self._time, at(self._pair_event, last))
        alive = self._has_rank(last, rank) & (silence <= self._pair_age)
        begins = ~alive & self._has_rank(end, rank) & (at(self._pair_start, self._pair_of(end)) == end)
        found = torch.where(alive, self._pair_of(last), self._pair_of(end))
        pair = torch.where(alive | begins, found, len(self._pair_start) - 1)
        return pair, torch.where(alive | begins, end, self._count)

    def _pair_of(self, position: Tensor) -> Tensor:
        return at(self._pair, at(self._pair_event, position)).long()

    def _has_rank(self, position: Tensor, rank: Tensor) -> Tensor:
        """Whether the event at a position is of a key; the padding is of none."""
        return at(self._pair_key, position) // (self._count + 1) == rank

    def _ends(self, key: Tensor, group: Tensor, before: Tensor) -> Tensor:
        """End of the visible items of some groups, in an array sorted by (group, event)."""
        return torch.searchsorted(key, group * (self._count + 1) + before)


def at(table: Tensor, rows: Tensor) -> Tensor:
    """`table[rows]` for rows of any shape; index_select is several times faster on a CPU."""
    return table.index_select(0, rows.reshape(-1)).view(*rows.shape, *table.shape[1:])


def padded(table: Array) -> Array:
    """A row of −1 at the end, which is read where there is no event."""
    return np.concatenate([table, np.full_like(table[:1], -1, shape=(1, *table.shape[1:]))])


def between(running: Tensor, start: Tensor, end: Tensor) -> Tensor:
    """How many of the slice start : end are counted by a running count."""
    return at(running, end) - at(running, start)


def _split_by_silence(group: Array, seconds: Array, most: float) -> Array:
    """Numbers of the parts of each group (0, 1, … in order of the groups) between silences of more than `most`."""
    order = np.argsort(group, kind="stable")
    fresh = np.ones(len(group), bool)
    fresh[1:] = (group[order][1:] != group[order][:-1]) | (np.diff(seconds[order]) > most)
    part = np.empty(len(group), np.int64)
    part[order] = np.cumsum(fresh) - 1
    return part
