"""`sdgad info`: what a model is, what it remembers, how it decides."""

from __future__ import annotations

import json as json_text
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from sdgad.cli.opening import open_model
from sdgad.cli.options import Json, Model
from sdgad.cli.printing import counted, print_facts, print_json, threshold_text
from sdgad.cli.validation import doubts, quality_lines, validation_figures

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector


def info(model: Model, json: Json = False) -> None:
    """Say what a model is and how it decides.

    Detector, options that are not the default ones (`--json` has all), columns, features, size and span of the history,
    threshold and its rule, figures on validation, format, whether an update can be undone.

    \b
    sdgad info model
    """
    detector = open_model(model)
    document = describe(detector, model)
    if json:
        print_json(document)
    else:
        print_facts(_facts(document, detector))


def describe(detector: Detector, folder: Path) -> dict[str, Any]:
    """All that `info` says, as JSON can hold it."""
    from sdgad.detectors.folder import can_undo

    events, nodes = detector.history_size
    found = validation_figures(detector)
    return {
        "model": str(folder),
        "format_version": json_text.loads((folder / "config.json").read_bytes())["format_version"],
        "detector": detector.name,
        "options": detector.get_params(),
        "columns": asdict(detector.columns),
        "clock": asdict(detector.clock),
        "bipartite": detector.bipartite,
        "features": detector.border.feature_categories,
        "history": {
            "events": events,
            "nodes": nodes,
            "span": detector.history_span,
            "undo": can_undo(folder),
        },
        "state": _state(detector),
        "trained_on": len(detector.decision_scores_),
        "threshold": detector.threshold_,
        "threshold_rule": detector.threshold_rule_,
        "validation": found,
        "doubts": doubts(detector, found),
    }


def _facts(document: dict[str, Any], detector: Detector) -> list[tuple[str, str]]:
    from sdgad.detectors.card import changed_options, feature_text, history_text, options_text
    from sdgad.detectors.trust import trust_lines

    columns, clock, found = document["columns"], document["clock"], document["validation"]
    kind = f"wall clock, {clock['timezone']}" if clock["wall_clock"] else "from an arbitrary start"
    return [
        ("model", f"{document['model']} (format {document['format_version']})"),
        ("detector", document["detector"]),
        ("options", options_text(changed_options(detector))),
        ("columns", f"source {columns['src']!r}, destination {columns['dst']!r}, time {columns['time']!r}, "
                    f"label {columns['label']!r}"),
        ("features", feature_text(detector)),
        ("time", f"in {clock['unit']}, {kind}"),
        ("ids", "sources and destinations apart" if document["bipartite"] else "one name space"),
        ("history", f"{history_text(detector)}{_span(detector)}"),
        *(("", line) for line in document["state"]),
        *([("", "its last update can be undone (sdgad update --undo)")] if document["history"]["undo"] else []),
        ("trained on", f"{document['trained_on']:,} events"),
        ("validation", counted(found)),
        *(("", line) for line in quality_lines(found, document["model"], document["threshold_rule"])),
        ("threshold", f"{threshold_text(document['threshold'])} (rule: {document['threshold_rule']})"),
        *(("doubt", line) for line in trust_lines(detector)),
    ]  # fmt: skip


def _state(detector: Detector) -> list[str]:
    """What it remembers beside the history, and what live scoring has to hold for it."""
    from sdgad.history.recent import in_words

    lines = [in_words(detector.needs, detector.window_shape)] if detector.needs.hop else []
    if detector.needs.memory:
        lines.append(
            f"a memory of {detector.needs.memory} numbers per party, written every {detector.needs.commit} events"
        )
    elif detector.remembers:
        lines.append("a state of its own, of constant size")
    return lines


def _span(detector: Detector) -> str:
    """From when to when the history reaches: days on a wall clock, else what the time column counts."""
    if detector.history_span is None:
        return ""
    clock = detector.clock
    if not clock.wall_clock:
        first, last = (f"{t:,g}" for t in detector.history_span)
        return f", {clock.unit} {first} to {last}"
    zone = ZoneInfo(clock.timezone)
    days = [datetime.fromtimestamp(t * clock.seconds, zone).date() for t in detector.history_span]
    return f", {days[0]} to {days[1]}"
