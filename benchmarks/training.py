"""How fast a detector trains: seconds for one epoch on the training split (40%) of a stream, one JSON line.

    python benchmarks/training.py --dataset mooc

Validation and calibration after the epoch are not part of the figure.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from detection import load

import sdgad
from sdgad.configuration import parse_assignment
from sdgad.detectors.sdgad.selection import Selection


@contextmanager
def clocked_selection(ends: list[float]) -> Iterator[None]:
    """Note the moment at which an epoch's last step is done, which is when validation begins."""
    validate = Selection.__call__

    def noted(self: Selection) -> dict[str, float]:
        ends.append(time.perf_counter())
        return validate(self)

    Selection.__call__ = noted  # type: ignore[method-assign]
    try:
        yield
    finally:
        Selection.__call__ = validate  # type: ignore[method-assign]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="mooc")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    given = parser.parse_args()
    train, val, _ = load(given.dataset).split(train=0.4, val=0.2)
    ends: list[float] = []
    start = time.perf_counter()
    with clocked_selection(ends):
        sdgad.make_detector("sdgad", **dict(map(parse_assignment, given.set))).fit(train, val, epochs=1)
    total = time.perf_counter() - start
    seconds = ends[0] - start
    line = {
        "dataset": given.dataset,
        "events": len(train),
        "index_and_epoch_seconds": round(seconds, 1),
        "events_per_second": round(len(train) / seconds),
        "whole_fit_seconds": round(total, 1),
        "threads": torch.get_num_threads(),
        "cores": os.cpu_count(),
        "device": "cuda" if torch.cuda.is_available() else "cpu",
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
