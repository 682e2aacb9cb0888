"""What the snapshot methods share: graphs, rows that grow, negatives, snapshots, and a small method that stands on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sdgad.checks import check_detector
from sdgad.detectors.baselines.snapshots.config import SnapshotConfig
from sdgad.detectors.baselines.snapshots.detector import Part, SnapshotDetector
from sdgad.detectors.baselines.snapshots.graph import SnapshotGraph
from sdgad.detectors.baselines.snapshots.negatives import Negatives
from sdgad.detectors.baselines.snapshots.rows import need_rows, rows_of, with_newcomers
from sdgad.detectors.baselines.snapshots.state import SnapshotState
from sdgad.detectors.registry import detectors
from sdgad.errors import InputError
from sdgad.events.held import ANY, held
from sdgad.events.stream import Array, EventStream

EVENTS = torch.tensor([[0, 1], [1, 0], [2, 2], [1, 2], [5, 4], [0, 1]])


# ---------------------------------------------------------------------- graphs
def test_a_graph_has_no_orientation_no_self_loops_and_counts_meetings() -> None:
    graph = SnapshotGraph.of(EVENTS)
    assert graph.pair.tolist() == [[0, 1], [1, 2], [4, 5]]
    assert graph.weight.tolist() == [3, 1, 1]
    assert graph.degree(7).tolist() == [3, 4, 1, 0, 1, 1, 0]


def test_smoothing_is_the_normalised_adjacency_with_self_loops() -> None:
    dense = torch.zeros(7, 7)
    for u, v in EVENTS[EVENTS[:, 0] != EVENTS[:, 1]].tolist():
        dense[u, v] += 1
        dense[v, u] += 1
    dense += torch.eye(7)
    scale = dense.sum(1).rsqrt()
    x = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))
    expected = scale[:, None] * dense * scale @ x
    torch.testing.assert_close(SnapshotGraph.of(EVENTS).smoothing(7)(x), expected)


def test_neighbours_are_those_of_each_node_in_order() -> None:
    start, other, weight = SnapshotGraph.of(EVENTS).neighbours(7)
    found = [other[start[x] : start[x + 1]].tolist() for x in range(7)]
    assert found == [[1], [0, 2], [1], [], [5], [4], []]
    assert weight[start[1] : start[2]].tolist() == [3, 1]


def test_an_empty_snapshot_is_a_graph() -> None:
    graph = SnapshotGraph.of(torch.tensor([[3, 3]]))
    assert len(graph) == 0
    torch.testing.assert_close(graph.smoothing(4)(torch.ones(4, 2)), torch.ones(4, 2))


# ---------------------------------------------------------------------- rows
def test_newcomers_get_rows_in_order_of_appearance_whatever_their_numbers() -> None:
    row, new = with_newcomers(torch.empty(0, dtype=torch.int64), torch.tensor([[7, 3], [3, 5]]))
    assert new == 3
    assert rows_of(row, torch.tensor([7, 3, 5, 0, -1, 99])).tolist() == [0, 1, 2, -1, -1, -1]
    row, new = with_newcomers(row, torch.tensor([[3, 0], [9, 7]]))
    assert new == 2
    assert rows_of(row, torch.tensor([0, 9, 7])).tolist() == [3, 4, 0]
    assert need_rows({"row": row.numpy()}) == 5
    with pytest.raises(ValueError, match="row of its own"):
        need_rows({"row": np.array([0, 0, 1])})


# ---------------------------------------------------------------------- negatives
def test_negatives_have_one_other_end_of_the_same_side_known_so_far_and_never_met() -> None:
    draw = np.random.default_rng(0)
    node = torch.from_numpy(np.stack([draw.integers(0, 30, 400), draw.integers(30, 90, 400)], 1))
    negatives, generator = Negatives(node), torch.Generator().manual_seed(0)
    until = 100
    source = torch.arange(until) % 2 == 0
    made = negatives.draw(node[:until], until, source, generator)
    assert (made[source, 1] == node[:until][source, 1]).all()
    assert (made[~source, 0] == node[:until][~source, 0]).all()
    assert set(made[:, 0].tolist()) <= set(node[:until, 0].tolist())
    assert set(made[:, 1].tolist()) <= set(node[:until, 1].tolist())
    met = {tuple(pair) for pair in node[:until].tolist()}
    assert [tuple(pair) in met for pair in made.tolist()] == negatives.met(made, until).tolist()
    assert negatives.met(made, until).float().mean() < 0.02
    assert negatives.met(node[:until].flip(1), until).all()
    assert not negatives.met(node[:1], 0).any()


# ---------------------------------------------------------------------- a small method
class Counted(SnapshotState):
    """log-odds = θ₀ − θ₁ log(1 + meetings of the pair's ends up to the last snapshot)."""

    def __init__(self, size: int, device: torch.device, network: nn.Linear) -> None:
        super().__init__(size, device, {"row": torch.empty(0, dtype=torch.int64), "count": torch.empty(0)})
        self.network = network

    def features(self, node: Tensor) -> Tensor:
        counts = torch.cat([self.tables["count"], torch.zeros(1, device=self.device)])
        return counts[rows_of(self.tables["row"], node)].log1p().sum(1, keepdim=True)

    def odds(self, node: Tensor) -> Tensor:
        found: Tensor = self.network(self.features(node))[:, 0]
        return found - 1e-6 * (node % 97).sum(1)  # so that few tie

    def take_in(self, node: Tensor) -> None:
        row, new = with_newcomers(self.tables["row"], node)
        count = torch.cat([self.tables["count"], torch.zeros(new, device=self.device)])
        count = count.index_add(0, row[node.flatten()], torch.ones(2 * len(node), device=self.device))
        self.tables = {"row": row, "count": count}

    def need_table(self, table: Mapping[str, Array]) -> None:
        held(table, "count", "f4", (need_rows(table),), low=0)

    @property
    def nodes(self) -> int:
        return len(self.tables["row"])


class CountedPairs(SnapshotDetector):
    """A network of two numbers."""

    check_options: ClassVar[Mapping[str, Any]] = {"snapshot": 40, "epochs": 2}

    def _make_network(self) -> nn.Module:
        return nn.Linear(1, 1)

    def _new_state(self) -> Counted:
        assert isinstance(self._network, nn.Linear)
        return Counted(self._size, next(self._network.parameters()).device, self._network)

    def _losses(
        self, state: SnapshotState, part: Part, negatives: Negatives, generator: torch.Generator
    ) -> dict[str, Tensor]:
        made = negatives.at_random(part.node, part.until, generator)
        odds = state.odds(torch.cat([part.node, made]))
        truth = torch.cat([part.anomalous.float(), torch.ones(len(made))])
        return {"cross-entropy": F.binary_cross_entropy_with_logits(odds, truth)}


@pytest.fixture
def registered() -> Iterator[None]:
    detectors.names()
    detectors.register("counted-pairs")(CountedPairs)
    yield
    del detectors._classes["counted-pairs"]


@pytest.mark.usefixtures("registered")
def test_a_method_on_the_foundation_keeps_the_contract() -> None:
    check_detector(CountedPairs)


def stream(events: int = 1300, seed: int = 0) -> EventStream:
    draw = np.random.default_rng(seed)
    src, dst = draw.integers(0, 40, events), draw.integers(0, 40, events)
    return EventStream(src, dst, np.arange(events, dtype=float), label=np.zeros(events))


def test_the_training_part_holds_about_twelve_snapshots_unless_the_option_says_otherwise() -> None:
    train, val, _ = stream().split()
    assert CountedPairs(device="cpu").fit(train, val=val, epochs=1)._size == round(len(train) / 12)
    assert CountedPairs(device="cpu", snapshot=7).fit(train, val=val, epochs=1)._size == 7


def test_an_epoch_steps_once_per_snapshot_on_training_events_only_with_the_state_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    train, val, _ = stream().split()
    seen: list[tuple[int, int, float]] = []
    losses = CountedPairs._losses

    def noted(self: Any, state: SnapshotState, part: Part, *rest: Any) -> dict[str, Tensor]:
        seen.append((part.snapshot.start, len(part.node), float(state.tables["count"].sum())))
        return losses(self, state, part, *rest)

    monkeypatch.setattr(CountedPairs, "_losses", noted)
    CountedPairs(device="cpu", snapshot=100).fit(train, val=val, epochs=2)
    count = len(train)
    expected = [(start, min(100, count - start), 2.0 * start) for start in range(0, count, 100)]
    assert seen == expected * 2


@pytest.mark.parametrize(
    ("option", "value"),
    [("snapshot", 0), ("width", 0), ("epochs", 0), ("learning_rate", 0.0), ("weight_decay", -1.0)],
)
def test_options_out_of_range_are_named(option: str, value: float) -> None:
    with pytest.raises(InputError, match=rf"^Option {option}={value} must be"):
        SnapshotConfig(**{option: value})


def test_bounds_of_memory_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="max_nodes"):
        SnapshotConfig(max_nodes=5)


def test_an_altered_state_is_refused() -> None:
    train, val, _ = stream().split()
    state = CountedPairs(device="cpu").fit(train, val=val, epochs=1)._state
    arrays = state.arrays()
    for name, changed in {
        "table.count": arrays["table.count"][:-1],
        "table.row": arrays["table.row"] + 1,
    }.items():
        with pytest.raises(ValueError, match=name.removeprefix("table.")):
            state.load({**arrays, name: changed})
    assert held(arrays, "table.count", "f4", (ANY,)).sum() > 0
