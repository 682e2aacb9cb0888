"""AddGraph: quantities worked by hand on ten nodes, and communities that it finds."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from sdgad.detectors.baselines.addgraph.detector import AddGraph
from sdgad.detectors.baselines.addgraph.margin import margin_loss, source_goes
from sdgad.detectors.baselines.addgraph.network import AddGraphNetwork, ContextualAttention, Gate
from sdgad.detectors.baselines.addgraph.state import AddGraphState
from sdgad.detectors.baselines.snapshots.graph import SnapshotGraph

from .community_stream import communities

STAR = torch.tensor([[0, other] for other in range(1, 10)])  # ten nodes


def network(width: int = 4, layers: int = 2, nodes: int = 10) -> AddGraphNetwork:
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        return AddGraphNetwork(width, layers, 0.0, 3.0, 0.5, nodes).eval()


# ---------------------------------------------------------------------- by hand
def test_the_attention_row_of_a_node_is_the_softmax_of_r_tanh_q_h() -> None:
    """Q = 1, r = (1, 0): a ∝ e^{tanh 0}, e^{tanh 1}, e^{tanh −1} = 1, e^0.76159, e^−0.76159."""
    attention = ContextualAttention(2)
    attention.query.weight.data = torch.eye(2)
    attention.weight.data = torch.tensor([1.0, 0.0])
    states = torch.zeros(3, 10, 2)
    states[:, 7, 0] = torch.tensor([0.0, 1.0, -1.0])
    states[:, 7, 1] = 5.0
    total = 1 + 2.141672 + 0.466925
    expected = torch.tensor([1 / total, 2.141672 / total, 0.466925 / total])
    torch.testing.assert_close(attention.shares(states)[:, 7], expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(attention(states)[7], torch.tensor([1.674747 / total, 5.0]), atol=1e-5, rtol=0)
    torch.testing.assert_close(attention.shares(states)[:, 3], torch.full((3,), 1 / 3))


def test_the_gate_keeps_the_short_past_and_takes_in_the_present_as_the_equations_say() -> None:
    """d = 1, Cur = 0.5, Short = −1; U_P = 2, b_P = −1, W_P = 0; U_R = 0, W_R = −ln 3; U_c = 1, W_c = 2.

    P = σ(2 · 0.5 − 1) = 0.5; R = σ(ln 3) = 0.75; Hc = tanh(0.5 + 2 · 0.75 · −1) = tanh(−1) = −0.761594;
    H = 0.5 · −1 + 0.5 · −0.761594 = −0.880797. The port, which multiplies by R after W_c, would say the same only for d = 1.
    """
    gate = Gate(1)
    gate.current.weight.data = torch.tensor([[2.0], [0.0], [1.0]])
    gate.current.bias.data = torch.tensor([-1.0, 0.0, 0.0])
    gate.short.weight.data = torch.tensor([[0.0], [-math.log(3)]])
    gate.reset.weight.data = torch.tensor([[2.0]])
    found = gate(torch.full((10, 1), 0.5), torch.full((10, 1), -1.0))
    torch.testing.assert_close(found, torch.full((10, 1), -0.880797), atol=1e-6, rtol=0)


def test_a_convolution_over_a_star_of_ten_nodes() -> None:
    """One layer, W = 1, states e_0 of the hub and 0 elsewhere: Â_00 = 1/10, Â_0k = 1/√20."""
    model = network(width=2, layers=1)
    model.layers[0].data = torch.eye(2)
    states = torch.zeros(10, 2)
    states[0, 0] = 1.0
    found = model._convolved(states, SnapshotGraph.of(STAR).smoothing(10))
    expected = torch.zeros(10, 2)
    expected[:, 0] = torch.tensor([0.1] + [1 / math.sqrt(20)] * 9)
    torch.testing.assert_close(found, expected)


def test_the_margin_loss_of_three_edges() -> None:
    """γ = 0.6: max(0, −0.1) = 0; 0.6 + 0.7 − 0.5 = 0.8, which is left out where f(i, j) > f(i', j'); 0.6 + 0.4 − 0.6 = 0.4."""
    real, made = torch.tensor([0.2, 0.7, 0.4]), torch.tensor([0.9, 0.5, 0.6])
    assert margin_loss(real, made, 0.6, selective=True).item() == pytest.approx(0.4 / 3)
    assert margin_loss(real, made, 0.6, selective=False).item() == pytest.approx(1.2 / 3)


def test_the_busier_end_is_replaced_as_often_as_its_share_of_both_degrees() -> None:
    """The hub of a star has degree 9 and a leaf 1: the hub goes in nine of ten draws, wherever it stands."""
    edges = torch.cat([STAR, STAR.flip(1)]).repeat(500, 1)
    gone = source_goes(STAR, edges, torch.Generator().manual_seed(0)).view(500, 2, 9).float().mean((0, 2))
    torch.testing.assert_close(gone, torch.tensor([0.9, 0.1]), atol=0.02, rtol=0)


# ---------------------------------------------------------------------- an event by itself
def test_an_event_is_scored_as_a_snapshot_that_holds_nothing_else() -> None:
    model = network()
    state = AddGraphState(5, model, window=3)
    for rows in (STAR, STAR[:4].flip(1), torch.tensor([[3, 4], [5, 5]])):
        state.commit_pairs(rows)
    events = torch.tensor([[1, 2], [0, 9], [4, 3], [6, 6]])
    alone = []
    for event in events:
        after = model.advanced(state.tables["states"], SnapshotGraph.of(event[None]))
        alone.append(model.odds(after[event][:, None]))
    torch.testing.assert_close(state.odds(events), torch.cat(alone))


def test_who_met_nobody_has_the_last_state_for_the_present() -> None:
    model = network()
    states = torch.randn(3, 10, 4, generator=torch.Generator().manual_seed(1))
    found = model.advanced(states, SnapshotGraph.of(torch.tensor([[0, 1]])))
    expected = model.gate(states[-1], model.attention(states))
    torch.testing.assert_close(found[2:], expected[2:])
    assert not torch.allclose(found[:2], expected[:2])


def test_states_before_the_first_snapshot_are_drawn_for_as_many_as_training_has_and_zero_then() -> None:
    model = network(nodes=4)
    torch.testing.assert_close(model.newcomers(2, 4), torch.cat([model.first[2:], torch.zeros(2, 4)]))
    assert model.first.abs().max() <= 0.5  # 1 / √4


def test_gradients_go_back_through_the_last_commits() -> None:
    model = network()
    state = AddGraphState(5, model, window=2, depth=2)
    for rows in (STAR, STAR[:4], STAR[3:]):
        state.commit_pairs(rows)
    again = state.states_again()
    torch.testing.assert_close(again, state.tables["states"])
    again[-1].sum().backward()
    assert model.layers[0].grad is not None
    assert state.tables["states"].requires_grad is False


# ---------------------------------------------------------------------- what it finds
@pytest.mark.parametrize("labels", ["none", "all"])
def test_it_finds_edges_across_communities(labels: Literal["none", "all"]) -> None:
    train, val, test = communities().split()
    detector = AddGraph(device="cpu", epochs=20).fit(train.with_labels(labels), val=val)
    assert roc_auc_score(test.label, detector.decision_function(test)) > 0.8


def test_a_labelled_anomaly_is_a_negative_and_no_edge() -> None:
    """The loss with a label has a part of its own, and its edge is not among those that shall score low."""
    train, val, _ = communities(600).split()
    label = np.zeros(len(train))
    label[::40] = 1
    detector = AddGraph(device="cpu", epochs=1, selective=False).fit(train.with_columns(label=label), val=val)
    assert detector.record_.epochs[0]["known"] > 0
    unlabelled = AddGraph(device="cpu", epochs=1).fit(train.with_labels("none"), val=val)
    assert "known" not in unlabelled.record_.epochs[0]
