"""How many alerts will I get? One detector, several thresholds.

python examples/04_thresholds.py
"""

import sdgad

events = sdgad.simulate_payments(num_events=4_000, anomaly_rate=0.02, seed=3)
train, val, test = events.split(train=0.4, val=0.2)
det = sdgad.SDGAD(history=10, seed=0).fit(train, val=val, epochs=6)

# The threshold decides and the scores stay as they are, so score once.
scores = det.decision_function(test)
days = (test.t[-1] - test.t[0]) / 86_400

rules = [
    ("f1",),  # the best compromise on validation; the default where validation has anomalies
    ("fpr", 0.01),  # flag at most 1% of the normal validation events
    ("alerts_per_day", 2),  # at most two alerts per day of validation, right or wrong
    ("quantile", 0.005),  # the highest 0.5% of validation, no label needed
    (0.5,),  # the boundary that the detector learned
]
print(f"{len(test)} events in {days:.1f} days, {int(test.label.sum())} of them anomalous.\n")
print("rule                  threshold  alerts  per day  false  precision  recall")
for rule in rules:
    det.set_threshold(*rule)
    found = sdgad.evaluate(test.label, scores, det.threshold_)
    false = round(found["fpr"] * (found["events"] - found["anomalies"]))
    print(
        f"{det.threshold_rule_:<20} {det.threshold_:10.4f} {found['flagged']:7} {found['flagged'] / days:8.1f}"
        f" {false:6} {found['precision'] or 0:10.2f} {found['recall']:7.2f}"
    )

# A p-value needs no threshold: how often would a normal event score as high as this one?
highest = scores.max()
print(f"\nThe highest score, {highest:.4f}, has p = {det.p_value([highest])[0]:.4f}.")
print(
    f"It cannot be smaller than 1/(validation normals + 1) = {1 / (len(det.validation.normal_scores) + 1):.4f}."
)
