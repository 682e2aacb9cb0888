"""Recent: what is usual changes with the stream, so nats are measured by the last ordinary events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from sdgad.events.held import ANY, held
from sdgad.events.stream import Array

REACH = 4000  # ordinary events that are looked back on
BLOCK = 256  # events that are measured alike, at least
MIDDLE = 0.95  # a quantile that a drift moves as well, and an attack on a few does not
MIDDLE_BEFORE = 0.8  # the same in folders that do not say it
HIGH = 0.98  # the quantile that is compared: near those that raise alarms, and still known well
ORDINARY = 0.995  # the quantile of validation events from which an event is not ordinary
FEWEST = 100  # ordinary events that say anything
MOST = 4.0  # times by which nats may grow or shrink
YOUNG_MOST = 1e3  # the same where everything is new
BLOCKS = 1 << 16  # that late events may belong to; of older ones nothing is known
MOST_NATS = 1e30  # of an event, in a file
YOUNG = 200  # validation events, below which nobody knows yet what is ordinary
YOUNG_LEVEL, YOUNG_REACH, YOUNG_BLOCK, YOUNG_BLOCKS = 0.9, 32, 4, 1 << 12
SERIES = ("ordinary", "waiting", "since", "scales")
NOTHING: Array = np.empty(0)


@dataclass(frozen=True)
class Ruler:
    """What validation events, as far as they are ordinary, led to expect of Σ w · nats."""

    level: float  # of the lower quantile
    middle: float  # that quantile, the 95% one
    usual: float  # their 98% quantile
    limit: float  # where what is ordinary ends
    count: float = np.inf  # validation events that this rests on; folders that do not say it had enough

    @classmethod
    def fit(cls, nats: Array) -> Self:
        """From those of validation events."""
        if len(nats) < YOUNG:
            middle, usual = np.quantile(nats, (YOUNG_LEVEL, HIGH)).tolist()
            return cls(YOUNG_LEVEL, middle, usual, MOST_NATS, len(nats))
        limit = float(np.quantile(nats, ORDINARY))
        middle, usual = np.quantile(nats[nats <= limit], (MIDDLE, HIGH)).tolist()
        return cls(MIDDLE, middle, usual, limit, len(nats))

    @property
    def young(self) -> bool:
        """After a fit on a few hundred events everything that follows is new: habits have yet to form, counts and ages are beyond
        all that was learned from. Were only that ordinary which resembles validation, everything would stand out for ever."""
        return self.count < YOUNG

    @property
    def most(self) -> float:
        """Times by which nats may grow or shrink."""
        return YOUNG_MOST if self.young else MOST

    def scale(self, ordinary: Array) -> float:
        """usual / now, by the 98% quantile. That a stream has changed is believed only as far as the 95% quantile agrees: an
        attack raises the upper one alone, and where that alone sinks, what is beyond it need not have sunk. A young ruler asks
        the 90% quantile of the last few events, whatever they are, and never takes a stream for calmer."""
        if self.young:
            now = float(np.quantile(ordinary, self.level)) if len(ordinary) else 0.0
            return max(1 / self.most, min(1.0, self.middle / now)) if min(self.middle, now) > 0 else 1.0
        if len(ordinary) < FEWEST or min(self.middle, self.usual) <= 0:
            return 1.0
        now = np.maximum(np.quantile(ordinary, (self.level, HIGH)), 1e-12)
        low, high = sorted((self.middle / now[0], self.usual / now[1]))
        return float(np.clip(max(low, min(high, 1.0)), 1 / self.most, self.most))


@dataclass(frozen=True, eq=False)
class Recent:
    """The last 4,000 ordinary events, those that wait for their block to be full, and how events were measured so far.

    An event of n nats is measured as n · usual / now (`Ruler.scale`), of quantiles of ordinary validation events and of the last
    ordinary ones: where a stream drifts, as many events stand out as before. Blocks end where 256 events wait and
    time moves on, whatever the batches. What is measured beyond the 99.5% quantile of validation is not ordinary and never
    counts: an attack, however long it lasts, does not become usual. Late events are measured as those of their time were.

    Where validation had fewer than 200 events (`Ruler.young`) the last 32 events count, in blocks of 4, and all are ordinary.
    """

    ruler: Ruler
    ordinary: Array  # nats, oldest first
    waiting: Array  # nats of the open block
    newest: float  # seconds, of the last event
    since: Array  # seconds at which blocks began, oldest first
    scales: Array  # usual / now in each; before the first it was 1

    @classmethod
    def start(cls, nats: Array) -> Self:
        """Before the first validation event: the normal ones, of which these are, are all that is known of what is usual."""
        ruler = Ruler.fit(nats)
        ordinary = nats[nats <= ruler.limit][:REACH]
        return cls(ruler, ordinary, NOTHING, -np.inf, NOTHING, NOTHING)

    def after_validation(self, nats: Array, seconds: Array) -> tuple[Array, Recent]:
        """Nats of validation events, as they are measured, and what is recent after them. By a young ruler, which rests on hardly
        anything but these very events, they are measured as they are."""
        if not self.ruler.young:
            return self.after(nats, seconds)
        recent = replace(
            self,
            ordinary=self.ordinary[-YOUNG_REACH:],
            newest=float(seconds[-1]),
            since=seconds[:1].astype(np.float64),
            scales=np.ones(1),
        )
        return nats.copy(), recent

    def after(self, nats: Array, seconds: Array) -> tuple[Array, Recent]:
        """Nats of events that come next, at these times, as they are measured; and what is recent after them."""
        late = int(np.searchsorted(seconds, self.newest))
        belongs = np.searchsorted(self.since, seconds[:late], "right")
        measured = np.empty(len(nats))
        measured[:late] = np.append(1.0, self.scales)[belongs] * nats[:late]
        moves = np.flatnonzero(seconds != np.append(self.newest, seconds[:-1]))
        recent, start, block = self, late, YOUNG_BLOCK if self.ruler.young else BLOCK
        while start < len(nats):
            if seconds[start] != recent.newest and (len(recent.waiting) >= block or not len(recent.since)):
                recent = recent._moved_on(float(seconds[start]))
            full = start + max(1, block - len(recent.waiting))
            later = np.searchsorted(moves, full)
            stop = int(moves[later]) if later < len(moves) else len(nats)
            measured[start:stop] = recent.scales[-1] * nats[start:stop]
            waiting = np.concatenate([recent.waiting, nats[start:stop]])
            recent = replace(recent, waiting=waiting, newest=float(seconds[stop - 1]))
            start = stop
        return measured, recent

    def _moved_on(self, seconds: float) -> Recent:
        """A new block begins then, and the events of the last one count."""
        ordinary = self.ordinary
        reach, blocks = (YOUNG_REACH, YOUNG_BLOCKS) if self.ruler.young else (REACH, BLOCKS)
        if len(self.waiting):
            kept = self.waiting[self.scales[-1] * self.waiting <= self.ruler.limit]
            ordinary = np.concatenate([ordinary, kept])[-reach:]
        scale = self.ruler.scale(ordinary)
        return replace(
            self,
            ordinary=ordinary,
            waiting=NOTHING,
            since=np.append(self.since, seconds)[-blocks:],
            scales=np.append(self.scales, scale)[-blocks:],
        )

    # ------------------------------------------------------------------ files
    def arrays(self) -> dict[str, Array]:
        """By names that begin with `recent.`."""
        ruler = self.ruler
        plain = np.array([ruler.middle, ruler.usual, ruler.limit, self.newest, ruler.level, ruler.count])
        return {"recent.plain": plain, **{f"recent.{name}": getattr(self, name) for name in SERIES}}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """The inverse of `arrays`."""
        plain = held(arrays, "recent.plain", "f8", (ANY,), special=True)
        if plain.shape == (4,):  # a folder from when the level was not held
            plain = np.append(plain, MIDDLE_BEFORE)
        if plain.shape == (5,):  # and from when nobody was young
            plain = np.append(plain, np.inf)
        if plain.shape != (6,):
            raise ValueError("what is recent has not the expected shape")
        middle, usual, limit, newest, level, count = plain.tolist()
        if not (
            0 < level < 1
            and -MOST_NATS <= middle <= usual <= limit <= MOST_NATS
            and newest < np.inf
            and count > 0
        ):
            raise ValueError("what was usual cannot have been")
        held_back = {name: held(arrays, f"recent.{name}", "f8", (ANY,)) for name in SERIES}
        series = {name: np.array(array, np.float64) for name, array in held_back.items()}
        since = series["since"]
        held(arrays, "recent.since", "f8", (ANY,), high=newest, rising=True)
        ruler = Ruler(level, middle, usual, limit, count)
        held(arrays, "recent.scales", "f8", since.shape, low=1 / ruler.most, high=ruler.most)
        for name in ("ordinary", "waiting"):
            held(arrays, f"recent.{name}", "f8", (ANY,), low=-MOST_NATS, high=MOST_NATS)
        if (
            len(series["ordinary"]) > REACH
            or len(since) > BLOCKS
            or (len(series["waiting"]) and not len(since))
        ):
            raise ValueError("more is held of what is recent than can be")
        return cls(ruler, newest=newest, **series)
