"""How fast `sdgad stream` answers: microseconds per line, lines per second, seconds per snapshot; one JSON line.

    OMP_NUM_THREADS=1 python benchmarks/streaming.py --out results/streaming.jsonl

A detector is fitted for one epoch on the first half of simulated payments (latency does not depend on how well it has
learned); the second half comes in as lines of JSON that are all waiting. A latency is the time from a line in
memory to its answer, line by line; the rate is that of the whole loop, reading and writing included.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from lines import tell

import sdgad
from sdgad.configuration import parse_assignment
from sdgad.detectors.base import Detector
from sdgad.serving.consumed import Consumed
from sdgad.serving.line_loop import answer_lines
from sdgad.serving.line_scorer import LineScorer
from sdgad.serving.line_source import LineSource


def main() -> None:
    given = parse_options()
    events = sdgad.simulate_payments(given.events, seed=0)
    half = len(events) // 2
    detector = sdgad.make_detector(given.detector, seed=0, **dict(map(parse_assignment, given.set)))
    detector.fit(events[:half], epochs=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "events.jsonl")
        sdgad.write_events(events[half:], path)
        micros = latencies(detector, path.read_bytes().splitlines()) * 1e6
        live = detector.live()
        start = time.perf_counter()
        live.snapshot(Path(folder, "state"))
        snapshot = time.perf_counter() - start
        result = {
            "detector": given.detector,
            "options": given.set,
            "history_events": half,
            "lines": len(micros),
            "microseconds_p50": round(float(np.quantile(micros, 0.5))),
            "microseconds_p99": round(float(np.quantile(micros, 0.99))),
            "lines_per_second": {str(size): round(rate(detector, path, size)) for size in given.batch},
            "snapshot_seconds": round(snapshot, 3),
            "snapshot_mib": round(Path(folder, "state").stat().st_size / 2**20, 2),
            "threads": torch.get_num_threads(),
            "device": torch.cuda.get_device_name()
            if torch.cuda.is_available()
            else f"{os.cpu_count()}-core CPU",
            "python": platform.python_version(),
            "torch": torch.__version__,
            "sdgad": sdgad.__version__,
        }
    tell(result, given.out)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--detector", default="sdgad")
    parser.add_argument("--events", type=int, default=6_000)
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 64])
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--out", type=Path, help="append to this file too")
    return parser.parse_args()


def latencies(detector: Detector, lines: list[bytes]) -> np.ndarray:
    """Seconds from a line to its answer, one by one."""
    scorer = LineScorer(detector.live())
    seconds = np.empty(len(lines))
    for i, line in enumerate(lines):
        start = time.perf_counter()
        json.dumps(scorer.answer([line], i + 1))
        seconds[i] = time.perf_counter() - start
    return seconds


def rate(detector: Detector, path: Path, batch: int) -> float:
    """Lines per second from a file to nowhere."""
    scorer, consumed = LineScorer(detector.live()), Consumed()
    with (
        path.open("rb") as file,
        Path(os.devnull).open("wb") as nowhere,
        LineSource(file.fileno()) as source,
    ):
        start = time.perf_counter()
        answer_lines(source, scorer, nowhere, consumed, batch=batch)
        return consumed.lines / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
