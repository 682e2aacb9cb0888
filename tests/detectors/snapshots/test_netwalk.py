"""NetWalk: quantities worked by hand on ten nodes, the law of the reservoirs, and communities that it finds."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from sdgad.detectors.baselines.netwalk.autoencoder import Autoencoder, clique, divergence
from sdgad.detectors.baselines.netwalk.clusters import k_means, moved_on, nearest
from sdgad.detectors.baselines.netwalk.detector import NetWalk, NetWalkConfig
from sdgad.detectors.baselines.netwalk.state import NetWalkState
from sdgad.detectors.baselines.netwalk.walks import reservoirs_after, walks_from

from .community_stream import communities

STAR = torch.tensor([[0, other] for other in range(1, 10)])  # ten nodes


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def new_state(size: int = 5, seed: int = 0) -> NetWalkState:
    learning = NetWalkConfig(width=4, walks=3, seed=seed).learning((2,))
    return NetWalkState(size, torch.device("cpu"), learning, lambda _, distance: distance.log())


# ---------------------------------------------------------------------- by hand
def test_the_clique_loss_of_a_walk_is_the_sum_over_its_three_pairs() -> None:
    """h = (0, 0), (1, 0), (0, 2): squared distances 1, 4 and 1 + 4 = 5, together 10; as the trace with the Laplacian of K₃."""
    code = torch.tensor([[[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]])
    assert clique(code).tolist() == [10.0, 0.0]
    laplacian = 3 * torch.eye(3) - torch.ones(3, 3)
    assert torch.trace(code[0].T @ laplacian @ code[0]).item() == 10.0


def test_the_loss_of_a_walk_over_ten_nodes_of_which_two_are_the_same() -> None:
    """W₁ = 0 and b₁ = 0: all codes ½, W₂ = 0: all outputs σ(b₂).

    b₂ = ln 3 at node 0, else −ln 3: outputs ¾ and ¼. Walk 0, 1, 0. Errors: at 0, (1 − ¾)² + 9 · (¼)² = 0.625; at 1,
    (1 − ¼)² + (¾)² + 8 · (¼)² = 1.625; γ/2 = 10 times their mean (2 · 0.625 + 1.625) / 3 = 0.958333. No clique, no KL at
    ρ = ½, no weights.
    """
    bias = torch.full((10,), -math.log(3))
    bias[0] = math.log(3)
    model = Autoencoder(
        {
            "encoder": torch.zeros(10, 2),
            "encoder_bias": torch.zeros(2),
            "decoder": torch.zeros(10, 2),
            "decoder_bias": bias,
        }
    )
    walk = torch.tensor([[0, 1, 0]])
    parts = model.losses(walk, torch.arange(10), gamma=20.0, beta=1.0, rho=0.5, decay=0.0017)
    found = {name: value.item() for name, value in parts.items()}
    assert found == pytest.approx(
        {"clique": 0.0, "reconstruction": 9.58333, "sparsity": 0.0, "decay": 0.0}, abs=1e-5
    )


def test_the_sparsity_of_a_unit_is_the_divergence_of_two_coins() -> None:
    """KL(½ ‖ ¼) = ½ ln 2 + ½ ln ⅔ = 0.143841."""
    assert divergence(0.5, torch.tensor(0.25)).item() == pytest.approx(0.143841, abs=1e-6)


def test_centroids_are_averaged_with_those_that_they_are_matched_with() -> None:
    """Old (0, 0) of 100 and (1, 1) of 300; fresh, numbered the other way round, (0.8, 1) of 10 and (0.2, 0) of 30; a = 0.01.

    First: (1 · 0 + 0.99 · 30 · 0.2) / (1 + 29.7) = 0.193485; second: (3 · 1 + 9.9 · 0.8) / 12.9 = 0.846512 and 1.
    """
    old = torch.tensor([[0.0, 0.0], [1.0, 1.0]]), torch.tensor([100.0, 300.0])
    fresh = torch.tensor([[0.8, 1.0], [0.2, 0.0]]), torch.tensor([10.0, 30.0])
    centroids, sizes = moved_on(old, fresh, 0.01)
    torch.testing.assert_close(centroids, torch.tensor([[0.193485, 0.0], [0.846512, 1.0]]), atol=1e-5, rtol=0)
    torch.testing.assert_close(sizes, torch.tensor([30.7, 12.9]))


def test_every_edge_of_a_node_is_as_likely_in_its_reservoir_however_they_came() -> None:
    """The hub of a star of ten nodes meets 1 … 9, in snapshots of 4 and 5: each is in a ninth of the slots; leaves know it."""
    draw, slots = generator(), 20_000
    reservoir, degree = torch.full((10, slots), -1), torch.zeros(10, dtype=torch.int64)
    for part in (STAR[:4], torch.tensor([[3, 3]]), STAR[4:]):
        reservoir, degree = reservoirs_after(reservoir, degree, part, draw)
    assert degree.tolist() == [9, *[1] * 9]
    share = torch.bincount(reservoir[0], minlength=10)[1:] / slots
    torch.testing.assert_close(share, torch.full((9,), 1 / 9), atol=0.01, rtol=0)
    assert (reservoir[1:] == 0).all()


# ---------------------------------------------------------------------- parts
def test_walks_go_to_neighbours_and_stay_where_there_are_none() -> None:
    empty = torch.full((11, 8), -1), torch.zeros(11, dtype=torch.int64)
    reservoir, _ = reservoirs_after(*empty, STAR, generator())
    walks = walks_from(torch.tensor([0, 4, 10]).repeat(50), reservoir, 3, generator())
    assert (walks[0::3, 0] == 0).all()
    assert (walks[0::3, 1] > 0).all()
    assert (walks[0::3, 2] == 0).all()
    assert (walks[1::3, :2] == torch.tensor([4, 0])).all()
    assert (walks[2::3] == 10).all()


def test_k_means_finds_clusters_that_lie_apart() -> None:
    middle = torch.tensor([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    codes = (middle[:, None] + 0.1 * torch.randn(3, 40, 2, generator=generator())).flatten(0, 1)
    centroids, sizes = k_means(codes, 3, generator())
    assert nearest(middle, centroids)[0].max() < 0.1
    assert sizes.tolist() == [40, 40, 40]


def test_commits_go_on_learning_and_depend_on_the_seed_and_the_stream_alone() -> None:
    one, same, other = new_state(), new_state(), new_state(seed=1)
    for state in (one, same, other):
        torch.rand(7)  # of no account
        state.commit_pairs(STAR)
    before = one.tables["encoder"].clone()
    torch.testing.assert_close(before, same.tables["encoder"], atol=0, rtol=0)
    assert not torch.equal(before, other.tables["encoder"])
    one.commit_pairs(STAR[:3])
    assert not torch.equal(before, one.tables["encoder"])


def test_a_stranger_has_the_code_of_no_input() -> None:
    state = new_state()
    state.commit_pairs(STAR)
    blank = torch.sigmoid(state.tables["encoder_bias"])
    torch.testing.assert_close(state.codes(torch.tensor([[50, 60], [-1, -1]])), (blank * blank).expand(2, -1))


# ---------------------------------------------------------------------- what it finds
@pytest.mark.parametrize("labels", ["none", "all"])
def test_it_finds_edges_across_communities(labels: Literal["none", "all"]) -> None:
    train, val, test = communities().split()
    detector = NetWalk(device="cpu", epochs=20).fit(train.with_labels(labels), val=val)
    assert roc_auc_score(test.label, detector.decision_function(test)) > 0.8


def test_without_labels_one_half_is_the_furthest_training_event() -> None:
    train, val, _ = communities(600).split()
    detector = NetWalk(device="cpu").fit(train.with_labels("none"), val=val)
    assert detector.decision_scores_.max() == pytest.approx(0.5, abs=1e-6)
    assert np.unique(detector.decision_scores_).size > 10


def test_an_update_learns() -> None:
    """Two communities become one: what was odd is usual after enough of it."""
    train, val, test = communities(1500).split()
    detector = NetWalk(device="cpu").fit(train.with_labels("none"), val=val)
    assert isinstance(detector._state, NetWalkState)
    before = detector._state.tables["encoder"].clone()
    commits = int(detector._state.tables["commits"])
    detector.update(test)
    assert isinstance(detector._state, NetWalkState)
    assert int(detector._state.tables["commits"]) > commits
    assert not torch.equal(detector._state.tables["encoder"][: len(before)], before)
