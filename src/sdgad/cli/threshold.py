"""`sdgad threshold`: how many alerts a model gives, chosen on its validation part, without a new fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from sdgad.cli.naming import naming
from sdgad.cli.opening import open_model
from sdgad.cli.options import Json, Model
from sdgad.cli.printing import print_facts, print_json, shown, threshold_text

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector

Rule = Annotated[
    str | None,
    Argument(
        metavar="[RULE]", help="f1, fpr, alerts_per_day, quantile, or a score; without it, say what is set."
    ),
]
Amount = Annotated[
    float | None, Argument(metavar="[AMOUNT]", help="What the rule asks for, like 0.001 or 20.")
]


def threshold(model: Model, rule: Rule = None, amount: Amount = None, *, json: Json = False) -> None:
    """Say or change where a model's alerts begin.

    The rules look at the scores of the model's validation part: `f1` takes the best F1, `fpr` allows a share of the
    normal events, `quantile` a share of all events, `alerts_per_day` a number of alerts. A score in place of a
    rule is taken as it is. Nothing is learned anew; the folder is replaced in one step.

    \b
    sdgad threshold model
    sdgad threshold model alerts_per_day 20
    sdgad threshold model 0.5
    """
    detector = open_model(model)
    if rule is not None:
        with naming(model):
            detector.set_threshold(_value(rule), amount)
        detector.save(model)
    summary = _summary(model, detector)
    if json:
        print_json(summary)
    else:
        print_facts(_facts(summary))


def _value(rule: str) -> str | float:
    """The name of a rule, or a score."""
    try:
        return float(rule)
    except ValueError:
        return rule


def _summary(folder: Path, detector: Detector) -> dict[str, Any]:
    from sdgad.calibration.threshold import SECONDS_PER_DAY

    validation = detector.validation
    flagged = validation.score >= detector.threshold_
    days = validation.seconds / SECONDS_PER_DAY
    normal = ~validation.anomaly
    return {
        "model": str(folder),
        "threshold": detector.threshold_,
        "threshold_rule": detector.threshold_rule_,
        "validation": {
            "events": len(validation),
            "alerts": int(flagged.sum()),
            "alerts_per_day": float(flagged.sum() / days) if days > 0 else None,
            "false_alarm_rate": float(flagged[normal].mean()) if normal.any() else None,
            "recall": float(flagged[~normal].mean()) if (~normal).any() else None,
        },
    }


def _facts(summary: dict[str, Any]) -> list[tuple[str, str]]:
    found = summary["validation"]
    daily = "" if found["alerts_per_day"] is None else f", {found['alerts_per_day']:.1f} per day"
    facts = [
        ("threshold", f"{threshold_text(summary['threshold'])} (rule: {summary['threshold_rule']})"),
        ("validation", f"{found['alerts']:,} alerts on {found['events']:,} events{daily}"),
        ("", f"of the normal events {shown(found['false_alarm_rate'])} are alerts"),
    ]
    if found["recall"] is not None:
        facts.append(("", f"of the known anomalies {shown(found['recall'])} are"))
    return facts
