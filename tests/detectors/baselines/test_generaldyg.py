"""GeneralDyG: ego-graph, line graph and attention as worked by hand; the ego-graph equals a slow reading of its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from sdgad.detectors.baselines.generaldyg.config import GeneralDyGConfig
from sdgad.detectors.baselines.generaldyg.detector import GeneralDyG
from sdgad.detectors.baselines.generaldyg.edge_transformer import EdgeTransformer
from sdgad.detectors.baselines.generaldyg.ego import EgoGraph
from sdgad.detectors.baselines.generaldyg.graph_network import NodeEdgeLayer, adjusted
from sdgad.detectors.baselines.generaldyg.model import GeneralDyGModel
from sdgad.errors import InputError
from sdgad.history.needs import Needs
from sdgad.history.window import WindowShape

from .ten_nodes import EVENTS, HISTORY, HOP, LAST, index_of, other_of, past_of, quality, window_of

NEEDS = Needs(hop=HOP, at="root")


def ego(edges: int = 8) -> EgoGraph:
    return EgoGraph.of(window_of(LAST, NEEDS), edges, True)


def numbers(graph: EgoGraph, row: int = 0) -> list[int]:
    """Which events its edges are: the one feature of an event is its number plus 1."""
    return [int(mark) - 1 for mark, real in zip(graph.msg[row, :, 0], graph.real[row], strict=True) if real]


# ---------------------------------------------------------------------- the ego-graph
def test_the_edges_of_an_ego_graph_by_hand() -> None:
    """0 meets 4. Neighbours: 2, 1 and 5 of 0; 5 of 4. Of 0 and 1 the newest event is the 6th; 1 and 2 met in the 1st.

    2–3, 5–6 and all that happened among 7, 8 and 9 lead out of it.
    """
    graph = ego()
    assert numbers(graph) == [10, 9, 6, 4, 3, 1]
    assert graph.real[0].tolist() == [True] * 6 + [False] * 2
    assert graph.gap[0, :6].tolist() == [3600.0 * (10 - k) for k in (10, 9, 6, 4, 3, 1)]
    assert graph.role[0, :6].tolist() == [0, 1, 1, 1, 1, 2]
    two, one, five = 2, 3, 4  # places of the past partners of 0, oldest first; 0 is at 0, 4 at 1
    pairs = [(0, 1), (0, five), (0, one), (1, five), (0, two), (one, two)]
    assert [set(ends) for ends in graph.ends[0, :6].tolist()] == [set(pair) for pair in pairs]


def test_of_too_many_edges_the_newest_stay() -> None:
    assert numbers(ego(edges=4)) == [10, 9, 6, 4]
    assert numbers(ego(edges=1)) == [10]


def test_without_the_event_its_edge_is_missing() -> None:
    assert numbers(EgoGraph.of(window_of(LAST, NEEDS), 8, False)) == [9, 6, 4, 3, 1]


def slow_edges(events: list[tuple[int, int]], row: int) -> set[int]:
    ends = events[row]
    seen = {k for node in ends for k in past_of(events, node, row, HISTORY)}
    nodes = {*ends, *(node for k in seen for node in events[k])}
    for node in {other_of(events[k], end) for end in ends for k in past_of(events, end, row, HISTORY)}:
        seen |= {k for k in past_of(events, node, row, HOP) if set(events[k]) <= nodes}
    newest = {frozenset(events[k]): k for k in sorted({*seen, row})}
    return set(newest.values())


def test_an_ego_graph_is_the_newest_event_of_every_pair_in_it() -> None:
    """Random events among ten nodes, self-loops and repeated pairs among them."""
    rng = np.random.default_rng(0)
    events = [tuple(pair) for pair in rng.integers(0, 10, (80, 2)).tolist()]
    graph = EgoGraph.of(index_of(events).rows(torch.arange(80), HISTORY, NEEDS), 40, True)
    for row in range(80):
        found = numbers(graph, row)
        assert found == sorted(slow_edges(events, row), reverse=True)
        for edge, number in enumerate(found):  # one place for one node, and the incidence says so
            touched = graph.incidence()[row, :, edge]
            assert int(touched.sum()) == len(set(events[number]))


# ---------------------------------------------------------------------- the line graph
def test_rows_of_the_line_graph_by_hand() -> None:
    """Edges 0–4, 0–5, 0–1, 4–5, 0–2, 1–2, and 0 says 2, 4 says 3, 5 says 5, 1 and 2 say 7."""
    graph = ego()
    said = torch.zeros(1, graph.nodes)
    said[0, :5] = torch.tensor([2.0, 3.0, 7.0, 7.0, 5.0])  # 0, 4, 2, 1, 5
    found = adjusted(graph.incidence().mT, said)[0]
    first = (
        torch.tensor([1.0, 2.0, 2.0, 3.0, 2.0, 0.0, 0.0, 0.0]) / 5
    )  # 0–4: 1 with itself, four that share 0 or 4
    last = torch.tensor([0.0, 0.0, 7.0, 0.0, 7.0, 1.0, 0.0, 0.0]) / 3  # 1–2: shares 1 with 0–1 and 2 with 0–2
    torch.testing.assert_close(found[0], first)
    torch.testing.assert_close(found[5], last)
    torch.testing.assert_close(found[6], torch.eye(8)[6])  # no edge: alone with itself


def test_a_row_of_nodes_by_hand() -> None:
    """5 has edges to 0 (which says 4) and to 4 (which says 6): (4, 6, 1) / 3."""
    graph = ego()
    said = torch.tensor([[1.0, 4.0, 1.0, 6.0, 1.0, 1.0, 1.0, 1.0]])
    row = adjusted(graph.incidence(), said)[0, 4]
    expected = torch.zeros(graph.nodes)
    expected[[0, 1, 4]] = torch.tensor([4.0, 6.0, 1.0]) / 3
    torch.testing.assert_close(row, expected)


def test_columns_of_the_line_graph_are_divided_by_their_largest_value() -> None:
    """Edges a–b and b–c; b says −4: rows (1, −4)/2 and (−4, 1)/2, columns' largest 2: (1/4, −1)."""
    layer = NodeEdgeLayer(1, 0.0).eval()
    incidence = torch.tensor([[[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]])
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
        layer.node.bias.fill_(1.0)  # all nodes are 1 after the first half
        layer.through_node.weight.fill_(-4.0)
        layer.edge.weight.fill_(1.0)
        _, edges = layer(torch.zeros(1, 3, 1), torch.tensor([[[8.0], [1.0]]]), incidence)
    assert edges[0, :, 0].tolist() == pytest.approx([8 / 4 - 1, 0.0])  # relu(−8 + 1/4) = 0


# ---------------------------------------------------------------------- the transformer
def test_an_attention_row_by_hand() -> None:
    """Logits ln 1, ln 2 and ln 5 of three real edges: 1/8, 2/8, 5/8; padding gets nothing."""
    transformer = EdgeTransformer(1, 1, 1, 1, 0.0).eval()
    with torch.no_grad():
        for parameter in transformer.parameters():
            parameter.zero_()
        transformer.query.bias.fill_(1.0)
        transformer.key.weight.fill_(1.0)
    edges = torch.tensor([[1.0, 2.0, 5.0, 100.0]]).log()[..., None]
    share = transformer.attention(edges, torch.tensor([[True, True, True, False]]))
    torch.testing.assert_close(share[0, 0], torch.tensor([1.0, 2.0, 5.0, 0.0]).expand(4, -1) / 8)


def test_values_are_those_of_the_raw_edges_and_weights_are_shared() -> None:
    torch.manual_seed(0)
    graph, edges, real = torch.randn(1, 5, 8), torch.randn(1, 5, 8), torch.ones(1, 5, dtype=torch.bool)
    once, thrice = (EdgeTransformer(8, 2, depth, 16, 0.0).eval() for depth in (1, 3))
    thrice.load_state_dict(once.state_dict())
    expected = edges
    for _ in range(3):
        expected = once(graph, expected, real)
    torch.testing.assert_close(thrice(graph, edges, real), expected)


# ---------------------------------------------------------------------- the whole
def make_model(**options: Any) -> GeneralDyGModel:
    torch.manual_seed(0)
    config = GeneralDyGConfig(history=HISTORY, hop=HOP, edges=8, width=8, context=False, **options)
    return GeneralDyGModel(config, WindowShape(HISTORY, 1, 0))


def test_padding_of_an_ego_graph_has_no_say() -> None:
    """An event scores the same whether its ego-graph has room for 8 edges or for 30."""
    window = index_of(EVENTS).rows(torch.arange(LAST + 1), HISTORY, NEEDS)
    small = make_model().eval()
    config = GeneralDyGConfig(history=HISTORY, hop=HOP, edges=30, width=8, context=False)
    large = GeneralDyGModel(config, WindowShape(HISTORY, 1, 0)).eval()
    large.load_state_dict(small.state_dict())
    torch.testing.assert_close(large(window), small(window))


def test_a_step_asks_nothing_of_the_host() -> None:
    model, window = make_model().train(), index_of(EVENTS).rows(torch.arange(LAST + 1), HISTORY, NEEDS)
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    assert compiled(window).isfinite().all()


def test_published_sizes() -> None:
    config = GeneralDyG(preset="paper").config
    assert isinstance(config, GeneralDyGConfig)
    assert (config.width, config.heads, config.depth, config.feed, config.head) == (128, 4, 6, 258, ())
    assert not config.context


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"width": 9}, r"^Option width=9 must be a multiple of heads=4\.$"),
        ({"edges": 0}, "edges=0 must be at least 1"),
        ({"dropout": 1.0}, "dropout"),
        ({"max_age": 9.0}, "max_nodes and max_age do not go with this detector"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        GeneralDyG(**options)


def test_it_finds_a_labelled_pattern() -> None:
    assert quality("generaldyg", epochs=5, depth=2, width=16) > 0.8
