"""How a fitted model did on its validation part."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from sdgad.cli.printing import shown

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector

SEEN = "seen by fit, so optimistic"


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
    if found["auroc"] is None:
        return ["no AUROC and AP, which need labels of both classes"]
    where = "" if found["labelled"] == found["events"] else f" on the {found['labelled']:,} labelled events"
    few = _too_few(found, rule)
    lines = [f"AUROC {shown(found['auroc'])}, AP {shown(found['ap'])}{where} ({SEEN})", *few]
    if few and rule == "f1":
        command = shlex.join(["sdgad", "threshold", model, "alerts_per_day", "20"])
        lines.append(f"to choose by workload: {command}")
    return lines


def doubts(detector: Detector, found: dict[str, Any]) -> list[str]:
    """All that is not to be relied on: what text says of a model, and of its figures beside them."""
    from sdgad.detectors.trust import trust_lines

    lines = trust_lines(detector)
    if found["auroc"] is not None:
        lines += [f"the figures on validation were {SEEN}", *_too_few(found, detector.threshold_rule_)]
    return lines


def _too_few(found: dict[str, Any], rule: str) -> list[str]:
    """A sentence where the known anomalies say little, which there are where there are figures."""
    from sdgad.detectors.card import FEW

    if found["anomalies"] >= FEW:
        return []
    few = "1 anomaly is" if found["anomalies"] == 1 else f"{found['anomalies']} anomalies are"
    return [f"{few} too few to trust " + ("AUROC, AP or the threshold" if rule == "f1" else "AUROC and AP")]
