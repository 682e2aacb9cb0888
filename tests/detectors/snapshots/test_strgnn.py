"""StrGNN: subgraphs, labels, convolutions and pooling worked by hand on ten nodes, and meetings across communities."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from tests.detectors.snapshots.community_stream import communities

from sdgad.detectors.baselines.snapshots.graph import SnapshotGraph
from sdgad.detectors.baselines.strgnn.detector import StrGNN
from sdgad.detectors.baselines.strgnn.network import GraphConvolutions, StrGNNNetwork, sort_pooled
from sdgad.detectors.baselines.strgnn.state import StrGNNState
from sdgad.detectors.baselines.strgnn.subgraphs import LABELS, Subgraphs, nearest
from sdgad.errors import InputError
from sdgad.events.stream import EventStream
from sdgad.metrics import auroc

CPU = torch.device("cpu")
TEN = torch.tensor(
    [[0, 1], [0, 2], [1, 2], [0, 3], [3, 4], [1, 4], [0, 5], [1, 6], [6, 7], [0, 8], [8, 3], [7, 9]]
)
SLOT = {
    0: 0,
    1: 1,
    2: 3,
    3: 4,
    5: 5,
    8: 6,
    4: 12,
    6: 13,
}  # of each node around (0, 1): 8 of 0's, then 8 of 1's


def around_0_and_1(pair: tuple[int, int] = (0, 1), neighbours: int = 8) -> Subgraphs:
    state = StrGNNState(12, CPU, 1, neighbours, None)
    state.commit_pairs(TEN)
    return state.subgraphs(torch.tensor([pair]))


def test_a_subgraph_is_the_ends_and_their_neighbours_without_the_edge_itself() -> None:
    graph = around_0_and_1()
    assert torch.nonzero(graph.present[0])[:, 0].tolist() == sorted(SLOT.values())
    edges = {(0, 2), (1, 2), (0, 3), (3, 4), (1, 4), (0, 5), (1, 6), (0, 8), (8, 3)}
    expected = torch.zeros(18, 18)
    for one, other in edges:
        expected[SLOT[one], SLOT[other]] = expected[SLOT[other], SLOT[one]] = 1
    assert torch.equal(graph.adjacency[0], expected)


def test_double_radius_labels_by_hand() -> None:
    """2 is a neighbour of both; 3 and 4 reach the other end in two steps, 8 in three (8-3-4-1); 5 and 6 never."""
    label = around_0_and_1().label[0]
    assert {node: int(label[slot]) for node, slot in SLOT.items()} == {
        0: 1, 1: 1, 2: 2, 3: 3, 4: 3, 8: 4, 5: 0, 6: 0,
    }  # fmt: skip


def test_a_graph_convolution_by_hand() -> None:
    """tanh of the mean of the labels of a node and its neighbours, where a label weighs a tenth of itself."""
    graphs, layers = around_0_and_1(), GraphConvolutions(1)
    with torch.no_grad():
        layers.layers[0].weight.copy_(torch.arange(LABELS)[None] / 10)
    first = layers(graphs)[0, :, 0].detach()
    assert float(first[SLOT[5]]) == pytest.approx(math.tanh((0 + 1) / 2 / 10))
    assert float(first[SLOT[2]]) == pytest.approx(math.tanh((2 + 1 + 1) / 3 / 10))
    assert float(first[SLOT[3]]) == pytest.approx(math.tanh((3 + 1 + 3 + 4) / 4 / 10))
    assert not first[~graphs.present[0]].any()


def test_pooling_keeps_the_highest_last_channels_in_order_and_the_first_of_equals_first() -> None:
    last = torch.tensor([0.1, 0.9, 0.9, 0.5, 0.95])
    x = torch.stack([torch.arange(1.0, 6.0), last], 1)[None]
    present = torch.tensor([[True, True, True, True, False]])
    assert sort_pooled(x, present, 3)[0, :, 0].tolist() == [2, 3, 4]
    assert sort_pooled(x, present, 7)[0, :, 0].tolist() == [2, 3, 4, 1, 0, 0, 0]
    assert not sort_pooled(x, present, 7)[0, 4:].any()


def test_of_a_hub_those_count_that_it_met_most_often_then_those_who_came_first() -> None:
    events = torch.tensor([[0, 1], [0, 2], [0, 3], [0, 4], [4, 0], [0, 3], [0, 4]])
    tables = nearest(SnapshotGraph.of(events), 3)
    assert tables["who"].tolist() == [0, 1, 2, 3, 4]
    assert tables["near"].tolist() == [[4, 3, 1], *[[0, -1, -1]] * 4]


def test_strangers_self_loops_and_nobody_have_a_subgraph_of_their_own() -> None:
    for pair, size in {(0, 77): 7, (77, 78): 2, (0, 0): 7, (-1, -1): 2}.items():
        graph = around_0_and_1(pair)
        assert int(graph.present.sum()) == size, pair
        assert graph.label[0, :2].tolist() == [1, 1]


def test_each_snapshot_is_pooled_by_itself() -> None:
    """What is seen in one snapshot changes its own vector and no other one (the published reshape mixes them)."""
    torch.manual_seed(0)
    network = StrGNNNetwork(4, 8, 10, 0.0)
    state = StrGNNState(12, CPU, 3, 8, network)
    for _ in range(3):
        state.commit_pairs(TEN)
    pairs = TEN[:4]
    before = network.vector(state.subgraphs(pairs)).view(3, 4, -1)
    state.tables = {**state.tables, "near1": torch.full_like(state.tables["near1"], -1)}
    after = network.vector(state.subgraphs(pairs)).view(3, 4, -1)
    torch.testing.assert_close(after[[0, 2]], before[[0, 2]])
    assert (after[1] != before[1]).any(1).all()


def test_the_oldest_snapshot_comes_first_and_the_last_w_count() -> None:
    state = StrGNNState(12, CPU, 2, 8, None)
    for events in ([[0, 1]], [[0, 2], [1, 2]], [[0, 3], [0, 4], [0, 5]]):
        state.commit_pairs(torch.tensor(events))
    assert state.subgraphs(torch.tensor([[0, 1]])).present.sum(1).tolist() == [3, 5]


def test_how_many_nodes_are_pooled_is_said_by_training_subgraphs_alone() -> None:
    train, val, _ = communities(600, nodes=30, groups=1, rate=0.0).split()
    hub = EventStream(["n0"] * len(val), [f"x{i}" for i in range(len(val))], val.t, label=np.zeros(len(val)))
    options = {"snapshot": 80, "neighbours": 30, "hidden": 4, "width": 2, "device": "cpu"}
    k = [StrGNN(**options).fit(train, val=part, epochs=1)._k for part in (val, hub)]
    assert k[0] == k[1] > 10
    assert StrGNN(**options | {"neighbours": 2}).fit(train, val=val, epochs=1)._k == 10


def test_meetings_across_communities_are_found_without_labels() -> None:
    train, val, test = communities(nodes=80, groups=4).split()
    detector = StrGNN(
        width=16, hidden=32, window=3, batch=64, learning_rate=3e-3, dropout=0.1, device="cpu", seed=0
    )
    detector.fit(train.with_labels("none"), val=val.with_labels("none"), epochs=5)
    assert (auroc(test.label, detector.decision_function(test)) or 0) > 0.8


@pytest.mark.parametrize("option", ["window", "neighbours", "hidden", "batch", "sample"])
def test_options_out_of_range_are_named(option: str) -> None:
    with pytest.raises(InputError, match=rf"^Option {option}=0 must be"):
        StrGNN(**{option: 0})


def test_an_altered_state_is_refused() -> None:
    state = StrGNNState(12, CPU, 1, 8, None)
    state.commit_pairs(TEN)
    table = state.table()
    state.set_table(table)
    for name, changed in {
        "who0": table["who0"][::-1],
        "near0": table["near0"] + 7,
        "pairs0": table["pairs0"][::-1],
        "row": table["row"] + 1,
    }.items():
        with pytest.raises(ValueError, match=name):
            state.set_table({**table, name: changed})
