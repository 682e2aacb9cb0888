"""What AddGraph knows of a stream: the last w states of every node."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from sdgad.detectors.baselines.addgraph.network import AddGraphNetwork
from sdgad.detectors.baselines.snapshots.graph import SnapshotGraph
from sdgad.detectors.baselines.snapshots.rows import need_rows, rows_of, with_newcomers
from sdgad.detectors.baselines.snapshots.state import SnapshotState
from sdgad.events.held import held
from sdgad.history.state import Array

MOST = 1e3  # of a state, which is a mixture of tanh and of first states


class AddGraphState(SnapshotState):
    """Tables: `row` of each node, and `states` `[w, N, d]`, newest last. Who is not in them has states of zero."""

    def __init__(self, size: int, network: AddGraphNetwork, window: int, depth: int = 0) -> None:
        width = network.first.shape[1]
        tables = {"row": torch.empty(0, dtype=torch.int64), "states": torch.empty(window, 0, width)}
        super().__init__(size, network.first.device, tables)
        self.network = network
        self._depth = depth  # commits that training goes back through
        self._last: list[tuple[Tensor, Tensor, SnapshotGraph]] = []  # states before each, newcomers, graph

    @property
    def nodes(self) -> int:
        return len(self.tables["row"])

    def odds(self, node: Tensor) -> Tensor:
        return self.odds_by(self.tables["states"], node)

    def odds_by(self, states: Tensor, node: Tensor) -> Tensor:
        """Log-odds of events by these states of nodes."""
        known = torch.cat([states, states.new_zeros(len(states), 1, states.shape[2])], 1)
        row = rows_of(self.tables["row"], node).T
        own = known[:, row]
        met = self.network.odds(self.network.together(own))
        alone = self.network.odds(self.network.gate(own[-1], self.network.attention(own)))
        return torch.where(node[:, 0] == node[:, 1], alone, met)

    def take_in(self, node: Tensor) -> None:
        row, new = with_newcomers(self.tables["row"], node)
        before = self.tables["states"]
        commit = self.network.newcomers(before.shape[1], new), SnapshotGraph.of(row[node])
        self.tables = {"row": row, "states": self._after(before, *commit)}
        self._last = [*self._last, (before, *commit)][-self._depth :] if self._depth else []

    def _after(self, states: Tensor, joined: Tensor, graph: SnapshotGraph) -> Tensor:
        """The states after a snapshot, before which these nodes joined."""
        states = torch.cat([states, joined.expand(len(states), -1, -1)], 1)
        return torch.cat([states[1:], self.network.advanced(states, graph)[None]])

    def states_again(self) -> Tensor:
        """The states, with gradients through the last commits."""
        if not self._last:
            return self.tables["states"]
        states = self._last[0][0]
        for _, joined, graph in self._last:
            states = self._after(states, joined, graph)
        return states

    def need_table(self, table: Mapping[str, Array]) -> None:
        window, _, width = self.tables["states"].shape
        held(table, "states", "f4", (window, need_rows(table), width), low=-MOST, high=MOST)
