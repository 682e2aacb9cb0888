"""Whether a change of the code changed any score: one digest per detector and stream, to be compared between two commits.

    OMP_NUM_THREADS=1 python benchmarks/same_scores.py > after.jsonl
    git stash && OMP_NUM_THREADS=1 python benchmarks/same_scores.py > before.jsonl && git stash pop
    diff before.jsonl after.jsonl

One JSON line each, with the SHA-256 of the scores of training, validation, test, of the test part in two halves with
an update between them, and of a live scorer. Equal lines mean equal bits. Use one machine and one thread: matrix
products depend on both.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

import sdgad

DETECTORS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("sdgad", {}),
    ("sdgad", {"encoder": "graphmixer"}),
    ("sdgad", {"encoder": "dygformer"}),
    ("sdgad", {"preset": "paper", "width": 16, "time_width": 8}),
    ("boosting", {}),
    ("boosting", {"ties": "arrival"}),
    ("isolation-forest", {}),
    ("isolation-forest", {"max_nodes": 200}),
)


def streams() -> Iterator[tuple[str, sdgad.EventStream]]:
    """Payments on a fine and on a coarse clock, so that times tie; each with many labels, three and none."""
    fine = sdgad.simulate_payments(4_000, anomaly_rate=0.03, seed=3)
    names = [fine.vocabulary.raw(codes).to_pylist() for codes in (fine.src, fine.dst)]
    hours = np.floor(fine.t / 3600) * 3600
    coarse = sdgad.EventStream(*names, hours, fine.msg, fine.label, features=fine.features, clock=fine.clock)
    yield "fine", fine
    yield "coarse", coarse


def digest(scores: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(scores, np.float64).tobytes()).hexdigest()[:16]


def main() -> None:
    torch.set_num_threads(1)
    for stream, events in streams():
        train, val, test = events.split(train=0.4, val=0.2)
        for name, options in DETECTORS:
            for labels in ("all", "few-shot", "none"):
                detector = sdgad.make_detector(name, seed=0, device="cpu", **options)
                few = train.with_labels(labels, k=3, seed=0)
                detector.fit(few, val=val, epochs=20 if name == "boosting" else 2)
                line = {"detector": name, **options, "stream": stream, "labels": labels}
                line |= {
                    "train": digest(detector.decision_scores_),
                    "val": digest(detector.validation_scores_),
                }
                line["test"] = digest(detector.decision_function(test))
                live = detector.live()
                line["live"] = digest(
                    np.concatenate([live.score_and_update(test[:300]), live.score(test[300:500])])
                )
                with tempfile.TemporaryDirectory() as folder:
                    detector.save(Path(folder) / "model")
                    again = sdgad.load(Path(folder) / "model")
                half = len(test) // 2
                parts = [again.decision_function(test[:half])]
                parts.append(again.update(test[:half]).decision_function(test[half:]))
                line["halves"] = digest(np.concatenate(parts))
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
