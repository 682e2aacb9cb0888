"""What TADDY knows of a stream: the diffusion over each of the last w snapshots."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from sdgad.detectors.baselines.snapshots.graph import SnapshotGraph
from sdgad.detectors.baselines.snapshots.lookback import moved_on, need_met, need_near
from sdgad.detectors.baselines.snapshots.rows import NO_ROW, need_rows, rows_of, with_newcomers
from sdgad.detectors.baselines.snapshots.state import SnapshotState
from sdgad.detectors.baselines.taddy.diffusion import FAR, SNAPSHOT, spread
from sdgad.detectors.baselines.taddy.network import TaddyNetwork
from sdgad.detectors.baselines.taddy.substructure import Substructure, substructure
from sdgad.events.held import held
from sdgad.history.state import Array

Spreads = dict[tuple[int, int], dict[str, Tensor]]
"""Tables of the snapshots of one stream, by the events before a snapshot and in it: weights have no say in them."""


class TaddyState(SnapshotState):
    """Tables: `row` of each node, and of each of the last snapshots those of `spread`, 0 being the last.

    `known`: of one stream that is gone through time and again, its snapshots so far.
    """

    def __init__(
        self,
        size: int,
        network: TaddyNetwork,
        window: int,
        k: int,
        most: int,
        known: Spreads | None = None,
    ) -> None:
        nothing, lists = torch.empty(0, dtype=torch.int64), torch.empty(0, most)
        empty = {"who": nothing, "near": lists.long(), "mass": lists, "apart": lists.byte(), "pairs": nothing}
        tables = {f"{name}{back}": empty[name] for back in range(window) for name in SNAPSHOT}
        super().__init__(size, network.head.weight.device, {"row": nothing, **tables})
        self.network, self.window, self.k, self.most = network, window, k, most
        self._known, self._passed = known, 0

    @property
    def nodes(self) -> int:
        return len(self.tables["row"])

    def substructures(self, node: Tensor) -> list[Substructure]:
        """Of events, in each of the last snapshots, the last one first; a self-loop has nobody for its other end."""
        ends = rows_of(self.tables["row"], node)
        ends = torch.stack([ends[:, 0], torch.where(node[:, 0] == node[:, 1], NO_ROW, ends[:, 1])], 1)
        return [
            substructure(ends, self.k, *(self.tables[f"{name}{back}"] for name in SNAPSHOT))
            for back in range(self.window)
        ]

    def odds(self, node: Tensor) -> Tensor:
        found: Tensor = self.network(self.substructures(node))
        return found

    def take_in(self, node: Tensor) -> None:
        row, _ = with_newcomers(self.tables["row"], node)
        newest = self._spread(row[node])
        self._passed += len(node)
        self.tables = {**moved_on(self.tables, newest, self.window), "row": row}

    def _spread(self, node: Tensor) -> dict[str, Tensor]:
        key = (self._passed, len(node))
        if self._known is None or key not in self._known:
            found = spread(SnapshotGraph.of(node), self.most)
            if self._known is None:
                return found
            self._known[key] = found
        return self._known[key]

    def need_table(self, table: Mapping[str, Array]) -> None:
        rows = need_rows(table)
        for back in range(self.window):
            who, _ = need_met(table, back, rows)
            near = need_near(table, back, who, self.most)
            mass = held(table, f"mass{back}", "f4", near.shape, low=0, high=1)
            apart = held(table, f"apart{back}", "u1", near.shape, low=1, high=FAR)
            for name, somebody in (("mass", mass > 0), ("apart", apart < FAR)):
                if (somebody != (near >= 0)).any():
                    raise ValueError(f"the array '{name}{back}' does not speak of those who are near")
