"""Context features: a short vector per event, computed from its own history in O(1)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import torch
from torch import Tensor

from sdgad.events.clock import Clock

HOUR, DAY, WEEK = 3600.0, 86400.0, 604800.0
RATE_SCALES = (HOUR, DAY, WEEK)
RECENT = 10  # "time since the 10th last event"

NAMES: tuple[str, ...] = (
    "log count src", "log count dst", "log count pair", "log count same direction",
    "log count other direction", "log count src as source", "log count dst as destination",
    "log gap src", "log gap dst", "log gap pair", "log gap anyone", "log gap 10th src", "log gap 10th dst",
    "new src", "new dst", "new pair", "log age src", "log age dst",
    "log partners src", "log partners dst", "partners per event src", "partners per event dst",
    "pair share of src", "pair share of dst",
    "log rate src hour", "log rate src day", "log rate src week",
    "log rate dst hour", "log rate dst day", "log rate dst week",
    "log rate stream hour", "log rate stream day", "log rate stream week",
)  # fmt: skip
SIDES = ("src", "dst", "pair")  # whom a context feature is about; some are about the stream alone
PHASE_NAMES: tuple[str, ...] = ("sin hour", "cos hour", "sin weekday", "cos weekday")


def about(name: str) -> str:
    """The side that a context feature is about: `src`, `dst`, `pair`, or `stream`."""
    words = set(name.split())
    if words & {"pair", "direction"}:
        return "pair"
    return next((side for side in SIDES if side in words), "stream")


def context_names(clock: Clock) -> tuple[str, ...]:
    """Names of the context features, in order; the phases exist only where `t` is a wall clock."""
    return NAMES + PHASE_NAMES if clock.wall_clock else NAMES


@dataclass(frozen=True)
class Past:
    """What the history knows about B events, float64; an axis of 2 is source, destination.

    Gaps are seconds; where there is no such past event, the gap is the time since the stream began.
    `HistoryIndex` fills this from stored positions, a live buffer from its counters: the formulas below are
    shared, so the features agree.
    """

    count: Tensor  # [B, 2] events of the endpoint, in either role
    count_role: Tensor  # [B, 2] of these: the source as source, the destination as destination
    count_pair: Tensor  # [B] events between the two, either direction
    count_same: Tensor  # [B] of these: in the same direction
    partners: Tensor  # [B, 2] distinct partners of the endpoint
    gap: Tensor  # [B, 2] since the endpoint's last event
    gap_recent: Tensor  # [B, 2] since its 10th last event
    gap_pair: Tensor  # [B] since the pair's last event
    gap_stream: Tensor  # [B] since anyone's last event
    age: Tensor  # [B, 2] since the endpoint's first event, 0 if it has none
    rate: Tensor  # [B, 2, 3] decayed counts of the endpoint at an hour, a day, a week
    rate_stream: Tensor  # [B, 3] the same of the whole stream


def describe(past: Past, seconds: Tensor, clock: Clock) -> Tensor:
    """`[B, C]` float32 context features. `seconds` is the time of each event in seconds on its own clock."""
    total = past.count.clamp(min=1)
    columns = [
        past.count.log1p(),
        past.count_pair.log1p()[:, None],
        past.count_same.log1p()[:, None],
        (past.count_pair - past.count_same).log1p()[:, None],
        past.count_role.log1p(),
        past.gap.log1p(),
        past.gap_pair.log1p()[:, None],
        past.gap_stream.log1p()[:, None],
        past.gap_recent.log1p(),
        (past.count == 0).double(),
        (past.count_pair == 0).double()[:, None],
        past.age.log1p(),
        past.partners.log1p(),
        past.partners / total,
        past.count_pair[:, None] / total,
        past.rate.log1p().flatten(1),
        past.rate_stream.log1p(),
    ]
    if clock.wall_clock:
        columns += [_phases(seconds + _utc_offset(clock.timezone))]
    return torch.cat(columns, 1).float()


def _phases(local: Tensor) -> Tensor:
    """Sine and cosine of the hour of the day and of the day of the week."""
    turns = torch.stack([local.remainder(DAY) / DAY, local.remainder(WEEK) / WEEK], 1) * (2 * torch.pi)
    return torch.stack([turns.sin(), turns.cos()], 2).flatten(1)


def _utc_offset(timezone: str) -> float:
    """Seconds east of UTC in January; no daylight saving, so that a phase is one fixed function of time."""
    offset = datetime(2026, 1, 1, tzinfo=UTC).astimezone(ZoneInfo(timezone)).utcoffset()
    return offset.total_seconds() if offset else 0.0
