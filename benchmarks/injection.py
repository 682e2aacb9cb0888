"""How long it takes to inject T and S into a stream, by preset.

    OMP_NUM_THREADS=1 python benchmarks/injection.py          # all five streams, up to 4.55 million events

Prints one JSON line per stream and preset. The data folder is `$SDGAD_DATA`, or `../shared/data` beside the checkout.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np

from sdgad.events.injection import PRESETS, inject
from sdgad.events.read import read_events

STREAMS = ("uci", "enron", "wikipedia", "mooc", "darpa")
BIPARTITE = ("wikipedia", "mooc")


def main() -> None:
    options = parse_options()
    folder = Path(os.environ.get("SDGAD_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    for name in options.datasets:
        events = read_events(folder / f"{name}.parquet", bipartite=name in BIPARTITE)
        events = events.with_columns(label=np.zeros(len(events)))
        for preset in PRESETS:
            start = time.perf_counter()
            found = inject(events, {"T": options.rate, "S": options.rate}, preset=preset)
            result = {
                "dataset": name,
                "events": len(events),
                "preset": preset,
                "injected": len(found) - len(events),
                "seconds": round(time.perf_counter() - start, 2),
            }
            print(json.dumps(result), flush=True)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure injection.")
    parser.add_argument("--datasets", nargs="+", default=STREAMS, choices=STREAMS)
    parser.add_argument("--rate", type=float, default=0.0005)
    return parser.parse_args()


if __name__ == "__main__":
    main()
