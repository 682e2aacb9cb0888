"""Is the large model worth it? Every detector on the same events, in half a minute.

python examples/08_compare_detectors.py
"""

from time import perf_counter

import sdgad

events = sdgad.simulate_payments(num_events=1_500, anomaly_rate=0.03, seed=3)
train, val, test = events.split(train=0.4, val=0.2)

print(f"{len(train)} events to learn from, {len(test)} to be judged on.\n")
shorter = {
    "sdgad": {"history": 5, "trees": 50},
    "classifier": {"history": 5},
    "sad": {"history": 5, "hop": 3},
    "generaldyg": {"history": 5, "hop": 3},
}  # for the sake of this example, as are the few epochs; leave both out for your own data
print("detector          labels   AUROC      AP      F1  seconds")
for name in sdgad.list_detectors():
    for supervision in ("all", "none"):
        start = perf_counter()
        # every detector has the same methods; unknown options are errors
        det = sdgad.make_detector(name, seed=0, **shorter.get(name, {}))
        det.fit(train.with_labels(supervision), val=val.with_labels(supervision), epochs=3)
        found = sdgad.evaluate(test.label, det.decision_function(test), det.threshold_)
        figures = " ".join(f"{found[key]:7.3f}" for key in ("auroc", "ap", "f1"))
        print(f"{name:<17} {supervision:<6} {figures} {perf_counter() - start:8.1f}")

# One small simulated stream says little: run this on your own events.
