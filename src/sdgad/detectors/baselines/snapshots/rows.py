"""Rows of tables that grow: a node gets one when the first snapshot that it is in is committed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from sdgad.events.held import ANY, held
from sdgad.history.state import Array

NO_ROW = -1


def rows_of(row: Tensor, node: Tensor) -> Tensor:
    """The row of each node; −1 of those who have none yet, and of nobody."""
    padded = torch.cat([row, row.new_full((1,), NO_ROW)])
    return padded[torch.where((node >= 0) & (node < len(row)), node, len(row))]


def with_newcomers(row: Tensor, node: Tensor) -> tuple[Tensor, int]:
    """The rows `[nodes]` after a snapshot with the events `[B, 2]`, and how many newcomers got one.

    Newcomers get the next numbers in order of appearance: what nodes are called, and who else is known, has no say.
    """
    both = node.flatten()
    size = max(len(row), int(both.max()) + 1 if len(both) else 0)
    grown = torch.cat([row, row.new_full((size - len(row),), NO_ROW)])
    first = torch.full((size,), len(both), device=row.device).scatter_reduce(
        0, both, torch.arange(len(both), device=row.device), "amin"
    )
    new = torch.nonzero((first < len(both)) & (grown < 0))[:, 0]
    new = new[torch.argsort(first[new])]
    grown[new] = int((row >= 0).sum()) + torch.arange(len(new), device=row.device)
    return grown, len(new)


def need_rows(table: Mapping[str, Array], name: str = "row") -> int:
    """How many rows there are; a ValueError where nodes do not have one each of 0, 1, …"""
    row = held(table, name, "i8", (ANY,), low=NO_ROW)
    given = np.sort(row[row >= 0])
    if not np.array_equal(given, np.arange(len(given))):
        raise ValueError(f"the array {name!r} does not give every node a row of its own")
    return len(given)
