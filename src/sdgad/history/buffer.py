"""HistoryBuffer: the past of a live stream; its Windows are those of the index, bit for bit.

Under strict ties the events of the current tick wait until time moves on, since those of one time never see each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.history.context import PHASE_NAMES, context_names, describe
from sdgad.history.entering import Entering
from sdgad.history.index import HistoryIndex
from sdgad.history.live_past import LivePast
from sdgad.history.log import EventLog
from sdgad.history.needs import NONE, Needs
from sdgad.history.positions import Ties
from sdgad.history.retention import Lives, Note, Retention
from sdgad.history.runs import runs
from sdgad.history.span import Span
from sdgad.history.state import Array, State, Together
from sdgad.history.tick import Tick
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


@dataclass(frozen=True)
class Look:
    """Events that were looked at and may now enter the history."""

    rows: Rows
    life: Array  # [n, 2] what Windows call the endpoints
    seconds: Array  # [n] since the stream began
    window: Window
    lives: Note | None  # as they were before, under a retention


class HistoryBuffer(Together[Look]):
    """The past of every node of a live stream: a State of what is past, of what waits, and of which nodes are remembered.

    `push` gives the Windows of new events and makes them past. It is made of `runs` (events that need not see
    each other), `look` and `enter`, for a caller who decides which events enter. A node's slot is a small number of
    the caller's choice. Under a `retention`, slots are given back by `forgotten`. `needs` is what Windows hold beyond
    the recent past of their endpoints.
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
        needs: Needs = NONE,
    ) -> None:
        self.clock = clock or Clock()
        self.strict = ties == "strict"
        self.history = history
        self.needs = needs
        self.context_names = context_names(self.clock) if context else ()
        phases = len(PHASE_NAMES) if context and self.clock.wall_clock else 0
        self.shape = WindowShape(history, msg_width, len(self.context_names), phases)  # of its Windows
        retention = retention or Retention()
        if needs.hop and needs.at == "root" and retention.bounded:
            raise InputError(
                "Second hops as they are now need the past of every node: leave out max_nodes and max_age."
            )
        self._pair_age = retention.max_age
        self._span = Span()
        self._known = LivePast(self.shape, retention.max_age, needs)
        self._nodes = self._known.nodes
        self._tick = Tick(msg_width, len(self.context_names))
        self._lives = Lives(retention) if retention.bounded else None
        parts: list[State[Any]] = [self._span, self._known, self._tick]
        super().__init__(parts if self._lives is None else [*parts, self._lives])

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
        needs: Needs = NONE,
    ) -> HistoryBuffer:
        """The buffer after all events of a log, whose node numbers become its slots."""
        buffer = cls(
            history,
            log.msg.shape[1],
            clock=clock,
            ties=ties,
            context=context,
            retention=retention,
            needs=needs,
        )
        if len(log):
            buffer._fill(log, ties)
        return buffer

    @property
    def newest(self) -> Any:
        """Time of the last event that was looked at."""
        return self._span.newest

    @property
    def events(self) -> int:
        """How many have entered."""
        return self._span.events

    @property
    def pairs(self) -> int:
        """Pairs that are held, among them those that `forgotten` would clear away."""
        return len(self._known.pairs)

    @property
    def remembered(self) -> int | None:
        """Nodes that are remembered, under a retention."""
        return None if self._lives is None else int(self._lives.alive().sum())

    @property
    def waiting(self) -> int:
        """Events of the current tick."""
        return len(self._tick)

    @property
    def room_of_recent_events(self) -> int:
        """Bytes that are taken for second hops now; `recent.most_bytes` says how many it can become."""
        return 0 if self._known.recent is None else self._known.recent.room

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
        # whose second hops are those of now see each other through their neighbours too
        alone |= self.needs.hop > 0 and self.needs.at == "root"
        return runs(rows.slot, rows.t, strict=self.strict, newest=self.newest, alone=alone)

    def look(self, rows: Rows) -> Look:
        """The Windows of one run; time moves on to it, but nothing has entered yet."""
        if self._span.origin is None:
            self._span.origin = rows.t[0]
        if len(self._tick) and rows.t[0] != self.newest:
            self._commit(self._tick.release())
        self._span.newest = rows.t[-1]
        self._known.room_for(int(rows.slot.max()) + 1)
        seconds = self.seconds(rows.t)
        before = None if self._lives is None else self._lives.note(np.unique(rows.slot))
        life = self._live(rows.slot, seconds)
        context = torch.zeros(len(rows), 0)
        if self.context_names:
            past = self._known.of(rows.slot, life, rows.t, seconds, strict=self.strict)
            origin = float(self._origin) * self.clock.seconds
            context = describe(past, torch.from_numpy(seconds + origin), self.clock)
        return Look(rows, life, seconds, self._window(rows, life, seconds, context), before)

    def enter(self, look: Look, keep: Array | None = None) -> None:
        """The events of a run, or those of them to `keep`, become past."""
        kept = np.arange(len(look.rows)) if keep is None else np.flatnonzero(keep)
        life = look.life[kept]
        if self._lives is not None and look.lives is not None and len(kept) < len(look.rows):
            # lives as if only these had come: who is left out keeps nobody alive and makes nobody old
            self._lives.go_back(look.lives)
            life = self._live(look.rows.slot[kept], look.seconds[kept])
        entering = Entering(
            slot=look.rows.slot[kept],
            life=life,
            seconds=look.seconds[kept],
            msg=look.rows.msg[kept],
            context=look.window.context.numpy()[kept],
        )
        waiting = (look.rows.t[kept] == self.newest) & self.strict
        for which, become in ((~waiting, self._commit), (waiting, self._tick.enter)):
            if which.any():
                become(entering.take(which))

    def forgotten(self) -> Array:
        """Slots whose nodes are not remembered any more: they are free now, and nothing is left of them."""
        if self._lives is None:
            return np.empty(0, np.int64)
        alive = self._lives.alive()
        free = np.flatnonzero(~alive)
        self._known.pairs.keep(self._lives.nodes["life"][alive], self._lives.now)
        self._lives.nodes.clear(free)
        self._known.clear(free)
        return free

    # ------------------------------------------------------------------ what is known
    @property
    def _origin(self) -> Any:
        return self._span.origin

    def seconds(self, t: Array) -> Array:
        """Times since the first event; a difference of the times themselves, so that it is exact."""
        if len(t) == 0:
            return np.empty(0)
        origin = t[0] if self._origin is None else self._origin
        return np.asarray((t - origin) * self.clock.seconds, np.float64)

    def _live(self, slot: Array, seconds: Array) -> Array:
        """The nodes in the slots; where another one lived before, nothing is left of it."""
        if self._lives is None:
            self._nodes["life"][slot] = slot
            return slot
        life = self._lives.assign(slot[:, 0], slot[:, 1], seconds)
        self._known.move_in(slot, life)
        return life

    def _window(self, rows: Rows, life: Array, seconds: Array, context: Tensor) -> Window:
        more: dict[str, Any] = {}
        if self.needs.stamped:
            number = self.events + self.waiting + np.arange(len(rows))
            more |= {"time": torch.from_numpy(seconds), "event": torch.from_numpy(number)}
        if self.needs.hop or self._known.sequels is not None:
            seen = self._seen(rows.t)
        if self.needs.hop:
            more["hop"] = self._known.hop(rows.slot, seconds, self.events + seen)
        if self._known.sequels is not None:
            more["sequels"] = self._known.sequels.of(rows.slot, seconds, seen)
        return Window(
            node=torch.from_numpy(life.copy()),
            msg=torch.from_numpy(np.ascontiguousarray(rows.msg)),
            context=context,
            **self._known.histories(rows.slot, seconds),
            **more,
        )

    def _seen(self, t: Array) -> Array:
        """How many events of a run each of them may see."""
        number = np.arange(len(t))
        if not self.strict:
            return number
        return np.maximum.accumulate(np.where(np.append(True, t[1:] != t[:-1])[: len(t)], number, 0))

    # ------------------------------------------------------------------ what becomes known
    def _commit(self, events: Entering) -> None:
        """Events that do not see each other become past."""
        events.first = self.events
        self._known.enter(events)
        self._span.enter(events)

    def _fill(self, log: EventLog, ties: Ties) -> None:
        span = self._span
        span.origin, span.newest = log.t[0], log.t[-1]
        slot = life = np.stack([log.src, log.dst], 1)
        seconds = self.seconds(log.t)
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
        self._known.room_for(int(slot.max()) + 1)
        self._known.fill(here, node, index, before, seconds[-1])
        span.events = before
        waiting = np.arange(before, len(log))
        context = index.stored_context(torch.from_numpy(waiting)).numpy()
        self._tick.enter(Entering(slot[before:], life[before:], seconds[before:], log.msg[before:], context))
