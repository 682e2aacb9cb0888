"""The comparison of the README: every stream and setting, SDGAD and what it has to beat, with paired verdicts; JSON lines.

    python benchmarks/rows.py run "uci S3 clean" --scores /tmp/scores --out results/rows.jsonl
    python benchmarks/rows.py compare --scores /tmp/scores --out results/rows.jsonl

`run` fits and scores under the protocol, each seed for itself: one line per detector and seed. `compare` says of every row where
SDGAD, with its defaults, is ahead, behind or tied: the paired comparison of `sdgad.compare_results`' kind over the same seeds.
Several `run`s may go on side by side. `ties` belongs to a row; nothing else differs between rows.
`rows_table.py` makes tables of it.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from detection import METRICS, load
from lines import tell
from rules import RULES

import sdgad
from sdgad.detectors.base import Detector
from sdgad.metrics.paired import compare_over_seeds

OURS = "sdgad"
OTHERS = ("boosting", "isolation-forest", "classifier", "min-gap", "new-pair")
ASKED = (0.001, 0.01, 0.05)  # shares of normals
PARTS = 5  # of the test part, in order of time


@dataclass(frozen=True)
class Row:
    """A stream under a setting."""

    dataset: str
    setting: str
    preset: str = "clean"
    k: int = 3
    seeds: int = 5
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        few = f" k={self.k}" if self.setting == "S2" else ""
        how = f" {self.preset}" if self.dataset in ("uci", "enron") else ""
        return f"{self.dataset} {self.setting}{few}{how}"

    def stream(self, seed: int) -> str:
        """The simulator draws a stream for every seed."""
        return f"payments{seed}" if self.dataset == "payments" else self.dataset


ROWS = {
    row.name: row
    for row in (
        Row("mooc", "S1"),
        Row("wikipedia", "S1"),
        *(Row(name, "S2", k=k, seeds=10) for name in ("mooc", "wikipedia") for k in (1, 2, 3)),
        Row("mooc", "S3"),
        Row("wikipedia", "S3"),
        *(Row(name, "S3", preset) for name in ("uci", "enron") for preset in ("clean", "paper")),
        Row("darpa", "S3", options={"ties": "arrival"}),
        Row("payments", "S1"),
        Row("payments", "S3"),
    )
}


def make(name: str, seed: int, options: dict[str, Any]) -> Detector:
    return (
        RULES[name](seed=seed, **options)
        if name in RULES
        else sdgad.make_detector(name, seed=seed, **options)
    )


def run(row: Row, seed: int, names: Iterable[str], scores: Path | None, out: Path | None) -> None:
    protocol = sdgad.Protocol(row.setting, k=row.k, preset=row.preset, resamples=100)
    trial = protocol.trial(load(row.stream(seed)), seed)
    for name in names:
        detector = make(name, seed, row.options)
        start = time.time()
        result = trial.run(detector)
        label = result.answers.label
        found = {
            "row": row.name, "detector": name, "seed": seed,
            **{metric: result.metrics[metric] for metric in METRICS},
            "threshold_rule": result.threshold_rule, "calibration": calibration(detector, label, result.scores),
            "fingerprint": result.fingerprint, "seconds": result.seconds, "all_seconds": round(time.time() - start, 1),
            "options": row.options,
            "device": torch.cuda.get_device_name() if torch.cuda.is_available() else f"{os.cpu_count()}-core CPU",
            "python": platform.python_version(), "torch": torch.__version__, "sdgad": sdgad.__version__,
        }  # fmt: skip
        tell(found, out)
        if scores is not None:
            scores.mkdir(parents=True, exist_ok=True)
            place = scores / f"{row.name.replace(' ', '_')}.{name}.{seed}.npz"
            odds = np.log(result.scores / (1 - result.scores)).astype(np.float32)  # in the same order
            np.savez_compressed(place, label=label.astype(np.int8), score=odds)


def calibration(detector: Detector, label: np.ndarray, score: np.ndarray) -> dict[str, list[float]]:
    """Asked share of normals → the share of them that reach the validation quantile, in each fifth of the test part."""
    held = detector.validation
    normal = held.score[~(held.label == 1)]
    parts = np.array_split(np.arange(len(label)), PARTS)
    return {
        str(asked): [round(float((score[p][label[p] == 0] >= np.quantile(normal, 1 - asked)).mean()), 5) for p in parts]
        for asked in ASKED
    }  # fmt: skip


def compare(scores: Path, resamples: int, out: Path | None) -> None:
    held: dict[str, dict[str, dict[int, Path]]] = defaultdict(lambda: defaultdict(dict))
    for place in scores.glob("*.npz"):
        row, name, seed = place.stem.rsplit(".", 2)
        held[row][name][int(seed)] = place
    for row, by_name in sorted(held.items()):
        for other in OTHERS:
            seeds = sorted(by_name[OURS].keys() & by_name[other].keys())
            if not seeds:
                continue
            a, b = ([np.load(by_name[name][seed]) for seed in seeds] for name in (OURS, other))
            verdicts = {}
            for metric in ("auroc", "ap"):
                found = compare_over_seeds(
                    [(one["label"], one["score"], two["score"]) for one, two in zip(a, b, strict=True)],
                    metric,
                    resamples=resamples,
                )
                verdicts[metric] = [found.verdict, round(found.difference, 5), round(found.interval.low, 5),
                                    round(found.interval.high, 5)]  # fmt: skip
            tell({"row": row.replace("_", " "), "against": other, "seeds": len(seeds), **verdicts}, out)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    running = verbs.add_parser("run")
    running.add_argument("row", choices=list(ROWS))
    running.add_argument("--seeds", help="with commas; all of the row's")
    running.add_argument("--detectors", default=",".join((OURS, *OTHERS)))
    comparing = verbs.add_parser("compare")
    comparing.add_argument(
        "--resamples", type=int, default=100, help="of events; their spread is what is needed"
    )
    for verb in (running, comparing):
        verb.add_argument("--scores", type=Path, help="folder of scores, for the comparison")
        verb.add_argument("--out", type=Path, help="append to this file too")
    given = parser.parse_args()
    if given.verb == "compare":
        compare(given.scores, given.resamples, given.out)
    else:
        row = ROWS[given.row]
        seeds = map(int, given.seeds.split(",")) if given.seeds else range(row.seeds)
        for seed in seeds:
            run(row, seed, given.detectors.split(","), given.scores, given.out)


if __name__ == "__main__":
    main()
