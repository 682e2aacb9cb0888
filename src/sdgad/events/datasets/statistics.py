"""Figures of a stream, and how they compare with those that somebody stated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdgad.events.datasets.dataset import Figures
from sdgad.events.stream import Array, EventStream

PARTS = ("train", "validation", "test")
_TICKS = (1, 10**3, 10**6)  # per second: times of computers count seconds, milli- or microseconds
_ROUNDING = 1e-3  # of a tick, by which a float may miss it


@dataclass(frozen=True)
class Statistics:
    """What a stream is like. Shares lie in [0, 1] and are None where nothing is labelled; times are in seconds.

    density = unique pairs / possible pairs, these being sources × destinations where they are apart, else nodes².
    repeated = share of events whose pair came before = 1 − unique pairs / events. tied = share of events at whose time
    there is another one. granularity = the largest step of which every time since the first is a multiple.
    """

    nodes: int
    events: int
    pairs: int  # unique ones, with their direction
    times: int  # distinct ones
    features: int
    labelled: int
    anomalies: int
    anomaly_ratio: float | None  # of labelled events
    anomaly_ratio_by_part: tuple[float | None, float | None, float | None]  # of a 40/20/40 split
    density: float
    repeated: float
    tied: float
    granularity: float | None
    span: float


@dataclass(frozen=True)
class Comparison:
    """A figure as it is shown, beside the one that was stated."""

    name: str
    here: str
    stated: str | None

    @property
    def equal(self) -> bool | None:
        return None if self.stated is None else self.here == self.stated


def describe(events: EventStream) -> Statistics:
    """The statistics of a stream."""
    count = len(events)
    present = np.bincount(np.concatenate([events.src, events.dst]), minlength=1) > 0
    pairs = len(np.unique(events.src * len(present) + events.dst))
    sources = int(present[: events.vocabulary.num_sources].sum())
    nodes = int(present.sum())
    possible = sources * (nodes - sources) if events.bipartite else nodes**2
    starts = np.flatnonzero(np.diff(events.t, prepend=np.nan) != 0)  # NaN differs from everything
    crowd = np.diff(starts, append=count)
    train, validation, test = (_ratio(part.label) for part in events.split(train=0.4, val=0.2))
    known = ~np.isnan(events.label)
    return Statistics(
        nodes=nodes,
        events=count,
        pairs=pairs,
        times=len(starts),
        features=events.num_features,
        labelled=int(known.sum()),
        anomalies=int(np.sum(events.label == 1)),
        anomaly_ratio=_ratio(events.label),
        anomaly_ratio_by_part=(train, validation, test),
        density=pairs / possible if possible else 0.0,
        repeated=1 - pairs / count if count else 0.0,
        tied=float(crowd[crowd > 1].sum() / count) if count else 0.0,
        granularity=_granularity(events.t[starts], events.clock.seconds),
        span=float(events.t[-1] - events.t[0]) * events.clock.seconds if count else 0.0,
    )


def _ratio(label: Array) -> float | None:
    known = np.sum(~np.isnan(label))
    return float(np.sum(label == 1) / known) if known else None


def _granularity(distinct: Array, seconds: float) -> float | None:
    """The greatest common divisor of all gaps, in seconds; None where there is none to speak of."""
    gaps = np.diff(distinct)
    if len(gaps) == 0:
        return None
    if np.issubdtype(gaps.dtype, np.integer):
        return float(np.gcd.reduce(gaps) * seconds)
    since = (distinct - distinct[0]) * seconds
    for ticks in _TICKS:
        whole = np.rint(since * ticks)
        if np.all(np.abs(since * ticks - whole) < _ROUNDING):
            return float(np.gcd.reduce(whole.astype(np.int64))) / ticks
    return None


# ---------------------------------------------------------------------- beside what was stated
def compare(found: Statistics, stated: Figures | None) -> list[Comparison]:
    """Each figure of a stream beside the stated one; shares are rounded as those were printed."""
    return [
        *(
            Comparison(name, f"{getattr(found, key):,}", None if stated is None else f"{getattr(stated, key):,}")
            for name, key in (
                ("nodes", "nodes"), ("events", "events"), ("unique pairs", "pairs"),
                ("distinct times", "times"), ("features", "features"),
            )
        ),
        _percentages("anomalies", found.anomaly_ratio, stated.anomalies if stated else None),
        *(
            _percentages(f"anomalies in {part}", ratio, printed)
            for part, ratio, printed in zip(
                PARTS,
                found.anomaly_ratio_by_part,
                (stated.anomalies_by_part if stated else None) or (None, None, None),
                strict=True,
            )
        ),
    ]  # fmt: skip


def _percentages(name: str, ratio: float | None, printed: str | None) -> Comparison:
    decimals = len(printed.partition(".")[2]) if printed else 2
    here = "no labels" if ratio is None else f"{100 * ratio:.{decimals}f}%"
    return Comparison(name, here, None if printed is None else f"{printed}%")
