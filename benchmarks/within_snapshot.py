"""What it costs to score an event without the rest of its snapshot: the snapshot methods, both ways, one JSON line per run.

    python benchmarks/within_snapshot.py --streams communities --seeds 0 --out results/within_snapshot.jsonl
    python benchmarks/within_snapshot.py --datasets uci:clean --methods addgraph --seeds 0,1,2 --out results/within_snapshot.jsonl

`before` are the scores that `decision_function` gives: by the state before the snapshot, and the event itself. `within` is as
published: all events of a snapshot count first, the scored one and later ones among them, and are scored by the state that knows
them (in AddGraph the event then moves its two ends once more, as it does before). The same network, which has learned our way,
scores both ways. Grounds are those of baselines.py; what `--out` holds already is not run again. `docs/baselines.md` shows these
lines.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import torch
from baselines import DATASETS, Ground, Line, grounds, key, known, machine
from lines import tell

import sdgad
from sdgad.configuration import parse_assignment
from sdgad.detectors.baselines.snapshots.method import SnapshotMethod
from sdgad.detectors.own_state import stretches
from sdgad.events.home_streams import HOME_STREAMS
from sdgad.events.stream import Array, EventStream

METHODS = ("netwalk", "addgraph", "strgnn", "taddy")
METRICS = ("auroc", "ap")


def both_ways(model: SnapshotMethod, events: EventStream) -> tuple[Array, Array]:
    """Scores of events that follow what a model has seen: by the state before their snapshot, and by the one that knows it."""
    new, state = model._arrived(events).log, model._new_state()
    held = model._state.arrays()
    state.load(held)
    node = torch.from_numpy(np.stack([new.src, new.dst], 1))
    waiting = torch.from_numpy(held.get("block.node", np.empty((0, 2), np.int64)))
    seconds = model.border.seconds(new.t, model._archive.log.t[0])
    if 0 in state.cuts(seconds):  # the snapshot that is open is complete
        state.commit_pairs(waiting)
        waiting = waiting[:0]
    before, within = [], []
    for part in stretches(state, seconds, len(new)):
        some = torch.split(node[part], model.score_rows)
        before += [state.score_pairs(pairs) for pairs in some]
        state.commit_pairs(torch.cat([waiting, node[part]]))
        waiting = waiting[:0]
        within += [state.score_pairs(pairs) for pairs in some]
    return np.concatenate(before), np.concatenate(within)


def run(ground: Ground, method: str, seed: int, options: Line) -> Line:
    """One line: fit, score both ways, figures."""
    trial = ground.protocol.trial(ground.events(seed), seed)
    model = sdgad.make_detector(method, seed=seed, **options)
    assert isinstance(model, SnapshotMethod), f"{method} has no snapshots"
    result = trial.run(model)
    before, within = both_ways(model, trial.test)
    assert np.array_equal(before, result.scores), (
        "the scores before the snapshot are not those of decision_function"
    )
    known_all = trial.evaluate(within, model.threshold_)
    return {
        **key(ground.name, method, seed, options), "setting": ground.protocol.setting,
        "before": {name: result.metrics[name] for name in METRICS},
        "within": {name: known_all.metrics[name] for name in METRICS},
        "snapshot": model._size, "test_events": len(trial.test), "fingerprint": result.fingerprint,
        "command": " ".join(["python", "benchmarks/within_snapshot.py", *sys.argv[1:]]), **machine(),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", default="", help=f"all, or some of: {', '.join(HOME_STREAMS)}")
    parser.add_argument("--datasets", default="", help=f"some of: {', '.join(DATASETS)}")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--out", type=Path, help="append to this file too")
    given = parser.parse_args()
    options = dict(map(parse_assignment, given.set))
    done = known(given.out)
    for ground in grounds(given.streams, given.datasets):
        for method in given.methods.split(","):
            for seed in map(int, given.seeds.split(",")):
                if json.dumps(key(ground.name, method, seed, options)) not in done:
                    tell(run(ground, method, seed, options), given.out)


if __name__ == "__main__":
    main()
