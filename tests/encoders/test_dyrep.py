"""DyRep: what a message tells of the partner is the partner's attention over its own past."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from sdgad.detectors import make_detector
from sdgad.detectors.learned.event_vector import EventVector
from sdgad.encoders.dyrep import DyRep
from sdgad.encoders.memory_vector import MemoryVectorConfig
from sdgad.events.simulator import simulate_payments
from sdgad.history.index import HistoryIndex
from sdgad.history.memory import NodeMemory
from sdgad.history.window import Window, WindowShape

SHAPE = WindowShape(history=2, msg=2, context=0)
WIDTH = 4
# node 0 meets 1, 1 meets 2, 2 meets 3, then 0 meets 1 again
SRC, DST, T = np.array([0, 1, 2, 0]), np.array([1, 2, 3, 1]), np.array([0.0, 5.0, 9.0, 20.0])
MSG = np.array([[1, 0], [0, 1], [2, 1], [-1, 3]], np.float32)


def make(messages: int = 1, **options: Any) -> DyRep:
    torch.manual_seed(0)
    config = MemoryVectorConfig(width=WIDTH, time_width=3, messages=messages, commit=1, **options)
    return DyRep(SHAPE, config).eval()


def row(number: int, encoder: DyRep) -> Window:
    index = HistoryIndex(SRC, DST, T, MSG, context=False)
    return index.rows(torch.tensor([number]), SHAPE.history, encoder.needs)


def before(encoder: DyRep, number: int) -> tuple[NodeMemory, Window]:
    """Memory after all events before this one, and the Window of this one with it."""
    memory = NodeMemory(encoder.needs, encoder.commit, torch.device("cpu"))
    for earlier in range(number):
        memory.enter(row(earlier, encoder))
    window = row(number, encoder)
    memory.move_on(window)
    return memory, memory.attach(window)


def attention(encoder: DyRep, own: Tensor, past: list[tuple[Tensor, Tensor, float]]) -> Tensor:
    """a = MERGE(TATT(m, {m_n, event, φ(gap)}), m) of one node, its past given event by event, without padding."""
    others, msg = (torch.stack([event[part] for event in past])[None] for part in (0, 1))  # type: ignore[misc]
    gap = torch.tensor([[event[2] for event in past]])
    context = torch.zeros(1, len(past), 0)
    found: Tensor = encoder.attend(
        own[None], others, msg, context, gap, torch.ones(1, len(past), dtype=torch.bool)
    )
    return found[0]


def lonely(encoder: DyRep, own: Tensor) -> Tensor:
    """The same of a node without a past."""
    nothing = torch.zeros(1, 1, WIDTH), torch.zeros(1, 1, 2), torch.zeros(1, 1, 0), torch.zeros(1, 1)
    found: Tensor = encoder.attend(own[None], *nothing, torch.zeros(1, 1, dtype=torch.bool))
    return found[0]


def message(encoder: DyRep, own: Tensor, partner: Tensor, gap: float, msg: Tensor) -> Tensor:
    """tanh(W_i [m ; a_partner ; φ(gap) ; msg] + b_i + W_h m + b_h)."""
    told = torch.cat([own, partner, encoder.clock(torch.tensor(gap)), msg])
    cell = encoder.cell
    assert isinstance(cell, torch.nn.RNNCell)
    return torch.tanh(cell.weight_ih @ told + cell.bias_ih + cell.weight_hh @ own + cell.bias_hh)


@pytest.mark.parametrize("messages", [1, 3])
@torch.no_grad()
def test_vectors_are_those_that_are_worked_out_by_hand(messages: int) -> None:
    """The fourth event, (0, 1) at 20, after (0, 1) at 0 and (1, 2) at 5, in blocks of one event."""
    encoder = make(messages)
    _, window = before(encoder, 3)
    nothing, msg = torch.zeros(WIDTH), torch.from_numpy(MSG)
    stranger = lonely(encoder, nothing)
    zero = message(encoder, nothing, stranger, 0.0, msg[0])
    one_then = message(encoder, nothing, stranger, 0.0, msg[0])
    one = message(encoder, one_then, stranger, 5.0, msg[1])  # 2 was new then
    # 2 heard from 1, which had met 0 five seconds before, and then from 3, which was new
    two = message(encoder, nothing, attention(encoder, one_then, [(zero, msg[0], 5.0)]), 0.0, msg[1])
    two = message(encoder, two, stranger, 4.0, msg[2])
    without = encoder.encode(window, False)
    for z, expected in zip(without, (zero, one), strict=True):
        torch.testing.assert_close(z[0], expected)

    of_zero = attention(encoder, zero, [(one, msg[0], 20.0)])
    of_one = attention(encoder, one, [(zero, msg[0], 20.0), (two, msg[1], 15.0)])
    with_event = encoder.encode(window, True)
    torch.testing.assert_close(with_event[0][0], message(encoder, zero, of_one, 20.0, msg[3]))
    torch.testing.assert_close(with_event[1][0], message(encoder, one, of_zero, 15.0, msg[3]))


@torch.no_grad()
def test_what_waits_is_the_message_with_the_attention_of_then() -> None:
    encoder = make()
    _, window = before(encoder, 3)
    rows = encoder.commit(window)
    own = encoder.now(window.memory.row[:, :, 0])  # type: ignore[union-attr]
    waiting = rows[0, :, WIDTH:]
    torch.testing.assert_close(waiting[:, :WIDTH], encoder.partner(own, window)[0])
    torch.testing.assert_close(waiting[:, WIDTH:], torch.tensor([[-1.0, 3, 20, 1], [-1.0, 3, 15, 1]]))
    assert (waiting[:, :WIDTH] - own[0].flip(0)).abs().min() > 1e-4  # not the memory itself


@torch.no_grad()
def test_with_the_event_one_message_is_worked_into_a_copy_and_nothing_is_written() -> None:
    """The same as if it had been committed, and looked at without an event after it."""
    encoder = make(2)
    memory, window = before(encoder, 3)
    kept = memory.table()
    with_event = torch.stack(encoder.encode(window, True), 1)
    for name, array in memory.table().items():
        np.testing.assert_array_equal(array, kept[name])
    committed = replace(window.memory, row=encoder.commit(window)[:, :, None].expand(-1, -1, 3, -1))  # type: ignore[type-var]
    torch.testing.assert_close(
        torch.stack(encoder.encode(replace(window, memory=committed), False), 1), with_event
    )


@torch.no_grad()
def test_with_the_event_the_past_of_the_partner_is_seen_and_not_ones_own() -> None:
    encoder = make()
    _, window = before(encoder, 3)
    past = window.past_msg.clone()
    past[:, 1] += 1  # of the destination
    one, other = (
        torch.stack(encoder.encode(w, True), 1)[0] for w in (window, replace(window, past_msg=past))
    )
    assert (one[0] - other[0]).abs().max() > 1e-4
    assert torch.equal(one[1], other[1])


# ---------------------------------------------------------------------- at work
def test_attention_and_its_clock_learn_in_a_classifier() -> None:
    """Published codes give them no gradient: what waits has none, and nothing else is read."""
    train, val, _ = simulate_payments(500, anomaly_rate=0.05, seed=3).split()
    options = {"width": 8, "commit": 40, "history": 3, "train_time": True}
    detector = make_detector("classifier", encoder="dyrep", device="cpu", **options)
    detector.fit(train, val=val, epochs=1)
    last = {name: weight.grad for name, weight in detector._model.event.encoder.named_parameters()}
    learning = {name for name, gradient in last.items() if gradient is not None and gradient.abs().max() > 0}
    assert learning == set(last)
    assert {"attend.query.weight", "attend.key_value.weight", "clock.log_scale", "cell.weight_ih"} <= learning


@torch.no_grad()
def test_what_is_written_is_no_matter_of_chance_in_training_either() -> None:
    encoder = make(dropout=0.5)
    _, window = before(encoder, 3)
    expected = encoder.commit(window)
    event = EventVector(encoder.train(), None, 8, residual=True, dropout=0.0)
    torch.testing.assert_close(event.commit(window), expected)
    assert not torch.equal(encoder.commit(window), expected)  # there is something to drop


def test_published_sizes() -> None:
    assert isinstance(DyRep.paper, MemoryVectorConfig)
    assert (DyRep.paper.messages, DyRep.paper.width, DyRep.paper.time_width) == (1, 172, 100)
