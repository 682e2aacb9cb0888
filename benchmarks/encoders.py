"""What each encoder finds and what it costs: one JSON line per fit, `docs/encoders.md` is made from them.

    python benchmarks/encoders.py fit --rows "uci S3 clean" --seeds 0,1,2 --out results/encoders.jsonl
    python benchmarks/encoders.py fit --rows "mooc S1" --encoder tcl,cawn --detector classifier --bare no
    python benchmarks/encoders.py fit --rows "mooc S1" --encoder tcl --detector classifier --set preset=paper --epochs 30
    OMP_NUM_THREADS=1 python benchmarks/encoders.py live --out results/encoders.jsonl

`fit` is a run under the protocol of a row of rows.py, with context features and habit residuals and (`bare`) without them: with
them an encoder that says nothing does well already, without them encoders differ. Beside the test figures stand those of the
validation part, by which one may choose. `live` fits on simulated payments for an epoch and answers the rest event by event on
the CPU: microseconds of training and of an answer, and how large the state is that goes on with the stream.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from cases import machine_name
from detection import METRICS, load
from lines import tell
from rows import ROWS, Row

import sdgad
from sdgad.configuration import parse_assignment
from sdgad.detectors.learned.detector import LearnedDetector
from sdgad.detectors.registry import detectors

WITHOUT = ("context", "habits")  # options that `bare` switches off, where a detector has them
EVENTS, LINES = 6_000, 500  # of the simulated stream, and those that are answered one by one


def make(detector: str, encoder: str, *, bare: bool, seed: int, options: dict[str, Any]) -> LearnedDetector:
    known = {field.name for field in fields(detectors.get(detector).config_type)}
    off = {name: False for name in WITHOUT if bare and name in known}
    made = sdgad.make_detector(detector, encoder=encoder, seed=seed, **{**off, **options})
    assert isinstance(made, LearnedDetector)
    return made


def fit(
    row: Row,
    seed: int,
    detector: str,
    encoder: str,
    *,
    bare: bool,
    options: dict[str, Any],
    epochs: int | None,
) -> dict[str, Any]:
    """One line: a fit and its figures."""
    given = {**row.options, **options, **({"epochs": epochs} if epochs else {})}
    model = make(detector, encoder, bare=bare, seed=seed, options=given)
    protocol = sdgad.Protocol(row.setting, k=row.k, preset=row.preset, resamples=100)
    result = protocol.trial(load(row.stream(seed)), seed).run(model)
    record = model.record_
    return {
        "what": "fit", "row": row.name, "detector": detector, "encoder": encoder, "bare": bare, "seed": seed,
        "options": given, **{name: result.metrics[name] for name in METRICS},
        "validation": validation_figures(model), "best": record.epochs[record.best_epoch - 1] if record.best_epoch else {},
        "epochs": len(record.epochs), "best_epoch": record.best_epoch,
        "epoch_seconds": round(statistics.median(record.seconds), 3), "seconds": result.seconds,
        **sizes(model), "in_force": record.in_force, **machine(),
    }  # fmt: skip


def validation_figures(model: LearnedDetector) -> dict[str, float]:
    """AUROC and AP of validation events, where the fit was shown labels of both kinds."""
    label, score = model.validation.label, model.validation.score
    known = ~np.isnan(label)
    if len(np.unique(label[known])) < 2:
        return {}
    found = sdgad.evaluate(label[known], score[known])
    return {name: found[name] for name in ("auroc", "ap")}


def sizes(model: LearnedDetector) -> dict[str, Any]:
    """Numbers that the encoder learns, and what it needs in a Window."""
    encoder, needs = model._model.event.encoder, model.needs
    return {
        "parameters": sum(p.numel() for p in encoder.parameters() if p.requires_grad),
        "width": encoder.config.width, "history": model.config.history, "memory": needs.memory, "hop": needs.hop,
    }  # fmt: skip


def live(detector: str, encoder: str, options: dict[str, Any]) -> dict[str, Any]:
    """One line: what it costs to answer one event after the other."""
    events = sdgad.simulate_payments(EVENTS, seed=0)
    half = len(events) // 2
    model = make(detector, encoder, bare=False, seed=0, options={"device": "cpu", **options})
    model.fit(events[:half], epochs=1)
    scorer = model.live()
    taken = np.empty(LINES)
    for i in range(LINES):
        event = events[half + i : half + i + 1]
        start = time.perf_counter()
        scorer.score_and_update(event)
        taken[i] = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "state")
        scorer.snapshot(place)
        held = place.stat().st_size
    return {
        "what": "live", "detector": detector, "encoder": encoder, "options": options, "history_events": half + LINES,
        "train_microseconds": round(1e6 * model.record_.seconds[0] / len(model.decision_scores_)),
        "nodes": int(events.num_nodes), "microseconds_p50": round(float(np.quantile(taken, 0.5)) * 1e6),
        "microseconds_p99": round(float(np.quantile(taken, 0.99)) * 1e6), "state_kib": round(held / 1024),
        **sizes(model), **machine("cpu"),
    }  # fmt: skip


def machine(device: str = "auto") -> dict[str, Any]:
    kind = "cuda" if device == "auto" and torch.cuda.is_available() else "cpu"
    return {
        "device": machine_name(torch.device(kind)), "threads": torch.get_num_threads(), "cores": os.cpu_count(),
        "python": platform.python_version(), "torch": torch.__version__, "sdgad": sdgad.__version__,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["fit", "live"])
    parser.add_argument("--encoder", default=",".join(sdgad.list_encoders()), help="all of them")
    parser.add_argument("--detector", default="classifier,sdgad")
    parser.add_argument("--rows", default="uci S3 clean,mooc S1", help="of rows.py, with commas")
    parser.add_argument("--seeds", default="0")
    parser.add_argument(
        "--bare", default="no,yes", help="without context features and habit residuals, and with them"
    )
    parser.add_argument("--epochs", type=int, help="at most")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--out", type=Path, help="append to this file too")
    given = parser.parse_args()
    options = dict(map(parse_assignment, given.set))
    for encoder in given.encoder.split(","):
        for detector in given.detector.split(","):
            if given.what == "live":
                tell(live(detector, encoder, options), given.out)
                continue
            for row in given.rows.split(","):
                for bare in given.bare.split(","):
                    for seed in map(int, given.seeds.split(",")):
                        found = fit(
                            ROWS[row], seed, detector, encoder, bare=bare == "yes", options=options, epochs=given.epochs
                        )  # fmt: skip
                        tell(found, given.out)


if __name__ == "__main__":
    main()
