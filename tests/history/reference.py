"""What histories and context features are, written out as plain loops: O(n²), no arrays, no cleverness.

An event is visible to another if it is strictly earlier (`strict`), or if it stands in an earlier row
(`arrival`). Everything below is a sum, a count or a search over visible events.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

SCALES = (3600.0, 86400.0, 604800.0)


@dataclass(frozen=True)
class Event:
    src: int
    dst: int
    t: float | int
    row: int

    def touches(self, node: int) -> bool:
        return node in (self.src, self.dst)

    def partner_of(self, node: int) -> int:
        """The other endpoint; a self-loop's node is its own partner."""
        return self.dst if node == self.src else self.src


@dataclass(frozen=True)
class Reference:
    """A stream, its tie rule, and seconds per unit of time."""

    events: Sequence[Event]
    ties: str
    unit: float = 1.0

    def visible(self, event: Event) -> list[Event]:
        if self.ties == "strict":
            return [past for past in self.events if past.t < event.t]
        return [past for past in self.events if past.row < event.row]

    def history(self, event: Event, node: int) -> list[Event]:
        """The visible events of one node, oldest first; a self-loop is there once."""
        return [past for past in self.visible(event) if past.touches(node)]

    def seconds(self, event: Event, past: Event) -> float:
        """Seconds between two events, each of them counted from the first event of the stream."""
        origin = self.events[0].t
        return float(event.t - origin) * self.unit - float(past.t - origin) * self.unit

    def window(self, event: Event, node: int, length: int) -> list[tuple[Event, float] | None]:
        """The last `length` events and their gaps, newest last; None fills up on the left."""
        last = self.history(event, node)[-length:]
        return [None] * (length - len(last)) + [(past, self.seconds(event, past)) for past in last]

    def hop(
        self, event: Event, past: Event, node: int, length: int, *, at: str, reach: int
    ) -> list[tuple[Event, float] | None]:
        """The last events of the other node of a past event of `node`: of those that it saw, or that `event` sees.

        Older ones than the last `reach` that `event` sees at all are left out.
        """
        viewer = past if at == "event" else event
        recent = self.visible(event)[-reach:]
        last = self.history(viewer, past.partner_of(node))[-length:]
        last = [other for other in last if other in recent]
        return [None] * (length - len(last)) + [(other, self.seconds(viewer, other)) for other in last]

    def context(self, event: Event) -> dict[str, float]:
        """Every context feature by name, before standardisation."""
        of = {"src": self.history(event, event.src), "dst": self.history(event, event.dst)}
        node = {"src": event.src, "dst": event.dst}
        everyone = self.visible(event)
        pair = [past for past in everyone if {past.src, past.dst} == {event.src, event.dst}]
        same = [past for past in pair if (past.src, past.dst) == (event.src, event.dst)]
        features = {
            "log count pair": math.log1p(len(pair)),
            "log count same direction": math.log1p(len(same)),
            "log count other direction": math.log1p(len(pair) - len(same)),
            "log count src as source": math.log1p(sum(past.src == event.src for past in of["src"])),
            "log count dst as destination": math.log1p(sum(past.dst == event.dst for past in of["dst"])),
            "log gap pair": self.log_gap(event, pair, 1),
            "log gap anyone": self.log_gap(event, everyone, 1),
            "new pair": float(not pair),
        }
        for end, past in of.items():
            partners = {e.partner_of(node[end]) for e in past}
            features |= {
                f"log count {end}": math.log1p(len(past)),
                f"log gap {end}": self.log_gap(event, past, 1),
                f"log gap 10th {end}": self.log_gap(event, past, 10),
                f"new {end}": float(not past),
                f"log age {end}": math.log1p(self.seconds(event, past[0])) if past else 0.0,
                f"log partners {end}": math.log1p(len(partners)),
                f"partners per event {end}": len(partners) / len(past) if past else 0.0,
                f"pair share of {end}": len(pair) / len(past) if past else 0.0,
            }
        for whose, past in {**of, "stream": everyone}.items():
            for name, scale in zip(("hour", "day", "week"), SCALES, strict=True):
                rate = math.fsum(math.exp(-self.seconds(event, e) / scale) for e in past)
                features[f"log rate {whose} {name}"] = math.log1p(rate)
        return features

    def log_gap(self, event: Event, past: list[Event], nth: int) -> float:
        """log(1 + seconds since the n-th last event), or since the stream began if there are fewer."""
        return math.log1p(self.seconds(event, past[-nth] if len(past) >= nth else self.events[0]))
