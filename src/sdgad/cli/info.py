"""`sdgad info`: what a model is, what it remembers, how it decides."""

from __future__ import annotations

import json as json_text
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdgad.cli.opening import open_model
from sdgad.cli.options import Json, Model
from sdgad.cli.printing import counted, print_facts, print_json, shown, threshold_text
from sdgad.cli.validation import validation_figures

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector


def info(model: Model, json: Json = False) -> None:
    """Say what a model is and how it decides.

    Detector, options, columns, size of the history, threshold and its rule, figures on validation, format.

    \b
    sdgad info model
    """
    document = describe(open_model(model), model)
    if json:
        print_json(document)
    else:
        print_facts(_facts(document))


def describe(detector: Detector, folder: Path) -> dict[str, Any]:
    """All that `info` says, as JSON can hold it."""
    events, nodes = detector.history_size
    return {
        "model": str(folder),
        "format_version": json_text.loads((folder / "config.json").read_bytes())["format_version"],
        "detector": detector.name,
        "options": detector.get_params(),
        "columns": asdict(detector.columns),
        "clock": asdict(detector.clock),
        "bipartite": detector.bipartite,
        "history": {"events": events, "nodes": nodes},
        "trained_on": len(detector.decision_scores_),
        "threshold": detector.threshold_,
        "threshold_rule": detector.threshold_rule_,
        "validation": validation_figures(detector),
    }


def _facts(document: dict[str, Any]) -> list[tuple[str, str]]:
    columns, clock, found = document["columns"], document["clock"], document["validation"]
    features = ", ".join(columns["features"]) or "none"
    kind = f"wall clock, {clock['timezone']}" if clock["wall_clock"] else "from an arbitrary start"
    return [
        ("model", f"{document['model']} (format {document['format_version']})"),
        ("detector", document["detector"]),
        ("options", ", ".join(f"{key}={value!r}" for key, value in document["options"].items())),
        ("columns", f"source {columns['src']!r}, destination {columns['dst']!r}, time {columns['time']!r}, "
                    f"label {columns['label']!r}"),
        ("features", features),
        ("time", f"in {clock['unit']}, {kind}"),
        ("ids", "sources and destinations apart" if document["bipartite"] else "one name space"),
        ("history", f"{document['history']['events']:,} events of {document['history']['nodes']:,} nodes"),
        ("trained on", f"{document['trained_on']:,} events"),
        ("validation", counted(found)),
        ("", f"AUROC {shown(found['auroc'])}, AP {shown(found['ap'])}, F1 {shown(found['f1'])}"),
        ("threshold", f"{threshold_text(document['threshold'])} (rule: {document['threshold_rule']})"),
    ]  # fmt: skip
