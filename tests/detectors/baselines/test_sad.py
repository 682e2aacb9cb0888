"""SAD: its subgraph, deviation and contrast as worked by hand; its encoder equals a slow reading of its definition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from sdgad.detectors.baselines.sad.bank import MemoryBank
from sdgad.detectors.baselines.sad.config import SADConfig
from sdgad.detectors.baselines.sad.contrast import contrast_loss, contrast_weights
from sdgad.detectors.baselines.sad.detector import SAD
from sdgad.detectors.baselines.sad.deviation import deviation_loss
from sdgad.detectors.baselines.sad.encoder import SubgraphEncoder
from sdgad.detectors.baselines.sad.model import SADModel
from sdgad.encoders.base import EncoderConfig
from sdgad.errors import InputError
from sdgad.events.simulator import simulate_payments
from sdgad.history.needs import Needs
from sdgad.history.window import Window, WindowShape

from .ten_nodes import EVENTS, HISTORY, HOP, LAST, index_of, other_of, past_of, quality, window_of

NEEDS = Needs(hop=HOP, at="root", time=True)
HOUR = 3600.0


def make_encoder(width: int = 8, drop_edges: float = 0.0) -> SubgraphEncoder:
    torch.manual_seed(0)
    sizes = EncoderConfig(width=width, time_width=4, heads=2)
    return SubgraphEncoder(WindowShape(HISTORY, 1, 0), sizes, NEEDS, drop_edges=drop_edges)


# ---------------------------------------------------------------------- the encoder
def that_averages() -> SubgraphEncoder:
    """Everybody attends to all events alike, which say their feature plus what their sender holds; nodes start at 0."""
    encoder = make_encoder(width=2)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.zero_()
        one, two = torch.eye(2), torch.zeros(2, 2)
        encoder.edge[0].weight.fill_(1.0)  # relu(mark), and so on
        encoder.edge[2].weight.copy_(one)
        encoder.of_event.weight[2:, :2] = one  # values: edge features; keys, and what time says, are 0
        encoder.of_node.weight[2:] = one
        encoder.merge[0].weight.copy_(torch.cat([one, two], 1))
        encoder.merge[2].weight.copy_(one)
    return encoder.eval()


def test_two_rounds_of_even_attention_by_hand() -> None:
    """0 meets 4, after 2 (mark 4), 1 (mark 7) and 5 (mark 10); the meeting has mark 11. A self-loop says 0.

    First round: 2 hears 4 of 0 and 3 of its event with 3, (4 + 3 + 0) / 3; 1 hears 7 and 2; 5 hears 10 and 6; 4 hears 11 and
    5. The events of 2, 1 and 5 that lead back to 0 are heard once. 0 hears (4 + 7 + 10 + 11 + 0) / 5.
    """
    neighbours = [7 / 3, 9 / 3, 16 / 3, 16 / 3]
    own = 32 / 5
    expected = (4 + 7 + 10 + 11 + sum(neighbours) + own) / 5 + own
    assert expected == pytest.approx(17.28)
    z_src, _ = that_averages().encode(window_of(LAST, NEEDS), True)
    torch.testing.assert_close(z_src, torch.full((1, 2), expected), atol=1e-5, rtol=0)


def heard(encoder: SubgraphEncoder, h: Tensor, said: list[tuple[Tensor, float, float]]) -> Tensor:
    """A node's vector after it has heard of (sender, mark, gap) and of itself: head by head, as printed."""
    size = encoder.config.width // encoder.config.heads
    now = encoder.clock(torch.zeros(()))
    edges = [encoder.edge(torch.tensor([mark])) for _, mark, _ in said] + [torch.zeros(encoder.config.width)]
    times = [encoder.clock(torch.tensor(gap)) for _, _, gap in said] + [now]
    senders = [sender for sender, _, _ in said] + [h]
    told = torch.stack(
        [
            encoder.of_event(torch.cat([edge, time])) + encoder.of_node(sender)
            for edge, time, sender in zip(edges, times, senders, strict=True)
        ]
    )
    query = encoder.query(torch.cat([h, now])).relu()
    key, value = told.chunk(2, -1)
    mixed = []
    for head in range(encoder.config.heads):
        part = slice(head * size, (head + 1) * size)
        share = torch.softmax(key[:, part].relu() @ query[part] / size**0.5, 0)
        mixed.append(share @ value[:, part])
    new: Tensor = encoder.merge(torch.cat([*mixed, h])) + h
    return new


def slowly(encoder: SubgraphEncoder, events: list[tuple[int, int]], row: int, root: int) -> Tensor:
    """The vector of an endpoint from the list of events alone."""

    def gap(k: int) -> float:
        return HOUR * (row - k)

    own = [*past_of(events, root, row, HISTORY), row]
    ends = {k: other_of(events[k], root) for k in own}
    first: dict[int, Tensor] = {}
    for node in {root, *ends.values()}:
        if node == root:
            told = own
        else:
            back = {k for k in range(row) if root in events[k]}
            told = [k for k in own if ends[k] == node]
            told += [k for k in past_of(events, node, row, HOP) if k not in back]
        first[node] = heard(encoder, encoder.start, [(encoder.start, k + 1.0, gap(k)) for k in told])
    return heard(encoder, first[root], [(first[ends[k]], k + 1.0, gap(k)) for k in own])


def test_the_encoder_is_two_rounds_over_the_subgraph() -> None:
    """Random events among ten nodes, self-loops and repeated pairs among them."""
    rng = np.random.default_rng(0)
    events = [tuple(pair) for pair in rng.integers(0, 10, (60, 2)).tolist()]
    encoder = make_encoder().eval()
    rows = torch.arange(60)
    window = index_of(events).rows(rows, HISTORY, NEEDS)
    with torch.no_grad():
        found = torch.stack(encoder.encode(window, True), 1)
        for row in range(60):
            for end in (0, 1):
                expected = slowly(encoder, events, row, events[row][end])
                torch.testing.assert_close(found[row, end], expected, atol=1e-5, rtol=0)


def test_the_other_view_leaves_out_past_events_and_never_the_event_itself() -> None:
    encoder, window = make_encoder(drop_edges=0.999).train(), window_of(LAST, NEEDS)
    torch.manual_seed(1)
    whole, other = encoder.views(window)
    torch.testing.assert_close(whole, encoder.encode(window, True))
    alone = slowly(encoder, [*[(8, 9)] * LAST, EVENTS[LAST]], LAST, 0)
    torch.testing.assert_close(other[0][0], alone, atol=1e-5, rtol=0)
    encoder.eval()
    torch.testing.assert_close(encoder.views(window)[1], whole)


# ---------------------------------------------------------------------- deviation and bank
def bank_of(scores: list[float], hours: list[float], now: float) -> MemoryBank:
    bank = MemoryBank(len(scores), 1.0).eval()
    bank.score[:-1] = torch.tensor(scores)
    bank.time[:-1] = now - HOUR * torch.tensor(hours, dtype=torch.float64)
    return bank


def test_the_deviation_by_hand() -> None:
    """Weights 1, 1/2 and 1/4 of scores 0, 2 and 4: μ = 8/7, σ² = (64 + 18 + 100)/49 / (7/4) = 104/49."""
    now = 1e6
    bank = bank_of([0.0, 2.0, 4.0], [0.0, math.e - 1, math.exp(3) - 1], now)
    mean, deviation = 8 / 7, math.sqrt(104) / 7
    score = torch.tensor([mean + 2 * deviation, mean - 2 * deviation])
    found = bank.deviation(score, torch.full((2,), now, dtype=torch.float64), bank.draw())
    torch.testing.assert_close(found, torch.tensor([2.0, -2.0]), atol=1e-4, rtol=0)
    plain = bank.plain_deviation(torch.tensor([2.0 + math.sqrt(8 / 3)]), bank.draw())
    torch.testing.assert_close(plain, torch.ones(1), atol=1e-4, rtol=0)


def test_the_deviation_loss_by_hand() -> None:
    """|2| and |−2| of normal events, 5 − 2 and 5 − (−7) of anomalies: an anomaly far below is none the better for it."""
    deviation = torch.tensor([2.0, -2.0, 2.0, -7.0, 9.0])
    anomalous = torch.tensor([False, False, True, True, True])
    every = deviation_loss(deviation, anomalous, torch.ones(5), 5.0)
    assert every.item() == pytest.approx((2 + 2 + 3 + 12 + 0) / 5)
    some = deviation_loss(deviation, anomalous, torch.tensor([1.0, 0.0, 0.5, 0.0, 0.0]), 5.0)
    assert some.item() == pytest.approx((2 + 1.5) / 1.5)


def test_normal_events_go_into_the_bank_in_turn() -> None:
    bank = MemoryBank(4, 1.0)
    time = torch.arange(3, dtype=torch.float64)
    bank.write(torch.tensor([1.0, 2.0, 3.0]), time, torch.tensor([True, False, True]))
    assert bank.score[:2].tolist() == [1.0, 3.0]
    assert bank.time[:2].tolist() == [0.0, 2.0]
    bank.write(torch.tensor([4.0, 5.0, 6.0]), time + 3, torch.tensor([True, True, True]))
    assert bank.score[:-1].tolist() == [6.0, 3.0, 4.0, 5.0]
    many = torch.arange(10.0)
    bank.write(many, many.double(), torch.ones(10, dtype=torch.bool))  # 6 to 9 stay
    assert sorted(bank.score[:-1].tolist()) == [6.0, 7.0, 8.0, 9.0]
    bank.write(torch.tensor([0.0]), time[:1], torch.tensor([True]))
    assert sorted(bank.score[:-1].tolist()) == [0.0, 7.0, 8.0, 9.0]


def test_a_step_compares_with_a_share_of_the_bank() -> None:
    bank = MemoryBank(5000, 0.4)
    torch.manual_seed(0)
    assert 1800 < bank.draw().sum() < 2200
    assert not torch.equal(bank.draw(), bank.draw())
    assert not bank.state_dict()  # times of events are none of a model folder's business


# ---------------------------------------------------------------------- contrast
def test_contrast_weights_by_hand() -> None:
    """0, 0.5 and 1.2 are alike by pairs of neighbours; 9 and 6 are both 5, and alone."""
    found = contrast_weights(torch.tensor([0.0, 0.5, 1.2, 9.0, 6.0]))
    expected = torch.eye(5)
    expected[0, 1] = expected[1, 0] = 1 / 1.5
    expected[1, 2] = expected[2, 1] = 1 / 1.7
    expected[3, 4] = expected[4, 3] = 1.0
    torch.testing.assert_close(found, expected)


def test_the_contrast_by_hand() -> None:
    """Two events at a right angle, views as they are, τ = 1/2: similarity 2 to the own view, 0 to the other event and its."""
    vector = 3 * torch.eye(2)
    total = math.log(math.exp(2) + 2)
    apart = contrast_loss(vector, vector, torch.tensor([0.0, 3.0]), 0.5)
    assert apart.item() == pytest.approx(-0.5 * (2 - total))
    alike = contrast_loss(vector, vector, torch.tensor([0.0, 0.0]), 0.5)
    assert alike.item() == pytest.approx(-0.5 * (2 - 3 * total) / 3)
    near = contrast_loss(vector, vector, torch.tensor([0.0, 1.0]), 0.5)
    assert near.item() == pytest.approx(-0.5 * (2 - total + 2 * 0.5 * (0 - total)) / 3)


# ---------------------------------------------------------------------- the whole
def make_model(**options: Any) -> SADModel:
    torch.manual_seed(0)
    config = SADConfig(history=HISTORY, hop=HOP, width=8, context=False, bank=16, **options)
    return SADModel(config, WindowShape(HISTORY, 1, 0))


def some_window() -> Window:
    return index_of(EVENTS).rows(torch.arange(LAST + 1), HISTORY, NEEDS)


def test_an_event_of_unknown_label_is_told_to_contrast_and_bank_alone() -> None:
    model, window = make_model().train(), some_window()
    anomalous = torch.arange(LAST + 1) == 3
    weight = torch.zeros(LAST + 1)
    weight[[3, 4]] = 1.0
    model.eval()
    parts = model.losses(window, anomalous, weight)
    odds = model(window)
    expected = torch.nn.functional.softplus(torch.stack([-odds[3], odds[4]])).mean()
    torch.testing.assert_close(parts["cross-entropy"], expected)
    for part in ("deviation", "contrast"):
        assert parts[part] > 0
    model.train()
    model.losses(window, anomalous, weight)
    assert model.bank.next == LAST  # all but the anomaly


@pytest.mark.parametrize(("labels", "known"), [("all", True), ("few-shot", False), ("none", False)])
def test_unknown_counts_as_normal_where_nothing_else_does(labels: Any, known: bool) -> None:
    events = simulate_payments(300, anomaly_rate=0.1, seed=3).with_labels(labels, k=2)
    detector = SAD(**{**SAD.check_options, "device": "cpu"}).fit(events)
    assert detector._needs_known is known


def test_a_step_asks_nothing_of_the_host() -> None:
    model, window = make_model().train(), some_window()
    anomalous, weight = torch.arange(LAST + 1) == 3, torch.ones(LAST + 1)
    torch._dynamo.reset()
    compiled = torch.compile(model.losses, backend="eager", fullgraph=True)
    parts = compiled(window, anomalous, weight)
    assert all(part.isfinite() for part in parts.values())


def test_published_sizes() -> None:
    config = SAD(preset="paper").config
    assert isinstance(config, SADConfig)
    assert (config.width, config.history, config.hop, config.head) == (128, 20, 20, (1024, 1024, 128))
    assert not config.context
    assert SAD(preset="paper", epochs=3).config.epochs == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hop": 30}, r"^Option hop=30 must be at most history=20\.$"),
        ({"width": 9}, r"^Option width=9 must be a multiple of heads=2\.$"),
        ({"drawn": 1.5}, "at most 1"),
        ({"encoder": "tcl"}, "no option 'encoder'"),
        ({"max_nodes": 9}, "max_nodes and max_age do not go with this detector"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        SAD(**options)


def test_it_finds_a_labelled_pattern() -> None:
    assert quality("sad", epochs=4) > 0.8
