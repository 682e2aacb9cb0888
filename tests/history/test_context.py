"""Phases of the day and the week, and the list of names."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np
import pytest
import torch

from sdgad.events.clock import SECONDS_PER_UNIT, Clock
from sdgad.history.context import context_names
from sdgad.history.index import HistoryIndex


def phases(when: datetime, clock: Clock) -> dict[str, float]:
    """The phases of an event, two days after the stream began."""
    epoch = int(when.timestamp()) * round(1 / SECONDS_PER_UNIT[clock.unit])
    t = np.array([epoch - round(172_800 / SECONDS_PER_UNIT[clock.unit]), epoch])
    index = HistoryIndex(np.array([0, 0]), np.array([1, 1]), t, clock=clock)
    return dict(zip(index.context_names, index.stored_context(torch.tensor([1]))[0].tolist(), strict=True))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize(("timezone", "east"), [("UTC", 0), ("Asia/Tokyo", 9), ("America/New_York", -5)])
def test_the_hour_of_the_day_is_that_of_the_time_zone(unit: str, timezone: str, east: int) -> None:
    said = phases(datetime(2024, 1, 10, 6, 0, tzinfo=UTC), Clock(unit, wall_clock=True, timezone=timezone))
    turn = 2 * math.pi * (6 + east) / 24
    assert said["sin hour"] == pytest.approx(math.sin(turn), abs=1e-6)
    assert said["cos hour"] == pytest.approx(math.cos(turn), abs=1e-6)


def test_a_week_later_all_phases_are_the_same_and_a_day_later_only_the_hour() -> None:
    clock = Clock(wall_clock=True)
    monday, tuesday, next_monday = (
        phases(datetime(2024, 1, day, 15, 30, tzinfo=UTC), clock) for day in (8, 9, 15)
    )
    for name in ("sin hour", "cos hour", "sin weekday", "cos weekday"):
        assert next_monday[name] == pytest.approx(monday[name], abs=1e-6)
    assert tuesday["sin hour"] == pytest.approx(monday["sin hour"], abs=1e-6)
    turn = math.atan2(tuesday["sin weekday"], tuesday["cos weekday"]) - math.atan2(
        monday["sin weekday"], monday["cos weekday"]
    )
    assert turn % (2 * math.pi) == pytest.approx(2 * math.pi / 7, abs=1e-5)


def test_only_a_wall_clock_has_phases() -> None:
    names = context_names(Clock())
    assert len(set(names)) == len(names)
    assert set(context_names(Clock(wall_clock=True))) - set(names) == {
        "sin hour", "cos hour", "sin weekday", "cos weekday",
    }  # fmt: skip
