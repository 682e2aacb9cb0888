"""NodeMemory: numbers that an encoder keeps about every node, as a State."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sdgad.events.held import ANY, held
from sdgad.history.blocks import BlockState
from sdgad.history.needs import Needs
from sdgad.history.state import Array
from sdgad.history.window import Memory, Window

Rule = Callable[
    [Window], Tensor
]  # events with their memory → the rows of their endpoints after them, [B, 2, R]

MOST = 1e18  # of what is remembered, in a file


class NodeMemory(BlockState):
    """Per node a row of R numbers, and the time of the event with which it was written.

    `attach` puts the rows into a Window; `rule` (an encoder's `commit`) writes them at the end of every block, all
    from the memory as it was at the beginning of the block. Of several events of one node in a block the last one is
    kept. Nodes that nothing was written about have rows of zeros.
    """

    def __init__(self, needs: Needs, rule: Rule, device: torch.device) -> None:
        super().__init__(needs.commit)
        self._needs = needs
        self._rule = rule
        self._device = device
        self._expected = 0
        self.reset()

    def expect(self, nodes: int) -> None:
        """Begin anew with room for so many nodes; if no others come, nothing is asked of the device on the way."""
        self._expected = nodes
        self.reset()

    def reset(self) -> None:
        """As before the first event."""
        super().__init__(self._needs.commit)
        self._journal: list[tuple[Tensor, Tensor, Tensor]] = []
        room = self._expected + 1  # the last row is nobody's
        self._row = torch.zeros(room, self._needs.memory, device=self._device)
        self._time = torch.full((room,), torch.nan, dtype=torch.float64, device=self._device)

    def __len__(self) -> int:
        """Nodes that there is room for."""
        return len(self._row) - 1

    def attach(self, window: Window) -> Window:
        """The Window with what is written about its nodes."""
        assert window.time is not None
        node = window.node[..., None]
        if self._needs.neighbours:
            node = torch.cat([node, window.past_node], 2)
        place = torch.where((node >= 0) & (node < len(self)), node, len(self))
        written = self._time[place]
        known = ~written.isnan()
        age = (window.time[:, None, None] - written).clamp(min=0).float()
        return replace(
            window, memory=Memory(row=self._row[place], age=torch.where(known, age, 0.0), known=known)
        )

    def commit(self, block: Window) -> None:
        block = block.to(self._device)
        assert block.time is not None
        rows = self._rule(self.attach(block)).flatten(0, 1).to(self._row.dtype)
        node, time = block.node.flatten(), block.time.repeat_interleave(2)
        if not self._expected:
            self._grow(int(node.max()) + 1)
        if self._undo is not None:
            self._journal.append((node, self._row[node], self._time[node]))
        kept = _last_of_same(node)
        self._row[node], self._time[node] = rows[kept], time[kept]

    def _grow(self, size: int) -> None:
        if size > len(self):
            room = max(size, 2 * len(self), 64)
            row, time = (
                self._row.new_zeros(room + 1, self._row.shape[1]),
                self._time.new_full((room + 1,), torch.nan),
            )
            row[: len(self)], time[: len(self)] = self._row[:-1], self._time[:-1]
            self._row, self._time = row, time

    # ------------------------------------------------------------------ undo: rows that were written, not the whole table
    def begin(self) -> None:
        super().begin()
        self._journal = []

    def take_note(self) -> Any:
        return len(self)

    def put_back(self, note: Any) -> None:
        for place, row, time in reversed(self._journal):
            self._row[place], self._time[place] = row, time
        self._journal = []
        if len(self) > note:  # room that was made for newcomers
            self._row, self._time = (torch.cat([all_[:note], all_[-1:]]) for all_ in (self._row, self._time))

    # ------------------------------------------------------------------ files
    def table(self) -> dict[str, Array]:
        return {"row": self._row[:-1].cpu().numpy().copy(), "time": self._time[:-1].cpu().numpy().copy()}

    def set_table(self, table: Mapping[str, Array]) -> None:
        row = held(table, "row", "f4", (ANY, self._needs.memory), low=-MOST, high=MOST)
        time = held(table, "time", "f8", row.shape[:1], special=True)
        if set(table) != {"row", "time"} or np.isinf(time).any():
            raise ValueError("the memory does not tell when it was written")
        self._row, self._time = torch.zeros(1, row.shape[1]), torch.full((1,), torch.nan, dtype=torch.float64)
        self._row = torch.cat([torch.from_numpy(row), self._row]).to(self._device)
        self._time = torch.cat([torch.from_numpy(time), self._time]).to(self._device)


def _last_of_same(node: Tensor) -> Tensor:
    """Of each place in a list of nodes, the last place with the same node: all events of a node write what its last one says.

    To leave the others out would take a list whose length only the device knows.
    """
    order = torch.argsort(node, stable=True)
    by_node = node[order]
    number = torch.arange(len(node), device=node.device)
    goes_on = by_node[1:] == by_node[:-1]
    ends = torch.where(torch.nn.functional.pad(goes_on, (0, 1)), len(node), number)
    last = ends.flip(0).cummin(0).values.flip(0)
    return torch.empty_like(order).scatter_(0, order, order[last])
