"""Every method side by side, on the stream that it was made for and on those of the others: one JSON line per run.

    python benchmarks/baselines.py --streams all --seeds 0,1,2 --methods boosting,histogram --out results/baselines.jsonl
    python benchmarks/baselines.py --datasets uci:clean,uci:paper --seeds 0,1,2 --out results/baselines.jsonl
    python benchmarks/baselines.py --datasets mooc --seeds 0 --methods taddy --set snapshot=2000 --out results/baselines.jsonl

Streams are those of `sdgad.events.home_streams`, each in its own setting; seed s draws stream s. Datasets are rows of rows.py:
`uci:clean` and `uci:paper` without labels (S3), `mooc` with all of them (S1). What `--out` holds already is not run again;
`--again` runs it all the same, and `docs/baselines.md`, which is made of these lines, takes the last one.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from cases import machine_name
from detection import load
from lines import tell
from rows import ROWS, Row

import sdgad
from sdgad.configuration import parse_assignment
from sdgad.events.home_streams import HOME_STREAMS
from sdgad.events.stream import EventStream

METRICS = ("auroc", "ap", "f1")
DATASETS = {"uci:clean": ROWS["uci S3 clean"], "uci:paper": ROWS["uci S3 paper"], "mooc": ROWS["mooc S1"]}
Line = dict[str, Any]


@dataclass(frozen=True)
class Ground:
    """What a method is run on: a home stream, or a row of the comparison."""

    name: str
    row: Row | None = None

    @property
    def protocol(self) -> sdgad.Protocol:
        if self.row is None:
            return sdgad.Protocol(HOME_STREAMS[self.name].setting, rates={}, resamples=1)
        return sdgad.Protocol(self.row.setting, preset=self.row.preset, resamples=1)

    def events(self, seed: int) -> EventStream:
        return HOME_STREAMS[self.name].make(seed) if self.row is None else load(self.row.dataset)


def run(ground: Ground, method: str, seed: int, options: Line) -> Line:
    """One line: fit, score, figures."""
    trial = ground.protocol.trial(ground.events(seed), seed)
    model = sdgad.make_detector(method, seed=seed, **options)
    result = trial.run(model)
    return {
        **key(ground.name, method, seed, options), "setting": ground.protocol.setting,
        **{name: result.metrics[name] for name in METRICS}, "by_type": result.by_type,
        "train_events": len(trial.train), "test_events": len(trial.test), "fit_seconds": result.seconds["fit"],
        "score_microseconds": round(1e6 * result.seconds["score"] / len(trial.test), 2),
        "epochs": len(model.record_.epochs), "fingerprint": result.fingerprint,
        "command": " ".join(["python", "benchmarks/baselines.py", *sys.argv[1:]]), **machine(),
    }  # fmt: skip


def key(on: str, method: str, seed: int, options: Line) -> Line:
    """What makes two lines speak of the same run."""
    return {"on": on, "method": method, "seed": seed, "options": options}


def machine() -> Line:
    kind = "cuda" if torch.cuda.is_available() else "cpu"
    return {
        "machine": machine_name(torch.device(kind)), "threads": torch.get_num_threads(), "cores": os.cpu_count(),
        "python": platform.python_version(), "torch": torch.__version__, "sdgad": sdgad.__version__,
    }  # fmt: skip


def known(out: Path | None) -> set[str]:
    """Keys of the runs that a file holds."""
    lines = out.read_text("utf-8").splitlines() if out is not None and out.is_file() else []
    held = (json.loads(line) for line in lines if line.strip())
    return {json.dumps(key(line["on"], line["method"], line["seed"], line["options"])) for line in held}


def grounds(streams: str, datasets: str) -> Iterator[Ground]:
    for name in HOME_STREAMS if streams == "all" else filter(None, streams.split(",")):
        yield Ground(name)
    for name in filter(None, datasets.split(",")):
        yield Ground(name, DATASETS[name])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", default="", help=f"all, or some of: {', '.join(HOME_STREAMS)}")
    parser.add_argument("--datasets", default="", help=f"some of: {', '.join(DATASETS)}")
    parser.add_argument("--methods", default=",".join(sdgad.list_detectors()), help="all detectors")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--again", action="store_true", help="also what the file holds already")
    parser.add_argument("--out", type=Path, help="append to this file too")
    given = parser.parse_args()
    options = dict(map(parse_assignment, given.set))
    done = set() if given.again else known(given.out)
    for ground in grounds(given.streams, given.datasets):
        for method in given.methods.split(","):
            for seed in map(int, given.seeds.split(",")):
                if json.dumps(key(ground.name, method, seed, options)) not in done:
                    tell(run(ground, method, seed, options), given.out)


if __name__ == "__main__":
    main()
