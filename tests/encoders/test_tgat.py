"""TGAT equals a slow reading of its definition, and two layers see what one cannot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn

from sdgad.checks.windows import Sizes, random_window
from sdgad.encoders.temporal_attention import TemporalAttention
from sdgad.encoders.tgat import TGAT, TGATConfig
from sdgad.errors import InputError
from sdgad.history.index import HistoryIndex
from sdgad.history.needs import NONE, Needs
from sdgad.history.window import Window, WindowShape

SIZES = Sizes(count=9, history=4, filled=0.6)
Token = tuple[
    Tensor, Tensor, Tensor, Tensor
]  # what is known of the other node, edge and context features, gap


def make(sizes: Sizes = SIZES, **options: float) -> tuple[TGAT, Window]:
    torch.manual_seed(0)
    encoder = TGAT(sizes.shape, TGATConfig(width=8, time_width=4, **options)).eval()  # type: ignore[arg-type]
    return encoder, random_window(sizes, encoder.needs)


def attended(layer: TemporalAttention, own: Tensor, tokens: list[Token]) -> Tensor:
    """One node over a list of events, all of them visible: head by head, as printed."""
    query_input = torch.cat([own, layer.clock(torch.zeros(()))])
    found = torch.zeros(layer.norm.normalized_shape[0])
    if tokens:
        told = [torch.cat([other, msg, context, layer.clock(gap)]) for other, msg, context, gap in tokens]
        key, value = layer.key_value(torch.stack(told)).chunk(2, -1)
        query, size = layer.query(query_input), key.shape[-1] // layer.heads
        heads = []
        for head in range(layer.heads):
            part = slice(head * size, (head + 1) * size)
            heads.append(torch.softmax(key[:, part] @ query[part] / size**0.5, 0) @ value[:, part])
        found = layer.out(torch.cat(heads))
    merged: Tensor = layer.merge(layer.norm(found + query_input))
    return merged


def slowly(encoder: TGAT, window: Window, row: int, end: int, include_event: bool) -> Tensor:
    """The vector of one endpoint, node by node and event by event."""
    nothing = torch.zeros(0)

    def past(end: int) -> list[Token]:
        slots = [slot for slot in range(window.mask.shape[2]) if window.mask[row, end, slot]]
        columns = (window.past_msg, window.past_context, window.past_gap)
        return [(nothing, *(column[row, end, slot] for column in columns)) for slot in slots]  # type: ignore[misc]

    def before(slot: int) -> Tensor:
        """The other node of a past event, by what that event saw of it."""
        hop = window.hop
        assert hop is not None
        seen = [place for place in range(hop.mask.shape[3]) if hop.mask[row, end, slot, place]]
        here = [(nothing, *(c[row, end, slot, i] for c in (hop.msg, hop.context, hop.gap))) for i in seen]
        return attended(encoder.first, nothing, here)  # type: ignore[arg-type]

    current = (window.msg[row], window.context[row], torch.zeros(()))
    own_tokens = past(end) + [(nothing, *current)] * include_event
    own = attended(encoder.first, nothing, own_tokens)
    if encoder.second is None:
        return own
    slots = [slot for slot in range(window.mask.shape[2]) if window.mask[row, end, slot]]
    others = [before(slot) for slot in slots]
    others += [attended(encoder.first, nothing, past(1 - end))] * include_event  # as it was before the event
    return attended(
        encoder.second, own, [(o, *token[1:]) for o, token in zip(others, own_tokens, strict=True)]
    )


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("include_event", [True, False])
def test_a_node_attends_to_its_past_and_its_neighbours_to_theirs(layers: int, include_event: bool) -> None:
    encoder, window = make(layers=layers, hop=3)
    found = torch.stack(encoder.encode(window, include_event), 1)
    for row in range(len(window)):
        for end in (0, 1):
            expected = slowly(encoder, window, row, end, include_event)
            torch.testing.assert_close(found[row, end], expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("layers", [1, 2])
def test_a_node_without_a_past_is_the_same_at_any_time(layers: int) -> None:
    encoder, window = make(replace(SIZES, filled=0.0), layers=layers)
    z = torch.cat(encoder.encode(window, False))
    torch.testing.assert_close(z, z[:1].expand_as(z), atol=1e-6, rtol=0)


def test_attention_to_nothing_is_nothing() -> None:
    torch.manual_seed(0)
    encoder, _ = make(layers=1)
    seen: list[Tensor] = []
    encoder.first.norm.register_forward_hook(lambda _, given, __: seen.append(given[0]))
    gap = torch.full((2, 4), 1e9)
    encoder.first(
        torch.zeros(2, 0), torch.zeros(2, 4, 0), torch.ones(2, 4, 3), torch.ones(2, 4, 4), gap, gap < 0
    )
    assert torch.equal(seen[0], encoder.clock(torch.zeros(2)))  # φ(0) of the node itself and no more


def test_the_other_endpoint_is_seen_through_the_event_alone() -> None:
    encoder, window = make(replace(SIZES, filled=1.0))
    other = window.past_msg.clone()
    other[:, 1] += 1
    changed = replace(window, past_msg=other)
    before, after = encoder.encode(window, False)[0], encoder.encode(changed, False)[0]
    torch.testing.assert_close(after, before, atol=1e-6, rtol=0)
    moved = encoder.encode(changed, True)[0] - encoder.encode(window, True)[0]
    assert (moved.abs().amax(-1) > 1e-5).all()


def test_two_layers_need_second_hops_and_one_needs_none() -> None:
    shape = WindowShape(history=7, msg=1, context=0)
    assert TGAT(shape, TGATConfig()).needs == Needs(hop=7)
    assert TGAT(shape, TGATConfig(hop=3, reach=100)).needs == Needs(hop=3, reach=100)
    assert TGAT(shape, TGATConfig(layers=1)).needs == NONE


def test_a_third_layer_is_refused() -> None:
    with pytest.raises(InputError, match=r"^layers=3: TGAT has 1 or 2\.$"):
        TGATConfig(layers=3)


def second_hop_stream(count: int, nodes: int = 300) -> tuple[np.ndarray, ...]:
    """Random events with a random mark each. An event is labelled by the mark of the second hop: that of the event before
    the source's last one at its other node. Neither endpoint took part in it, but by chance."""
    rng = np.random.default_rng(0)
    src = rng.integers(0, nodes, count)
    dst = (src + rng.integers(1, nodes, count)) % nodes
    mark = rng.integers(0, 2, count).astype(np.float32)
    label = np.zeros(count, np.float32)
    last: dict[int, int] = {}  # of each node
    before: list[dict[int, int]] = []  # of both endpoints of each event
    for row, ends in enumerate(zip(src.tolist(), dst.tolist(), strict=True)):
        if ends[0] in last:
            seen = before[last[ends[0]]]
            (other,) = (node for node in seen if node != ends[0])
            label[row] = mark[seen[other]] if seen[other] >= 0 else 0
        before.append({node: last.get(node, -1) for node in ends})
        last |= dict.fromkeys(ends, row)
    return src, dst, np.cumsum(rng.exponential(1.0, count)), mark[:, None], label


@pytest.mark.parametrize(("layers", "low", "high"), [(1, 0.4, 0.6), (2, 0.9, 1.0)])
def test_two_layers_learn_what_the_second_hop_alone_tells(layers: int, low: float, high: float) -> None:
    torch.manual_seed(0)
    *columns, label = second_hop_stream(6000)
    index, train = HistoryIndex(*columns, context=False), 4500
    encoder = TGAT(index.shape(2), TGATConfig(layers=layers, hop=2, dropout=0.0))
    head, truth = nn.Linear(64, 1), torch.from_numpy(label)
    optimiser = torch.optim.Adam([*encoder.parameters(), *head.parameters()], 5e-3)

    def logits(rows: Tensor) -> Tensor:
        z: Tensor = head(torch.cat(encoder.encode(index.rows(rows, 2, encoder.needs), True), 1))
        return z[:, 0]

    for _ in range(6):
        for rows in torch.randperm(train).split(100):
            loss = nn.functional.binary_cross_entropy_with_logits(logits(rows), truth[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    with torch.no_grad():
        scores = logits(torch.arange(train, len(label)))
    assert low <= roc_auc_score(label[train:], scores) <= high
