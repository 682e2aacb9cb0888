"""`sdgad threshold`: how many alerts a model gives, chosen on its validation part, without a new fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from sdgad.cli.naming import naming
from sdgad.cli.opening import open_model, open_to_change
from sdgad.cli.options import Json, Model, Wait
from sdgad.cli.printing import print_facts, print_json, threshold_text
from sdgad.errors import InputError

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector

Rule = Annotated[
    str | None,
    Argument(
        metavar="[RULE]",
        help="f1, fpr, quantile, alerts_per_day or value; or just a score. Without it, say what is set.",
    ),
]
Amount = Annotated[
    float | None, Argument(metavar="[AMOUNT]", help="What the rule asks for, like 0.001 or 20.")
]


def threshold(
    model: Model, rule: Rule = None, amount: Amount = None, *, wait: Wait = None, json: Json = False
) -> None:
    """Say or change where a model's alerts begin.

    The rules look at the scores of the model's validation part: `f1` takes the best F1, `fpr` allows a share of the
    normal events, `quantile` a share of all events, `alerts_per_day` a number of alerts. Events without a label count as
    normal. A score in place of a rule (or after `value`) is taken as it is. Nothing is learned anew; the folder is
    replaced in one step, after which an update before it cannot be undone any more.

    \b
    sdgad threshold model
    sdgad threshold model alerts_per_day 20
    sdgad threshold model 0.5
    """
    if rule is None:
        detector = open_model(model)
    else:
        with open_to_change(model, wait) as detector:
            with naming(model):
                detector.set_threshold(*_asked(rule, amount))
            detector.save(model)
    summary = _summary(model, detector)
    if json:
        print_json(summary)
    else:
        print_facts(_facts(summary))


def _asked(rule: str, amount: float | None) -> tuple[str | float, float | None]:
    """The name of a rule (hyphens will do) and its amount, or a score, which lies between 0 and 1."""
    try:
        score = float(rule)
    except ValueError:
        if rule != "value" or amount is None:
            return rule.replace("-", "_"), amount
        score, amount = amount, None
    if not 0 <= score <= 1:
        meant = f"; did you mean alerts_per_day {score:g}?" if score > 1 else "."
        raise InputError(f"Scores lie between 0 and 1, so {score:g} is no threshold{meant}")
    return score, amount


def _summary(folder: Path, detector: Detector) -> dict[str, Any]:
    import numpy as np

    from sdgad.calibration.threshold import SECONDS_PER_DAY

    validation = detector.validation
    flagged = validation.score >= detector.threshold_
    days = validation.seconds / SECONDS_PER_DAY
    normal = ~validation.anomaly
    false_alarms, found = int(flagged[normal].sum()), int(flagged[~normal].sum())
    summary: dict[str, Any] = {
        "model": str(folder),
        "threshold": detector.threshold_,
        "threshold_rule": detector.threshold_rule_,
        "validation": {
            "events": len(validation),
            "alerts": int(flagged.sum()),
            "alerts_per_day": float(flagged.sum() / days) if days > 0 else None,
            "normal": int(normal.sum()),
            "unlabelled": int(np.isnan(validation.label).sum()),
            "false_alarms": false_alarms,
            "anomalies": int((~normal).sum()),
            "found": found,
            "false_alarm_rate": float(flagged[normal].mean()) if normal.any() else None,
            "recall": float(flagged[~normal].mean()) if (~normal).any() else None,
        },
    }
    return {**summary, "doubts": _too_fine(detector.threshold_rule_, summary["validation"])}


def _facts(summary: dict[str, Any]) -> list[tuple[str, str]]:
    found = summary["validation"]
    daily = "" if found["alerts_per_day"] is None else f", {found['alerts_per_day']:.1f} per day"
    facts = [
        ("threshold", f"{threshold_text(summary['threshold'])} (rule: {summary['threshold_rule']})"),
        ("validation", f"{found['alerts']:,} alerts on {found['events']:,} events{daily}"),
    ]
    if found["normal"]:
        unknown = f" ({found['unlabelled']:,} of them without a label)" if found["unlabelled"] else ""
        facts.append(("", f"{found['false_alarms']:,} of {found['normal']:,} normal events{unknown} are alerts, "
                          f"{100 * found['false_alarm_rate']:.3g}%"))  # fmt: skip
    if found["anomalies"]:
        facts.append(("", f"{found['found']:,} of {found['anomalies']:,} known anomalies are"))
    return [*facts, *(("", line) for line in summary["doubts"])]


def _too_fine(rule: str, found: dict[str, Any]) -> list[str]:
    """Where validation has too few events to tell the share that was asked for."""
    name, *amounts = rule.split()
    counted = {"fpr": ("normal", "normal events"), "quantile": ("events", "events")}
    if name not in counted or not amounts:
        return []
    key, what = counted[name]
    if not 0 < float(amounts[0]) * found[key] < 1:
        return []
    return [f"{found[key]:,} {what} cannot tell {amounts[0]}: this is just above the highest of their scores"]
