"""Memory and second hops do what they are for: on streams where nothing else tells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdgad.detectors import Detector, make_detector
from sdgad.events.stream import EventStream
from sdgad.metrics import auroc

from .made_streams import second_hop, third_last


def fitted(events: EventStream, encoder: str, **options: Any) -> tuple[Detector, EventStream]:
    train, val, test = events.split(train=0.5, val=0.2)
    return make_detector("classifier", encoder=encoder, device="cpu", **options).fit(train, val), test


def quality(events: EventStream, encoder: str, **options: Any) -> float:
    detector, test = fitted(events, encoder, **options)
    return auroc(test.label, detector.decision_function(test)) or 0.0


def test_a_memory_reaches_beyond_the_window() -> None:
    """The label is the mark of the source's third last event, and L = 2."""
    events = third_last()
    assert quality(events, "tgn", history=2, context=False) >= 0.8
    assert quality(events, "tcl", history=2, context=False) <= 0.6
    assert quality(events, "tcl", history=4, context=False) >= 0.8  # or the stream itself would be at fault


@pytest.mark.slow
@pytest.mark.parametrize("encoder", ["jodie", "dyrep"])
def test_so_do_the_memories_that_are_read_by_themselves(encoder: str) -> None:
    assert quality(third_last(), encoder, history=2, context=False) >= 0.8


def test_a_second_layer_sees_the_second_hop() -> None:
    """The label is a mark in the past of the source's last partner."""
    events = second_hop()
    assert quality(events, "tgat", history=3, context=False) >= 0.9
    assert quality(events, "tgat", history=3, context=False, layers=1) <= 0.6


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_beside_context_features(seed: int) -> None:
    beyond, hop = third_last(seed=seed), second_hop(seed=seed)
    assert quality(beyond, "tgn", history=2, seed=seed) >= 0.8
    assert quality(beyond, "tcl", history=2, seed=seed) <= 0.6
    assert quality(hop, "tgat", history=3, seed=seed) >= 0.9
    assert quality(hop, "tgat", history=3, seed=seed, layers=1) <= 0.6


@pytest.mark.parametrize(
    ("encoder", "options"), [("tgn", {"commit": 40}), ("tgat", {"reach": 300}), ("tgat", {})], ids=str
)
def test_one_event_at_a_time_is_all_at_once(encoder: str, options: dict[str, Any]) -> None:
    events = second_hop(1500, nodes=60)
    detector, test = fitted(events, encoder, history=3, epochs=1, **options)
    live = detector.live()
    one_by_one = [live.score_and_update(test[row : row + 1])[0] for row in range(len(test))]
    np.testing.assert_allclose(one_by_one, detector.decision_function(test), rtol=0, atol=1e-5)
