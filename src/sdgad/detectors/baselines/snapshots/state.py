"""SnapshotState: what a snapshot method knows of a stream, snapshot by snapshot."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sdgad.detectors.own_state import OwnState
from sdgad.detectors.precision import products
from sdgad.history.blocks import BlockState
from sdgad.history.state import Array
from sdgad.history.window import Window, WindowShape

LOWEST, HIGHEST = -700.0, 36.0  # log-odds beyond which the float64 sigmoid is 0 or 1


def probability(odds: Tensor) -> Array:
    """Log-odds → (0, 1): the sigmoid in float64, strictly inside."""
    clipped: Array = np.clip(odds.detach().double().cpu().numpy(), LOWEST, HIGHEST)
    score: Array = 1.0 / (1.0 + np.exp(-clipped))
    return score


class SnapshotState(BlockState, OwnState):
    """A snapshot is a block: its events are scored with the state as it was before it, each with itself and no other of them.

    The methods as published score an edge with its whole snapshot, later edges of it included. That would make the score of an
    event depend on events that come after it; here causality, cutting and live scoring hold as for every detector.

    `tables` is all that commits change: tensors on the device, which are replaced and never changed in place, so that to
    undo is to take the old ones back. A subclass writes `odds`, `take_in`, `need_table` and `nodes`.
    """

    def __init__(self, size: int, device: torch.device, tables: Mapping[str, Tensor]) -> None:
        super().__init__(size)
        self.device = device
        self.tables: dict[str, Tensor] = {name: tensor.to(device) for name, tensor in tables.items()}

    # ------------------------------------------------------------------ what a subclass writes
    @abstractmethod
    def odds(self, node: Tensor) -> Tensor:
        """Log-odds of an anomaly `[B]` for each of these events `[B, 2]`, by the state before their snapshot and by itself.

        A node may be one that was never committed, and −1, which is nobody: a live scorer fills batches up with it.
        """

    @abstractmethod
    def take_in(self, node: Tensor) -> None:
        """The events `[B, 2]` of a snapshot, in order, count from now on."""

    @abstractmethod
    def need_table(self, table: Mapping[str, Array]) -> None:
        """A KeyError or ValueError where arrays from a file are not such tables (`sdgad.events.held.held`)."""

    @property
    @abstractmethod
    def nodes(self) -> int:
        """Above every node that the tables speak of."""

    # ------------------------------------------------------------------ events
    def score(self, window: Window) -> Array:
        self.move_on(window)
        return self.score_pairs(window.node)

    @torch.no_grad()
    def score_pairs(self, node: Tensor) -> Array:
        """Scores in (0, 1) of events that come next."""
        with products("fp32", self.device):
            return probability(self.odds(node.to(self.device)))

    def commit(self, block: Window) -> None:
        self.commit_pairs(block.node)

    @torch.no_grad()
    def commit_pairs(self, node: Tensor) -> None:
        """A whole snapshot counts from now on; in training, where nothing waits."""
        with products("fp32", self.device):
            self.take_in(node.to(self.device))

    # ------------------------------------------------------------------ undo and files
    def take_note(self) -> Any:
        return dict(self.tables)

    def put_back(self, note: Any) -> None:
        self.tables = note

    def table(self) -> dict[str, Array]:
        return {name: tensor.detach().cpu().numpy() for name, tensor in self.tables.items()}

    def set_table(self, table: Mapping[str, Array]) -> None:
        if set(table) != set(self.tables):
            raise ValueError(f"the state has the tables {sorted(table)} instead of {sorted(self.tables)}")
        self.need_table(table)
        self.tables = {
            name: torch.from_numpy(np.ascontiguousarray(array)).to(self.device)
            for name, array in table.items()
        }

    def need_fit(self, nodes: int, shape: WindowShape) -> None:
        self.need_block_of(nodes, shape)
        if self.nodes > nodes:
            raise ValueError("the state speaks of nodes that there are not")
