"""The demo: simulated payments with planted anomalies, SDGAD, and what simpler methods make of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np
from sklearn.ensemble import IsolationForest

from sdgad.atomic import whole_file
from sdgad.detectors.base import Detector
from sdgad.detectors.registry import make_detector
from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import Array, EventStream
from sdgad.events.table import read_table
from sdgad.events.write import write_events, write_table
from sdgad.experiments.report import write_report
from sdgad.experiments.score_table import with_scores
from sdgad.experiments.scored_events import scored_events
from sdgad.metrics import evaluate

Labels = Literal["all", "none"]

COMPARED: dict[Labels, tuple[str, ...]] = {"all": ("boosting",), "none": ("boosting", "isolation-forest")}
"""Detectors on the context features beside which SDGAD is shown."""

COLUMNS = ("auroc", "ap", "f1", "precision", "recall")
HALF = 0.5  # where SDGAD puts its learned boundary


def run_demo(
    out: Path,
    *,
    labels: Labels = "all",
    num_events: int = 30_000,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    command: str = "sdgad demo",
    tell: Callable[[str], None] = lambda _: None,
    progress: bool = False,
) -> dict[str, Any]:
    """Simulate, split 40/20/40, fit, score and evaluate the test part; returns what goes into `metrics.json`.

    Writes `events.parquet`, `model/`, `scores.parquet`, `report.html` and `metrics.json` into `out`.
    `options` are those of SDGAD, `tell` hears what is going on. Test labels serve the evaluation only.
    """
    start = perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    events = simulate_payments(num_events, seed=seed)
    write_events(events, out / "events.parquet")
    train, val, test = events.split(train=0.4, val=0.2)
    train, val = train.with_labels(labels), val.with_labels(labels)

    tell(f"fitting sdgad on {len(train):,} of {len(events):,} simulated payments")
    sdgad = make_detector("sdgad", **{"seed": seed, **(options or {})})
    scores, seconds = _fit_and_score(sdgad, train, val, test, progress=progress)
    metrics = evaluate(test.label, scores, sdgad.threshold_, anomaly_type=test.anomaly_type)
    comparison = [_row("sdgad", metrics, seconds)]
    for name in COMPARED[labels]:
        tell(f"fitting {name} on the same events")
        comparison.append(_compared(name, seed, train, val, test))
    comparison.append(_raw_columns(train, test, seed))

    sdgad.save(out / "model")
    table = read_table(out / "events.parquet").slice(len(train) + len(val))
    write_table(with_scores(table, sdgad, scores, "events.parquet"), out / "scores.parquet")
    result: dict[str, Any] = {
        "labels": labels,
        "seed": seed,
        "events": {"all": len(events), "train": len(train), "validation": len(val), "test": len(test)},
        "threshold_rule": sdgad.threshold_rule_,
        "test": metrics,
        "test_at_half": evaluate(test.label, scores, HALF, anomaly_type=test.anomaly_type),
        "comparison": comparison,
    }
    facts = [
        ("stream", f"{len(events):,} simulated payments (events.parquet), seed {seed}"),
        (
            "split",
            f"{len(train):,} to train, {len(val):,} to calibrate, {len(test):,} to test, shown here",
        ),
        ("labels in training", "all" if labels == "all" else "none"),
        ("detector", f"{sdgad.name}, fitted and scored in {seconds:.0f} s"),
        ("threshold", f"{sdgad.threshold_:.6g}, rule: {sdgad.threshold_rule_}, from validation"),
        ("command", command),
    ]
    write_report(
        out / "report.html",
        scored_events(test, scores, sdgad, sdgad.findings(test)),
        title="Anomalies in a stream of payments",
        facts=facts,
        metrics=metrics,
        comparison=comparison,
        validation=sdgad.validation,
    )
    result["seconds"] = round(perf_counter() - start, 3)
    with whole_file(out / "metrics.json") as temporary:
        temporary.write_text(json.dumps(result, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return result


def _fit_and_score(
    detector: Detector, train: EventStream, val: EventStream, test: EventStream, *, progress: bool = False
) -> tuple[Array, float]:
    start = perf_counter()
    scores = detector.fit(train, val, progress=progress).decision_function(test)
    return scores, perf_counter() - start


def _compared(
    name: str, seed: int, train: EventStream, val: EventStream, test: EventStream
) -> dict[str, Any]:
    detector = make_detector(name, seed=seed)
    scores, seconds = _fit_and_score(detector, train, val, test)
    return _row(name, evaluate(test.label, scores, detector.threshold_), seconds)


def _raw_columns(train: EventStream, test: EventStream, seed: int) -> dict[str, Any]:
    """How much the columns alone give away: an isolation forest on amount and hour of the day."""

    def columns(part: EventStream) -> Array:
        assert part.msg is not None
        return np.stack([part.msg[:, 0], part.t / 3600 % 24], 1)

    start = perf_counter()
    forest = IsolationForest(random_state=seed).fit(columns(train))
    scores = -forest.score_samples(columns(test))
    return _row("isolation forest on amount and hour", evaluate(test.label, scores), perf_counter() - start)


def _row(name: str, metrics: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    return {"detector": name, **{key: metrics[key] for key in COLUMNS}, "seconds": round(seconds, 3)}
