"""HistoryBuffer: the past of a live stream; its Windows are those of the index, bit for bit.

Per node a ring of its last K = max(L, 10) events, counters and decayed rates; per pair its counters; the stream's
own rate. Under strict ties the events of the current tick wait until time moves on, since those of one time never
see each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sdgad.events.clock import Clock
from sdgad.history.context import PHASE_NAMES, RECENT, Past, context_names, describe
from sdgad.history.grouping import Array
from sdgad.history.growing import GrowingArrays
from sdgad.history.index import HistoryIndex, Ties
from sdgad.history.log import EventLog
from sdgad.history.pairs import PairTable
from sdgad.history.retention import Lives, Retention
from sdgad.history.rings import NodeRings
from sdgad.history.runs import runs
from sdgad.history.stream_rate import SCALES, StreamRate
from sdgad.history.window import Window, WindowShape


@dataclass(frozen=True)
class Rows:
    """Events in time order: slots of their endpoints in the buffer, times as they are, features."""

    slot: Array  # [n, 2]
    t: Array  # [n]
    msg: Array  # [n, d]

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, part: slice | Array) -> Rows:
        return Rows(self.slot[part], self.t[part], self.msg[part])


LivesBefore = tuple[Array, dict[str, Array], dict[str, float]]  # slots, and what was known of their lives


@dataclass(frozen=True)
class Look:
    """Events that were looked at and may now enter the history."""

    rows: Rows
    life: Array  # [n, 2] what Windows call the endpoints
    seconds: Array  # [n] since the stream began
    window: Window
    lives: LivesBefore | None  # under a retention


class HistoryBuffer:
    """The past of every node of a live stream.

    `push` gives the Windows of new events and makes them past. It is made of `runs` (events that need not see
    each other), `look` and `enter`, for a caller who decides which events enter. A node's slot is a small number of
    the caller's choice. Under a `retention`, slots are given back by `forgotten`.
    """

    def __init__(
        self,
        history: int,
        msg_width: int,
        *,
        clock: Clock | None = None,
        ties: Ties = "strict",
        context: bool = True,
        retention: Retention | None = None,
    ) -> None:
        self.clock = clock or Clock()
        self.strict = ties == "strict"
        self.history = history
        self.context_names = context_names(self.clock) if context else ()
        width = len(self.context_names)
        self._nodes = NodeRings(max(history, RECENT), msg_width, width)
        retention = retention or Retention()
        self._pair_age = retention.max_age
        self._pairs = PairTable(retention.max_age or np.inf)
        self._stream = StreamRate()
        self._lives = Lives(retention) if retention.bounded else None
        self._tick = GrowingArrays(
            {
                "slot": (np.int64, (2,)),
                "life": (np.int64, (2,)),
                "seconds": (float, ()),
                "msg": (np.float32, (msg_width,)),
                "context": (np.float32, (width,)),
            }
        )
        self._origin: Any = None  # time of the first event, in its own type, so that differences are exact
        self.newest: Any = None  # time of the last event that was looked at
        self.events = 0  # that have entered

    @classmethod
    def from_log(
        cls,
        log: EventLog,
        history: int,
        *,
        clock: Clock,
        ties: Ties = "strict",
        context: bool = True,
        retention: Retention | None = None,
    ) -> HistoryBuffer:
        """The buffer after all events of a log, whose node numbers become its slots."""
        buffer = cls(history, log.msg.shape[1], clock=clock, ties=ties, context=context, retention=retention)
        if len(log):
            buffer._fill(log, ties)
        return buffer

    @property
    def shape(self) -> WindowShape:
        """The widths of its Windows."""
        phases = len(PHASE_NAMES) if self.context_names and self.clock.wall_clock else 0
        return WindowShape(self.history, self._tick["msg"].shape[1], len(self.context_names), phases)

    @property
    def pairs(self) -> int:
        """Pairs that are held, among them those that `forgotten` would clear away."""
        return len(self._pairs)

    @property
    def remembered(self) -> int | None:
        """Nodes that are remembered, under a retention."""
        return None if self._lives is None else int(self._lives.alive().sum())

    @property
    def waiting(self) -> int:
        """Events of the current tick."""
        return len(self._tick)

    def window_of_nothing(self) -> Window:
        """A Window without events."""
        nothing = Rows(np.empty((0, 2), np.int64), np.empty(0), np.empty((0, self.shape.msg), np.float32))
        context = torch.zeros(0, self.shape.context)
        return self._window(nothing, nothing.slot, nothing.t, context)

    # ------------------------------------------------------------------ events come
    def push(self, rows: Rows) -> Window:
        """The Windows of events not older than the newest one, which are past from now on."""
        windows = []
        for part in self.runs(rows):
            look = self.look(rows[part])
            windows.append(look.window)
            self.enter(look)
        return windows[0] if len(windows) == 1 else Window.cat(windows)

    def runs(self, rows: Rows, *, alone: bool = False) -> Iterator[slice]:
        """Parts of a batch to be looked at together; `alone`: not even in the stream's rate they see each other."""
        return runs(rows.slot, rows.t, strict=self.strict, newest=self.newest, alone=alone)

    def look(self, rows: Rows) -> Look:
        """The Windows of one run; time moves on to it, but nothing has entered yet."""
        if self._origin is None:
            self._origin = rows.t[0]
        if len(self._tick) and rows.t[0] != self.newest:
            everyone = np.arange(len(self._tick))
            self._tick.remember(everyone)
            self._commit(self._tick.take(everyone))
            self._tick.resize(0)
        self.newest = rows.t[-1]
        self._nodes.resize(max(len(self._nodes), int(rows.slot.max()) + 1))
        seconds = self._seconds(rows.t)
        before = self._lives_of(np.unique(rows.slot))
        life = self._live(rows.slot, seconds)
        context = torch.zeros(len(rows), 0)
        if self.context_names:
            origin = float(self._origin) * self.clock.seconds
            context = describe(
                self._past(rows, life, seconds), torch.from_numpy(seconds + origin), self.clock
            )
        return Look(rows, life, seconds, self._window(rows, life, seconds, context), before)

    def enter(self, look: Look, keep: Array | None = None) -> None:
        """The events of a run, or those of them to `keep`, become past."""
        kept = np.arange(len(look.rows)) if keep is None else np.flatnonzero(keep)
        life = look.life[kept]
        if look.lives is not None and len(kept) < len(look.rows):
            life = self._relive(look, kept)
        entering = {
            "slot": look.rows.slot[kept],
            "life": life,
            "seconds": look.seconds[kept],
            "msg": look.rows.msg[kept],
            "context": look.window.context.numpy()[kept],
        }
        waiting = (look.rows.t[kept] == self.newest) & self.strict
        self._commit({name: column[~waiting] for name, column in entering.items()})
        self._tick.append({name: column[waiting] for name, column in entering.items()})

    def forgotten(self) -> Array:
        """Slots whose nodes are not remembered any more: they are free now, and nothing is left of them."""
        if self._lives is None:
            return np.empty(0, np.int64)
        alive = self._lives.alive()
        free = np.flatnonzero(~alive)
        self._pairs.keep(self._lives.nodes["life"][alive], self._lives.now)
        self._lives.nodes.clear(free)
        self._nodes.clear(free)
        return free

    # ------------------------------------------------------------------ what is known
    def _seconds(self, t: Array) -> Array:
        return np.asarray((t - self._origin) * self.clock.seconds, np.float64)

    def _live(self, slot: Array, seconds: Array) -> Array:
        """The nodes in the slots; where another one lived before, nothing is left of it."""
        if self._lives is None:
            self._nodes["life"][slot] = slot
            return slot
        touched = np.unique(slot)
        self._lives.nodes.remember(touched)
        self._nodes.remember(touched)
        life = self._lives.assign(slot[:, 0], slot[:, 1], seconds)
        self._nodes.clear(np.unique(slot[self._nodes["life"][slot] != life]))
        self._nodes["life"][slot] = life
        return life

    def _lives_of(self, slots: Array) -> LivesBefore | None:
        if self._lives is None:
            return None
        self._lives.nodes.resize(len(self._nodes))
        return slots, self._lives.nodes.take(slots), self._lives.scalars()

    def _relive(self, look: Look, kept: Array) -> Array:
        """Lives as if only these had come: who is left out keeps nobody alive and makes nobody old."""
        assert self._lives is not None
        assert look.lives is not None
        slots, nodes, scalars = look.lives
        self._lives.nodes.put(slots, nodes)
        self._lives.set_scalars(scalars)
        return self._live(look.rows.slot[kept], look.seconds[kept])

    def _past(self, rows: Rows, life: Array, seconds: Array) -> Past:
        """Counts, gaps and rates as the index has them (`HistoryIndex.context`)."""
        nodes, slot = self._nodes, rows.slot
        count_pair, count_same, last_pair = self._pairs.between(life[:, 0], life[:, 1], seconds)
        last_stream, rate_stream = self._stream.before(rows.t, seconds, strict=self.strict)
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

    def _window(self, rows: Rows, life: Array, seconds: Array, context: Tensor) -> Window:
        nodes, slot = self._nodes, rows.slot[:, :, None]
        back = np.arange(self.history, 0, -1)
        count = nodes["count"][slot]
        mask, place = count >= back, (count - back) % nodes.length
        gap = np.where(mask, seconds[:, None, None] - nodes["past_time"][slot, place], 0.0)
        return Window(
            node=torch.from_numpy(life.copy()),
            msg=torch.from_numpy(np.ascontiguousarray(rows.msg)),
            context=context,
            past_node=torch.from_numpy(np.where(mask, nodes["past_node"][slot, place], -1)),
            past_gap=torch.from_numpy(gap.astype(np.float32)),
            past_msg=torch.from_numpy(nodes["past_msg"][slot, place]),
            past_context=torch.from_numpy(nodes["past_context"][slot, place]),
            mask=torch.from_numpy(mask),
        )

    # ------------------------------------------------------------------ what becomes known
    def _commit(self, events: Mapping[str, Array]) -> None:
        """Events that do not see each other become past."""
        life, seconds = events["life"], events["seconds"]
        if len(seconds):
            self._nodes.enter(events, self._pairs.meet(life[:, 0], life[:, 1], seconds))
            self._stream.count(seconds)
            self.events += len(seconds)

    def _fill(self, log: EventLog, ties: Ties) -> None:
        self._origin, self.newest = log.t[0], log.t[-1]
        slot = life = np.stack([log.src, log.dst], 1)
        seconds = self._seconds(log.t)
        here = node = np.arange(int(slot.max()) + 1)
        if self._lives is not None:
            life = self._lives.assign(log.src, log.dst, seconds)
            here = np.flatnonzero(self._lives.alive())
            node = self._lives.nodes["life"][here]
        index = HistoryIndex(
            life[:, 0],
            life[:, 1],
            log.t,
            log.msg,
            clock=self.clock,
            ties=ties,
            context=bool(self.context_names),
            pair_age=self._pair_age,
        )
        before = int(np.searchsorted(log.t, log.t[-1])) if self.strict else len(log)
        tail = index.tail(torch.from_numpy(node), before, self._nodes.length)
        self._nodes.resize(int(slot.max()) + 1)
        self._nodes.fill(here, node, tail)
        pairs = (tail.pair_nodes, tail.pair_count, tail.pair_forward, tail.pair_last)
        self._pairs.fill(*(part.numpy() for part in pairs))
        self._pairs.keep(node, seconds[-1])
        self._stream.time, self._stream.rate = float(tail.stream_time), tail.stream_rate.numpy().copy()
        self.events = before
        waiting = {"slot": slot, "life": life, "seconds": seconds, "msg": log.msg}
        context = index.stored_context(torch.arange(before, len(log))).numpy()
        self._tick.append({name: column[before:] for name, column in waiting.items()} | {"context": context})

    # ------------------------------------------------------------------ undo
    @contextmanager
    def trial(self, *, keep: bool = False) -> Iterator[None]:
        """Whatever comes within is undone at the end; with `keep` only if it fails."""
        plain = self._origin, self.newest, self.events, self._stream.time, self._stream.rate
        lives = None if self._lives is None else self._lives.scalars()
        groups: list[GrowingArrays | PairTable] = [self._nodes, self._pairs, self._tick]
        groups += [] if self._lives is None else [self._lives.nodes]
        for group in groups:
            group.begin()
        done = False
        try:
            yield
            done = keep
        finally:
            for group in groups:
                group.settle() if done else group.undo()
            if not done:
                self._origin, self.newest, self.events, self._stream.time, self._stream.rate = plain
                if self._lives is not None and lives is not None:
                    self._lives.set_scalars(lives)

    # ------------------------------------------------------------------ files
    def arrays(self) -> dict[str, Array]:
        """All that it holds, for a file."""
        out = self._nodes.arrays("nodes.") | self._pairs.rows.arrays("pairs.") | self._tick.arrays("tick.")
        seen = self._origin is not None
        out["stream.origin"] = np.array([self._origin] if seen else [])
        out["stream.newest"] = np.array([self.newest] if seen else [])
        out["stream.rate"] = self._stream.rate
        out["stream.time"] = np.array([self._stream.time])
        out["stream.events"] = np.array([self.events])
        if self._lives is not None:
            out |= self._lives.nodes.arrays("lives.")
            out["lives.state"] = np.array(list(self._lives.scalars().values()), float)
        return out

    def load(self, arrays: Mapping[str, Array]) -> None:
        """The inverse of `arrays`; a KeyError or ValueError where they do not fit this buffer."""
        self._nodes.load(arrays, "nodes.")
        self._pairs.load(arrays, "pairs.")
        self._tick.load(arrays, "tick.")
        self._origin, self.newest = (
            arrays[name][0] if len(arrays[name]) else None for name in ("stream.origin", "stream.newest")
        )
        self._stream.rate = arrays["stream.rate"].copy()
        self._stream.time = float(arrays["stream.time"][0])
        self.events = int(arrays["stream.events"][0])
        if self._lives is not None:
            self._lives.nodes.load(arrays, "lives.")
            self._lives.set_scalars(dict(zip(self._lives.scalars(), arrays["lives.state"], strict=True)))
