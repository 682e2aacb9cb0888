"""MIDAS over DARPA: events per second with and without numba, how well it ranks, how much memory it takes; JSON lines.

    OMP_NUM_THREADS=1 python benchmarks/midas.py --out results/midas.jsonl

First the state alone, without the border that reads raw events, at last as a detector. Node hashes and seconds come
in Windows of 65,536 events. AUROC of MIDAS-R with one-minute ticks is over the whole stream, of MIDAS-F with one-hour
ticks over the last 40%, after the first 60%. Speed is measured after numba has compiled its code, or read it from a
file; without numba over the first `--plain` events; and once more with a tick of its own for every event. Growth of
memory: the most that a pass held, less what was held before it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import sdgad
from sdgad.detectors.baselines import midas_kernel
from sdgad.detectors.baselines.midas_state import Counts, FilteredCounts, MidasState
from sdgad.detectors.baselines.sketches import EDGE, EDGE_AND_ENDS, Places
from sdgad.history.bare import bare_window
from sdgad.history.window import Window
from sdgad.metrics.ranking import auroc

MINUTE, HOUR = 60.0, 3600.0
ROWS, BUCKETS = 2, 1024
TEST = 0.6  # where the last part begins
BATCH = 1 << 16
DATA = Path(os.environ.get("SDGAD_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


@dataclass(frozen=True)
class Events:
    """Endpoints as hashes, seconds since the first event, labels."""

    node: np.ndarray
    seconds: np.ndarray
    label: np.ndarray

    @classmethod
    def read(cls, path: Path) -> Events:
        table = pq.read_table(path, columns=["src", "dst", "t", "label"])
        ids = np.stack([table["src"].to_numpy(), table["dst"].to_numpy()], 1)
        distinct, code = np.unique(ids, return_inverse=True)
        digests = (hashlib.blake2b(str(one).encode(), digest_size=8).digest() for one in distinct.tolist())
        hashes = (np.frombuffer(b"".join(digests), "<u8") >> np.uint64(1)).astype(np.int64)
        t = table["t"].to_numpy().astype(np.float64)
        return cls(hashes[code.reshape(ids.shape)], t - t[0], table["label"].to_numpy())

    def __len__(self) -> int:
        return len(self.seconds)

    def first(self, count: int) -> Events:
        return Events(self.node[:count], self.seconds[:count], self.label[:count])

    def one_by_one(self) -> Events:
        """The same events, a minute apart."""
        return Events(self.node, np.arange(len(self)) * MINUTE, self.label)

    def windows(self) -> Iterator[Window]:
        for start in range(0, len(self), BATCH):
            part = slice(start, start + BATCH)
            seconds = self.seconds[part]
            yield bare_window(self.node[part], seconds, np.empty((len(seconds), 0), np.float32), start)


def new_state(name: str, tick: float, seed: int = 0) -> MidasState:
    """With the default options."""
    places = Places(EDGE if name == "midas" else EDGE_AND_ENDS, ROWS, BUCKETS, seed)
    if name == "midas-f":
        return FilteredCounts(tick, places, 0.5, 1000.0)
    return Counts(tick, places, 0.0 if name == "midas" else 0.5)


def rate(state: MidasState, events: Events) -> float:
    """Events per second."""
    start = time.perf_counter()
    for window in events.windows():
        state.through(window)
    return len(events) / (time.perf_counter() - start)


def scores(state: MidasState, events: Events) -> np.ndarray:
    return np.concatenate([state.through(window) for window in events.windows()])


def rate_and_growth(state: MidasState, events: Events) -> tuple[float, float]:
    """Events per second, and MiB by which the most that is held exceeds what was held before (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = held_mib("VmRSS")
    found = rate(state, events)
    return found, held_mib("VmHWM") - before


def held_mib(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def by_detector(path: Path) -> Iterator[dict[str, object]]:
    """One fit (40/20/40) each, with the border that reads raw events: AUROC over all its scores and over the test part."""
    events = sdgad.read_events(path)
    train, val, test = events.split(train=0.4, val=0.2)
    for name, tick in (("midas-r", MINUTE), ("midas-f", HOUR)):
        start = time.perf_counter()
        detector = sdgad.make_detector(name, tick=tick).fit(train, val)
        fitted = time.perf_counter()
        found = detector.decision_function(test)
        scored = time.perf_counter()
        every = np.concatenate([detector.decision_scores_, detector.validation_scores_, found])
        yield {
            "detector": name, "tick": tick, "through": "fit and decision_function", "fit_seconds": round(fitted - start, 2),
            "decision_function_events_per_second": round(len(test) / (scored - fitted)),
            "auroc_all": round(100 * auroc(events.label, every), 2),
            "auroc_test": round(100 * auroc(test.label, found), 2),
        }  # fmt: skip


def main() -> None:
    given = parse_options()
    events = Events.read(given.data)
    plain = events.first(given.plain)
    machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "numpy": np.__version__}
    has_numba = midas_kernel.uses_numba()
    lines = []
    for name in ("midas", "midas-r", "midas-f"):
        line = {"detector": name, "tick": MINUTE, "events": len(events)}
        if has_numba:
            rate(new_state(name, MINUTE), events.first(BATCH))  # compile, and touch all code
            found, growth = rate_and_growth(new_state(name, MINUTE), events)
            line |= {"numba_events_per_second": round(found), "peak_growth_mib": round(growth, 1)}
            line["numba_one_per_tick"] = round(rate(new_state(name, MINUTE), events.one_by_one()))
        midas_kernel.uses_numba = lambda: False
        line["plain_events_per_second"] = round(rate(new_state(name, MINUTE), plain))
        line["plain_one_per_tick"] = round(rate(new_state(name, MINUTE), plain.one_by_one()))
        midas_kernel.uses_numba = lambda: has_numba
        line["state_mib"] = round(sum(a.nbytes for a in new_state(name, MINUTE).arrays().values()) / 2**20, 2)
        lines.append(line | machine)
        print(json.dumps(lines[-1]), flush=True)
    cut = int(TEST * len(events))
    for name, tick, start in (("midas-r", MINUTE, 0), ("midas-f", HOUR, cut)):
        for seed in range(given.seeds):
            found = scores(new_state(name, tick, seed), events)[start:]
            area = auroc(events.label[start:], found)
            line = {
                "detector": name,
                "tick": tick,
                "seed": seed,
                "from_event": start,
                "auroc": round(100 * area, 2),
            }
            lines.append(line | machine)
            print(json.dumps(lines[-1]), flush=True)
    for line in by_detector(given.data):
        lines.append(line | machine)
        print(json.dumps(lines[-1]), flush=True)
    if given.out:
        with given.out.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA / "darpa.parquet")
    parser.add_argument("--plain", type=int, default=1_000_000, help="events without numba")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, help="append to this file too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
