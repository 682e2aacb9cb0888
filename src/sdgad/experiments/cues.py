"""Trivial cues: what may betray how a row was made, without a look at what the event means.

Each cue gives every row of a stream a number. It reads times as numerals, counts rows that agree, and looks at their
order; it never asks whether an event suits its endpoints. So it leaves out what a detector is meant to look at: how long
a pair was silent, whether it is new, how busy a node is, whether an amount is large. Where such a number tells anomalies
from the rest, the rows carry a fingerprint of their making, and any model that can see it is praised for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sdgad.events.stream import Array, EventStream
from sdgad.experiments.row_codes import codes, instants, joint, others, place

SECONDS = (1, 60, 300, 600, 900, 1800, 3600, 21_600, 43_200, 86_400)
"""Steps in which people and machines count time, besides the powers of ten."""
MOST_DECIMALS = 9


@dataclass(frozen=True)
class Cue:
    """A number per row, and what it says of anomalies when theirs is higher, or lower, than that of the others."""

    name: str
    measure: Callable[[EventStream], Array]
    higher: str
    lower: str
    of_features: bool = False

    def applies_to(self, events: EventStream) -> bool:
        return not self.of_features or events.msg is not None


# ---------------------------------------------------------------------- the time as a numeral
def decimals(events: EventStream) -> Array:
    """Digits after the point of the time, ten for more than nine."""
    t = events.t
    digits = np.zeros(len(t))
    left = np.arange(len(t)) if np.issubdtype(t.dtype, np.floating) else np.arange(0)
    for count in range(MOST_DECIMALS + 1):
        left = left[np.round(t[left], count) != t[left]]
        digits[left] = count + 1
    return digits


def roundness(events: EventStream) -> Array:
    """Logarithm of the largest step that divides the time: 10⁻³, 1, 60, 100, 3600 …

    Steps are the powers of ten, in units of the time, and those of a clock; times count from their own zero.
    """
    t = events.t
    level = -decimals(events)
    whole = level == 0
    steps = {10.0**power for power in range(1, 13)} | {step / events.clock.seconds for step in SECONDS}
    for step in sorted(steps):
        if step > 1:
            level[whole & (np.mod(t, round(step)) == 0)] = np.log10(step)
    return level


def second_of_the_minute(events: EventStream) -> Array:
    """Share of the rows with the same seconds within the minute: coarse clocks have favourites, whatever their zero."""
    minute = max(round(60 / events.clock.seconds), 1)
    within = np.mod(events.t, minute)
    if np.issubdtype(within.dtype, np.floating):
        within = np.round(within, 6)  # the remainder of a float repeats its last digits only roughly
    return (others(codes(within)) + 1) / max(len(events), 1)


def busy_hours(events: EventStream) -> Array:
    """Distinct times within an hour to either side."""
    times, hour = np.unique(events.t), 3600 / events.clock.seconds
    if np.issubdtype(times.dtype, np.integer):
        hour = int(hour)
    near = np.searchsorted(times, times + hour, "right") - np.searchsorted(times, times - hour, "left")
    return near[instants(events.t)].astype(np.float64)


# ---------------------------------------------------------------------- rows that agree
def crowding(events: EventStream) -> Array:
    """Other rows at the same time."""
    return others(instants(events.t))


def same_source_and_time(events: EventStream) -> Array:
    """Other rows with the same source at the same time."""
    return others(joint(instants(events.t), events.src))


def same_destination_and_time(events: EventStream) -> Array:
    """Other rows with the same destination at the same time."""
    return others(joint(instants(events.t), events.dst))


def duplicates(events: EventStream) -> Array:
    """Other rows with the same source, destination and time."""
    return others(joint(instants(events.t), events.src, events.dst))


def full_duplicates(events: EventStream) -> Array:
    """Other rows with the same source, destination, time and features."""
    return others(joint(instants(events.t), events.src, events.dst, *_columns(events)))


# ---------------------------------------------------------------------- order
def place_among_ties(events: EventStream) -> Array:
    """Place among the rows of its time: 0 first, 1 last, 0.5 alone."""
    return place(instants(events.t))


def place_among_ties_of_the_source(events: EventStream) -> Array:
    """Place among the rows of its time and source: 0 first, 1 last, 0.5 alone."""
    return place(joint(instants(events.t), events.src))


def place_among_ties_of_the_destination(events: EventStream) -> Array:
    """Place among the rows of its time and destination: 0 first, 1 last, 0.5 alone."""
    return place(joint(instants(events.t), events.dst))


def out_of_order(events: EventStream) -> Array:
    """Neighbours of the same time that its ids do not follow in order: some files are sorted within a time."""
    down = (events.src[1:] < events.src[:-1]) | (
        (events.src[1:] == events.src[:-1]) & (events.dst[1:] < events.dst[:-1])
    )
    return _with_neighbours(down & (events.t[1:] == events.t[:-1]), len(events))


def apart_from_its_like(events: EventStream) -> Array:
    """How many of two are not beside it, though there are such rows: one of its source and time; a copy of it."""
    apart = np.zeros(len(events))
    for like in (
        joint(instants(events.t), events.src),
        joint(instants(events.t), events.src, events.dst),
    ):
        apart += (others(like) > 0) & (_with_neighbours(like[1:] == like[:-1], len(events)) == 0)
    return apart


def place_in_the_file(events: EventStream) -> Array:
    """Rows by which it stood later in the file than its time would have it."""
    stood = np.empty(len(events), np.int64)
    stood[np.argsort(events.row, kind="stable")] = np.arange(len(events))
    return np.asarray(stood - np.arange(len(events)), np.float64)


# ---------------------------------------------------------------------- never seen
def values_never_seen(events: EventStream) -> Array:
    """Features whose value no other row has."""
    unseen = np.zeros(len(events))
    for column in _columns(events):
        unseen += others(codes(column)) == 0
    return unseen


def copied_features(events: EventStream) -> Array:
    """1 where another row has the same features, all of them."""
    return np.asarray(others(joint(*_columns(events))) > 0, np.float64)


def source_never_seen(events: EventStream) -> Array:
    """1 where the source is a source at no other time."""
    return _at_one_time(events, events.src)


def destination_never_seen(events: EventStream) -> Array:
    """1 where the destination is a destination at no other time."""
    return _at_one_time(events, events.dst)


CUES: tuple[Cue, ...] = (
    Cue(
        "roundness of the time",
        roundness,
        "the times of anomalies are rounder",
        "the times of anomalies are less round",
    ),
    Cue(
        "decimals of the time",
        decimals,
        "the times of anomalies have more decimals",
        "the times of anomalies have fewer decimals",
    ),
    Cue(
        "second of the minute",
        second_of_the_minute,
        "anomalies keep to the seconds that the clock favours",
        "anomalies fall on seconds that the clock avoids",
    ),
    Cue(
        "quiet hours",
        busy_hours,
        "anomalies fall into busier hours",
        "anomalies fall into hours when nobody else acts",
    ),
    Cue("crowding", crowding, "anomalies stand on crowded times", "anomalies stand alone on their times"),
    Cue(
        "same source and time",
        same_source_and_time,
        "the source of an anomaly has other rows at that time",
        "the source of an anomaly has no other rows at that time",
    ),
    Cue(
        "same destination and time",
        same_destination_and_time,
        "the destination of an anomaly has other rows at that time",
        "the destination of an anomaly has no other rows at that time",
    ),
    Cue(
        "place among ties",
        place_among_ties,
        "anomalies come late among the rows of their time",
        "anomalies come early among the rows of their time",
    ),
    Cue(
        "place among ties of the source",
        place_among_ties_of_the_source,
        "anomalies come late among the rows of their time and source",
        "anomalies come early among the rows of their time and source",
    ),
    Cue(
        "place among ties of the destination",
        place_among_ties_of_the_destination,
        "anomalies come late among the rows of their time and destination",
        "anomalies come early among the rows of their time and destination",
    ),
    Cue(
        "order of ids among ties",
        out_of_order,
        "anomalies break the order of the rows of their time",
        "anomalies stand in order among the rows of their time",
    ),
    Cue(
        "apart from its like",
        apart_from_its_like,
        "anomalies stand apart from rows of their time and source",
        "anomalies stand beside rows of their time and source",
    ),
    Cue(
        "place in the file",
        place_in_the_file,
        "anomalies stand later in the file than their times",
        "anomalies stand earlier in the file than their times",
    ),
    Cue(
        "duplicates",
        duplicates,
        "anomalies are rows that come several times",
        "anomalies come once where others come several times",
    ),
    Cue(
        "duplicates with features",
        full_duplicates,
        "anomalies are rows that come several times, features and all",
        "anomalies come once where others come several times, features and all",
        of_features=True,
    ),
    Cue(
        "values never seen",
        values_never_seen,
        "anomalies have feature values that nothing else has",
        "anomalies have feature values of other rows",
        of_features=True,
    ),
    Cue(
        "copied features",
        copied_features,
        "anomalies have all their features from another row",
        "anomalies have features that, taken together, no other row has",
        of_features=True,
    ),
    Cue(
        "source never seen",
        source_never_seen,
        "the source of an anomaly is a source nowhere else",
        "the source of an anomaly is a source elsewhere too",
    ),
    Cue(
        "destination never seen",
        destination_never_seen,
        "the destination of an anomaly is a destination nowhere else",
        "the destination of an anomaly is a destination elsewhere too",
    ),
)
"""All cues, in the order in which they are reported when equally strong."""


def _columns(events: EventStream) -> list[Array]:
    return [] if events.msg is None else list(events.msg.T)


def _with_neighbours(between: Array, rows: int) -> Array:
    """What lies between neighbours, counted for both."""
    count = np.zeros(rows)
    count[1:] += between
    count[:-1] += between
    return count


def _at_one_time(events: EventStream, node: Array) -> Array:
    """1 where a node has rows in this role at one time only: copies of a row do not make it known."""
    instant = instants(events.t)
    first = np.full(events.num_nodes, len(events))
    np.minimum.at(first, node, instant)
    last = np.full(events.num_nodes, -1)
    np.maximum.at(last, node, instant)
    return np.asarray((first == last)[node], np.float64)
