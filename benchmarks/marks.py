"""How many marked anomalies are enough? The demo's payments with k of the past anomalies marked and nothing else known.

python benchmarks/marks.py            # prints a line per k; figures of docs/own-data.md
"""

from __future__ import annotations

import numpy as np

import sdgad

EVENTS, PAST = 30_000, 0.6


def main() -> None:
    events = sdgad.simulate_payments(num_events=EVENTS, seed=0)
    cut = int(PAST * len(events))
    past, later = events[:cut], events[cut:]
    anomalies = np.flatnonzero(past.label == 1)
    for k in (5, 20, 60):
        label = np.full(len(past), np.nan)
        label[np.random.default_rng(0).choice(anomalies, k, replace=False)] = 1
        detector = sdgad.SDGAD(seed=0).fit(past.with_columns(label=label))
        found = sdgad.evaluate(later.label, detector.decision_function(later))
        print(f"{k} of {len(anomalies)} marked: AUROC {found['auroc']:.3f}, AP {found['ap']:.3f}", flush=True)


if __name__ == "__main__":
    main()
