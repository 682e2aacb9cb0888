"""JODIE: the memory, stretched by the time since it was written, in units of its role."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from sdgad.detectors import make_detector
from sdgad.encoders.gap_scale import LIMIT, GapScale
from sdgad.encoders.jodie import JODIE
from sdgad.encoders.memory_vector import MemoryVectorConfig
from sdgad.events.stream import EventStream
from sdgad.history.index import HistoryIndex
from sdgad.history.memory import NodeMemory
from sdgad.history.window import Window, WindowShape

SHAPE = WindowShape(history=1, msg=2, context=0)
# users 0, 1 and items 2, 3
SRC, DST, T = np.array([0, 1, 0, 1, 0]), np.array([2, 2, 2, 3, 3]), np.array([0.0, 1.0, 3.0, 10.0, 12.0])


def make(log_gap: bool = False, messages: int = 1, width: int = 2) -> JODIE:
    torch.manual_seed(0)
    return JODIE(
        SHAPE, MemoryVectorConfig(width=width, time_width=3, messages=messages, commit=1, log_gap=log_gap)
    ).eval()


def tiny() -> HistoryIndex:
    msg = np.array([[1, 0], [0, 1], [2, 1], [-1, 3], [0.5, 0.5]], np.float32)
    return HistoryIndex(SRC, DST, T, msg, context=False)


def rows(index: HistoryIndex, chosen: list[int], encoder: JODIE) -> Window:
    return index.rows(torch.tensor(chosen), SHAPE.history, encoder.needs)


# ---------------------------------------------------------------------- units of gaps
def test_gaps_are_measured_by_role_and_first_events_count_for_none() -> None:
    """Gaps of sources: 3, 9 (users 0, 1) and 9 (user 0); of destinations: 1, 2 (item 2) and 2 (item 3)."""
    scale = GapScale(log_gap=False)
    scale.fit(tiny().rows(torch.arange(5), 1))
    torch.testing.assert_close(scale.mean, torch.tensor([7.0, 5 / 3]))
    torch.testing.assert_close(scale.scale, torch.tensor([math.sqrt(8), math.sqrt(2 / 9)]))
    torch.testing.assert_close(scale(torch.tensor([[7.0, 2.0]])), torch.tensor([[0.0, 1 / math.sqrt(2)]]))


def test_logarithms_of_gaps_are_measured_by_default() -> None:
    scale = GapScale(log_gap=True)
    scale.fit(tiny().rows(torch.arange(5), 1))
    logs = np.log1p([3, 9, 9])
    torch.testing.assert_close(scale.mean[0], torch.tensor(logs.mean(), dtype=torch.float32))
    torch.testing.assert_close(scale.scale[0], torch.tensor(logs.std(), dtype=torch.float32))


def test_a_role_without_gaps_and_gaps_that_are_all_alike_leave_a_unit() -> None:
    scale = GapScale(log_gap=False)
    scale.fit(tiny().rows(torch.arange(1), 1))  # the first event of all has no past
    assert (scale.mean.tolist(), scale.scale.tolist()) == ([0, 0], [1, 1])
    scale.fit(tiny().rows(torch.tensor([2]), 1))  # one gap: 3 and 2
    assert (scale.mean.tolist(), scale.scale.tolist()) == ([3, 2], [1, 1])


def test_an_outlandish_gap_is_cut() -> None:
    scale = GapScale(log_gap=False)
    scale.fit(tiny().rows(torch.arange(5), 1))
    assert scale(torch.tensor([[1e12, 1e30]])).tolist() == [[LIMIT, LIMIT]]


# ---------------------------------------------------------------------- the projection
def projected(encoder: JODIE, memory: Tensor, gap: float, role: int) -> Tensor:
    """m ⊙ (1 + w (gap − mean)/std + b), by the letters."""
    unit = (gap - float(encoder.gap.mean[role])) / float(encoder.gap.scale[role])
    return memory * (1 + encoder.project.weight[:, 0] * unit + encoder.project.bias)


def message(encoder: JODIE, own: Tensor, partner: Tensor, gap: float, msg: list[float]) -> Tensor:
    """tanh(W_i [m ; m_partner ; φ(gap) ; msg] + b_i + W_h m + b_h)."""
    told = torch.cat([own, partner, encoder.clock(torch.tensor(gap)), torch.tensor(msg)])
    cell = encoder.cell
    assert isinstance(cell, torch.nn.RNNCell)
    return torch.tanh(cell.weight_ih @ told + cell.bias_ih + cell.weight_hh @ own + cell.bias_hh)


@torch.no_grad()
def test_vectors_are_those_that_are_worked_out_by_hand() -> None:
    """Event 2 is (0, 2) at time 3, after (0, 2) at 0 and (1, 2) at 1: gaps 3 and 2."""
    encoder, index = make(), tiny()
    encoder.fit_scales(index.rows(torch.arange(5), 1))
    memory = NodeMemory(encoder.needs, encoder.commit, torch.device("cpu"))
    for row in (0, 1):
        memory.enter(rows(index, [row], encoder))
    window = rows(index, [2], encoder)
    memory.move_on(window)
    window = memory.attach(window)

    nothing = torch.zeros(2)
    user = message(encoder, nothing, nothing, 0.0, [1, 0])
    item = message(encoder, nothing, nothing, 0.0, [1, 0])
    item = message(encoder, item, nothing, 1.0, [0, 1])  # user 1 is new
    for z, m, gap, role in zip(encoder.encode(window, False), (user, item), (3.0, 2.0), (0, 1), strict=True):
        torch.testing.assert_close(z[0], projected(encoder, m, gap, role))
    after = message(encoder, user, item, 3.0, [2, 1]), message(encoder, item, user, 2.0, [2, 1])
    for z, m, role in zip(encoder.encode(window, True), after, (0, 1), strict=True):
        torch.testing.assert_close(z[0], projected(encoder, m, 0.0, role))


@torch.no_grad()
def test_a_node_that_nothing_is_known_of_has_a_vector_of_zeros_before_its_first_event() -> None:
    encoder, index = make(), tiny()
    encoder.fit_scales(index.rows(torch.arange(5), 1))
    memory = NodeMemory(encoder.needs, encoder.commit, torch.device("cpu"))
    without, with_event = (
        encoder.encode(memory.attach(rows(index, [0], encoder)), on) for on in (False, True)
    )
    assert all((z == 0).all() for z in without)
    assert all((z != 0).any() for z in with_event)


@torch.no_grad()
def test_the_same_memory_fades_with_time_and_the_event_makes_it_new() -> None:
    """Without the event the gap matters, through the projection alone; with it, only through the clock of the message."""
    encoder, index = make(log_gap=True), tiny()
    memory = NodeMemory(encoder.needs, encoder.commit, torch.device("cpu"))
    memory.enter(rows(index, [0], encoder))
    window = rows(index, [2], encoder)
    memory.move_on(window)
    soon, late = (memory.attach(replace(window, time=torch.tensor([t]).double())) for t in (3.0, 90.0))
    assert all(
        (one != other).all()
        for one, other in zip(encoder.encode(soon, False), encoder.encode(late, False), strict=True)
    )
    for weight in (encoder.project.weight, encoder.project.bias):
        weight.zero_()
    for one, other in zip(encoder.encode(soon, False), encoder.encode(late, False), strict=True):
        assert torch.equal(one, other)


# ---------------------------------------------------------------------- at work
def stream(late_val: float) -> tuple[EventStream, EventStream]:
    """40 training events a second apart, and validation events whose gaps grow."""
    rng = np.random.default_rng(0)
    t = np.concatenate([np.arange(40.0), 40 + late_val * np.arange(1, 13)])
    ends = rng.integers(0, 5, (2, 52))
    names = [f"u{i}" for i in ends[0]], [f"i{i}" for i in ends[1]]
    events = EventStream(
        *names, t, rng.random((52, 1), np.float32), (rng.random(52) < 0.3).astype(float), bipartite=True
    )
    return events[:40], events[40:]


@pytest.mark.parametrize("name", ["classifier", "sdgad"])
def test_a_detector_measures_gaps_on_training_events_and_on_no_others(name: str) -> None:
    """The same training events before a quick and before a slow validation part."""
    found = []
    for late in (1.0, 1e5):
        train, val = stream(late)
        detector = make_detector(name, encoder="jodie", width=4, log_gap=False, history=2, device="cpu")
        detector.fit(train, val=val, epochs=1)
        found.append(detector._model.event.encoder.gap)
    gaps = HistoryIndex(train.src, train.dst, train.t, context=False).rows(torch.arange(40), 1)
    for role in range(2):
        seen = gaps.past_gap[:, role, 0][gaps.mask[:, role, 0]]
        for scale in found:
            torch.testing.assert_close(scale.mean[role], seen.mean())
            torch.testing.assert_close(scale.scale[role], seen.std(unbiased=False))


def test_published_sizes() -> None:
    assert isinstance(JODIE.paper, MemoryVectorConfig)
    assert (JODIE.paper.messages, JODIE.paper.width, JODIE.paper.time_width, JODIE.paper.log_gap) == (
        1,
        172,
        100,
        False,
    )
