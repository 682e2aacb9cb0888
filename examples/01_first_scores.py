"""The shortest way from events to scores: simulate, fit, score, look at the highest.

python examples/01_first_scores.py
"""

import numpy as np

import sdgad

# 4,000 payments between accounts and shops; 2% of them are planted anomalies of five kinds.
events = sdgad.simulate_payments(num_events=4_000, anomaly_rate=0.02, seed=3)
print(events)

# In time order: learn from the first 40%, choose a threshold on the next 20%, be judged on the rest.
train, val, test = events.split(train=0.4, val=0.2)

# history=10: each event is compared with the last ten of its two parties. epochs=6 keeps this example short.
det = sdgad.SDGAD(history=10, seed=0).fit(train, val=val, epochs=6)

# One number per event, between 0 and 1, higher = more anomalous. Nothing is learned here, no label is read.
scores = det.decision_function(test)

print(f"\nThe ten highest of {len(test)} scores (threshold {det.threshold_:.3f}):\n")
source, destination = (test.vocabulary.raw(side).to_pylist() for side in (test.src, test.dst))
for i in np.argsort(-scores)[:10]:
    amount, planted = test.msg[i, 0], test.anomaly_type[i] or "an ordinary payment"
    print(f"  {scores[i]:.3f}  {source[i]} pays {destination[i]:<9}  {amount:9.2f}   {planted}")

# How good is the order? AUROC: how often an anomaly stands above an ordinary event. Chance is 0.5.
quality = sdgad.evaluate(test.label, scores, det.threshold_)
print(f"\nAUROC {quality['auroc']:.3f}, precision {quality['precision']:.2f}, recall {quality['recall']:.2f}")
