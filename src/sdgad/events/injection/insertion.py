"""Injected events among the real ones: by time, and among equal times at random."""

from __future__ import annotations

import numpy as np

from sdgad.events.injection.material import Draft
from sdgad.events.joining import join
from sdgad.events.stream import Array, EventStream


def insert(events: EventStream, made: Draft, kind: Array, rng: np.random.Generator) -> EventStream:
    """The events and the made ones, labelled 1 and typed; real events stay as they are and in their order.

    Among n real rows of one time each order is as likely as any other: real rows get n sorted uniform numbers, made
    rows one each, and numbers decide.
    """
    t = made.t.astype(events.t.dtype)
    before = np.searchsorted(events.t, t, side="left")
    tied = np.searchsorted(events.t, t, side="right") - before
    lot = rng.random(len(t))
    at_ties = np.flatnonzero(tied)
    at_ties = at_ties[np.argsort(before[at_ties], kind="stable")]
    for here in np.split(at_ties, np.flatnonzero(np.diff(before[at_ties])) + 1) if len(at_ties) else []:
        real = np.sort(rng.random(tied[here[0]]))
        before[here] += np.searchsorted(real, lot[here])
    order = np.lexsort((lot, before, t))
    put = before[order]

    def merged(real: Array, new: Array) -> Array:
        return np.insert(real, put, new[order], axis=0)

    real_type = np.full(len(events), "") if events.anomaly_type is None else events.anomaly_type
    width = np.result_type(real_type, kind)
    label = events.label if events.has_labels else np.zeros(len(events), np.float32)
    part = events.with_rows(
        src=merged(events.src, made.src),
        dst=merged(events.dst, made.dst),
        t=merged(events.t, t),
        msg=None if events.msg is None or made.msg is None else merged(events.msg, made.msg),
        label=merged(label, np.ones(len(t), np.float32)),
        anomaly_type=merged(real_type.astype(width), kind.astype(width)),
    )
    return after(events, part)


def after(events: EventStream, part: EventStream) -> EventStream:
    """A part in place of another, with the same predecessors."""
    past = events.predecessors
    return part if past is None else join([past, part])[len(past) :]
