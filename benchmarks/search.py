"""A configuration on validation alone: the protocol over the first 60% of a stream; one JSON line per run.

    python benchmarks/search.py --datasets uci,enron --setting S3 --seeds 0,1 --note "recent donors" --out results/search/s3.jsonl

The last 40% of a stream, on which a configuration is judged in the end, are cut off before anything is done. Of the rest 30 parts
are for training, 10 for validation, and 20, which are the validation part of the protocol, take the place of the test: their
labels are looked at. That is what a search may do, and a fit may not.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from detection import METRICS, load
from lines import tell

import sdgad
from sdgad.configuration import parse_assignment

SEEN = 0.6


def run(
    dataset: str, detector: str, protocol: sdgad.Protocol, seed: int, options: dict[str, object]
) -> dict[str, object]:
    events = load(dataset)
    model = sdgad.make_detector(detector, seed=seed, **options)
    result = protocol.trial(events[: int(SEEN * len(events))], seed).run(model)
    return {
        "dataset": dataset, "detector": detector, "setting": protocol.setting, "k": protocol.k,
        "preset": protocol.preset, "seed": seed, "options": options,
        **{name: result.metrics[name] for name in METRICS},
        "by_type": {kind: each.get("auroc") for kind, each in (result.by_type or {}).items()},
        "fit_seconds": result.seconds["fit"], "score_seconds": result.seconds["score"],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--datasets", default="mooc,wikipedia")
    parser.add_argument("--detector", default="sdgad", help="one, or several with commas")
    parser.add_argument("--setting", default="S3", choices=["S1", "S2", "S3"])
    parser.add_argument("--k", type=int, default=3, help="labelled anomalies in S2")
    parser.add_argument("--preset", default="clean", choices=["clean", "paper"], help="of injection")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--note", default="", help="what is tried")
    parser.add_argument("--out", type=Path, help="append to this file too")
    given = parser.parse_args()
    options = dict(parse_assignment(text) for text in given.set)
    protocol = sdgad.Protocol(given.setting, k=given.k, preset=given.preset, train=0.5, val=1 / 6)
    for dataset in given.datasets.split(","):
        for detector in given.detector.split(","):
            for seed in map(int, given.seeds.split(",")):
                found = run(dataset, detector, protocol, seed, options)
                tell({"note": given.note, **found}, given.out)


if __name__ == "__main__":
    main()
