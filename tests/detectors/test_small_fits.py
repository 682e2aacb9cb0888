"""After a fit on a few events: not everything is flagged, and what cannot be trusted is said."""

from __future__ import annotations

import numpy as np

import sdgad
from sdgad.detectors.trust import FEW_EVENTS, FEW_VALIDATION, trust_lines, unexpected_alerts


def test_a_small_fit_does_not_flag_everything() -> None:
    events = sdgad.simulate_payments(4000, seed=0).with_labels("none")
    detector = sdgad.SDGAD(history=5, width=8, trees=20, epochs=3, seed=0).fit(events[:50])
    assert detector.predict(events[50:330]).mean() < 0.3  # it was 0.975, and is 0.075


def test_what_is_said_follows_the_numbers_of_events() -> None:
    events = sdgad.simulate_payments(FEW_EVENTS + FEW_VALIDATION, seed=0).with_labels("none")
    midas = sdgad.make_detector("midas")
    assert trust_lines(midas.fit(events[:FEW_EVENTS], events[FEW_EVENTS:])) == []
    assert len(trust_lines(midas.fit(events[1:FEW_EVENTS], events[FEW_EVENTS:]))) == 1
    assert len(trust_lines(midas.fit(events[1:FEW_EVENTS], events[FEW_EVENTS:-1]))) == 2
    (line,) = trust_lines(midas.fit(events[:FEW_EVENTS], events[FEW_EVENTS:-1]))
    lowest = midas.p_value(np.array([midas.validation_scores_.max() + 1e-9])).item()
    assert line.endswith(f"no p-value is below {lowest:.2g}")


def test_alerts_are_unexpected_where_they_are_most_events_and_far_more_than_in_validation() -> None:
    events = sdgad.simulate_payments(300, seed=0).with_labels("none")
    midas = sdgad.make_detector("midas").fit(events)
    assert unexpected_alerts(midas, 10, 19) is None
    assert unexpected_alerts(midas, 49, 100) is None
    assert "50 of 100 events are alerts, where 0 of 60 were in validation" in str(
        unexpected_alerts(midas, 50, 100)
    )
    midas.set_threshold("quantile", 0.5)
    assert unexpected_alerts(midas, 90, 100) is None
