"""Archive: what a fitted detector has seen, as one object."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import torch

from sdgad.detectors.border import Border, in_time
from sdgad.detectors.config import Late
from sdgad.detectors.folder import ModelFiles
from sdgad.detectors.guard import Guard
from sdgad.detectors.own_state import OwnState, stretches
from sdgad.detectors.view import View
from sdgad.events.held import number
from sdgad.events.slots import NodeSlots
from sdgad.events.stream import Array, EventStream
from sdgad.events.vocabulary import NodeTable
from sdgad.history.buffer import HistoryBuffer, Rows
from sdgad.history.index import HistoryIndex
from sdgad.history.log import FURTHEST, EventLog
from sdgad.history.runs import runs
from sdgad.history.window import Window

logger = logging.getLogger("sdgad.detectors")

Act = Callable[[Iterable[Window]], Array]  # what is done with Windows, one after the other
LARGE = 10_000  # events, from which on a live buffer is kept for small files
PEEK = 32
RUN = 500  # a run through the buffer costs as much as building the index of so many events (1 ms, 2 µs each)


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Raw events in an archive's own terms: those that the policy for late ones lets through, which of the stream's rows
    these are, and the node table with their ids."""

    kept: Array
    log: EventLog
    nodes: NodeTable
    t: Array  # times as they came; those of the log may have been moved


@dataclass(eq=False)
class Archive:
    """Clock, features, node table and log of a detector.

    It reads raw events (the border), extends itself into a new archive and stays as it is, gives an index or a live buffer, and
    goes into the model folder. `fitted_until` is the last time that `fit` has seen, None for a model of an older version.

    A file that is small beside the log is scored against a live buffer at the end of the log, which is kept from the first such
    call on and handed over to the extended archive: no call but the first costs more than the new events do. Others, and
    late events, are scored by an index over everything.

    Several threads may score with one archive: what they share, the kept buffer and a state that remembers, one at a time uses.
    """

    border: Border
    nodes: NodeTable
    log: EventLog
    fitted_until: float | None = None
    _kept: tuple[View, HistoryBuffer] | None = field(default=None, repr=False)
    _guard: Guard = field(default_factory=Guard, repr=False)
    late_is_now: ClassVar[bool] = False  # late events stand where they belong

    @classmethod
    def start(cls, border: Border) -> Archive:
        """Nothing has been seen yet."""
        return cls(border, NodeTable(border.sides), EventLog.empty(border.features.width))

    def __len__(self) -> int:
        return len(self.log)

    @property
    def size(self) -> tuple[int, int]:
        """Events and nodes that are remembered."""
        return len(self.log), self.nodes.size

    @property
    def known_ids(self) -> list[pa.Array]:
        """Raw ids as text, per name space."""
        return self.nodes.names

    @property
    def span(self) -> tuple[float, float] | None:
        """Times of the first and the last event, in the clock's unit; None where there is none."""
        return (self.log.t[0].item(), self.log.t[-1].item()) if len(self.log) else None

    @property
    def newest(self) -> Any:
        """Time of the last event; None where there is none."""
        return self.log.t[-1] if len(self.log) else None

    def without_history(self) -> Archive:
        """The border alone: no raw id and no past event."""
        return Archive(
            self.border,
            NodeTable(self.border.sides),
            EventLog.empty(self.log.msg.shape[1]),
            self.fitted_until,
        )

    def fitted(self, until: float) -> Archive:
        """The same, which a fit has seen up to this time."""
        return replace(self, fitted_until=until)

    # ------------------------------------------------------------------ events come
    def read(self, events: EventStream, late: Late = "score") -> Arrivals:
        """Raw events → own numbers and features; those older than the end of the log follow the policy."""
        t, msg = self.border.read(events)
        src, dst, nodes = self.nodes.number(events.src, events.dst, events.vocabulary)
        kept = in_time(t, self.newest, late, events, "the end of the model's history")
        new = EventLog(src, dst, t, msg)
        new = new if len(kept) == len(new) else new.take(kept)
        return Arrivals(kept, new, nodes, new.t)

    def extended(self, arrivals: Arrivals) -> Archive:
        """This archive and these events, which count once if it has them already."""
        new, end = arrivals.log, self.newest
        log, _ = self._joined(new)
        grown = Archive(self.border, arrivals.nodes, log, self.fitted_until)
        with self._guard:
            kept, self._kept = self._kept, None  # a buffer belongs to one archive: the one that goes on
            if kept is not None and not _late(new, end) and self._pays(new, kept[0]):
                if len(new):
                    kept[1].push(_rows(new))
                grown._kept = kept
        return grown

    def late(self, arrivals: Arrivals) -> int:
        """How many of these events are older than the end of the log, and not in it."""
        if not _late(arrivals.log, self.newest):
            return 0
        older = arrivals.log.take(np.flatnonzero(arrivals.log.t < self.newest))
        return int(np.count_nonzero(self.log.find(older) < 0))

    def used_to_fit(self, arrivals: Arrivals) -> int:
        """How many of these events `fit` has seen; where no history was kept, how many are of its time."""
        new = arrivals.log
        if self.fitted_until is None or not np.any(new.t < self.fitted_until):
            return 0  # equal rows at its very end are two events: a cut may fall between them
        early = new.take(np.flatnonzero(new.t <= self.fitted_until))
        if not len(self.log) or self.log.t[0] > self.fitted_until:  # saved without it
            return len(early)
        return int(np.count_nonzero(self.log.find(early) >= 0))

    # ------------------------------------------------------------------ files
    def arrays(self) -> dict[str, Array]:
        """As they go into `state.safetensors`."""
        return self.log.arrays()

    def vocabulary(self) -> pa.Table | None:
        """As it goes into `vocabulary.parquet`; None where there is no id."""
        return self.nodes.to_table() if self.nodes.size else None

    @classmethod
    def from_files(cls, border: Border, files: ModelFiles) -> Archive:
        """The inverse of `arrays` and `vocabulary`."""
        names = files.vocabulary
        nodes = NodeTable(border.sides) if names is None else NodeTable.from_table(names, border.sides)
        log = EventLog.from_arrays(files.state, border.features.width)
        _need_names(log, nodes)
        if len(log):
            border.clock.need_sane(log.t[0].item(), log.t[-1].item())
        return cls(border, nodes, log, fitted_until(border, files))

    # ------------------------------------------------------------------ scores
    def through(
        self, arrivals: Arrivals, state: OwnState, anew: Callable[[], OwnState], view: View, most: int
    ) -> Array:
        """Scores of events that follow the log, by a state that stands at its end and is left there.

        Late events, and those that the log holds already, stand in the middle of it: there a state that needs its events in order
        has to begin `anew`. Windows hold at most `most` events.
        """
        new = arrivals.log
        if len(new) == 0:
            return np.empty(0)
        if not state.remembers:
            return self._scored(new, state, view, most)
        if state.in_order and _late(new, self.newest):
            log, place = self._joined(new, after=self.fitted_until)
            index, state, every = view.index(log, self.border.clock), anew(), np.arange(len(log))
            return self._by_index(index, log.t, every, state, state.all_through, view, most)[place]
        with self._guard, state.trial():
            return self._scored(new, state, view, most)

    def _scored(self, new: EventLog, state: OwnState, view: View, most: int) -> Array:
        """Scores of events that follow the log or, late ones among them, stand in the middle of it."""
        if not _late(new, self.newest):
            return self._go_on(new, state, state.all_through, view, most)
        log, place = self._joined(new, after=self.fitted_until)
        return self._by_index(
            view.index(log, self.border.clock), log.t, place, state, state.all_through, view, most
        )

    def advanced(
        self, arrivals: Arrivals, state: OwnState, anew: Callable[[], OwnState], view: View, most: int
    ) -> OwnState:
        """A copy of a state that stands at the end of the log, moved on over these events; the state itself stays."""
        new, moved = arrivals.log, anew()

        def enter(windows: Iterable[Window]) -> Array:
            for window in windows:
                moved.enter(window)
            return np.empty(0)

        late = _late(new, self.newest)
        if not (late and state.in_order):
            with self._guard:
                moved.load(state.arrays())
        if late:
            log, place = self.log.joined(new)[:2]
            index = view.index(log, self.border.clock)
            place = np.arange(len(log)) if state.in_order else place
            self._by_index(index, log.t, place, moved, enter, view, most)
        elif len(new):
            self._go_on(new, moved, enter, view, most)
        return moved

    def _go_on(self, new: EventLog, state: OwnState, act: Act, view: View, most: int) -> Array:
        """What `act` says of the Windows of events that follow the log."""
        if len(self.log) >= LARGE and self._pays(new, view):
            return self._by_buffer(new, state, act, view, most)
        index = view.index(self.log, self.border.clock, then=new)
        place = np.arange(len(self.log), len(index))
        return self._by_index(index, np.concatenate([self.log.t, new.t]), place, state, act, view, most)

    def _by_index(
        self, index: HistoryIndex, t: Array, place: Array, state: OwnState, act: Act, view: View, most: int
    ) -> Array:
        rows = torch.from_numpy(place).to(index.device)
        parts = stretches(state, self.border.seconds(t[place], t[0]), most)
        return act(view.rows(index, rows[part]) for part in parts)

    def _by_buffer(self, new: EventLog, state: OwnState, act: Act, view: View, most: int) -> Array:
        rows, parts = _rows(new), stretches(state, self.border.seconds(new.t, self.log.t[0]), most)
        with self._guard:
            buffer = self._buffer(view)
            with buffer.trial():
                return act(buffer.push(rows[part]).to(view.device) for part in parts)

    def _buffer(self, view: View) -> HistoryBuffer:
        """The live buffer at the end of the log, made when it is first asked for."""
        if self._kept is None or self._kept[0] != view:
            self._kept = view, view.buffer(self.log, self.border.clock)
        return self._kept[1]

    def _pays(self, new: EventLog, view: View) -> bool:
        """Whether new events go through a buffer faster than through an index over everything."""
        most = len(self.log) // RUN
        if len(new) <= most:
            return True
        slot, strict = np.stack([new.src, new.dst], 1), view.ties == "strict"
        for rows in (PEEK * most, len(new)):  # mostly the first few of many tell
            found = runs(slot[:rows], new.t[:rows], strict=strict, newest=self.newest)
            if sum(1 for _ in islice(found, most + 2)) > most + (rows < len(new)):
                return False
        return True

    def live(self, view: View) -> tuple[NodeSlots, HistoryBuffer]:
        """A border and a past of their own, for a live scorer."""
        return NodeSlots.of(self.nodes), view.buffer(self.log, self.border.clock)

    def empty_live(self, view: View) -> tuple[NodeSlots, HistoryBuffer]:
        """The same before the first event, for a snapshot to be loaded into."""
        return NodeSlots(self.border.sides), view.buffer(
            EventLog.empty(self.log.msg.shape[1]), self.border.clock
        )

    def _joined(self, new: EventLog, after: float | None = None) -> tuple[EventLog, Array]:
        """The log with new events put in, and where these stand; of those it has already, later than `after`, it is said."""
        joined, place, again = self.log.joined(new)
        told = again if after is None else again & (new.t > after)
        if told.any():
            logger.warning(
                "%s of %s events are in the model's history already and count once.",
                f"{told.sum():,}",
                f"{len(new):,}",
            )
        return joined, place


def fitted_until(border: Border, files: ModelFiles) -> float | None:
    """As the calibration has it; None for a model of an older version."""
    until = files.calibration.get("fitted_until")
    if until is not None:
        border.clock.need_sane(number(until, "fitted_until", low=-FURTHEST, high=FURTHEST))
    return until


def _need_names(log: EventLog, nodes: NodeTable) -> None:
    """Everybody in the log has a name, on the side where they stand."""
    for codes, own in zip((log.src, log.dst), (nodes.codes[0], nodes.codes[-1]), strict=True):
        known = np.zeros(nodes.size, bool)
        known[own] = True
        if len(codes) and (codes.max() >= nodes.size or not known[codes].all()):
            raise ValueError("the vocabulary lacks a party of the history")


def _rows(log: EventLog) -> Rows:
    return Rows(np.stack([log.src, log.dst], 1), log.t, log.msg)


def _late(new: EventLog, newest: Any) -> bool:
    return newest is not None and len(new) > 0 and bool(new.t[0] < newest)
