"""Trial: one stream under one protocol and one seed, as a method may see it."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sdgad.detectors.base import Detector
from sdgad.errors import InputError
from sdgad.events.stream import Array, EventStream
from sdgad.experiments.answers import Answers, fingerprint
from sdgad.experiments.result import Result, judged

if TYPE_CHECKING:
    from sdgad.experiments.protocol import Protocol

logger = logging.getLogger("sdgad.experiments")


@dataclass(frozen=True, eq=False)
class Trial:
    """Train, validation and test events with the labels that the setting grants, and no others.

    No label of the test part, no anomaly type and, in S3, no label at all can be reached from the three streams, nor from their
    predecessors; injected rows are numbered like all others. The answers serve `evaluate` and `run` alone.
    """

    protocol: Protocol
    seed: int
    train: EventStream
    val: EventStream
    test: EventStream
    _answers: Answers = field(repr=False)

    def run(self, detector: Detector, *, epochs: int | None = None, progress: bool = False) -> Result:
        """Fit, choose a threshold, score the test part, and be judged."""
        given = self._fingerprints()
        start = time.perf_counter()
        detector.fit(self.train, val=self.val, epochs=epochs, progress=progress)
        self._set_threshold(detector)
        fitted = time.perf_counter()
        scores = detector.decision_function(self.test)
        scored = time.perf_counter()
        if self._fingerprints() != given:
            raise InputError(
                f"{detector.name} has changed the events that it was given, so that no other detector can be compared with it."
            )
        result = self.evaluate(
            scores,
            detector.threshold_,
            detector=detector.name,
            threshold_rule=detector.threshold_rule_,
            seconds={"fit": round(fitted - start, 3), "score": round(scored - fitted, 3)},
            options=detector.get_params(),
        )
        logger.info(
            "%s, %s, seed %d: AUROC %.4f, AP %.4f, F1 %.4f",
            detector.name, self.protocol.setting, self.seed, *(result.metrics[name] for name in ("auroc", "ap", "f1")),
        )  # fmt: skip
        return result

    def evaluate(
        self,
        scores: Array,
        threshold: float,
        *,
        detector: str = "",
        threshold_rule: str = "given",
        seconds: dict[str, float] | None = None,
        options: dict[str, object] | None = None,
    ) -> Result:
        """What scores of the test events are worth, from wherever they come; `threshold` was chosen without test labels."""
        return Result(
            detector=detector,
            setting=self.protocol.setting,
            seed=self.seed,
            threshold_rule=threshold_rule,
            seconds=seconds or {},
            options=options or {},
            protocol=self.protocol.to_dict(),
            **judged(self._answers, scores, threshold, self.protocol.resamples),
        )

    def _fingerprints(self) -> list[str]:
        """Of all that a detector can lay its hands on: the parts with what came before them."""
        return [fingerprint(part.whole) for part in (self.train, self.val, self.test)]

    def _set_threshold(self, detector: Detector) -> None:
        """Best F1 on validation labels where there are some (S1, S2), else an unlabelled quantile: for every method alike."""
        if detector.validation.both_classes:
            detector.set_threshold("f1")
        else:
            detector.set_threshold("quantile", self.protocol.share)
