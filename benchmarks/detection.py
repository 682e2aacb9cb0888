"""How well a detector finds the anomalies of a stream under the paper's settings: one JSON line per run.

    python benchmarks/detection.py --datasets mooc,wikipedia --setting S1 --seeds 0,1,2 --out results/detection.jsonl
    python benchmarks/detection.py --datasets uci,enron --setting S3 --detector boosting

Datasets are those of `sdgad data list` (looked for in $SDGAD_DATA, else ../shared/data beside the checkout),
payments0, payments1, … of the simulator, and made-logins0, made-flows0, … of made_up.py. The protocol hides what a
method must not see (docs/protocol.md).
"""

from __future__ import annotations

import argparse
import os
import platform
from pathlib import Path

import torch
from lines import tell
from made_up import made_up

import sdgad
from sdgad.configuration import parse_assignment
from sdgad.events.stream import EventStream

METRICS = ("auroc", "ap", "f1", "precision", "recall", "fpr")


def load(name: str) -> EventStream:
    if name.startswith("payments"):
        return sdgad.simulate_payments(seed=int(name.removeprefix("payments") or 0))
    if name.startswith("made-"):
        return made_up(name.removeprefix("made-"))
    folder = Path(os.environ.get("SDGAD_DATA", Path(__file__).parents[2] / "shared" / "data"))
    return sdgad.load_dataset(name, data=folder, download=False)


def run(
    dataset: str, detector: str, protocol: sdgad.Protocol, seed: int, options: dict[str, object]
) -> dict[str, object]:
    model = sdgad.make_detector(detector, seed=seed, **options)
    result = protocol.trial(load(dataset), seed).run(model)
    record = model.record_
    return {
        "dataset": dataset, "detector": detector, "setting": protocol.setting, "k": protocol.k,
        "preset": protocol.preset, "seed": seed, "options": options,
        **{name: result.metrics[name] for name in METRICS},
        "threshold": result.threshold, "threshold_rule": result.threshold_rule,
        "threshold_table": result.metrics["threshold_table"], "by_type": result.by_type,
        "oracle_f1": result.oracle and result.oracle.f1, "fingerprint": result.fingerprint,
        "epochs": len(record.epochs), "best_epoch": record.best_epoch,
        "fit_seconds": result.seconds["fit"], "score_seconds": result.seconds["score"],
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else f"{os.cpu_count()}-core CPU",
        "python": platform.python_version(), "torch": torch.__version__, "sdgad": sdgad.__version__,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--datasets", default="mooc,wikipedia")
    parser.add_argument("--detector", default="sdgad")
    parser.add_argument("--setting", default="S1", choices=["S1", "S2", "S3"])
    parser.add_argument("--k", type=int, default=3, help="labelled anomalies in S2")
    parser.add_argument("--preset", default="clean", choices=["clean", "paper"], help="of injection")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--out", type=Path, help="append to this file too")
    given = parser.parse_args()
    options = dict(parse_assignment(text) for text in given.set)
    protocol = sdgad.Protocol(given.setting, k=given.k, preset=given.preset)
    for dataset in given.datasets.split(","):
        for seed in map(int, given.seeds.split(",")):
            tell(run(dataset, given.detector, protocol, seed, options), given.out)


if __name__ == "__main__":
    main()
