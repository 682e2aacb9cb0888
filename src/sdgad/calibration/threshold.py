"""Rules that choose a threshold from validation scores. Everywhere: flagged = score ≥ threshold.

An event with an unknown label counts as normal, as it does in training. A promised rate or budget is never
exceeded on validation, ties included: where a tie would break the promise, the threshold moves just above it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sdgad.errors import InputError
from sdgad.metrics.confusion import best_f1_threshold
from sdgad.metrics.labelled import checked_labels, checked_scores
from sdgad.registry import Registry

SECONDS_PER_DAY = 86_400.0
DEFAULT_SHARE = 0.01  # flagged where validation cannot say more


@dataclass(frozen=True, eq=False)
class ValidationScores:
    """What a rule looks at: scores, labels (0, 1, NaN) and the span in seconds of the validation part."""

    score: NDArray[np.float64]
    label: NDArray[np.float32]
    seconds: float

    def __post_init__(self) -> None:
        scores, labels = checked_scores(self.score, "validation score"), checked_labels(self.label)
        if len(scores) != len(labels):
            raise InputError(
                f"There are {len(labels)} validation labels but {len(scores)} validation scores."
            )
        if not (math.isfinite(self.seconds) and self.seconds >= 0):
            raise InputError(f"The validation part spans {self.seconds} seconds; it must be a finite span.")
        object.__setattr__(self, "score", scores)
        object.__setattr__(self, "label", labels.astype(np.float32))

    def __len__(self) -> int:
        return len(self.score)

    @property
    def anomaly(self) -> NDArray[np.bool_]:
        """Known anomalies; all other events, unlabelled ones too, count as normal."""
        known: NDArray[np.bool_] = self.label == 1
        return known

    @property
    def normal_scores(self) -> NDArray[np.float64]:
        return self.score[~self.anomaly]

    @property
    def both_classes(self) -> bool:
        return 0 < int(np.count_nonzero(self.anomaly)) < len(self)


class ThresholdRule(ABC):
    """validation → threshold. A rule with an `amount` says what it means in `needs`."""

    name: ClassVar[str]
    needs: ClassVar[str | None] = None

    @abstractmethod
    def __call__(self, validation: ValidationScores) -> float:
        """The threshold."""

    def __str__(self) -> str:
        """Its name and amount, as they may be given to `set_threshold`."""
        amounts = [f"{value:g}" for value in vars(self).values()]
        return " ".join([self.name, *amounts])


threshold_rules: Registry[ThresholdRule] = Registry(
    "threshold rule", "sdgad.threshold_rules", base=ThresholdRule
)


def threshold_rule(rule: str | float, amount: float | None = None) -> ThresholdRule:
    """The rule of a name and its amount; a number is the rule "value"."""
    if not isinstance(rule, str):
        if amount is not None:
            raise InputError("A threshold that is given by its value takes no amount.")
        return Value(float(rule))
    kind = threshold_rules.get(rule)
    if kind.needs is None and amount is not None:
        raise InputError(f"The threshold rule {rule!r} takes no amount.")
    if kind.needs is None:
        return kind()
    if amount is None:
        raise InputError(f"The threshold rule {rule!r} needs an amount: {kind.needs}.")
    return kind(float(amount))  # type: ignore[call-arg]


def named_rule(text: str) -> ThresholdRule:
    """The rule that says `text` of itself."""
    name, *amounts = text.split(" ")
    rule = threshold_rule(name, float(amounts[0]) if amounts else None)
    if str(rule) != text:
        raise InputError(f"There is no threshold rule {text!r}.")
    return rule


def need_threshold_of(text: str, threshold: float) -> None:
    """An InputError where a rule, as it calls itself, cannot have led to this threshold."""
    rule = named_rule(text)
    if isinstance(rule, Value):
        if f"{threshold:g}" != f"{rule.value:g}":
            raise InputError(f"The threshold is {threshold:g}, where its rule says {text!r}.")
    elif not 0 <= threshold <= math.nextafter(1.0, math.inf):
        raise InputError(f"The threshold is {threshold:g}, where scores lie between 0 and 1.")


def choose_threshold(rule: str | float, amount: float | None, validation: ValidationScores) -> float:
    """The threshold that a rule (a name, or a plain value) with its amount takes from validation."""
    return threshold_rule(rule, amount)(validation)


def default_rule(validation: ValidationScores) -> ThresholdRule:
    """Best F1 where validation holds both classes, else the unlabelled quantile that flags 1%."""
    return BestF1() if validation.both_classes else Quantile(DEFAULT_SHARE)


def default_threshold(validation: ValidationScores) -> float:
    """The threshold of `default_rule`."""
    return default_rule(validation)(validation)


@threshold_rules.register("value")
@dataclass(frozen=True)
class Value(ThresholdRule):
    """The threshold itself; validation has no say."""

    value: float
    needs: ClassVar[str | None] = "the threshold itself"

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise InputError(f"The threshold is {self.value}; it must be a finite number.")

    def __call__(self, validation: ValidationScores) -> float:  # noqa: ARG002
        return self.value


@threshold_rules.register("f1")
@dataclass(frozen=True)
class BestF1(ThresholdRule):
    """The validation score with the highest F1; of equals the highest, which alarms least."""

    def __call__(self, validation: ValidationScores) -> float:
        _need_events(validation)
        threshold = best_f1_threshold(validation.anomaly, validation.score)
        if threshold is None:
            which = "only anomalies" if validation.anomaly.any() else "no known anomaly"
            raise InputError(
                f"The threshold rule 'f1' needs both classes, but the validation part holds {which}."
            )
        return threshold


@threshold_rules.register("fpr")
@dataclass(frozen=True)
class FalsePositiveRate(ThresholdRule):
    """The lowest threshold that flags at most this share of the validation normals."""

    rate: float
    needs: ClassVar[str | None] = "the wanted false-positive rate, from 0 to 1"

    def __post_init__(self) -> None:
        _need_share(self.name, self.rate)

    def __call__(self, validation: ValidationScores) -> float:
        _need_events(validation)
        normals = validation.normal_scores
        if not len(normals):
            raise InputError(
                "The threshold rule 'fpr' needs normals, but the validation part holds only anomalies."
            )
        return flag_at_most(normals, _count_within(self.rate, len(normals)))


@threshold_rules.register("alerts_per_day")
@dataclass(frozen=True)
class AlertsPerDay(ThresholdRule):
    """The lowest threshold that raises at most this many alerts per day of validation, on average."""

    alerts: float
    needs: ClassVar[str | None] = "the wanted number of alerts per day, 0 or more"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.alerts) and self.alerts >= 0):
            raise InputError(
                f"The threshold rule 'alerts_per_day' cannot use {self.alerts}: it needs {self.needs}."
            )

    def __call__(self, validation: ValidationScores) -> float:
        _need_events(validation)
        if validation.seconds == 0:
            raise InputError(
                "The threshold rule 'alerts_per_day' needs a validation part that spans some time."
            )
        budget = math.floor(self.alerts * validation.seconds / SECONDS_PER_DAY)
        return flag_at_most(validation.score, budget)


@threshold_rules.register("quantile")
@dataclass(frozen=True)
class Quantile(ThresholdRule):
    """The lowest threshold that flags at most this share of the validation events; it looks at no label."""

    share: float
    needs: ClassVar[str | None] = "the share of events to flag, from 0 to 1"

    def __post_init__(self) -> None:
        _need_share(self.name, self.share)

    def __call__(self, validation: ValidationScores) -> float:
        _need_events(validation)
        return flag_at_most(validation.score, _count_within(self.share, len(validation)))


def flag_at_most(score: NDArray[np.float64], budget: int) -> float:
    """The lowest threshold that flags at most `budget` scores: just above the (budget + 1)-th highest."""
    rest = len(score) - 1 - budget
    if rest < 0:
        return float(score.min())
    return float(np.nextafter(np.partition(score, rest)[rest], np.inf))


def _count_within(share: float, total: int) -> int:
    """The largest count with count / total ≤ share; the plain floor is one short for 0.29 of 100."""
    count = math.floor(share * total)
    if (count + 1) / total <= share:
        return count + 1
    return count if count / total <= share else count - 1


def _need_share(name: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise InputError(
            f"The threshold rule {name!r} cannot use {share}: it needs {threshold_rules.get(name).needs}."
        )


def _need_events(validation: ValidationScores) -> None:
    if not len(validation):
        raise InputError("The validation part has no events, so that no threshold can be chosen from it.")
