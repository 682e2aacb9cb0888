"""TGN and the memory that it shares with JODIE and DyRep: messages wait, are worked in once, and teach the cell."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from sdgad.encoders.memory import MemoryConfig
from sdgad.encoders.tgn import TGN
from sdgad.history.memory import NodeMemory
from sdgad.history.window import Memory, Window, WindowShape

SHAPE = WindowShape(history=2, msg=3, context=0)


def make(messages: int, **options: int) -> TGN:
    torch.manual_seed(0)
    return TGN(SHAPE, MemoryConfig(width=8, time_width=4, messages=messages, commit=1, **options)).eval()


def event(time: float, src: int, dst: int, mark: float = 0.0) -> Window:
    return Window(
        node=torch.tensor([[src, dst]]),
        msg=torch.tensor([[mark, 1.0, -mark]]),
        context=torch.zeros(1, 0),
        past_node=torch.full((1, 2, 2), -1),
        past_gap=torch.zeros(1, 2, 2),
        past_msg=torch.zeros(1, 2, 2, 3),
        past_context=torch.zeros(1, 2, 2, 0),
        mask=torch.zeros(1, 2, 2, dtype=torch.bool),
        time=torch.tensor([time], dtype=torch.float64),
    )


def after(encoder: TGN, marks: list[float]) -> tuple[NodeMemory, Memory]:
    """What is remembered of node 0 after events with these marks, one a second, each with another partner."""
    memory = NodeMemory(encoder.needs, encoder.commit, torch.device("cpu"))
    for i, mark in enumerate(marks):
        memory.enter(event(float(i), 0, 1 + i, mark))
    now = event(float(len(marks)), 0, 50)
    memory.move_on(now)
    attached = memory.attach(now).memory
    assert attached is not None
    return memory, attached


def by_hand(encoder: TGN, marks: list[float]) -> Tensor:
    """m ← cell([m ; 0 ; φ(gap) ; msg], m), event by event; partners are new, so theirs is 0."""
    own = torch.zeros(1, 8)
    for i, mark in enumerate(marks):
        gap = torch.tensor([1.0 if i else 0.0])
        message = torch.cat(
            [own, torch.zeros(1, 8), encoder.clock(gap), torch.tensor([[mark, 1.0, -mark]])], 1
        )
        own = encoder.cell(message, own)
    return own


@pytest.mark.parametrize("messages", [1, 2, 3, 5])
@torch.no_grad()
def test_a_memory_is_the_cell_over_all_messages_however_many_of_them_wait(messages: int) -> None:
    encoder = make(messages)
    marks = [1.0, -2.0, 0.5, 3.0]
    _, memory = after(encoder, marks)
    torch.testing.assert_close(encoder.now(memory.row)[:, 0, 0], by_hand(encoder, marks))


@pytest.mark.parametrize("messages", [1, 3])
def test_the_cell_learns_through_as_many_messages_as_wait(messages: int) -> None:
    """The mark of the third last event moves the memory; whether the weights hear of it depends on what waits."""
    encoder = make(messages)
    _, memory = after(encoder, [1.0, 0.0, 0.0])
    row = memory.row.clone().requires_grad_()
    encoder.now(row)[:, 0, 0].sum().backward()
    assert row.grad is not None
    width = 8 + 3 + 0 + 2  # partner's memory, msg, context, gap and flag
    oldest = row.grad[0, 0, 0, 8 : 8 + width]
    mark = oldest[8]  # of the oldest message that waits
    assert mark.abs() > 0
    if messages == 3:
        assert memory.row[0, 0, 0, 8 + 8] == 1.0  # which is the third last


@torch.no_grad()
def test_with_the_event_its_message_is_worked_into_a_copy() -> None:
    encoder = make(2)
    memory, _ = after(encoder, [1.0, 2.0])
    before = {name: array.copy() for name, array in memory.arrays().items()}
    window = memory.attach(event(9.0, 0, 1, mark=4.0))
    with_event, without = encoder.encode(window, True), encoder.encode(window, False)
    assert all((one - other).abs().max() > 1e-4 for one, other in zip(with_event, without, strict=True))
    for name, array in memory.arrays().items():
        assert (array == before[name]).all() or name == "table.time"  # NaN where nothing was written


@torch.no_grad()
def test_a_partner_is_known_by_its_memory() -> None:
    """Two events that differ in the past of the partner alone."""
    encoder = make(1)
    memory = NodeMemory(encoder.needs, encoder.commit, torch.device("cpu"))
    memory.enter(event(0.0, 1, 2, mark=5.0))
    memory.move_on(event(1.0, 0, 1))
    z = [encoder.encode(memory.attach(event(1.0, 0, partner)), True)[0] for partner in (1, 3)]
    assert (z[0] - z[1]).abs().max() > 1e-4


def test_published_sizes_let_one_message_wait() -> None:
    assert isinstance(TGN.paper, MemoryConfig)
    assert (TGN.paper.messages, TGN.paper.commit, TGN.paper.width) == (1, 200, 172)
