"""Temporal walks backwards from the two endpoints of an event, drawn from what the event sees."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from sdgad.encoders.counter_random import GOLDEN, POSITIVE, bits_of, draws, mixed
from sdgad.history.window import Window

UNIT = float(
    1 << 32
)  # the weight of the newest event: weights are whole numbers, whose sums are exact in any order
STEPS = 2  # numbers that are set aside for each walk, so that a longer walk begins as the shorter one


@dataclass(frozen=True)
class Step:
    """One step of the walks: the events that they go through, and where these lead."""

    node: Tensor  # [B, 2, K + 1] int64, where the walk is after the step
    gap: Tensor  # [B, 2, K + 1] float32, seconds from the event that was gone through to the current one
    msg: Tensor  # [B, 2, K + 1, d]
    context: Tensor  # [B, 2, K + 1, C]
    there: Tensor  # [B, 2, K + 1] bool, False where a walk had ended before


@dataclass(frozen=True)
class Walks:
    """K different walks from each endpoint, and one more, the last, through the current event.

    `count` says how often each of the K was drawn; it is 0 all over for an endpoint without a past.
    """

    count: Tensor  # [B, 2, K] float32
    steps: tuple[Step, ...]


def draw_walks(window: Window, walks: int, length: int, bias: float, seed: int) -> Walks:
    """M = `walks` walks from each endpoint, of 1 or 2 steps, drawn with replacement.

    A step from a node, which it was reached at by an event at time t, goes through past event i of the node with P(i) ∝
    e^{−α (t − t_i)} (α = `bias`). Walks of one step are the same if they go through the same event: where the past is not
    longer than M, there are L different ones, and it suffices to count them.
    """
    key, history = endpoint_keys(window, seed), window.mask.shape[2]
    first = cumulative(window.past_gap, window.mask, bias)
    drawn = draws(key, 0, walks, STEPS)
    if length == 1 and history <= walks:
        return Walks(tally(first, drawn).float(), (_through_events(window, None),))
    slot = pick(first, drawn)
    count = window.mask.any(-1, keepdim=True).expand(-1, -1, walks).float()
    step = _through_events(window, slot)
    if length == 1:
        return Walks(count, (step,))
    return Walks(count, (step, _second_step(window, slot, step.gap, first, key, bias)))


def endpoint_keys(window: Window, seed: int) -> Tensor:
    """`[B, 2]` int64: what an endpoint's walks are drawn from: the time of the event, and the times of both endpoints' past.

    So walks are the same in whatever batch, offline and live, with the event and without it; an event that did not happen draws
    by what it would have seen. Neither ids nor roles have a say, nor features. The number of an event has none either: the
    same event, asked for twice, is scored alike.
    """
    assert window.time is not None
    place = torch.arange(
        window.mask.shape[2], 0, -1, device=window.mask.device
    )  # the newest is 1, whatever L
    own = mixed(bits_of(window.past_gap) + place * GOLDEN).masked_fill(~window.mask, 0).sum(-1)
    event = mixed(mixed(bits_of(window.time) + (seed & POSITIVE)) + own.sum(-1))
    return mixed(event[:, None] + own)


def cumulative(gap: Tensor, mask: Tensor, bias: float) -> Tensor:
    """Σ_{k ≤ i} e^{−α (gap_k − newest gap)} over past events `[…, L]`, in units of 2⁻³², int64; empty slots weigh nothing."""
    since = gap.double() - gap[..., -1:].double()
    weight = (since * -bias).exp().mul(UNIT).round().masked_fill(~mask, 0.0)
    return weight.long().cumsum(-1)


def pick(cumulative: Tensor, drawn: Tensor) -> Tensor:
    """The slot that each number falls upon: sums `[…, L]`, numbers `[…, M]` → `[…, M]`; the last one if there is no past."""
    below = cumulative[..., None, :] <= _reduced(cumulative, drawn)[..., None]
    return below.sum(-1).clamp(max=cumulative.shape[-1] - 1)


def tally(cumulative: Tensor, drawn: Tensor) -> Tensor:
    """How many of the numbers fall upon each slot: sums `[…, L]`, numbers `[…, M]` → `[…, L]`."""
    upto = (_reduced(cumulative, drawn)[..., None] < cumulative[..., None, :]).sum(-2)
    return upto.diff(dim=-1, prepend=torch.zeros_like(upto[..., :1]))


def _reduced(cumulative: Tensor, drawn: Tensor) -> Tensor:
    """Numbers below the sum of all weights; that of L events is so far below 2⁶³ that none is preferred."""
    return drawn % cumulative[..., -1:].clamp(min=1)


def _through_events(window: Window, slot: Tensor | None) -> Step:
    """From an endpoint through its past events, those in the slots or all, and through the current one."""

    def chosen(past: Tensor, now: Tensor) -> Tensor:
        return torch.cat([past if slot is None else _at(past, slot), now], 2)

    msg, context = (part[:, None, None].expand(-1, 2, 1, -1) for part in (window.msg, window.context))
    gap = chosen(window.past_gap, torch.zeros_like(window.past_gap[..., :1]))
    return Step(
        node=chosen(window.past_node, window.node.flip(1)[..., None]),
        gap=gap,
        msg=chosen(window.past_msg, msg),
        context=chosen(window.past_context, context),
        there=torch.ones_like(gap, dtype=torch.bool),  # those of a node without a past are counted 0 times
    )


def _second_step(window: Window, slot: Tensor, gap: Tensor, first: Tensor, key: Tensor, bias: float) -> Step:
    """On from the other node of each event, by what that event saw of it. The current event goes on from its other endpoint, as
    that one was before it, or the walk would come back through the event itself."""
    hop = window.hop
    assert hop is not None
    walks, length = slot.shape[2], hop.mask.shape[3]
    drawn = draws(key, 1, walks + 1, STEPS)
    sums = _at(cumulative(hop.gap, hop.mask, bias), slot)
    place = slot * length + pick(sums, drawn[..., :walks, None]).squeeze(-1)
    partner = pick(first.flip(1), drawn[..., walks:])

    def chosen(second: Tensor, past: Tensor) -> Tensor:
        return torch.cat([_at(second.flatten(2, 3), place), _at(past.flip(1), partner)], 2)

    return Step(
        node=chosen(hop.node, window.past_node),
        gap=chosen(hop.gap, window.past_gap) + gap,  # the last is that of the current event, 0
        msg=chosen(hop.msg, window.past_msg),
        context=chosen(hop.context, window.past_context),
        there=chosen(hop.mask, window.mask),
    )


def _at(past: Tensor, slot: Tensor) -> Tensor:
    """Slots `[B, 2, K]` of `[B, 2, L, …]`."""
    rest = past.shape[3:]
    index = slot.view(*slot.shape, *[1] * len(rest)).expand(*slot.shape, *rest)
    return past.gather(2, index)
