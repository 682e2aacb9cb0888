"""Bins of time: every event in one, ties together, none too small."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sdgad.experiments.time_bins import time_bins


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=200).map(sorted), st.integers(1, 20), st.integers(1, 30)
)
def test_bins_part_the_stream_without_parting_a_tie(times: list[int], most: int, fewest: int) -> None:
    t = np.array(times)
    bins = time_bins(t, most, fewest)
    assert [row for part in bins for row in range(part.start, part.stop)] == list(range(len(t)))
    assert len(bins) <= most
    assert all(t[a.stop - 1] < t[b.start] for a, b in pairwise(bins))
    if len(bins) > 1:
        assert all(part.stop - part.start >= fewest for part in bins)


def test_bins_hold_about_equally_many_events() -> None:
    sizes = [part.stop - part.start for part in time_bins(np.arange(4813))]
    assert len(sizes) == 20
    assert max(sizes) - min(sizes) <= 1
    assert len(time_bins(np.zeros(5000))) == 1
