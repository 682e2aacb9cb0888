"""AgainstNegatives: snapshot methods that look back some snapshots and learn events against drawn ones (StrGNN, TADDY)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from sdgad.configuration import option
from sdgad.detectors.baselines.snapshots.config import SnapshotConfig
from sdgad.detectors.baselines.snapshots.detector import Part, SnapshotDetector
from sdgad.detectors.baselines.snapshots.negatives import Negatives
from sdgad.detectors.baselines.snapshots.replay import Replay
from sdgad.detectors.baselines.snapshots.state import SnapshotState
from sdgad.detectors.ranges import TINY, Ranges

MOST_WINDOW = 100


@dataclass(frozen=True)
class LookBackConfig(SnapshotConfig):
    """How far back, and how much of it at a time."""

    window: int = option(2, "past snapshots that are looked at")
    dropout: float = option(0.5, "share of inner values that training leaves out at random")
    batch: int = option(256, "events of a step")
    sample: int | None = option(
        200_000, "training events of an epoch, drawn anew each time, where there are more; None: all"
    )

    ranges: ClassVar[Ranges] = (
        *SnapshotConfig.ranges,
        (("window",), 1, MOST_WINDOW),
        (("batch", "sample"), 1, math.inf),
        (("dropout",), 0, 1 - TINY),
    )


class AgainstNegatives(SnapshotDetector):
    """Loss: cross-entropy of events, with their labels, against as many negatives (1), which have another node in the place of
    one end and are drawn anew in every epoch. Events of the first snapshot, before which there is nothing, are not learned from.
    """

    config: LookBackConfig
    score_rows: ClassVar[int] = 1 << 13

    @property
    def _batch(self) -> int:
        return self.config.batch

    def _prepare(self, replay: Replay) -> None:
        replay.hold_back(1)
        replay.draw(self.config.sample)

    def _losses(
        self, state: SnapshotState, part: Part, negatives: Negatives, generator: torch.Generator
    ) -> dict[str, Tensor]:
        made = negatives.at_random(part.node, part.until, generator)
        odds = state.odds(torch.cat([part.node, made]))
        truth = torch.cat([part.anomalous.float(), torch.ones(len(made), device=odds.device)])
        return {"cross-entropy": F.binary_cross_entropy_with_logits(odds, truth)}
