"""A day on which a fifth of all payments are attacks: does the detector get used to them? One JSON line per seed.

    python benchmarks/attack_day.py --seeds 0,1,2 --out results/attack_day.jsonl

Fitted on an ordinary stream, with labels and without. Into the tenth day of the test part come attacks that the same town would
have seen at a much higher rate, until they are a fifth of that day; of all kinds but the waking of dormant accounts, who do not
sleep here.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
from lines import tell

import sdgad
from sdgad.events.stream import EventStream
from sdgad.metrics.confusion import confusion

DAY = 86_400.0
SHARE = 0.2


def attacked(test: EventStream, seed: int) -> tuple[EventStream, np.ndarray]:
    """The test part with attacks, and which rows are of the day."""
    start = test.t[0] + 9 * DAY
    today = (test.t >= start) & (test.t < start + DAY)
    source = sdgad.simulate_payments(anomaly_rate=0.3, seed=seed)
    count = round(SHARE / (1 - SHARE) * int((today & (test.label == 0)).sum()))
    attacks = source[int(0.6 * len(source)) :]
    assert attacks.anomaly_type is not None
    rows = np.flatnonzero((attacks.label == 1) & (attacks.anomaly_type != "dormant-wakes"))
    rows = np.sort(np.random.default_rng(seed).choice(rows, min(count, len(rows)), replace=False))
    t = start + (attacks.t[rows] - start) % DAY
    order = np.argsort(np.concatenate([test.t, t]), kind="stable")

    def both(mine: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.concatenate([mine, other])[order]

    def ids(name: str) -> pa.Array:
        held = [
            stream.vocabulary.raw(getattr(stream, name)[some])
            for stream, some in ((test, slice(None)), (attacks, rows))
        ]
        return pa.concat_arrays(held).take(pa.array(order))

    assert test.msg is not None
    assert attacks.msg is not None
    mixed = EventStream(
        ids("src"),
        ids("dst"),
        both(test.t, t),
        both(test.msg, attacks.msg[rows]),
        both(test.label, attacks.label[rows]),
        features=test.features,
        clock=test.clock,
    )
    return mixed, (mixed.t >= start) & (mixed.t < start + DAY)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--detector", default="sdgad")
    parser.add_argument("--out", type=Path, help="append to this file too")
    given = parser.parse_args()
    for seed in map(int, given.seeds.split(",")):
        train, val, test = sdgad.simulate_payments(seed=seed).split()
        mixed, today = attacked(test, seed)
        for labels in ("all", "none"):
            detector = sdgad.make_detector(given.detector, seed=seed)
            detector.fit(train.with_labels(labels), val=val.with_labels(labels))
            usual, score = detector.decision_function(test), detector.decision_function(mixed)
            for asked in (
                (None, 0.01) if labels == "all" else (None,)
            ):  # without labels it is that quantile anyhow
                if asked is not None:
                    detector.set_threshold("fpr", asked)
                day = confusion(mixed.label[today], score[today], detector.threshold_)
                ordinary = confusion(test.label, usual, detector.threshold_)
                found = {
                    "seed": seed, "detector": given.detector, "labels": labels, "threshold": detector.threshold_rule_,
                    "attacks": int(mixed.label[today].sum()), "share": round(float(mixed.label[today].mean()), 3),
                    "recall": day.recall, "fpr": day.fpr, "recall_otherwise": ordinary.recall, "fpr_otherwise": ordinary.fpr,
                }  # fmt: skip
                tell(found, given.out)


if __name__ == "__main__":
    main()
