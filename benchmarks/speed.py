"""How fast a detector learns and scores: events per second beside those of the nearest peer; one JSON line per case.

    python benchmarks/speed.py --encoder tcl,graphmixer,dygformer,tgat --batch 200,2000 --out results/speed.jsonl
    OMP_NUM_THREADS=2 python benchmarks/speed.py --detector sdgad --sizes default --device cpu

- `train`: of a training step, once it runs steadily: the fastest epoch but the first, without its validation.
- `decision_function`: from an EventStream to scores, for a detector that carries the history before it.
- `windows`: the same from rows of a built index on, which is what a model alone costs; not for encoders with memory.

The last two are medians of three calls after a first one. `matmul_share` is the rate of floating-point operations as a
share of that of large matrix products on the same device in the precision in force, measured in the same run, where
a training step counts for three times a forward pass. `ratio` is there where the case is one of those in peers.py.
Features and labels are made up (cases.py).
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from arithmetic import TRAINING, forward_flops, matmul_rate, wait_for
from cases import Case, Parts, add_options, cases, is_published, machine_name, make_stream
from lines import tell
from peers import Peer, find_peer

import sdgad
from sdgad.detectors.archive import Archive
from sdgad.detectors.learned.detector import LearnedDetector
from sdgad.errors import InputError
from sdgad.events.stream import Array, EventStream
from sdgad.history.index import HistoryIndex

EPOCHS = 3  # the first of them warms up
CALLS = 3
COUNTED = 64  # events whose operations are counted


@dataclass(frozen=True)
class Amount:
    """How much is measured, where nobody says: a CPU takes its time."""

    steps: int
    val: int
    test: int | None


AMOUNTS = {"cuda": Amount(200, 2_000, None), "cpu": Amount(15, 500, 2_000)}


@dataclass(frozen=True)
class Rates:
    """Events per second."""

    train: float
    windows: float | None
    decision_function: float


def windows_to_scores(detector: LearnedDetector, index: HistoryIndex, rows: torch.Tensor) -> Array:
    """Scores of events of an index: the one place here that knows how a detector does that."""
    parts = torch.split(rows, detector.score_rows)
    return detector._score_windows(detector.view.rows(index, part) for part in parts)


def index_with(detector: LearnedDetector, events: EventStream) -> tuple[HistoryIndex, torch.Tensor]:
    """The index over a detector's history and the events that follow it, and the rows of these, as scoring makes them."""
    archive = detector._archive
    assert isinstance(archive, Archive)
    log, place = archive.log.merged(archive.read(events).log)
    index = detector.view.index(log, archive.border.clock)
    return index, torch.from_numpy(place).to(index.device)


def rate(act: Callable[[], object], events: int, device: torch.device) -> float:
    """Events per second, in the median of a few calls after a first one."""
    act()
    taken = []
    for _ in range(CALLS):
        wait_for(device)
        start = time.perf_counter()
        act()
        wait_for(device)
        taken.append(time.perf_counter() - start)
    return events / statistics.median(taken)


def measured(case: Case, events: EventStream, steps: int | None) -> dict[str, Any]:
    """One line."""
    detector, amount = case.make(), AMOUNTS[case.device]
    device = torch.device(case.device)
    parts = Parts.cut(events, detector, steps or amount.steps, amount.val, amount.test)
    detector.fit(parts.train, parts.val, epochs=EPOCHS)
    detector.update(parts.between)
    test = parts.test
    windows, flops = None, None
    if not detector.remembers:
        index, rows = index_with(detector, test)
        windows = rate(lambda: windows_to_scores(detector, index, rows), len(rows), device)
        flops = forward_flops(detector, detector.view.rows(index, rows[:COUNTED]))
    rates = Rates(
        train=len(parts.train) / min(detector.record_.seconds[1:]),
        windows=windows,
        decision_function=rate(lambda: detector.decision_function(test), len(test), device),
    )
    in_force = settings_in_force(detector, device)
    config = detector.config
    peer = find_peer(
        in_force["machine"], case.encoder, stream=case.stream, features=case.msg, batch=config.batch,
        history=config.history, published=is_published(detector),
    )  # fmt: skip
    return {
        "detector": case.detector, "encoder": case.encoder, "sizes": case.sizes, "width": config.encoder_config().width,
        "history": config.history, "batch": config.batch, "stream": case.stream, "msg": case.msg,
        "options": case.options, "device": case.device,
        "train_events": len(parts.train), "test_events": len(test), "history_events": detector.history_size[0],
        **{name: None if found is None else round(found) for name, found in asdict(rates).items()},
        "matmul_share": flops and share_of_matmul(rates, flops, in_force, device),
        "ratio": peer and ratio(rates, peer), "in_force": in_force,
        "python": platform.python_version(), "sdgad": sdgad.__version__,
    }  # fmt: skip


def settings_in_force(detector: LearnedDetector, device: torch.device) -> dict[str, Any]:
    """What the fit was run with, as far as its record says so, in which precision scores are made, and on what."""
    scoring = getattr(detector.config, "scoring_precision", "fp32")
    return {
        "threads": torch.get_num_threads(),
        "precision": "fp32",
        **getattr(detector.record_, "in_force", {}),
        "scoring_precision": "fp32" if scoring == "tf32" and device.type == "cpu" else scoring,
        "torch": torch.__version__,
        "machine": machine_name(device),
    }


def share_of_matmul(
    rates: Rates, flops: float, in_force: dict[str, Any], device: torch.device
) -> dict[str, Any]:
    """Of the operations per second of large matrix products in the same precision, and what it was computed from."""
    training, scoring = in_force["precision"], in_force["scoring_precision"]
    most = {each: matmul_rate(device, each) for each in sorted({training, scoring})}
    return {
        "train": _rounded(rates.train * TRAINING * flops / most[training]),
        "windows": None if rates.windows is None else _rounded(rates.windows * flops / most[scoring]),
        "matmul_tflops": {name: _rounded(found / 1e12) for name, found in most.items()},
        "forward_mflop_per_event": _rounded(flops / 1e6),
    }


def ratio(rates: Rates, peer: Peer) -> dict[str, float | None]:
    """How many times as fast as the peer."""
    return {
        "train": _rounded(rates.train / peer.train),
        "windows": None if rates.windows is None else _rounded(rates.windows / peer.score),
        "decision_function": _rounded(rates.decision_function / peer.score),
    }


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_options(parser)
    parser.add_argument("--steps", type=int, help="of training, in an epoch; 200 on a GPU, 15 on a CPU")
    parser.add_argument("--out", type=Path, help="append to this file too")
    given = parser.parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    try:
        events = make_stream(given.stream, given.events, given.msg)
        for case in cases(given):
            tell(measured(case, events, given.steps), given.out)
    except InputError as problem:
        raise SystemExit(str(problem)) from None


if __name__ == "__main__":
    main()
