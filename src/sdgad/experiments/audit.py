"""An audit of labels: can anomalies be told from other rows by how they were made, not by what they mean?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from sdgad.errors import InputError
from sdgad.events.stream import Array, EventStream
from sdgad.experiments.cues import CUES, Cue
from sdgad.experiments.placements import Distinct, clustered_interval, distinct, effective, placements
from sdgad.experiments.row_codes import instants, joint
from sdgad.metrics.intervals import Interval

ALL, UNTYPED = "all", "anomaly"
SUSPICIOUS, GIVES_AWAY = 0.6, 0.9
"""AUROC above the first, or from the second on, is flagged where its interval excludes ½."""
MEANINGS: dict[tuple[str, str], str] = {
    (cue.name, way): getattr(cue, way) for cue in CUES for way in ("higher", "lower")
}


@dataclass(frozen=True)
class Finding:
    """What one cue makes of one type: its AUROC with a 95% interval, read in the direction that is at least ½.

    `direction` says which values anomalies have: higher or lower ones than the others (neither at ½).
    """

    type: str
    cue: str
    auroc: float
    low: float
    high: float
    direction: str
    anomalies: int
    flag: str | None

    @property
    def meaning(self) -> str:
        """The direction in words: "anomalies stand alone on their times"."""
        return MEANINGS.get((self.cue, self.direction), "anomalies are like the others")

    def __str__(self) -> str:
        return f"AUROC {self.auroc:.3f}, {self.low:.3f}–{self.high:.3f}"


@dataclass(frozen=True)
class Audit:
    """Findings per type, the strongest cue of each first; the type `all` comes last, where there are several."""

    streams: int
    events: int
    anomalies: int
    rows: tuple[Finding, ...]

    @property
    def types(self) -> list[str]:
        return list(dict.fromkeys(row.type for row in self.rows))

    def of(self, kind: str) -> list[Finding]:
        """The findings of one type, the strongest first."""
        found = [row for row in self.rows if row.type == kind]
        if not found:
            raise InputError(f"No anomaly has the type {kind!r}; the types are {', '.join(self.types)}.")
        return found

    def worst(self, kind: str | None = None) -> Finding:
        """The strongest finding, of one type or of any."""
        return max(self.rows if kind is None else self.of(kind), key=lambda row: row.auroc)

    def flagged(self, kind: str | None = None) -> list[Finding]:
        """The findings that deserve a look, the strongest of each type first."""
        return [row for row in (self.rows if kind is None else self.of(kind)) if row.flag]

    def verdict(self, kind: str) -> str:
        """What the strongest cue says, in one sentence."""
        worst = self.worst(kind)
        if worst.flag:
            says = worst.flag if worst.auroc >= GIVES_AWAY else f"is {worst.flag}"
            return f"{kind}: {worst.cue} {says} ({worst}): {worst.meaning}."
        unsure = max(self.of(kind), key=lambda row: row.high)
        if unsure.high > SUSPICIOUS:
            few = f"{worst.anomalies:,} anomal{'y leaves' if worst.anomalies == 1 else 'ies leave'}"
            return f"{kind}: no cue stands out, but {few} room for one ({unsure.cue}: {unsure})."
        return f"{kind}: no cue tells anomalies from the others (strongest is {worst.cue}: {worst})."

    def to_dict(self) -> dict[str, Any]:
        return {
            "streams": self.streams,
            "events": self.events,
            "anomalies": self.anomalies,
            "rows": [{**asdict(row), "meaning": row.meaning} for row in self.rows],
        }


def audit(streams: EventStream | Iterable[EventStream]) -> Audit:
    """Try every cue on every type of anomaly: events with label 1 against all others, unlabelled ones included.

    Several streams are several injections into the same events, with other seeds. Cues are measured within each stream;
    then the anomalies of all are ranked against the normals of all, exactly. For the interval, copies of an anomaly
    (source, destination and time the same) are one piece of evidence, and so are the normals of one time; and normals count
    once, however many streams share them.
    """
    pool = _Pool()
    for events in [streams] if isinstance(streams, EventStream) else streams:
        pool.add(events)
    if not pool.anomalies:
        raise InputError("No event is labelled anomalous, so there is nothing to tell from the others.")
    if not pool.normals:
        raise InputError("Every event is labelled anomalous, so there is nothing to tell them from.")
    return Audit(pool.streams, pool.events, pool.anomalies, tuple(pool.findings()))


@dataclass(eq=False)
class _Pool:
    """What is kept of each stream: the cues of its anomalies, and how often normals have each value."""

    streams: int = 0
    events: int = 0
    anomalies: int = 0
    normals: float = 0.0  # what the normals of the largest stream are worth
    cues: tuple[Cue, ...] = ()
    of_anomalies: dict[str, list[Array]] = field(default_factory=dict)
    of_normals: dict[str, list[Distinct]] = field(default_factory=dict)
    types: list[Array] = field(default_factory=list)
    copies: list[Array] = field(default_factory=list)

    def add(self, events: EventStream) -> None:
        anomalous = events.label == 1
        cues = tuple(cue for cue in CUES if cue.applies_to(events))
        if self.streams and cues != self.cues:
            raise InputError("Of the streams to pool, some have features and others have none.")
        self.cues = cues
        for cue in cues:
            values = cue.measure(events)
            self.of_anomalies.setdefault(cue.name, []).append(values[anomalous])
            self.of_normals.setdefault(cue.name, []).append(distinct(values[~anomalous]))
        self.types.append(_types(events, anomalous))
        self.copies.append(joint(*(column[anomalous] for column in (events.t, events.src, events.dst))))
        if not anomalous.all():
            self.normals = max(self.normals, effective(np.bincount(instants(events.t[~anomalous]))))
        self.streams += 1
        self.events += len(events)
        self.anomalies += int(anomalous.sum())

    def findings(self) -> list[Finding]:
        names, types = np.unique(np.concatenate(self.types), return_inverse=True)
        members = {str(name): np.flatnonzero(types == code) for code, name in enumerate(names)}
        if len(members) > 1:
            members[ALL] = np.arange(self.anomalies)
        stream = np.repeat(np.arange(self.streams), [len(part) for part in self.copies])
        cluster = joint(stream, np.concatenate(self.copies))
        found: dict[str, list[Finding]] = {name: [] for name in members}
        for cue in self.cues:
            placed = placements(np.concatenate(self.of_anomalies[cue.name]), self.of_normals[cue.name])
            for name, rows in members.items():
                interval = clustered_interval(placed[rows], cluster[rows], self.normals)
                found[name].append(_finding(name, cue, placed[rows], interval))
        return [row for rows in found.values() for row in sorted(rows, key=lambda row: -row.auroc)]


def _finding(kind: str, cue: Cue, placed: Array, interval: Interval) -> Finding:
    area, low, high = float(np.mean(placed)), interval.low, interval.high
    direction = "higher" if area > 0.5 else "lower" if area < 0.5 else "neither"
    if direction == "lower":
        area, low, high = 1 - area, 1 - high, 1 - low
    flag = "gives it away" if area >= GIVES_AWAY else "suspicious" if area > SUSPICIOUS else None
    return Finding(kind, cue.name, area, low, high, direction, len(placed), flag if low > 0.5 else None)


def _types(events: EventStream, anomalous: Array) -> Array:
    """The type of each anomaly; those without one are of the type `anomaly`."""
    if events.anomaly_type is None:
        return np.full(int(anomalous.sum()), UNTYPED)
    types = events.anomaly_type[anomalous]
    return np.where(types == "", UNTYPED, types)
