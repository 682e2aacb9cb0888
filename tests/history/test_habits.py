"""Habit residuals: differences from what the endpoints did, by name, from the Window alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sdgad.events.clock import Clock
from sdgad.history.buffer import HistoryBuffer, Rows
from sdgad.history.context import NAMES, context_names
from sdgad.history.habits import LEAST_SPREAD, HabitNames, habits, relations
from sdgad.history.index import HistoryIndex

COUNT, NODES, HISTORY = 250, 12, 5
RNG = np.random.default_rng(1)
SRC, DST = RNG.integers(0, NODES, (2, COUNT))
T = np.sort(RNG.integers(0, 40, COUNT)) * 3000.0  # ties
T[:3] = T[0]
MSG = RNG.normal(size=(COUNT, 2)).astype(np.float32)
CLOCK = Clock("s", wall_clock=True)


def index_of(*, shift: float = 0.0, context: bool = True) -> HistoryIndex:
    return HistoryIndex(SRC, DST, T + shift, MSG, clock=CLOCK, context=context)


def names_of(*, context: bool = True) -> HabitNames:
    return HabitNames.of(context_names(CLOCK) if context else (), ("amount", "channel"))


def past_of(node: int, event: int) -> np.ndarray:
    earlier = T[event] > T
    return np.flatnonzero(earlier & ((node == SRC) | (node == DST)))[-HISTORY:]


@pytest.mark.parametrize("context", [True, False])
def test_every_column_has_a_name_of_its_own(context: bool) -> None:
    index = index_of(context=context)
    found = habits(index.rows(torch.arange(COUNT), HISTORY), index.shape(HISTORY).phases)
    names = names_of(context=context)
    for kind in ("relations", "deviations", "surprises", "circles"):
        held = getattr(names, kind)
        assert getattr(found, kind).shape == (COUNT, len(held))
        assert len(set(held)) == len(held)


def test_deviations_and_surprises_are_those_of_a_loop_over_all_events() -> None:
    index = index_of()
    found = habits(index.rows(torch.arange(COUNT), HISTORY), 4)
    names = names_of()
    context = index.stored_context(torch.arange(COUNT)).double().numpy()
    values = np.hstack([context, MSG])
    columns = [*context_names(CLOCK), "amount", "channel"]
    for k in range(COUNT):
        for end, node in (("source", SRC[k]), ("destination", DST[k])):
            past = past_of(node, k)
            for name in ("log gap src", "sin hour", "amount"):
                place = columns.index(name)
                mean, spread = (
                    (values[past, place].mean(), values[past, place].std()) if len(past) else (0, 0)
                )
                apart = values[k, place] - mean if len(past) else 0.0
                here = names.deviations.index(f"{name}, for the {end}, against habit")
                there = names.surprises.index(f"{name}, for the {end}, in spreads")
                assert found.deviations[k, here] == pytest.approx(apart, abs=1e-4)
                want = apart / np.hypot(spread, LEAST_SPREAD)
                assert found.surprises[k, there] == pytest.approx(want, abs=1e-3)


def test_circles_are_those_of_sets_of_past_partners() -> None:
    index = index_of()
    found = habits(index.rows(torch.arange(COUNT), HISTORY), 4).circles.expm1().round()
    for k in range(COUNT):
        partners = []
        for node in (SRC[k], DST[k]):
            past = past_of(node, k)
            partners.append([DST[e] if SRC[e] == node else SRC[e] for e in past])
        of_src, of_dst = partners
        common = [sum(one in of_dst for one in of_src), sum(one in of_src for one in of_dst)]
        meetings = [of_src.count(DST[k]), of_dst.count(SRC[k])]
        if SRC[k] != DST[k]:
            assert found[k].tolist() == [*common, *meetings]


def test_relations_are_differences_of_the_logarithms_that_they_name() -> None:
    context = torch.randn(7, len(NAMES))
    value = {name: context[:, place] for place, name in enumerate(NAMES)}
    named = dict(zip(names_of().relations, relations(context).T, strict=True))
    torch.testing.assert_close(
        named["gap pair against gap dst"], value["log gap pair"] - value["log gap dst"]
    )
    spacing = value["log age src"] - value["log count src"]
    torch.testing.assert_close(named["spacing src"], spacing)
    torch.testing.assert_close(named["gap src against its spacing"], value["log gap src"] - spacing)
    torch.testing.assert_close(named["new pair"], value["new pair"])
    assert len(named) == 20


def test_a_stranger_deviates_from_nothing() -> None:
    first = torch.arange(int((T[0] == T).sum()))
    assert len(first) > 1
    found = habits(index_of().rows(first, HISTORY), 4)
    assert not found.deviations.any()
    assert not found.surprises.any()


def test_live_they_are_what_they_are_offline() -> None:
    """They come from the Window alone, which is the same to the last bit but for decayed rates."""
    index = index_of()
    buffer = HistoryBuffer(HISTORY, msg_width=2, clock=CLOCK)
    for k in range(COUNT):
        row = Rows(np.array([[SRC[k], DST[k]]]), T[k : k + 1], MSG[k : k + 1])
        live, offline = habits(buffer.push(row), 4), habits(index.rows(torch.tensor([k]), HISTORY), 4)
        for kind in ("relations", "deviations", "surprises"):
            torch.testing.assert_close(getattr(live, kind), getattr(offline, kind), rtol=1e-4, atol=1e-4)
