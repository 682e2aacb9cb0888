"""A number to trust: two detectors in the paper's three settings, over three seeds, with a verdict.

python examples/09_protocol.py
"""

import numpy as np

import sdgad
from sdgad.experiments.comparison import compare_results
from sdgad.experiments.seeds import run_seeds
from sdgad.experiments.summary import Summary

# Payments with nothing wrong in them; the protocol puts the anomalies in, anew for every seed: in training and
# validation known pairs at odd times (T), in the test part also partners that somebody never had (S).
events = sdgad.simulate_payments(num_events=2_000, anomaly_rate=0, seed=3)
rates = {"train": {"T": 0.02}, "val": {"T": 0.02}, "test": {"T": 0.01, "S": 0.01}}

for setting in ("S1", "S2", "S3"):  # all labels, three labelled anomalies, none
    protocol = sdgad.Protocol(setting, rates=rates)
    boosting, forest = (
        run_seeds(protocol, events, lambda seed, name=name: sdgad.make_detector(name, seed=seed), range(3))
        for name in ("boosting", "isolation-forest")
    )
    for results in (boosting, forest):
        print(Summary.of(results))
    # The same test events for both, so most of the luck cancels; over all seeds, one verdict.
    print(f"  boosting against forest: {compare_results(boosting, forest)}\n")

# What a method gets to see: streams whose hidden labels are unknown. There is nothing else to find in them.
trial = sdgad.Protocol("S2", rates=rates).trial(events, seed=0)
for name, part in (("train", trial.train), ("val", trial.val), ("test", trial.test)):
    known = part.label[~np.isnan(part.label)]
    print(
        f"{name:<5} {len(part):>5} events, {len(known):>4} labels seen, {int(known.sum()):>2} of them anomalies"
    )

# Scores of your own, from wherever they come, are judged by the same answers.
print(trial.evaluate(np.random.default_rng(0).random(len(trial.test)), threshold=0.99, detector="dice"))
