"""The event's own features: how far it lies from what its source, its destination and the pair did."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sdgad.detectors.learned.own import OwnFeatures
from sdgad.detectors.learned.scaling import WindowScale
from sdgad.events.clock import Clock
from sdgad.history.habits import deviations
from sdgad.history.index import HistoryIndex
from sdgad.history.window import Window

COUNT, NODES, HISTORY = 250, 12, 5
RNG = np.random.default_rng(0)
SRC, DST = RNG.integers(0, NODES, (2, COUNT))
DST[::15] = SRC[::15]  # self-loops
T = np.sort(RNG.integers(0, 40, COUNT)) * 3000.0  # ties
MSG = RNG.normal(size=(COUNT, 2)).astype(np.float32)


def index_of(*, wall_clock: bool = True, features: bool = True, context: bool = True) -> HistoryIndex:
    clock = Clock("s", wall_clock=wall_clock)
    return HistoryIndex(SRC, DST, T, MSG if features else None, clock=clock, context=context)


def everything(index: HistoryIndex) -> Window:
    return index.rows(torch.arange(COUNT), HISTORY)


def by_hand(habits: np.ndarray) -> tuple[np.ndarray, int]:
    """Event by event: its habits minus their mean over the past of source, destination and pair."""
    rows = []
    met = 0
    for k in range(COUNT):
        earlier = T[k] > T

        def past_of(node: int, earlier: np.ndarray = earlier) -> np.ndarray:
            return np.flatnonzero(earlier & ((node == SRC) | (node == DST)))[-HISTORY:]

        of_source = past_of(SRC[k])
        other = np.where(SRC[of_source] == SRC[k], DST[of_source], SRC[of_source])
        of_pair = of_source[other == DST[k]]
        met += len(of_pair) > 0
        row = [
            habits[k] - habits[past].mean(0) if len(past) else np.zeros(habits.shape[1])
            for past in (of_source, past_of(DST[k]), of_pair)
        ]
        rows.append(np.concatenate(row))
    return np.array(rows), met


@pytest.mark.parametrize("wall_clock", [True, False])
@pytest.mark.parametrize("features", [True, False])
def test_deviations_are_those_of_a_loop_over_all_events(wall_clock: bool, features: bool) -> None:
    index = index_of(wall_clock=wall_clock, features=features)
    phases = index.shape(HISTORY).phases
    assert phases == (4 if wall_clock else 0)
    window = everything(index)
    hours = index.stored_context(torch.arange(COUNT)).numpy()[:, len(index.context_names) - phases :]
    habits = np.hstack([MSG if features else MSG[:, :0], hours]).astype(np.float64)
    expected, met = by_hand(habits)
    assert 20 < met < COUNT - 20  # pairs with a past and pairs without one
    np.testing.assert_allclose(deviations(window, phases), expected, atol=1e-5)


def test_strangers_deviate_from_nothing() -> None:
    index = index_of()
    first = torch.arange(int((T[0] == T).sum()))
    assert len(first) > 1
    assert not deviations(index.rows(first, HISTORY), 4).any()


def test_what_stands_in_empty_slots_has_no_say() -> None:
    """Standardised, the zeros of empty slots are no zeros any more."""
    index = index_of()
    shape = index.shape(HISTORY)
    scale = WindowScale(shape)
    rows = torch.arange(COUNT)
    scale.fit(index.stored_context(rows), index.msg(rows) + 3.0)
    window = everything(index)
    scaled = deviations(scale(window), shape.phases).reshape(COUNT, 3, -1)
    plain = deviations(window, shape.phases).reshape(COUNT, 3, -1)
    by = torch.cat([scale.msg.scale, scale.context.scale[-4:]])
    torch.testing.assert_close(scaled, plain / by, atol=1e-4, rtol=1e-4)


def test_the_numbers_are_context_then_edge_features_then_deviations() -> None:
    index = index_of()
    shape = index.shape(HISTORY)
    own = OwnFeatures(shape, bins=4, hidden=8, dropout=0.0)
    window = everything(index)
    values = own.values(window)
    assert values.shape == (COUNT, own.plain)
    parts = [window.context, window.msg, deviations(window, shape.phases)]
    assert torch.equal(values, torch.cat(parts, 1))
    assert own.plain == shape.context + 2 + 3 * (2 + 4)


def test_bins_are_quantiles_of_the_sample_and_the_network_reads_every_kind_of_number() -> None:
    torch.manual_seed(0)
    index = index_of()
    own = OwnFeatures(index.shape(HISTORY), bins=4, hidden=8, dropout=0.5).eval()
    window = everything(index)
    own.fit(window)
    amount = own.values(window)[:, index.shape(HISTORY).context]
    np.testing.assert_allclose(
        own.bins.edges[index.shape(HISTORY).context], np.quantile(amount, np.linspace(0, 1, 5)), atol=0.05
    )
    out = own(own.values(window))
    assert out.shape == (COUNT, 8)
    traced = own.values(window).requires_grad_()
    own.layers(own.bins(traced)).square().sum().backward()
    assert traced.grad is not None
    for start, stop in ((0, -20), (-20, -18), (-18, -12), (-12, -6), (-6, None)):  # context, edge, source, …
        assert traced.grad[:, start:stop].any()
