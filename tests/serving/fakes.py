"""A detector and a live scorer whose scores are easy to foresee: what counts is who met whom how often before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.events.stream import Array, ColumnNames, EventStream


class FakeDetector:
    columns = ColumnNames("who", "whom", "when", None, ("amount",))
    feature_names = ("amount",)
    clock = Clock("s", wall_clock=True)
    bipartite = False
    threshold_ = 0.5

    def p_value(self, scores: Array) -> Array:
        assert not np.isnan(scores).any()
        return 1 - scores


class FakeLive:
    """score = 1 / (1 + events of the source before); strict about order, as live scorers are under late="error"."""

    def __init__(self, *, drop: bool = False) -> None:
        self.detector = FakeDetector()
        self.seen: dict[str, int] = {}
        self.newest: float | None = None
        self.drop = drop
        self.batches: list[int] = []

    def score_and_update(self, events: EventStream) -> Array:
        events = events.counted_in("s")
        before = float("-inf") if self.newest is None else self.newest
        late = events.t < np.maximum.accumulate(np.concatenate([[before], events.t[:-1]]))
        if late.any() and not self.drop:
            raise InputError("Row 1 is older than the newest event (late='error').")
        if any(who == "cursed" for who in events.vocabulary.names[0].to_pylist()):
            raise InputError("Nobody speaks to the cursed.")
        self.batches.append(len(events))
        scores = np.full(len(events), np.nan)
        for i, who in enumerate(events.vocabulary.raw(events.src).to_pylist()):
            if not late[i]:
                scores[i] = 1 / (1 + self.seen.get(str(who), 0))
                self.seen[str(who)] = self.seen.get(str(who), 0) + 1
                self.newest = float(events.t[i])
        return scores

    def snapshot(self, path: Path, note: Mapping[str, Any] | None = None) -> None:
        path.write_text(json.dumps({"seen": self.seen, "newest": self.newest, "note": note}))

    def restore(self, path: Path) -> dict[str, Any]:
        kept = json.loads(path.read_text())
        self.seen, self.newest = kept["seen"], kept["newest"]
        return dict(kept["note"])
