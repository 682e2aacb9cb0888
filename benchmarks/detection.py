"""How well a detector finds the anomalies of a stream: fit, score, one JSON line per run.

    python benchmarks/detection.py --datasets mooc,wikipedia --seeds 0,1,2 --out results/detection.jsonl

The data folder is $SDGAD_DATA, else ../shared/data beside the checkout. Splits are 40/20/40 by event; the test part is scored
once, after every choice was made on training and validation events.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path

import torch

import sdgad
from sdgad.configuration import parse_assignment
from sdgad.events.stream import EventStream


def load(name: str) -> EventStream:
    if name.startswith("payments"):
        return sdgad.simulate_payments(seed=int(name.removeprefix("payments") or 0))
    folder = Path(os.environ.get("SDGAD_DATA", Path(__file__).parents[2] / "shared" / "data"))
    return sdgad.read_events(folder / f"{name}.parquet")


def run(dataset: str, detector: str, labels: str, seed: int, options: dict[str, object]) -> dict[str, object]:
    train, val, test = load(dataset).split(train=0.4, val=0.2)
    if labels != "all":
        train = train.with_labels(labels, k=3, seed=seed)  # type: ignore[arg-type]
    model = sdgad.make_detector(detector, seed=seed, **options)
    start = time.perf_counter()
    model.fit(train, val=val)
    fitted = time.perf_counter()
    score = model.decision_function(test)
    scored = time.perf_counter()
    facts = sdgad.evaluate(test.label, score, model.threshold_, anomaly_type=test.anomaly_type)
    at_half = sdgad.evaluate(test.label, score, 0.5)
    val_facts = sdgad.evaluate(val.label, model.validation_scores_)
    record = getattr(model, "record_", None)
    return {
        "dataset": dataset, "detector": detector, "labels": labels, "seed": seed, "options": options,
        "auroc": facts["auroc"], "ap": facts["ap"], "f1": facts["f1"], "precision": facts["precision"],
        "recall": facts["recall"], "fpr": facts["fpr"], "threshold": model.threshold_,
        "at_half": {key: at_half[key] for key in ("f1", "precision", "recall", "fpr")},
        "by_type": facts.get("by_type"), "val_auroc": val_facts["auroc"], "val_ap": val_facts["ap"],
        "epochs": len(record.epochs) if record else None, "best_epoch": record.best_epoch if record else None,
        "fit_seconds": round(fitted - start, 1), "score_seconds": round(scored - fitted, 1),
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else f"{os.cpu_count()}-core CPU",
        "python": platform.python_version(), "torch": torch.__version__, "sdgad": sdgad.__version__,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--datasets", default="mooc,wikipedia")
    parser.add_argument("--detector", default="sdgad")
    parser.add_argument("--labels", default="all", choices=["all", "few-shot", "none"])
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--out", type=Path, help="append to this file too")
    given = parser.parse_args()
    options = dict(parse_assignment(text) for text in given.set)
    for dataset in given.datasets.split(","):
        for seed in map(int, given.seeds.split(",")):
            line = json.dumps(run(dataset, given.detector, given.labels, seed, options))
            print(line, flush=True)
            if given.out:
                with given.out.open("a") as file:
                    file.write(line + "\n")


if __name__ == "__main__":
    main()
