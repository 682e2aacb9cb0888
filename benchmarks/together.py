"""What several seeds at the same time cost, beside one: `run_seeds(…, together=5)`; one JSON line.

    python benchmarks/together.py --dataset mooc --seeds 5 --out results/together.jsonl

Every fit takes the same number of epochs, since how early one stops is another matter. Best of `--repeat` runs each.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from pathlib import Path

import torch
from cases import machine_name
from detection import load
from lines import tell

import sdgad
from sdgad.detectors.device import choose_device
from sdgad.events.stream import EventStream
from sdgad.experiments.seeds import run_seeds

WARM_UP = 20_000  # events of a first fit, which is not counted


def seconds(events: EventStream, detector: str, seeds: int, epochs: int) -> float:
    """Fit, threshold, scores and figures under S1."""
    start = time.perf_counter()
    made = run_seeds(
        sdgad.Protocol("S1"),
        events,
        lambda seed: sdgad.make_detector(detector, seed=seed, patience=epochs),
        range(seeds),
        epochs=epochs,
        together=seeds,
    )
    assert len(made) == seeds
    return time.perf_counter() - start


def surroundings() -> dict[str, object]:
    """Where and by which versions a line was made."""
    return {
        "machine": machine_name(choose_device("auto")), "cores": os.cpu_count(),
        "python": platform.python_version(), "torch": torch.__version__, "sdgad": sdgad.__version__,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="mooc")
    parser.add_argument("--detector", default="sdgad")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--out", type=Path, help="append to this file too")
    given = parser.parse_args()
    events = load(given.dataset)
    seconds(events[:WARM_UP], given.detector, 1, 1)
    times: dict[int, list[float]] = {1: [], given.seeds: []}
    for _ in range(given.repeat):
        for count, held in times.items():
            held.append(seconds(events, given.detector, count, given.epochs))
    one, all_of_them = (min(held) for held in times.values())
    found = {
        "dataset": given.dataset, "detector": given.detector, "seeds": given.seeds, "epochs": given.epochs,
        "one": round(one, 2), "together": round(all_of_them, 2), "ratio": round(all_of_them / one, 3),
        **surroundings(),
    }  # fmt: skip
    tell(found, given.out)


if __name__ == "__main__":
    main()
