"""EdgeBank: who has met before, ever or lately, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdgad.detectors.baselines.edgebank import ANOMALOUS, NORMAL, EdgeBank
from sdgad.detectors.registry import load
from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import EventStream


def stream(src: list[str], dst: list[str], t: Any) -> EventStream:
    return EventStream(src, dst, t, clock=Clock("s"))


def past() -> tuple[EventStream, EventStream]:
    """a and b meet at times 0 to 19, c and d at 20 to 30: the validation part lasts 10 seconds."""
    met = ["a"] * 20 + ["c"] * 11
    events = stream(met, ["b" if who == "a" else "d" for who in met], np.arange(31.0))
    return events[:20], events[20:]


def detector(**options: Any) -> EdgeBank:
    train, val = past()
    return EdgeBank(device="cpu", **options).fit(train, val=val)


def test_a_pair_that_ever_met_is_normal_in_either_direction_and_any_other_is_not() -> None:
    new = stream(["a", "b", "a", "c", "x", "a"], ["b", "a", "d", "d", "y", "d"], [99.0, 99, 99, 99, 99, 100])
    want = [NORMAL, NORMAL, ANOMALOUS, NORMAL, ANOMALOUS, NORMAL]  # the last pair met a second ago
    np.testing.assert_array_equal(detector().decision_function(new), want)


@pytest.mark.parametrize(("t", "want"), [(39.0, NORMAL), (40.0, NORMAL), (40.001, ANOMALOUS)])
def test_a_window_is_as_long_as_the_validation_part(t: float, want: float) -> None:
    """c and d met last at 30."""
    assert detector(memory="window").decision_function(stream(["c"], ["d"], [t])) == want
    assert detector(memory="ever").decision_function(stream(["c"], ["d"], [t])) == NORMAL
    assert detector(memory="window").decision_function(stream(["a"], ["b"], [31.0])) == ANOMALOUS


def test_the_rule_is_that_of_a_set_of_pairs() -> None:
    """Against a plain loop, over payments with pairs that come back after long."""
    train, val, test = simulate_payments(3000, seed=2).split()
    span = float(val.t[-1] - val.t[0])
    for memory, reach in (("ever", np.inf), ("window", span)):
        last: dict[frozenset[int], float] = {}
        want = []
        for src, dst, t in zip(
            test.whole.src.tolist(), test.whole.dst.tolist(), test.whole.t.tolist(), strict=True
        ):
            pair = frozenset((src, dst))
            want.append(NORMAL if pair in last and t - last[pair] <= reach else ANOMALOUS)
            last[pair] = t
        assert (np.diff(test.whole.t) > 0).all()  # no ties
        model = EdgeBank(device="cpu", memory=memory).fit(train, val=val)
        found = [model.decision_scores_, model.validation_scores_, model.decision_function(test)]
        np.testing.assert_array_equal(np.concatenate(found), want)


def test_the_window_survives_the_folder(tmp_path: Any) -> None:
    detector(memory="window").save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.decision_function(stream(["c", "c"], ["d", "d"], [40.0, 51.0])).tolist() == [
        NORMAL,
        ANOMALOUS,
    ]


def test_options_out_of_range_are_named() -> None:
    with pytest.raises(InputError, match="memory="):
        EdgeBank(memory="always")
