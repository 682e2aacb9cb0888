"""MIDAS, MIDAS-R, MIDAS-F: a count in the current tick of time that does not fit the count so far, in constant memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sdgad.configuration import option
from sdgad.detectors.base import Detector
from sdgad.detectors.baselines.midas_state import Counts, FilteredCounts, MidasState
from sdgad.detectors.baselines.sketches import EDGE, EDGE_AND_ENDS, Places
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.own_state import OwnState
from sdgad.detectors.registry import detectors
from sdgad.detectors.tags import Tags
from sdgad.detectors.task import FitScores, Task
from sdgad.errors import InputError
from sdgad.events.stream import Array
from sdgad.history.positions import Ties

SHORTEST = 1e-6  # seconds of a tick
MOST_ROWS, MOST_BUCKETS = 64, 1 << 20


@dataclass(frozen=True)
class MidasConfig(DetectorConfig):
    """The width of a tick and the size of the sketches, which is all the memory that is used."""

    ties: Ties = option("arrival", "without effect: an event always sees those that arrived before it")
    tick: float = option(60.0, "seconds of a tick, within which events are counted together")
    rows: int = option(2, "rows of a sketch; the least of their counts is believed")
    buckets: int = option(1024, "buckets of a row; the more, the fewer share one")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not SHORTEST <= self.tick < math.inf:
            raise InputError(f"Option tick={self.tick} must be at least {SHORTEST} seconds, and finite.")
        if self.retention.bounded:
            raise InputError("Options max_nodes and max_age do not go with MIDAS, which remembers nobody.")
        for name, high in {"rows": MOST_ROWS, "buckets": MOST_BUCKETS}.items():
            if not 1 <= getattr(self, name) <= high:
                raise InputError(
                    f"Option {name}={getattr(self, name)} must be at least 1 and at most {high}."
                )


@dataclass(frozen=True)
class MidasRConfig(MidasConfig):
    """Counts of earlier ticks fade instead of ending with them."""

    decay: float = option(0.5, "what is left of the recent count when a tick ends")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.decay < 1:
            raise InputError(f"Option decay={self.decay} must be at least 0 and below 1.")


@dataclass(frozen=True)
class MidasFConfig(MidasRConfig):
    """What looks like an attack is kept out of the count so far."""

    threshold: float = option(1000.0, "raw score from which the counts of a tick are not believed")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.threshold > 0:
            raise InputError(f"Option threshold={self.threshold} must be above 0.")


class Midas(Detector):
    """What the three share: nothing is learned, the state is all there is, and it has a fixed size."""

    config: MidasConfig
    keeps_log: ClassVar[bool] = False
    tags: ClassVar[Tags] = Tags(hashes_ids=True, ties="arrival", uses_labels=False, uses_features=False)
    check_options: ClassVar[Mapping[str, Any]] = {"tick": 7200.0}

    def _learn(self, task: Task) -> FitScores:
        return self._score_both(task)

    def _places(self, sketches: int) -> Places:
        return Places(sketches, self.config.rows, self.config.buckets, self.config.seed)

    def _weights(self) -> dict[str, Array]:
        return {}

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:
        """There is nothing to restore but the state."""

    def _need_consistent(self) -> None:
        assert isinstance(self._state, MidasState)
        if self._state.ended > len(self._archive):
            raise ValueError("more ticks have ended than there were events")


@detectors.register("midas")
class MidasEdges(Midas):
    """(a − s/t)² t² / (s (t − 1)), of the edge's count a in tick t and its count s so far (Bhatia et al., AAAI 2020).

    It is the χ² statistic of the current tick against the ticks before it.
    """

    config_type: ClassVar[type[DetectorConfig]] = MidasConfig

    def _new_state(self) -> OwnState:
        return Counts(self.config.tick, self._places(EDGE), decay=0.0)


@detectors.register("midas-r")
class MidasR(Midas):
    """The largest MIDAS score of edge, source and destination, with recent counts that fade (Bhatia et al., AAAI 2020)."""

    config_type: ClassVar[type[DetectorConfig]] = MidasRConfig
    config: MidasRConfig

    def _new_state(self) -> OwnState:
        return Counts(self.config.tick, self._places(EDGE_AND_ENDS), self.config.decay)


@detectors.register("midas-f")
class MidasF(Midas):
    """MIDAS-R whose counts so far leave out what scored above a threshold, lest an attack become normal (TKDD 2022)."""

    config_type: ClassVar[type[DetectorConfig]] = MidasFConfig
    config: MidasFConfig

    def _new_state(self) -> OwnState:
        config = self.config
        return FilteredCounts(config.tick, self._places(EDGE_AND_ENDS), config.decay, config.threshold)
