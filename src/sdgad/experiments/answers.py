"""What a detector is judged by: labels and types of the test part, which it never gets to see."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from sdgad.errors import InputError
from sdgad.events.stream import Array, EventStream


def fingerprint(events: EventStream) -> str:
    """The same for the same events with the same labels, and for no others."""
    content = hashlib.blake2b(digest_size=16)
    for column in (events.src, events.dst, events.t, events.msg, events.label):
        if column is not None:
            content.update(f"{column.dtype}{column.shape}".encode())
            content.update(np.ascontiguousarray(column).data)
    return content.hexdigest()


@dataclass(frozen=True, eq=False)
class Answers:
    """Labels and anomaly types of some events, and a fingerprint of the events with their labels."""

    label: Array
    anomaly_type: Array | None
    fingerprint: str

    @classmethod
    def of(cls, events: EventStream) -> Answers:
        return cls(events.label, events.anomaly_type, fingerprint(events))

    def __len__(self) -> int:
        return len(self.label)

    def __repr__(self) -> str:
        return f"Answers to {len(self)} events"

    @property
    def anomalies(self) -> int:
        return int(np.count_nonzero(self.label == 1))

    @property
    def normals(self) -> int:
        return int(np.count_nonzero(self.label == 0))

    def need_every_score(self, scores: Array) -> Array:
        """One finite score for each event; a row without one would be an event that nobody counts.

        They are copied: whoever made them may use the array again.
        """
        scores = np.array(scores, np.float64)
        if scores.shape != (len(self),):
            raise InputError(f"There are {len(self)} test events but the scores have shape {scores.shape}.")
        missing = np.flatnonzero(~np.isfinite(scores))
        if len(missing):
            raise InputError(
                f"{len(missing)} of {len(self)} test events have no finite score, the first is row {missing[0] + 1} of "
                "the test part: every event counts, so none may be dropped."
            )
        return scores
