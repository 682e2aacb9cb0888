"""How a fitted model did on its validation part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
