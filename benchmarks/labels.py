"""What more labels bring: no label, 1, 3, 5, … of the training anomalies, all of them; one JSON line per run.

    python benchmarks/labels.py --datasets payments0,payments1 --out results/labels.jsonl

Validation has its labels wherever training has any, as in the paper's S2 and S1.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from detection import load
from lines import tell

import sdgad

COUNTS = (0, 1, 3, 5, 10, 20, 50, None)  # None: all


def protocol(count: int | None) -> sdgad.Protocol:
    if count is None:
        return sdgad.Protocol("S1", resamples=1)
    return sdgad.Protocol("S2", k=count, resamples=1) if count else sdgad.Protocol("S3", resamples=1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--datasets", default="payments0,payments1,payments2")
    parser.add_argument("--detector", default="sdgad")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--counts", help="with commas, or all; of the training anomalies")
    parser.add_argument("--out", type=Path, help="append to this file too")
    given = parser.parse_args()
    counts = COUNTS
    if given.counts:
        counts = tuple(None if text == "all" else int(text) for text in given.counts.split(","))
    for dataset in given.datasets.split(","):
        for seed in map(int, given.seeds.split(",")):
            for count in counts:
                result = (
                    protocol(count)
                    .trial(load(dataset), seed)
                    .run(sdgad.make_detector(given.detector, seed=seed))
                )
                found = {
                    "dataset": dataset, "detector": given.detector, "seed": seed, "labels": "all" if count is None else count,
                    **{name: result.metrics[name] for name in ("auroc", "ap", "f1")}, "seconds": result.seconds["fit"],
                }  # fmt: skip
                tell(found, given.out)


if __name__ == "__main__":
    main()
