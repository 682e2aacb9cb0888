"""card.md: what a person should know about a saved model before using it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sdgad.detectors.trust import trust_lines
from sdgad.events.features import MAX_CATEGORIES
from sdgad.metrics import evaluate

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector

FEW = 10  # known anomalies, below which figures and thresholds that rest on them are mostly chance


def write_card(detector: Detector, *, history: bool = True) -> str:
    """Markdown: the method, what it saw, how it did on validation, how it decides."""
    validation = detector.validation
    known = ~np.isnan(validation.label)
    facts = evaluate(validation.label, validation.score, detector.threshold_) if known.any() else {}
    columns = detector.columns
    lines = [
        f"# {detector.name} model",
        "",
        "Scores events for how anomalous they are against the history of their two endpoints. Written by sdgad.",
        "",
        f"- Options: {options_text(changed_options(detector))}; all are in config.json",
        f"- Columns: source `{columns.src}`, destination `{columns.dst}`, time `{columns.time}`",
        f"- Features: {feature_text(detector)}",
        f"- Trained on {len(detector.decision_scores_):,} events, selected and calibrated on {len(validation.score):,}",
        f"- History: {history_text(detector)} at the time of saving" if history else "- History: left out",
        f"- Threshold: {detector.threshold_:.6g} (rule: {detector.threshold_rule_}); flagged = score ≥ threshold",
    ]
    if facts.get("auroc") is not None:
        few = "; so few that this is mostly chance" if facts["anomalies"] < FEW else ""
        lines.append(
            f"- On the {facts['events']:,} labelled events of validation (used for selection, so optimistic): "
            f"AUROC {facts['auroc']:.4f}, AP {facts['ap']:.4f}, F1 {facts['f1']:.4f}, "
            f"{facts['anomalies']} anomalies{few}"
        )
    else:
        lines.append("- Validation held no labels of both classes: no quality figure can be given")
    lines += [f"- Not to be relied on: {doubt}" for doubt in trust_lines(detector)]
    lines += ["", f"{_what_is_kept(detector, history)} Nothing here is a pickle.", ""]
    return "\n".join(lines)


def _what_is_kept(detector: Detector, history: bool) -> str:
    """What of the past is in the folder, and what is not."""
    parts = ["raw ids", "past events"] if detector.keeps_log else []
    parts += [f"what {detector.name} made of past events (its state)"] if detector.remembers else []
    listed = " and ".join([*([", ".join(parts[:-1])] if len(parts) > 1 else []), parts[-1]])
    if history:
        return f"The history holds {listed}; `save(path, history=False)` leaves this out."
    return f"Saved without history: left out are {listed}, so that everybody is a stranger until an update."


def history_text(detector: Detector) -> str:
    """`1,500 events of 49 parties`."""
    events, nodes = detector.history_size
    return (
        f"{events:,} events of {nodes:,} parties"
        if detector.keeps_log
        else f"{events:,} events, none of them kept"
    )


def changed_options(detector: Detector) -> dict[str, Any]:
    """The options that are not the default ones, those of the encoder by their own names."""
    return _changed(detector.get_params(), type(detector)().get_params())


def _changed(options: dict[str, Any], default: dict[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for key, value in options.items():
        usual = default.get(key)
        if isinstance(value, dict) and isinstance(usual, dict):
            changed |= _changed(value, usual)
        elif key not in default or value != usual:
            changed[key] = value
    return changed


def options_text(options: dict[str, Any]) -> str:
    """`history=10, width=16`."""
    return ", ".join(f"{key}={value!r}" for key, value in options.items()) or "the default ones"


def feature_text(detector: Detector) -> str:
    """`amount (number), currency (category, 3 values)`; the elements of a list are counted."""
    read = detector.border.feature_categories
    listed = ", ".join(f"{name} ({_kind(name, read)})" for name in detector.columns.features)
    return listed or ("none" if detector.tags.uses_features else f"none, since {detector.name} uses none")


def _kind(name: str, read: dict[str, int | None]) -> str:
    if name not in read:
        return f"{sum(f'{name}{i}' in read for i in range(len(read)))} numbers"
    values = read[name]
    if values is None:
        return "number"
    if values == MAX_CATEGORIES:
        return f"category, the {values} most frequent values and others"
    return f"category, {values} value{'s' if values != 1 else ''}"
