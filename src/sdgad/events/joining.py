"""Parts of a stream, put together again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sdgad.errors import InputError
from sdgad.events.stream import Array, EventStream


def join(parts: Sequence[EventStream]) -> EventStream:
    """One stream of several that follow each other in time and share ids, features and clock; its rows are numbered anew."""
    if not parts:
        raise InputError("There is no part to join.")
    first = parts[0]
    for part in parts[1:]:
        if part.vocabulary is not first.vocabulary or part.features != first.features:
            raise InputError("Parts to join must come from one stream: they share ids and features.")
        if part.clock != first.clock:
            raise InputError("Parts to join must have one clock.")
    ends = [part.t[[0, -1]] for part in parts if len(part)]
    if any(later[0] < earlier[1] for earlier, later in pairwise(ends)):
        raise InputError("Parts to join must follow each other in time.")
    typed = any(part.anomaly_type is not None for part in parts)
    return first.with_rows(
        src=np.concatenate([part.src for part in parts]),
        dst=np.concatenate([part.dst for part in parts]),
        t=np.concatenate([part.t for part in parts]),
        msg=_messages(parts),
        label=np.concatenate([part.label for part in parts]),
        anomaly_type=np.concatenate([_types(part) for part in parts]) if typed else None,
    )


def _messages(parts: Sequence[EventStream]) -> Array | None:
    return (
        None if parts[0].msg is None else np.concatenate([part.msg for part in parts if part.msg is not None])
    )


def _types(part: EventStream) -> Array:
    return np.full(len(part), "") if part.anomaly_type is None else part.anomaly_type
