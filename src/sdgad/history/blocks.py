"""BlockState: a state that changes at the ends of blocks of the stream, the same offline and live."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
import torch

from sdgad.events.held import ANY, held
from sdgad.history.state import NOWHERE, Array, State
from sdgad.history.window import Window, WindowShape

MOST = 2**53  # events that a float64 can count

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

    def move_on(self, window: Window, times: Array | None = None) -> None:
        """Time moves on to these events: a block that is due counts from now on.

        Who has their times at hand gives them: else the device is asked, and has to finish its work before it answers.
        """
        if len(window) and len(self.cuts(_times(window, times)[:1])):
            self._note()
            blocks, self._open, self._committed = self._open, [], self._count
            if blocks:
                with torch.no_grad():
                    self.commit(_joined(blocks))

    def enter(self, rows: Window, times: Array | None = None) -> None:
        if len(rows) == 0:
            return
        times = _times(rows, times)
        self.move_on(rows, times)
        moves = np.flatnonzero(times != np.append(self._newest, times[:-1]))
        self._tick = self._count + int(moves[-1]) if len(moves) else self._tick
        self._newest, self._count = float(times[-1]), self._count + len(rows)
        self._open.append(replace(rows, event=None, hop=None, memory=None, sequels=None))

    def need_block_of(self, nodes: int, shape: WindowShape) -> None:
        """A ValueError where the open block speaks of others than so many nodes, or is of other Windows."""
        for block in self._open:
            found, most = (
                block.shape,
                max(int(block.node.max()), int(block.past_node.max()) if block.past_node.numel() else -1),
            )
            if most >= nodes or (found.history, found.msg, found.context) != (
                shape.history,
                shape.msg,
                shape.context,
            ):
                raise ValueError("the open block is not one of this model")

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
        plain = held(arrays, "block.state", "f8", (4,), special=True).tolist()
        count, tick, newest, committed = plain
        if not (
            0 <= tick <= count < MOST
            and 0 <= committed <= count
            and newest < np.inf
            and not any(n % 1 for n in plain if n != newest)
        ):
            raise ValueError("the array 'block.state' counts no events")
        self._count, self._tick, self._committed = int(count), int(tick), int(committed)
        self._newest, self._open, self._undo = newest, [], None
        if f"block.{KEPT[0]}" in arrays:
            kept: list[Any] = [torch.from_numpy(array.copy()) for array in _block(arrays, newest)]
            self._open = [Window(*kept)]
        if sum(map(len, self._open)) != count - committed:
            raise ValueError("the open block does not hold the events that do not count yet")
        self.set_table(
            {name[6:]: array.copy() for name, array in arrays.items() if name.startswith("table.")}
        )


def _times(window: Window, times: Array | None) -> Array:
    assert window.time is not None, "a BlockState needs Window.time"
    found: Array = window.time.cpu().numpy() if times is None else times
    return found


def _block(arrays: Mapping[str, Array], newest: float) -> list[Array]:
    """The open block, part by part in the order of a Window; a ValueError where they are none together."""
    node = held(arrays, "block.node", "i8", (ANY, 2), low=0)
    msg = held(arrays, "block.msg", "f4", (len(node), ANY))
    context = held(arrays, "block.context", "f4", (len(node), ANY))
    past = held(arrays, "block.past_node", "i8", (len(node), 2, ANY), low=-1)
    return [
        node,
        msg,
        context,
        past,
        held(arrays, "block.past_gap", "f4", past.shape, low=0),
        held(arrays, "block.past_msg", "f4", (*past.shape, msg.shape[1])),
        held(arrays, "block.past_context", "f4", (*past.shape, context.shape[1])),
        held(arrays, "block.mask", "?", past.shape),
        held(arrays, "block.time", "f8", (len(node),), high=newest, rising=True),
    ]


def _joined(blocks: list[Window]) -> Window:
    """As one; what came from a file lies on the CPU, whatever the rest lies on."""
    return Window.cat([block.to(blocks[-1].node.device) for block in blocks])
