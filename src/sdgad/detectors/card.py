"""card.md: what a person should know about a saved model before using it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sdgad.metrics import evaluate

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector


def write_card(detector: Detector) -> str:
    """Markdown: the method, what it saw, how it did on validation, how it decides."""
    events, nodes = detector.history_size
    validation = detector.validation
    known = ~np.isnan(validation.label)
    facts = evaluate(validation.label, validation.score, detector.threshold_) if known.any() else {}
    lines = [
        f"# {detector.name} model",
        "",
        "Scores events for how anomalous they are against the history of their two endpoints. Written by sdgad.",
        "",
        f"- Options: {', '.join(f'{k}={v!r}' for k, v in detector.get_params().items())}",
        f"- Columns: source `{detector.columns.src}`, destination `{detector.columns.dst}`, time `{detector.columns.time}`"
        + (
            f", features {', '.join(f'`{f}`' for f in detector.columns.features)}"
            if detector.columns.features
            else ""
        ),
        f"- Trained on {len(detector.decision_scores_):,} events, selected and calibrated on {len(validation.score):,}",
        f"- History: {events:,} events of {nodes:,} nodes at the time of saving",
        f"- Threshold: {detector.threshold_:.6g} (rule: {detector.threshold_rule_}); flagged = score ≥ threshold",
    ]
    if facts.get("auroc") is not None:
        lines.append(
            f"- On validation (used for selection, so optimistic): AUROC {facts['auroc']:.4f}, AP {facts['ap']:.4f}, "
            f"F1 {facts['f1']:.4f}, {facts['anomalies']} anomalies"
        )
    else:
        lines.append("- Validation held no labels of both classes: no quality figure can be given")
    lines += [
        "",
        "The history holds raw ids and past events; `save(path, history=False)` leaves them out. Nothing here is a pickle.",
        "",
    ]
    return "\n".join(lines)
