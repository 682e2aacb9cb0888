"""Two detectors on the same test events: ahead, behind, or a tie."""

from __future__ import annotations

from collections.abc import Sequence

from sdgad.errors import InputError
from sdgad.experiments.result import Result
from sdgad.metrics.paired import Comparison, compare_over_seeds


def compare_results(
    a: Result | Sequence[Result],
    b: Result | Sequence[Result],
    metric: str = "auroc",
    *,
    resamples: int = 2000,
    level: float = 0.95,
) -> Comparison:
    """Results of two detectors, or lists of them over the same seeds; decisions are compared at each one's own threshold."""
    first, second = ([given] if isinstance(given, Result) else list(given) for given in (a, b))
    if len(first) != len(second):
        raise InputError(f"{len(first)} results cannot be compared with {len(second)}, one by one.")
    for one, other in zip(first, second, strict=True):
        if one.fingerprint != other.fingerprint:
            raise InputError(
                f"The results of seed {one.seed} and seed {other.seed} are about different test events or labels, so that "
                "they cannot be compared."
            )
    return compare_over_seeds(
        [(one.answers.label, one.scores, other.scores) for one, other in zip(first, second, strict=True)],
        metric,
        thresholds=[(one.threshold, other.threshold) for one, other in zip(first, second, strict=True)],
        resamples=resamples,
        level=level,
    )
