"""What explanations cost beside scores: the same simulated payments, scored, and explained one and all.

    OMP_NUM_THREADS=1 python benchmarks/explaining.py

One JSON line per detector: medians of the seconds of `decision_function`, of `explain`, and of `explain` with all words
spelled out; the ratio of each to scoring. At most 2 is what we promise for detectors whose own Windows hold habits.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from lines import tell

import sdgad

TIMES = 5
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "sdgad": ("sdgad", {}),
    "sdgad tgn": ("sdgad", {"encoder": "tgn"}),
    "boosting": ("boosting", {}),
    "boosting without habits": ("boosting", {"habits": False}),
    "isolation-forest": ("isolation-forest", {}),
    "classifier": ("classifier", {}),
    "classifier without context": ("classifier", {"context": False}),
}


def measured(case: str, num_events: int) -> dict[str, object]:
    train, val, test = sdgad.simulate_payments(num_events, seed=0).split()
    name, options = CASES[case]
    detector = sdgad.make_detector(name, seed=0, **options).fit(
        train, val=val, epochs=1 if name != "boosting" else None
    )
    acts: dict[str, Callable[[], object]] = {
        "score": lambda: detector.decision_function(test),
        "explain": lambda: detector.explain(test),
        "words": lambda: [str(one) for one in detector.explain(test)],
    }
    for act in acts.values():
        act()
    spent: dict[str, list[float]] = {what: [] for what in acts}
    for _ in range(TIMES):  # by turns: others may be at work on the machine
        for what, act in acts.items():
            start = time.perf_counter()
            act()
            spent[what].append(time.perf_counter() - start)
    seconds = {what: statistics.median(each) for what, each in spent.items()}
    return {
        "what": "explaining", "case": case, "events": len(test), **{k: round(v, 4) for k, v in seconds.items()},
        "ratio": round(seconds["explain"] / seconds["score"], 2),
        "ratio_words": round(seconds["words"] / seconds["score"], 2),
        "threads": torch.get_num_threads(), "cores": os.cpu_count(),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--events", type=int, default=12_000)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    for case in given.cases.split(","):
        tell(measured(case, given.events), given.out)


if __name__ == "__main__":
    main()
