"""How the seconds of one fit divide, and those of several seeds at once: `run_seeds(…, together=5)`; one JSON line each.

    python benchmarks/parts.py --dataset wikipedia --seeds 5 --epochs 6 --out results/parts.jsonl

Of every part of a fit under S1, its scores and figures included: how often it was done, its seconds by the clock, and those in
which its thread was at work, which are fewer where it waited for a card, for Python, or for threads that worked for it. Seconds
are a part's own, without those of parts inside it, in the mean of the seeds. Parts that go on beside each other (on a GPU: the
network, and kinds of evidence) both count, so all parts together may take longer than the fit.
"""

from __future__ import annotations

import argparse
import functools
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from detection import load
from lines import tell
from together import WARM_UP, seconds, surroundings

from sdgad.detectors import growing
from sdgad.detectors.base import Detector
from sdgad.detectors.binned_once import BinnedOnce
from sdgad.detectors.event_table import EventTable
from sdgad.detectors.learned import detector as learned
from sdgad.detectors.sdgad.detector import SDGAD
from sdgad.detectors.sdgad.evidence.base import kinds
from sdgad.detectors.sdgad.evidence.panel import Panel
from sdgad.detectors.view import View
from sdgad.experiments.trial import Trial

PARTS: tuple[tuple[str, Any, str], ...] = (
    ("figures, and all that follows from scores", Trial, "run"),
    ("fit: the rest of it", Detector, "fit"),
    ("index", View, "index"),
    ("network: first weights and scales", learned.LearnedDetector, "_start"),
    ("network: steps and validation", learned, "train"),
    ("network: its evidence", SDGAD, "_evidence"),
    ("events as rows", EventTable, "of"),
    ("rows into bins", BinnedOnce, "of"),
    ("trees", growing, "_grown"),
    ("units, join and calibration", SDGAD, "_finish"),
    ("kinds asked", Panel, "raw"),
    ("explanations", SDGAD, "_learn_to_explain"),
    ("scores: the rest of it", Detector, "decision_function"),
)


class Clocks:
    """Seconds of parts that may lie inside each other, in every thread for itself."""

    def __init__(self) -> None:
        self._inside = threading.local()
        self._lock = threading.Lock()
        self.start()

    def start(self) -> None:
        self.found: dict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*given: Any, **named: Any) -> Any:
            inside = self._inside.__dict__.setdefault("parts", [])
            inside.append([0.0, 0.0])
            before = time.perf_counter(), time.thread_time()
            try:
                return function(*given, **named)
            finally:
                took = [time.perf_counter() - before[0], time.thread_time() - before[1]]
                of_parts = inside.pop()
                with self._lock:
                    for place, value in enumerate((1, *(a - b for a, b in zip(took, of_parts, strict=True)))):
                        self.found[part][place] += value
                if inside:
                    inside[-1] = [a + b for a, b in zip(inside[-1], took, strict=True)]

        return run


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="wikipedia")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--out", type=Path, help="append to this file too")
    given = parser.parse_args()
    events, clocks = load(given.dataset), Clocks()
    seconds(events[:WARM_UP], "sdgad", 1, 1)
    of_kinds = [
        (f"{verb}: {name}", kinds.get(name), verb)
        for name in SDGAD().config.kinds
        for verb in ("fit", "raw")
        if verb in vars(kinds.get(name))
    ]
    for part, owner, name in (*PARTS, *of_kinds):
        setattr(owner, name, clocks.timed(part, getattr(owner, name)))
    for count in (1, given.seeds):
        clocks.start()
        took = seconds(events, "sdgad", count, given.epochs)
        ordered = sorted(clocks.found.items(), key=lambda item: -item[1][1])
        found = {
            "dataset": given.dataset, "seeds": count, "epochs": given.epochs, "seconds": round(took, 2),
            "parts": {part: [calls // count, *(round(value / count, 2) for value in times)]
                      for part, (calls, *times) in ordered},
            **surroundings(),
        }  # fmt: skip
        tell(found, given.out)


if __name__ == "__main__":
    main()
