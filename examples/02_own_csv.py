"""A CSV file as they come: odd column names, local times, categories, gaps, rows out of order.

python examples/02_own_csv.py
"""

import csv
import tempfile
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

import sdgad

BERLIN = ZoneInfo("Europe/Berlin")
HEADER = ["Customer no.", "Merchant", "booked at", "EUR", "paid by", "chargeback?"]


def write_sample(path: Path) -> None:
    """Something like what you have; replace it by your own file."""
    events = sdgad.simulate_payments(num_events=2_000, anomaly_rate=0.03, seed=1)
    source, destination = (events.vocabulary.raw(side).to_pylist() for side in (events.src, events.dst))
    channels = events.features[1].categories
    rng = np.random.default_rng(1)
    rows = [
        [
            source[i],
            destination[i],
            datetime.fromtimestamp(events.t[i], BERLIN).isoformat(),  # 2026-01-05T05:47:12+01:00
            "" if rng.random() < 0.05 else f"{events.msg[i, 0]:.2f}",  # one amount in twenty is missing
            channels[int(events.msg[i, 1])],
            "" if rng.random() < 0.5 else int(events.label[i]),  # half of the rows were never looked at
        ]
        for i in rng.permutation(len(events))  # and nobody sorted them
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEADER, *rows])


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "bookings.csv"
    write_sample(path)
    print(*path.read_text(encoding="utf-8").splitlines()[:3], "", sep="\n")

    # Say what each column is. Times carry their offset; `timezone` says whose mornings and nights they are.
    columns = {"src": "Customer no.", "dst": "Merchant", "time": "booked at", "label": "chargeback?"}
    events = sdgad.read_events(path, **columns, features=["EUR", "paid by"], timezone="Europe/Berlin")

    # A wrong name is one sentence, which says what there is instead.
    try:
        sdgad.read_events(path, **columns | {"dst": "Merchnat"}, features=["EUR"])
    except sdgad.InputError as problem:
        print(f"A mistake reads like this: {str(problem).replace(folder, '…')}\n")

print(events)  # a missing label is unknown, and in training counts as normal
for feature in events.features:
    print(f"  {feature.name}: {', '.join(feature.categories) if feature.categorical else 'numbers'}")
print(f"  clock: {events.clock}\n")

train, val, test = events.split(train=0.6, val=0.2)
det = sdgad.SDGAD(history=5, seed=0).fit(train, val=val, epochs=4)
scores = det.decision_function(test)
print(f"{len(test)} events scored, {det.predict(test).sum()} reach the threshold {det.threshold_:.3f}.")

# Events are in time order, whatever the file had; `row` says where each stood there (the header is not counted).
for i in np.argsort(-scores)[:3]:
    print(f"  row {test.row[i] + 1:>4} of the file: score {scores[i]:.3f}")
