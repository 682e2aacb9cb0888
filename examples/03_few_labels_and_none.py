"""All labels, three labelled anomalies, or none: the same call, and what each of them costs.

python examples/03_few_labels_and_none.py
"""

import sdgad

events = sdgad.simulate_payments(num_events=4_000, anomaly_rate=0.02, seed=3)
train, val, test = events.split(train=0.4, val=0.2)

# What training may see. "few-shot" keeps k labelled anomalies and forgets every other label, normals included.
# With labels of your own there is nothing to thin: leave unknown ones empty, or have no label column at all.
settings = {
    "all labels": (train, val),
    "three anomalies": (train.with_labels("few-shot", k=3, seed=0), val),
    "no labels": (train.with_labels("none"), val.with_labels("none")),
}

print("training may see    rule of the threshold   AUROC     AP   flagged of", len(test))
for name, (known, held_out) in settings.items():
    # history=5 and few epochs keep the example short; leave both out for your own data.
    det = sdgad.SDGAD(history=5, seed=0).fit(known, val=held_out, epochs=2)
    scores = det.decision_function(test)
    # The labels of the test part were seen by nobody: they are for judging only.
    quality = sdgad.evaluate(test.label, scores, det.threshold_)
    print(
        f"{name:<18}  {det.threshold_rule_:<21} {quality['auroc']:7.3f} {quality['ap']:6.3f} {quality['flagged']:9}"
    )

# Without a validation label there is no best F1 to look for: the threshold is then the score that 1% of the
# validation events reach. Example 04 shows how to choose it yourself.
# This is one small stream: with others, three labelled anomalies can be no better than none. All labels are.
