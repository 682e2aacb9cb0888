"""TADDY: diffusion, tokens, encodings and attention worked by hand on ten nodes, and meetings across communities."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from tests.detectors.snapshots.community_stream import communities
from torch import Tensor

from sdgad.detectors.baselines.snapshots.detector import Part
from sdgad.detectors.baselines.snapshots.graph import SnapshotGraph
from sdgad.detectors.baselines.snapshots.state import SnapshotState
from sdgad.detectors.baselines.taddy.detector import Taddy
from sdgad.detectors.baselines.taddy.diffusion import FAR, RESTART, SNAPSHOT, spread
from sdgad.detectors.baselines.taddy.network import NodeEncoding, TaddyNetwork, pooled
from sdgad.detectors.baselines.taddy.state import Spreads, TaddyState
from sdgad.detectors.baselines.taddy.substructure import Substructure, substructure
from sdgad.encoders.attention import MultiHeadAttention
from sdgad.errors import InputError
from sdgad.metrics import auroc

# a star 0: 1, 2, 3; a path 4, 5, 6; a triangle 7, 8, 9
TEN = torch.tensor([[0, 1], [0, 2], [0, 3], [4, 5], [5, 6], [7, 8], [8, 9], [7, 9]])


def around(pair: tuple[int, int], events: torch.Tensor = TEN, listed: int = 8, k: int = 5) -> Substructure:
    tables = spread(SnapshotGraph.of(events), listed)
    return substructure(torch.tensor([pair]), k, *(tables[name] for name in SNAPSHOT))


def test_a_diffusion_row_by_hand() -> None:
    """From a leaf of a star of three: centre : other leaf = 1 : a / √3, a = 0.85; from the end of a path of three:
    middle : other end = 1 : a / √2; of a triangle either other node has a half."""
    tables = spread(SnapshotGraph.of(TEN), 4)
    leaf, end = 0.85 / math.sqrt(3), 0.85 / math.sqrt(2)
    assert tables["near"][[1, 4, 7]].tolist() == [[0, 2, 3, -1], [5, 6, -1, -1], [8, 9, -1, -1]]
    expected = [
        [1 / (1 + 2 * leaf), leaf / (1 + 2 * leaf), leaf / (1 + 2 * leaf), 0],
        [1 / (1 + end), end / (1 + end), 0, 0],
        [0.5, 0.5, 0, 0],
    ]
    torch.testing.assert_close(tables["mass"][[1, 4, 7]], torch.tensor(expected))
    assert tables["apart"][[1, 4, 7]].tolist() == [[1, 2, 2, FAR], [1, 2, FAR, FAR], [1, 1, FAR, FAR]]


def test_lists_are_the_rows_of_the_dense_inverse_in_parts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    events = torch.randint(0, 30, (60, 2), generator=torch.Generator().manual_seed(0))
    graph = SnapshotGraph.of(events)
    adjacency = torch.zeros(30, 30, dtype=torch.float64)
    adjacency[graph.pair[:, 0], graph.pair[:, 1]] = 1
    adjacency += adjacency.T.clone()
    there = adjacency.sum(1) > 0
    adjacency = adjacency[there][:, there]
    scale = adjacency.sum(1).rsqrt()
    step = scale[:, None] * adjacency * scale
    dense = RESTART * torch.linalg.inv(torch.eye(len(step)) - (1 - RESTART) * step)
    dense.fill_diagonal_(0)
    dense = (dense / dense.sum(1, keepdim=True)).float()
    tables = spread(graph, 6)
    torch.testing.assert_close(tables["mass"], dense.topk(6).values, rtol=0.02, atol=1e-3)
    monkeypatch.setattr("sdgad.detectors.baselines.taddy.diffusion.CELLS", 70)
    parts = spread(graph, 6)
    assert all(torch.equal(parts[name], tables[name]) for name in SNAPSHOT)


def test_equal_shares_are_in_order_of_appearance_and_none_is_nobody() -> None:
    star = torch.tensor([[9, i] for i in range(9)])
    assert spread(SnapshotGraph.of(star), 4)["near"].tolist() == [
        [9, 1, 2, 3], *[[9, 0, *[x for x in (1, 2, 3) if x != i][:2]] for i in range(1, 9)], [0, 1, 2, 3],
    ]  # fmt: skip


def test_a_token_list_by_hand() -> None:
    """S[1] + S[4]: 5 has 0.62, 0 has 0.50, 6 has 0.38, 2 and 3 have 0.25 each, and 2 came first."""
    found = around((1, 4))
    assert found.node.tolist() == [[1, 4, 5, 0, 6, 2, 3]]
    assert found.apart[0, :, 0].tolist() == [0, FAR, FAR, 1, FAR, 2, 2]
    assert found.apart[0, :, 1].tolist() == [FAR, 0, 1, FAR, 2, FAR, FAR]
    assert found.visible.all()


def test_shares_of_both_ends_add_up_and_who_has_none_is_masked() -> None:
    found = around((7, 8))
    assert found.node.tolist() == [[7, 8, 9, -1, -1, -1, -1]]
    assert found.apart[0, :3].tolist() == [[0, 1], [1, 0], [1, 1]]
    assert found.visible[0].tolist() == [True] * 3 + [False] * 4
    # 3 is between 1 and 2, and has of both what 0 and 4 have of one
    line = torch.tensor([[0, 1], [1, 3], [3, 2], [2, 4]])
    assert around((1, 2), line, k=1).node.tolist() == [[1, 2, 3]]


def test_a_neighbour_beyond_the_list_is_a_neighbour() -> None:
    events = torch.tensor([[0, i] for i in range(2, 10)] + [[1, 3], [2, 4], [2, 5]])
    found = around((1, 0), events, listed=1)
    assert found.node[0, :4].tolist() == [1, 0, 3, 2]
    assert found.apart[0, 2:4].tolist() == [[1, 1], [FAR, 1]]


def test_strangers_and_nobody_have_tokens_of_their_own() -> None:
    for pair, count in {(1, -1): 5, (-1, -1): 2}.items():
        found = around(pair)
        assert int(found.visible.sum()) == count
        assert found.apart[0, :2].tolist() == [[0, FAR], [FAR, 0]]


def test_a_token_is_the_norm_of_its_three_encodings_each_of_its_own_table() -> None:
    torch.manual_seed(0)
    found = around((1, 4))
    for both in (True, False):
        encoding = NodeEncoding(6, 5, 2, both, 0.0)
        tokens = encoding(found, 1)[0]
        for place, rank in enumerate([0, 0, 1, 2, 3, 4, 5]):
            apart = found.apart[0, place]
            distance = encoding.distance.weight[apart if both else apart.min()[None]].sum(0)
            total = encoding.rank.weight[rank] + distance + encoding.time.weight[1]
            expected = (total - total.mean()) / (total.var(correction=0) + 1e-5).sqrt()
            torch.testing.assert_close(tokens[place], expected)


def test_attention_and_mean_are_over_those_who_are_somebody() -> None:
    """Where all keys are alike, each of the three real tokens of (7, 8) gets a third."""
    visible = around((7, 8)).visible
    x = torch.randn(1, 7, 4, generator=torch.Generator().manual_seed(0))
    attention = MultiHeadAttention(4, 2, 0.0, lonely=False)
    with torch.no_grad():
        attention.query.weight.zero_()
        attention.query.bias.zero_()
        thirds = attention.out(attention.key_value(x[0, :3])[:, 4:].mean(0))
        torch.testing.assert_close(attention(x, x, visible), thirds.expand(1, 7, 4))
    torch.testing.assert_close(pooled(x, visible), x[:, :3].mean(1))


def network() -> TaddyNetwork:
    torch.manual_seed(0)
    return TaddyNetwork(8, 5, 2, both=True, layers=2, heads=2, dropout=0.0, attention_dropout=0.0)


def test_what_a_masked_token_says_changes_nothing() -> None:
    found, model = around((7, 8)), network()
    other = Substructure(
        found.node, torch.where(found.visible[:, :, None], found.apart, FAR - 3), found.visible
    )
    torch.testing.assert_close(model([found, found]), model([other, other]))
    moved = Substructure(found.node, (found.apart + 1).clamp(max=FAR), found.visible)
    assert (model([found, found]) - model([moved, moved])).abs() > 1e-6


def test_what_is_kept_while_it_learns_is_what_a_new_state_finds() -> None:
    known: Spreads = {}
    model = network()
    found = []
    for kept in (known, known, None):
        state = TaddyState(4, model, 2, 5, 8, kept)
        for part in torch.split(TEN, 4):
            state.commit_pairs(part)
        found.append(state.odds(TEN))
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])
    assert sorted(known) == [(0, 4), (4, 4)]


def test_an_epoch_learns_from_a_sample_drawn_anew_and_not_from_the_first_snapshot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing came before the first snapshot, so that nothing in it tells an edge that happened from one that did not."""
    train, val, _ = communities(1300, nodes=80).split()
    seen: list[Part] = []
    losses = Taddy._losses

    def noted(self: Taddy, state: SnapshotState, part: Part, *rest: Any) -> dict[str, Tensor]:
        seen.append(part)
        return losses(self, state, part, *rest)

    monkeypatch.setattr(Taddy, "_losses", noted)
    detector = Taddy(snapshot=130, sample=90, batch=16, width=4, device="cpu")
    detector.fit(train, val=val, epochs=2)
    assert {part.snapshot.number for part in seen} == {1, 2, 3}
    assert max(len(part.node) for part in seen) <= 16
    epochs = [
        torch.cat([part.node for part in half]) for half in (seen[: len(seen) // 2], seen[len(seen) // 2 :])
    ]
    assert [len(epoch) for epoch in epochs] == [90, 90]
    assert not torch.equal(epochs[0].sort(0).values, epochs[1].sort(0).values)


def test_meetings_across_communities_are_found_without_labels() -> None:
    train, val, test = communities(nodes=80, groups=4).split()
    detector = Taddy(batch=64, learning_rate=3e-3, device="cpu", seed=0)
    detector.fit(train.with_labels("none"), val=val.with_labels("none"), epochs=4)
    assert (auroc(test.label, detector.decision_function(test)) or 0) > 0.8


@pytest.mark.parametrize("option", ["window", "nodes", "listed", "layers", "heads", "batch", "sample"])
def test_options_out_of_range_are_named(option: str) -> None:
    with pytest.raises(InputError, match=rf"^Option {option}=0 must be"):
        Taddy(**{option: 0})


def test_heads_have_to_divide_the_width() -> None:
    with pytest.raises(InputError, match=r"^Option heads=3 must divide the width 32\.$"):
        Taddy(heads=3)


def test_an_altered_state_is_refused() -> None:
    state = TaddyState(4, network(), 2, 5, 8)
    state.commit_pairs(TEN)
    table = state.table()
    state.set_table(table)
    for name, changed in {
        "who0": table["who0"][::-1],
        "near0": table["near0"] + 7,
        "mass0": table["mass0"] + 1,
        "apart0": table["apart0"] + 1,
        "pairs0": table["pairs0"][::-1],
        "row": table["row"] + 1,
    }.items():
        with pytest.raises(ValueError, match=name):
            state.set_table({**table, name: changed})
