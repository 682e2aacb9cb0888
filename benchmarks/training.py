"""How fast a detector trains: seconds for one epoch on the training split (40%) of a stream, one JSON line.

    python benchmarks/training.py --dataset mooc

Validation and calibration after the epoch are not part of the figure.
"""

from __future__ import annotations

import argparse
import json
import os
import time

import torch
from detection import load

import sdgad
from sdgad.configuration import parse_assignment


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="mooc")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    given = parser.parse_args()
    train, val, _ = load(given.dataset).split(train=0.4, val=0.2)
    detector = sdgad.SDGAD(**dict(map(parse_assignment, given.set)))
    start = time.perf_counter()
    detector.fit(train, val, epochs=1)
    total = time.perf_counter() - start
    seconds = detector.record_.seconds[0]
    line = {
        "dataset": given.dataset,
        "events": len(train),
        "epoch_seconds": round(seconds, 1),
        "events_per_second": round(len(train) / seconds),
        "whole_fit_seconds": round(total, 1),
        "threads": torch.get_num_threads(),
        "cores": os.cpu_count(),
        "device": "cuda" if torch.cuda.is_available() else "cpu",
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
