"""CAWN in detectors: it learns under both, and walks of two steps see what those of one cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdgad.detectors import make_detector
from sdgad.metrics import auroc

from .made_streams import second_hop

SMALL = {"history": 5, "walks": 4, "walk_width": 8, "position_width": 8, "epochs": 1, "device": "cpu"}


@pytest.mark.parametrize("labels", ["all", "few-shot", "none"])
@pytest.mark.parametrize("detector", ["classifier", "sdgad"])
def test_it_trains_in_every_setting_and_scores_live_as_offline(detector: str, labels: Any) -> None:
    train, val, test = second_hop(900, nodes=40).split(train=0.5, val=0.3)
    options = {} if detector == "classifier" else {"known": False}
    found = make_detector(detector, encoder="cawn", **SMALL, **options).fit(
        train.with_labels(labels, seed=0), val if labels != "none" else val.with_labels("none")
    )
    scores = found.decision_function(test)
    assert np.isfinite(scores).all()
    assert len(np.unique(scores)) > 100
    live = found.live()
    one_by_one = [live.score_and_update(test[row : row + 1])[0] for row in range(40)]
    np.testing.assert_allclose(one_by_one, scores[:40], rtol=0, atol=1e-5)


@pytest.mark.slow
def test_walks_of_two_steps_see_the_second_hop() -> None:
    """The label is a mark in the past of the source's last partner."""
    train, val, test = second_hop().split(train=0.5, val=0.2)

    def quality(length: int) -> float:
        detector = make_detector(
            "classifier", encoder="cawn", device="cpu", history=3, context=False, length=length, hop=2
        )
        return auroc(test.label, detector.fit(train, val).decision_function(test)) or 0.0

    assert quality(2) >= 0.85
    assert quality(1) <= 0.6
