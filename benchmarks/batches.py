"""How well a detector learns with larger batches: validation figures by batch size; one JSON line per fit.

    python benchmarks/batches.py --encoder tcl,graphmixer,dygformer --batch 200,2000 --seeds 0,1,2 --out results/batches.jsonl

For each encoder with its published sizes, on the last training events of Wikipedia with 172 random features, so many epochs;
the learning rate grows with the root of the batch. The part of the stream that is scored in the end is not looked at.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import numpy as np
import torch
from cases import machine_name
from detection import load
from lines import tell
from peers import FEATURES, usual_history

import sdgad
from sdgad.detectors.device import choose_device
from sdgad.detectors.learned.detector import LearnedDetector
from sdgad.events.stream import EventStream

USUAL_BATCH, RATE = 200, 1e-4  # published


def with_features(events: EventStream) -> EventStream:
    msg = np.random.default_rng(0).standard_normal((len(events), FEATURES), np.float32)
    return EventStream(
        events.src, events.dst, events.t, msg, events.label, bipartite=events.bipartite, clock=events.clock
    )


def fitted(
    train: EventStream, val: EventStream, encoder: str, batch: int, seed: int, epochs: int
) -> dict[str, object]:
    detector = sdgad.make_detector(
        "classifier", preset="paper", context=False, encoder=encoder, history=usual_history(encoder),
        batch=batch, learning_rate=RATE * (batch / USUAL_BATCH) ** 0.5, seed=seed,
    )  # fmt: skip
    assert isinstance(detector, LearnedDetector)
    record = detector.fit(train, val=val, epochs=epochs).record_
    best = record.epochs[record.best_epoch - 1]
    return {
        "encoder": encoder, "batch": batch, "seed": seed, "events": len(train), "epochs": epochs,
        "best_epoch": record.best_epoch, "val_ap": best["AP"], "val_auroc": best["AUROC"],
        "epoch_seconds": round(min(record.seconds), 3),
        "machine": machine_name(choose_device("auto")), "torch": torch.__version__, "sdgad": sdgad.__version__,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--encoder", default="tcl,graphmixer,dygformer")
    parser.add_argument("--batch", default="200,2000")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--events", type=int, default=30_000, help="of training")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="append to this file too")
    given = parser.parse_args()
    train, val, _ = with_features(load("wikipedia")).split()
    chosen = (text.split(",") for text in (given.encoder, given.batch, given.seeds))
    for encoder, batch, seed in product(*chosen):
        tell(fitted(train[-given.events :], val, encoder, int(batch), int(seed), given.epochs), given.out)


if __name__ == "__main__":
    main()
