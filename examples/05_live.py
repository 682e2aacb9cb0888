"""Score events as they come, one by one; stop, and go on where you stopped.

python examples/05_live.py
"""

import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

import sdgad

events = sdgad.simulate_payments(num_events=2_000, anomaly_rate=0.03, seed=0)
train, val, test = events.split(train=0.4, val=0.2)
det = sdgad.SDGAD(history=10, seed=0).fit(train, val=val, epochs=3)

# A live scorer works on a copy of the detector's history. `det` itself stays where it is.
live = det.live()

# One event, made from what a request would bring. `columns` and `clock` say that it is meant as in training.
event = sdgad.read_events(
    {"src": ["acc-00001"], "dst": ["a new shop"], "t": [test.t[0]], "amount": [900.0], "channel": ["online"]},
    columns=det.columns,
    clock=det.clock,
)
print(f"What if? {live.score(event)[0]:.3f}, and nothing has changed.")

# The stream itself: each event is scored against all before it, and is then past for those that follow.
start = perf_counter()
first = [live.score_and_update(test[i : i + 1])[0] for i in range(200)]
print(f"200 events, one by one, {1000 * (perf_counter() - start) / 200:.1f} ms each.")

with tempfile.TemporaryDirectory() as folder:
    state = Path(folder) / "state.safetensors"
    live.snapshot(state, note={"done": 200})  # one file, which appears whole or not at all
    del live  # the machine goes down

    live = det.live()
    done = live.restore(state)["done"]
    print(f"Back again after {done} events; {live.history_size[0]:,} are past.")

# Batches of any size give the same scores, and so does scoring all of it offline.
rest = live.score_and_update(test[done:])
offline = det.decision_function(test)
print(f"Largest difference from offline scoring: {np.abs(np.concatenate([first, rest]) - offline).max():.1e}")
