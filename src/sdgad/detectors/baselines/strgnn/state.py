"""What StrGNN knows of a stream: who met whom in each of the last W snapshots."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from sdgad.detectors.baselines.snapshots.graph import SnapshotGraph
from sdgad.detectors.baselines.snapshots.lookback import met, moved_on, need_met, need_near
from sdgad.detectors.baselines.snapshots.rows import NO_ROW, need_rows, rows_of, with_newcomers
from sdgad.detectors.baselines.snapshots.state import SnapshotState
from sdgad.detectors.baselines.strgnn.network import StrGNNNetwork
from sdgad.detectors.baselines.strgnn.subgraphs import SNAPSHOT, Subgraphs, enclosing, nearest
from sdgad.history.state import Array


class StrGNNState(SnapshotState):
    """Tables: `row` of each node, and of each of the last snapshots `who`, `near` and `pairs`, 0 being the last."""

    def __init__(
        self, size: int, device: torch.device, window: int, most: int, network: StrGNNNetwork | None
    ) -> None:
        nothing = torch.empty(0, dtype=torch.int64)
        empty = {"who": nothing, "near": torch.empty(0, most, dtype=torch.int64), "pairs": nothing}
        tables = {f"{name}{back}": empty[name] for back in range(window) for name in SNAPSHOT}
        super().__init__(size, device, {"row": nothing, **tables})
        self.window, self.most, self.network = window, most, network

    @property
    def nodes(self) -> int:
        return len(self.tables["row"])

    def subgraphs(self, node: Tensor) -> Subgraphs:
        """Of events, first in the oldest snapshot, then in the next …, `[W · B]`."""
        ends = rows_of(self.tables["row"], node)
        ends = torch.stack([ends[:, 0], torch.where(node[:, 0] == node[:, 1], NO_ROW, ends[:, 1])], 1)
        backs = reversed(range(self.window))
        return enclosing(ends, [[self.tables[f"{name}{back}"] for name in SNAPSHOT] for back in backs])

    def odds(self, node: Tensor) -> Tensor:
        assert self.network is not None, (
            "a state without a network says what subgraphs are, and scores nothing"
        )
        found: Tensor = self.network(self.subgraphs(node), self.window)
        return found

    def take_in(self, node: Tensor) -> None:
        row, _ = with_newcomers(self.tables["row"], node)
        newest = nearest(SnapshotGraph.of(row[node]), self.most)
        self.tables = {**moved_on(self.tables, newest, self.window), "row": row}

    def need_table(self, table: Mapping[str, Array]) -> None:
        rows = need_rows(table)
        for back in range(self.window):
            who, pairs = need_met(table, back, rows)
            near = need_near(table, back, who, self.most)
            known, one, other = map(
                torch.from_numpy, (pairs, np.broadcast_to(who[:, None], near.shape).copy(), near)
            )
            if not ((other < 0) | met(known, one, other)).all():
                raise ValueError(f"the array 'near{back}' holds somebody who was not met")
