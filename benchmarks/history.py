"""How fast and how large a HistoryIndex is: build it over one stream, then read Windows from it.

    OMP_NUM_THREADS=2 python benchmarks/history.py            # DARPA, 4.55 million events

Prints one JSON line. The data folder is `$SDGAD_DATA`, or `../shared/data` beside the checkout.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from sdgad.events.read import read_events
from sdgad.history.index import HistoryIndex


def main() -> None:
    options = parse_options()
    folder = Path(os.environ.get("SDGAD_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    events = read_events(folder / f"{options.dataset}.parquet")
    before = peak_gib()

    start = time.perf_counter()
    index = HistoryIndex(
        events.src, events.dst, events.t, events.msg, num_nodes=events.num_nodes, clock=events.clock,
        ties=options.ties, context=options.context, device=options.device,
    )  # fmt: skip
    synchronize(index)
    build = time.perf_counter() - start
    built = peak_gib()

    in_order = torch.arange(len(index), device=index.device)
    shuffled = in_order[
        torch.randperm(len(index), generator=torch.Generator().manual_seed(0)).to(index.device)
    ]
    result = {
        "dataset": options.dataset,
        "events": len(index),
        "ties": options.ties,
        "context": len(index.context_names),
        "threads": torch.get_num_threads(),
        "device": str(index.device),
        "build_seconds": round(build, 2),
        "peak_gib_after_reading": round(before, 2),
        "peak_gib_after_building": round(built, 2),
        "history": options.history,
        "batch": options.batch,
        "windows_per_second_in_order": round(windows_per_second(index, in_order, options)),
        "windows_per_second_shuffled": round(windows_per_second(index, shuffled, options)),
        "peak_gib": round(peak_gib(), 2),
    }
    print(json.dumps(result))


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the HistoryIndex.")
    parser.add_argument("--dataset", default="darpa")
    parser.add_argument("--ties", choices=("strict", "arrival"), default="strict")
    parser.add_argument("--history", type=int, default=20)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--no-context", dest="context", action="store_false")
    parser.add_argument("--device", default="cpu")
    return parser.parse_args()


def windows_per_second(index: HistoryIndex, rows: Tensor, options: argparse.Namespace) -> float:
    """Events per second, over all rows in the given order."""
    start = time.perf_counter()
    for batch in batches(rows, options.batch):
        index.rows(batch, options.history)
    synchronize(index)
    return len(rows) / (time.perf_counter() - start)


def batches(rows: Tensor, size: int) -> Iterator[Tensor]:
    for first in range(0, len(rows), size):
        yield rows[first : first + size]


def synchronize(index: HistoryIndex) -> None:
    """Wait for work that a GPU has only been given."""
    if index.device.type == "cuda":
        torch.cuda.synchronize(index.device)


def peak_gib() -> float:
    """The largest resident size of this process so far (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main()
