"""Options of every method that sees the stream as a row of snapshots."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from sdgad.configuration import option
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.ranges import TINY, Ranges, need_in_ranges
from sdgad.errors import InputError
from sdgad.history.positions import Ties

SNAPSHOTS = 12  # of the training part, where nobody says how long one is
MOST_EVENTS = 2**31  # of a snapshot
MOST_WIDTH = 10_000


@dataclass(frozen=True)
class SnapshotConfig(DetectorConfig):
    """Snapshots are cut by the number of events, as in all four papers; a cut moves on to the next change of time."""

    ties: Ties = option("strict", "without effect: events of one snapshot do not see each other")
    snapshot: int | None = option(
        None, "events of a snapshot; None: so many that the training part holds about 12 of them"
    )
    width: int = option(32, "of the vectors of nodes")
    epochs: int = option(50, "passes over the training snapshots, at most")
    patience: int = option(10, "epochs without a better one, after which training ends")
    learning_rate: float = option(1e-3, "of AdamW")
    weight_decay: float = option(0.0, "of AdamW, on matrices")
    average: float = option(
        0.0, "decay of the running average of weights that is validated and kept; 0: none"
    )

    ranges: ClassVar[Ranges] = (
        (("snapshot",), 1, MOST_EVENTS),
        (("width",), 1, MOST_WIDTH),
        (("epochs", "patience"), 1, math.inf),
        (("learning_rate",), TINY, math.inf),
        (("weight_decay",), 0, math.inf),
        (("average",), 0, 1 - TINY),
    )
    """Names, least and most; a subclass adds its own to these."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.retention.bounded:
            raise InputError(
                "Options max_nodes and max_age do not go with a snapshot method, whose state speaks of all nodes so far."
            )
        need_in_ranges(self, self.ranges)

    def size_for(self, events: int) -> int:
        """Events of a snapshot, where so many are for training."""
        return self.snapshot or max(1, round(events / SNAPSHOTS))
