"""What a small file costs beside a long history: DARPA's 4.5 million events in the archive, 100 events to score,
1,000 to update with.

    OMP_NUM_THREADS=1 python benchmarks/small_files.py

One JSON line per detector: seconds of the first call (which makes the live buffer that is kept), the median of the
next ones, an update, and a call after it. The model is fitted on the first events; the rest comes by `update`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable

import torch
from detection import load

import sdgad

FITTED = 40_000
SCORED, UPDATED = 100, 1_000


def seconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def measured(name: str, events: sdgad.EventStream) -> dict[str, object]:
    detector, end = sdgad.make_detector(name), len(events) - UPDATED - SCORED
    new, more, last = (
        events[a:b] for a, b in ((end, end + SCORED), (end, end + UPDATED), (end + UPDATED, len(events)))
    )
    detector.fit(events[:FITTED], epochs=1)
    rest = seconds(lambda: detector.update(events[FITTED:end]))
    first = seconds(lambda: detector.decision_function(new))
    later = statistics.median(seconds(lambda: detector.decision_function(new)) for _ in range(5))
    update = seconds(lambda: detector.update(more))
    after = seconds(lambda: detector.decision_function(last))
    return {
        "detector": name, "history": detector.history_size[0], "update_rest": round(rest, 2),
        "scored": len(new), "first_call": round(first, 3), "later_calls": round(later, 4),
        "updated": len(more), "update": round(update, 3), "call_after_update": round(after, 4),
        "threads": torch.get_num_threads(), "cores": os.cpu_count(),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="darpa")
    parser.add_argument("--detectors", default="boosting,sdgad")
    given = parser.parse_args()
    events = load(given.dataset)
    for name in given.detectors.split(","):
        print(json.dumps({"dataset": given.dataset, **measured(name, events)}), flush=True)


if __name__ == "__main__":
    main()
