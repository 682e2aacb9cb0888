"""Tally: the archive of a detector whose state replaces the log; it keeps no event and no id."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from sdgad.detectors.archive import Arrivals, fitted_until
from sdgad.detectors.border import Border, in_time
from sdgad.detectors.config import Late
from sdgad.detectors.folder import ModelFiles
from sdgad.detectors.guard import Guard
from sdgad.detectors.own_state import OwnState, stretches
from sdgad.detectors.view import View
from sdgad.events.hashing import HashedIds
from sdgad.events.held import ANY, held
from sdgad.events.stream import Array, EventStream
from sdgad.events.vocabulary import NodeTable
from sdgad.history.bare import BareBuffer, bare_window
from sdgad.history.log import FURTHEST, EventLog


@dataclass(frozen=True, eq=False)
class Tally:
    """How many events there were, and when the first and the last of them happened: constant memory.

    Ids are hashed, so that two may be taken for one (`hashed_ids`). A late event counts as if it happened now, and one that is
    delivered twice counts twice.
    """

    border: Border
    events: int = 0
    first: Any = None
    newest: Any = None
    fitted_until: float | None = None
    guard: Guard = field(
        default_factory=Guard, repr=False
    )  # several threads may score: one at a time uses the state
    late_is_now: ClassVar[bool] = True

    def __len__(self) -> int:
        return self.events

    @property
    def size(self) -> tuple[int, int]:
        """Events that have come; no node is remembered."""
        return self.events, 0

    @property
    def known_ids(self) -> list[pa.Array]:
        """No id is kept."""
        return []

    @property
    def span(self) -> tuple[float, float] | None:
        """Times of the first and the last event, in the clock's unit; None where there is none."""
        return None if self.first is None else (self.first.item(), self.newest.item())

    def without_history(self) -> Tally:
        return Tally(self.border, fitted_until=self.fitted_until)

    def fitted(self, until: float) -> Tally:
        """The same, which a fit has seen up to this time."""
        return replace(self, fitted_until=until)

    def arrays(self) -> dict[str, Array]:
        """As they go into `state.safetensors`."""
        seen = [] if self.first is None else [self.first, self.newest]
        return {"tally.events": np.array([self.events]), "tally.span": np.array(seen)}

    def vocabulary(self) -> None:
        """No id is kept."""

    @classmethod
    def from_files(cls, border: Border, files: ModelFiles) -> Tally:
        """The inverse of `arrays`."""
        span = held(files.state, "tally.span", "i8 f8", (ANY,), low=-FURTHEST, high=FURTHEST, rising=True)
        events = int(held(files.state, "tally.events", "i8", (1,), low=0, high=FURTHEST)[0])
        if len(span) != (2 if events else 0):
            raise ValueError("the array 'tally.span' does not say when events began and ended")
        first, newest = span if len(span) else (None, None)
        border.clock.need_sane(*span.tolist())
        return cls(border, events, first, newest, fitted_until(border, files))

    def read(self, events: EventStream, late: Late = "score") -> Arrivals:
        """Raw events → hashed ids; those older than the newest one follow the policy, and count as now where it keeps them."""
        t, msg = self.border.read(events)
        kept = in_time(t, self.newest, late, events, "the end of the model's history")
        src, dst = HashedIds(self.border.sides).of_events(events, kept).T
        came = t[kept]
        now = came if self.newest is None else np.maximum(came, self.newest)
        return Arrivals(kept, EventLog(src, dst, now, msg[kept]), NodeTable(self.border.sides), came)

    def extended(self, arrivals: Arrivals) -> Tally:
        """This tally and these events."""
        t = arrivals.log.t
        if len(t) == 0:
            return self
        first = t[0] if self.first is None else self.first
        return replace(self, events=self.events + len(t), first=first, newest=t[-1], guard=Guard())

    def late(self, arrivals: Arrivals) -> int:
        """How many of these events are older than the newest one; which of them it has seen is not known."""
        return int(np.count_nonzero(arrivals.t < arrivals.log.t))

    def used_to_fit(self, arrivals: Arrivals) -> int:
        """How many of these events are of the time of `fit`; whether it has seen them is not known."""
        if self.fitted_until is None or not np.any(arrivals.t < self.fitted_until):
            return 0  # those of its very end may be new
        return int(np.count_nonzero(arrivals.t <= self.fitted_until))

    def through(
        self,
        arrivals: Arrivals,
        state: OwnState,
        anew: Callable[[], OwnState],  # noqa: ARG002 (nothing is ever late here)
        view: View,
        most: int,
    ) -> Array:
        """Scores of the next events, by a state that stands at the end of the stream and is left there."""
        log = arrivals.log
        if len(log) == 0:
            return np.empty(0)
        seconds = self.border.seconds(log.t, log.t[0] if self.first is None else self.first)
        with self.guard, state.trial():
            return pass_bare(log, seconds, state, view, most, first=self.events)

    def advanced(
        self, arrivals: Arrivals, state: OwnState, anew: Callable[[], OwnState], view: View, most: int
    ) -> OwnState:
        """A copy of a state, moved on over these events; the state itself stays."""
        moved = anew()
        with self.guard:
            moved.load(state.arrays())
        if log := arrivals.log if len(arrivals.log) else None:
            seconds = self.border.seconds(log.t, log.t[0] if self.first is None else self.first)
            pass_bare(log, seconds, moved, view, most, first=self.events)
        return moved

    def live(self, view: View) -> tuple[HashedIds, BareBuffer]:
        """A border of its own, and a clock that goes on, for a live scorer."""
        ids, buffer = self.empty_live(view)
        buffer.origin, buffer.newest, buffer.events = self.first, self.newest, self.events
        return ids, buffer

    def empty_live(self, view: View) -> tuple[HashedIds, BareBuffer]:  # noqa: ARG002
        """The same before the first event."""
        return HashedIds(self.border.sides), BareBuffer(self.border.features.width, self.border.clock)


def pass_bare(log: EventLog, seconds: Array, state: OwnState, view: View, most: int, first: int = 0) -> Array:
    """Scores of events without a past, which enter the state."""
    node, scores = np.stack([log.src, log.dst], 1), np.empty(len(log))
    for part in stretches(state, seconds, most):
        window = bare_window(node[part], seconds[part], log.msg[part], first + part.start)
        scores[part] = state.through(window.to(view.device))
    return scores
