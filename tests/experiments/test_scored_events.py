"""Any stream can be reported on: its ids as they were, its features as text, late rows left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdgad.detectors.base import Detector
from sdgad.detectors.registry import make_detector
from sdgad.errors import InputError
from sdgad.events.stream import EventStream, FeatureColumn
from sdgad.experiments.scored_events import LISTED, TOO_MANY, feature_text, listed_features, scored_events


def stream(n: int = 60, start: int = 0, **changes: Any) -> EventStream:
    rng = np.random.default_rng(start)
    columns: dict[str, Any] = {
        "src": rng.integers(0, 5, n),
        "dst": rng.integers(3, 9, n),
        "t": start + np.arange(n),
        "msg": rng.normal(size=(n, 2)),
    }
    return EventStream(**(columns | changes))


@pytest.fixture(scope="module")
def detector() -> Detector:
    return make_detector("isolation-forest", seed=0).fit(stream())


@pytest.mark.parametrize("bipartite", [False, True])
def test_endpoints_carry_their_raw_ids(detector: Detector, bipartite: bool) -> None:
    src, dst = [f"user {i % 4}" for i in range(30)], [f"user {i % 3}" for i in range(30)]
    scored = scored_events(stream(30, src=src, dst=dst, bipartite=bipartite), np.linspace(0, 1, 30), detector)
    assert list(scored.source) == src
    assert list(scored.destination) == dst


def test_rows_without_a_score_are_left_out_of_every_column(detector: Detector) -> None:
    scores = np.linspace(0, 1, 30)
    scores[[0, 7]] = np.nan
    events = stream(30, src=np.arange(30))
    scored = scored_events(events, scores, detector)
    assert len(scored) == 28
    assert scored.row is not None
    assert scored.row.tolist() == [i for i in range(30) if i not in (0, 7)]
    assert list(scored.source) == [str(i) for i in range(30) if i not in (0, 7)]
    assert [float(text) for text in scored.details["f0"]] == pytest.approx(
        [float(events.msg[i, 0]) for i in range(30) if i not in (0, 7)],  # type: ignore[index]
        rel=1e-3,
    )
    with pytest.raises(InputError, match="All 30 rows are older"):
        scored_events(events, np.full(30, np.nan), detector)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([12.5, 1234.56, np.nan], ["12.50", "1234.56", ""]),
        ([1, 20, 300], ["1", "20", "300"]),
        ([0.123456, 1e-9, 5e12], ["0.1235", "1e-09", "5e+12"]),
        ([np.nan, np.nan], ["", ""]),
    ],
)
def test_numbers_have_the_decimals_that_their_column_needs(values: list[float], texts: list[str]) -> None:
    assert list(feature_text(FeatureColumn("x"), np.array(values, np.float32))) == texts


def test_categories_have_their_names_and_missing_ones_none() -> None:
    column = FeatureColumn("channel", ("card", "transfer"))
    assert list(feature_text(column, np.array([1, 0, np.nan], np.float32))) == ["transfer", "card", ""]


def test_a_few_features_are_listed_and_none_of_very_many() -> None:
    for width, listed in ((0, 0), (3, 3), (LISTED + 2, LISTED), (TOO_MANY, LISTED), (172, 0)):
        events = stream(10, msg=np.zeros((10, width)))
        assert len(listed_features(events)) == listed


def test_only_a_score_with_a_learned_boundary_is_said_to_have_one(detector: Detector) -> None:
    scores = np.linspace(0, 1, 60)
    assert scored_events(stream(), scores, detector).boundary is None
    small: dict[str, Any] = {"history": 3, "width": 8, "epochs": 1}
    for score, boundary in (("calibrated", 0.5), ("printed", None)):
        fitted = make_detector("sdgad", score=score, **small).fit(stream())
        assert scored_events(stream(), scores, fitted).boundary == boundary
