"""How a fitted model did on its validation part."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from sdgad.cli.printing import shown

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector


def validation_figures(detector: Detector) -> dict[str, Any]:
    """Counts and figures, by the labels that fit made use of; None for what these cannot say."""
    from sdgad.metrics import evaluate

    validation = detector.validation
    found = evaluate(validation.label, validation.score, detector.threshold_)
    figures = {key: found[key] for key in ("auroc", "ap", "f1", "precision", "recall")}
    if not found["events"]:
        figures = dict.fromkeys(figures)
    return {
        "events": len(validation),
        "labelled": found["events"],
        "anomalies": found["anomalies"],
        **figures,
    }


def quality_lines(found: dict[str, Any], model: str, rule: str) -> list[str]:
    """What the figures say and on which events, and what to do where these are too few to say much."""
    from sdgad.detectors.card import FEW

    if found["auroc"] is None:
        return ["no AUROC and AP, which need labels of both classes"]
    where = "" if found["labelled"] == found["events"] else f" on the {found['labelled']:,} labelled events"
    lines = [f"AUROC {shown(found['auroc'])}, AP {shown(found['ap'])}{where} (seen by fit, so optimistic)"]
    if found["anomalies"] < FEW:
        few = "1 anomaly is" if found["anomalies"] == 1 else f"{found['anomalies']} anomalies are"
        lines.append(f"{few} too few to trust this" + (" or the threshold" if rule == "f1" else ""))
        if rule == "f1":
            command = shlex.join(["sdgad", "threshold", model, "alerts_per_day", "20"])
            lines.append(f"to choose by workload: {command}")
    return lines
