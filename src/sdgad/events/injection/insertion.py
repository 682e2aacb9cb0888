"""Injected events among the real ones: by time, and among equal times by a rule."""

from __future__ import annotations

import numpy as np

from sdgad.events.injection.material import Draft
from sdgad.events.injection.places import Places
from sdgad.events.joining import join
from sdgad.events.stream import Array, EventStream


def insert(
    events: EventStream, made: Draft, kind: Array, places: Places, rng: np.random.Generator
) -> EventStream:
    """The events and the made ones, labelled 1 and typed; real events stay as they are and in their order."""
    order, put = _places(events, made, places, rng)

    def merged(real: Array, new: Array) -> Array:
        return np.insert(real, put, new[order], axis=0)

    real_type = np.full(len(events), "") if events.anomaly_type is None else events.anomaly_type
    width = np.result_type(real_type, kind)
    label = events.label if events.has_labels else np.zeros(len(events), np.float32)
    part = events.with_rows(
        src=merged(events.src, made.src),
        dst=merged(events.dst, made.dst),
        t=merged(events.t, made.t),
        msg=None if events.msg is None or made.msg is None else merged(events.msg, made.msg),
        label=merged(label, np.ones(len(made), np.float32)),
        anomaly_type=merged(real_type.astype(width), kind.astype(width)),
    )
    return after(events, part)


def _places(
    events: EventStream, made: Draft, places: Places, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Made rows in the order in which they stand, and for each the real row that it stands before."""
    order = np.argsort(made.t, kind="stable")
    t = made.t[order]
    put, end = np.searchsorted(events.t, t, side="left"), np.searchsorted(events.t, t, side="right")
    start = np.flatnonzero(np.concatenate([[True], t[1:] != t[:-1]]))
    for first, stop in zip(start.tolist(), [*start[1:].tolist(), len(t)], strict=True):
        real, new = slice(put[first], end[first]), order[first:stop]
        if real.start == real.stop and len(new) == 1:
            continue
        number = places.put(events.src[real], events.dst[real], made.src[new], made.dst[new], rng)
        ours = np.flatnonzero(number >= 0)
        order[first:stop] = new[number[ours]]
        put[first:stop] += ours - np.arange(len(ours))
    return order, put


def after(events: EventStream, part: EventStream) -> EventStream:
    """A part in place of another, with the same predecessors."""
    past = events.predecessors
    return part if past is None else join([past, part])[len(past) :]
