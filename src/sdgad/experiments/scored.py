"""A stream with its scores, in the groups that a reader wants told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import numpy as np

from sdgad.errors import InputError
from sdgad.events.clock import Clock

SLATE, STEEL = "#64748b", "#94a3b8"
# Okabe and Ito's colours, darkened where white paper needs it; the shapes say the same to who sees no colour.
STYLES = (
    ("#d55e00", "o"),
    ("#0072b2", "s"),
    ("#009e73", "^"),
    ("#9b4f96", "D"),
    ("#c98a00", "v"),
    ("#3aa0d8", "P"),
    ("#7a3b00", "X"),
    ("#111827", "*"),
)


@dataclass(frozen=True)
class ScoredStream:
    """Events in stream order, each with its score in (0, 1); `label` is NaN where the truth is unknown.

    `threshold_rule` says how the threshold was chosen; `boundary` is the score at which training put the edge of
    the normal, for scores that have one; `details` are features, `ids` columns that name an event; `row` is where each event
    stood in its file, from 0; `why` explains each score.
    """

    t: np.ndarray
    clock: Clock
    source: Sequence[str]
    destination: Sequence[str]
    score: np.ndarray
    threshold: float
    label: np.ndarray
    anomaly_type: np.ndarray | None = None
    p_value: np.ndarray | None = None
    details: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ids: Mapping[str, Sequence[str]] = field(default_factory=dict)
    threshold_rule: str = ""
    boundary: float | None = None
    row: np.ndarray | None = None
    why: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if not len(self.score):
            raise InputError("There is no scored event to report on.")
        columns: dict[str, Sequence[str] | np.ndarray | None] = {
            "t": self.t,
            "source": self.source,
            "destination": self.destination,
            "label": self.label,
            "anomaly_type": self.anomaly_type,
            "p_value": self.p_value,
            "row": self.row,
            "why": self.why,
            **self.details,
            **self.ids,
        }
        for name, column in columns.items():
            if column is not None and len(column) != len(self.score):
                raise InputError(
                    f"Column {name!r} has {len(column)} rows, but there are {len(self.score)} scores."
                )
        # a NaN fails both comparisons, so it is found here too
        outside = ~((self.score >= 0) & (self.score <= 1))
        if outside.any():
            row = int(outside.argmax())
            raise InputError(f"Score {self.score[row]} in row {row + 1} does not lie between 0 and 1.")

    def __len__(self) -> int:
        return len(self.score)

    @property
    def labelled(self) -> int:
        """How many events have a known label."""
        return int(np.isfinite(self.label).sum())

    @property
    def alerts(self) -> int:
        """How many events reach the threshold."""
        return int((self.score >= self.threshold).sum())

    @property
    def days(self) -> float:
        """Length of the stream, first to last event."""
        return (float(self.t.max()) - float(self.t.min())) * self.clock.seconds / 86400

    @property
    def zone(self) -> tzinfo:
        """The clock's time zone."""
        return ZoneInfo(self.clock.timezone)

    def top(self, k: int) -> np.ndarray:
        """Rows of the k highest scores, highest first, ties in stream order."""
        k = min(k, len(self))
        least = np.partition(self.score, len(self) - k)[len(self) - k]
        rows = np.flatnonzero(self.score >= least)
        return rows[np.argsort(-self.score[rows], kind="stable")][:k]

    def moment(self, row: int) -> str:
        """ISO 8601 in the clock's time zone, to the second, or finer where the whole stream takes less than an hour.

        Without a wall clock or beyond the calendar, the bare number.
        """
        t = self.t[row]
        if self.clock.wall_clock:
            try:
                since = timedelta(microseconds=round(float(t) * self.clock.seconds * 1e6))
                at = (datetime(1970, 1, 1, tzinfo=UTC) + since).astimezone(self.zone)
                fine = at.microsecond and self.days < 1 / 24
                return at.isoformat(timespec="milliseconds" if fine else "seconds").replace("+00:00", "Z")
            except OverflowError:
                pass
        return np.format_float_positional(t, trim="-") if np.issubdtype(self.t.dtype, np.floating) else str(t)


@dataclass(frozen=True)
class Group:
    """Events that are drawn and counted together."""

    name: str
    rows: np.ndarray
    color: str
    marker: str = "o"


def backgrounds(scored: ScoredStream) -> list[Group]:
    """What anomalies hide in: normal events, unlabelled events, or, with no label at all, everything."""
    unknown = np.flatnonzero(np.isnan(scored.label))
    if len(unknown) == len(scored):
        return [Group("all events", unknown, SLATE)]
    found = [
        Group("normal", np.flatnonzero(scored.label == 0), SLATE),
        Group("unlabelled", unknown, STEEL),
    ]
    return [group for group in found if len(group.rows)]


def anomalies(scored: ScoredStream) -> list[Group]:
    """Labelled anomalies by type, in the order of the names; of too many types the rarest go together."""
    rows = np.flatnonzero(scored.label == 1)
    if not len(rows):
        return []
    if scored.anomaly_type is None:
        return [Group("anomaly", rows, *STYLES[0])]
    names, which, counts = np.unique(
        np.array([str(name or "anomaly") for name in scored.anomaly_type[rows]], dtype=object).astype(str),
        return_inverse=True,
        return_counts=True,
    )
    shown = np.arange(len(names))
    if len(names) > len(STYLES):
        shown = np.sort(np.argsort(-counts, kind="stable")[: len(STYLES) - 1])
    groups = [Group(str(names[i]), rows[which == i], *style) for i, style in zip(shown, STYLES, strict=False)]
    rest = rows[~np.isin(which, shown)]
    if len(rest):
        groups.append(Group(f"{len(names) - len(shown)} other types", rest, *STYLES[-1]))
    return groups
