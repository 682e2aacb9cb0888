"""BlockState: a state that changes at the ends of blocks of the stream, the same offline and live."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
import torch

from sdgad.history.state import NOWHERE, Array, State
from sdgad.history.window import Window

KEPT = tuple(f.name for f in fields(Window))[:9]  # up to `time`: the rest can be had again, or is not needed


class BlockState(State[Window]):
    """Events wait in the open block; when it is full and time moves on, `commit` makes them count.

    Blocks end before the first event of a new time that reaches or passes a multiple of `size`: where they end depends on the
    stream alone, not on how it was cut into batches. All events of a block see the state as it was at the beginning of the
    block. A subclass writes `commit`, `table` and `set_table`; Windows must say their time (`Needs.time`).
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._open: list[Window] = []
        self._count = 0  # events that have entered
        self._tick = 0  # number of the first event of the newest time
        self._newest = -np.inf
        self._committed = 0  # events that count
        self._undo: dict[str, Any] | None = None

    # ------------------------------------------------------------------ what a subclass writes
    @abstractmethod
    def commit(self, block: Window) -> None:
        """Make the events of a block, in order, count; without gradients."""

    @abstractmethod
    def table(self) -> dict[str, Array]:
        """What `commit` changes, as arrays under names of one's own."""

    @abstractmethod
    def set_table(self, table: Mapping[str, Array]) -> None:
        """The inverse of `table`; what is given may be changed in place later."""

    # ------------------------------------------------------------------ events come
    @property
    def events(self) -> int:
        """How many have entered."""
        return self._count

    def cuts(self, t: Array) -> Array:
        if len(t) == 0 or len(t) + self._count <= self.size:
            return NOWHERE
        number = self._count + np.arange(len(t))
        moves = t != np.append(self._newest, t[:-1])
        moves[0] &= self._count > 0
        rows = np.flatnonzero(moves)
        before = np.append(self._tick, number[rows[:-1]])
        due = (number[rows] // self.size > before // self.size) & (number[rows] > self._committed)
        return rows[due]

    def move_on(self, window: Window) -> None:
        """Time moves on to these events: a block that is due counts from now on."""
        assert window.time is not None, "a BlockState needs Window.time"
        if len(window) and len(self.cuts(window.time[:1].cpu().numpy())):
            self._note()
            blocks, self._open, self._committed = self._open, [], self._count
            if blocks:
                with torch.no_grad():
                    self.commit(_joined(blocks))

    def enter(self, rows: Window) -> None:
        if len(rows) == 0:
            return
        self.move_on(rows)
        assert rows.time is not None
        times = rows.time.cpu().numpy()
        moves = np.flatnonzero(times != np.append(self._newest, times[:-1]))
        self._tick = self._count + int(moves[-1]) if len(moves) else self._tick
        self._newest, self._count = float(times[-1]), self._count + len(rows)
        self._open.append(replace(rows, event=None, hop=None, memory=None))

    # ------------------------------------------------------------------ undo
    def begin(self) -> None:
        self._undo = self._plain() | {"length": len(self._open)}

    def settle(self) -> None:
        self._undo = None

    def undo(self) -> None:
        before, self._undo = self._undo, None
        if before is None:
            return
        self._open = before.get("open", self._open)[: before["length"]]
        self._count, self._tick, self._newest, self._committed = (before[name] for name in self._plain())
        if "table" in before:
            self.put_back(before["table"])

    def _note(self) -> None:
        """The table is about to change."""
        if self._undo is not None and "table" not in self._undo:
            self._undo |= {"open": self._open, "table": self.take_note()}

    def take_note(self) -> Any:
        """What `put_back` needs to undo commits; a copy of the table, unless a subclass knows better."""
        return {name: array.copy() for name, array in self.table().items()}

    def put_back(self, note: Any) -> None:
        self.set_table(note)

    def _plain(self) -> dict[str, float]:
        return {
            "count": self._count,
            "tick": self._tick,
            "newest": self._newest,
            "committed": self._committed,
        }

    # ------------------------------------------------------------------ files
    def arrays(self) -> dict[str, Array]:
        out = {f"table.{name}": array for name, array in self.table().items()}
        out["block.state"] = np.array(list(self._plain().values()), float)
        if self._open:
            block = _joined(self._open)
            out |= {f"block.{name}": getattr(block, name).cpu().numpy() for name in KEPT}
        return out

    def load(self, arrays: Mapping[str, Array]) -> None:
        plain = arrays["block.state"]
        self._count, self._tick, self._committed = (int(plain[i]) for i in (0, 1, 3))
        self._newest, self._open, self._undo = float(plain[2]), [], None
        if f"block.{KEPT[0]}" in arrays:
            kept: list[Any] = [torch.from_numpy(arrays[f"block.{name}"].copy()) for name in KEPT]
            self._open = [Window(*kept)]
        self.set_table(
            {name[6:]: array.copy() for name, array in arrays.items() if name.startswith("table.")}
        )


def _joined(blocks: list[Window]) -> Window:
    """As one; what came from a file lies on the CPU, whatever the rest lies on."""
    return Window.cat([block.to(blocks[-1].node.device) for block in blocks])
