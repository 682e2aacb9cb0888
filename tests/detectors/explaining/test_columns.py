"""TableColumns names the columns that the event table has, in its order."""

from __future__ import annotations

import numpy as np
import torch

import sdgad
from sdgad.history.habits import habits


def test_places_are_those_of_the_table() -> None:
    train, val, _ = sdgad.simulate_payments(400, seed=0).split()
    detector = sdgad.make_detector("isolation-forest", trees=5).fit(train, val=val)
    explainer = detector._the_explainer()
    columns = explainer.columns
    log = detector._archive.log  # type: ignore[union-attr]
    window = detector.view.index(log, detector.clock).rows(torch.arange(100, 200), 20)
    rows, found = explainer.table.of(window), habits(window, columns.shape.phases)
    assert rows.shape[1] == len(columns.names) == len(columns.themes)
    width = len(columns.levels)
    for end, number in (("source", 0), ("destination", 1)):
        for level in (0, 7, width - 1):
            expected = found.deviations[:, number * width + level]
            np.testing.assert_array_equal(rows[:, columns.deviation(end, level)], expected)  # type: ignore[arg-type]
            expected = found.surprises[:, number * width + level]
            np.testing.assert_array_equal(rows[:, columns.surprise(end, level)], expected)  # type: ignore[arg-type]
    np.testing.assert_array_equal(
        rows[:, columns.deviation("both", columns.feature(0))], found.deviations[:, 2 * width]
    )
    assert (
        columns.names[columns.deviation("both", columns.feature(0))] == "amount, for the pair, against habit"
    )
    assert columns.names[columns.surprise("destination", columns.level("log gap src"))] == (
        "log gap src, for the destination, in spreads"
    )
