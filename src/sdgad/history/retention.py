"""How long a node is remembered: the same rule for a stored stream and for a live one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sdgad.errors import InputError
from sdgad.history.entering import Entering
from sdgad.history.growing import GrowingArrays
from sdgad.history.state import Array, FewValues

MOST = 2**31 - 1  # lives, so that two of them fit into the key of a pair


@dataclass(frozen=True)
class Retention:
    """When a node is forgotten; it is then as new when it comes again, and so are all its pairs.

    `max_age`: after a silence of more than so many seconds; a pair of nodes that live on is forgotten likewise.
    `max_nodes`: memory for about so many nodes, kept in two generations. When time moves on and half of `max_nodes`
    have been active in the current generation, a new one begins; a node that was active in neither of the last two
    is forgotten. So the latest max_nodes / 2 are always remembered, and never more than max_nodes, beyond what one
    moment brings at once.
    """

    max_nodes: int | None = None
    max_age: float | None = None

    def __post_init__(self) -> None:
        if self.max_nodes is not None and self.max_nodes < 2:
            raise InputError(f"Option max_nodes={self.max_nodes} must be at least 2.")
        if self.max_age is not None and not self.max_age > 0:
            raise InputError(f"Option max_age={self.max_age} must be more than 0 seconds.")

    @property
    def bounded(self) -> bool:
        return self.max_nodes is not None or self.max_age is not None


class Lives(FewValues[Entering]):
    """Numbers the lives of nodes by first appearance: a node that was forgotten begins a new life.

    History then needs no notion of forgetting: what it calls a node is one life of a node.
    """

    values: ClassVar[tuple[str, ...]] = ("count", "generation", "active", "now")

    def __init__(self, retention: Retention) -> None:
        self._age = np.inf if retention.max_age is None else retention.max_age
        self._half = None if retention.max_nodes is None else retention.max_nodes // 2
        self.nodes = GrowingArrays(
            "lives.",
            {"life": (np.int64, ()), "last": (float, ()), "generation": (np.int64, ()), "known": (bool, ())},
        )
        self.count = 0  # lives so far
        self.generation = 0
        self.active = 0  # nodes in the current generation
        self.now = -np.inf

    def enter(self, rows: Entering) -> None:
        self.assign(rows.slot[:, 0], rows.slot[:, 1], rows.seconds)

    def assign(self, src: Array, dst: Array, seconds: Array) -> Array:
        """`[n, 2]` lives of the endpoints of events in time order, which continue those of earlier calls."""
        node = np.stack([src, dst], 1).reshape(-1)
        self.nodes.resize(max(len(self.nodes), int(node.max(initial=-1)) + 1))
        known = self.nodes.take(node)
        order = np.argsort(node, kind="stable")
        again = np.zeros(len(node), bool)  # in order: whether the node had a half-event before in this call
        again[1:] = node[order][1:] == node[order][:-1]
        before = np.full(len(node), -1)
        before[order[again]] = order[np.flatnonzero(again) - 1]
        generation = self._generations(before, known, seconds)

        seen, first = before >= 0, before.clip(min=0)
        time = np.repeat(seconds, 2)
        silence = time - np.where(seen, time[first], known["last"])
        passed = generation - np.where(seen, generation[first], known["generation"])
        fresh = ~(seen | known["known"]) | (silence > self._age) | (passed > 1)
        number = np.where(seen, -1, known["life"])
        number[fresh] = self.count + np.arange(fresh.sum())
        self.count += int(fresh.sum())
        if self.count > MOST:
            raise InputError(f"More than {MOST:,} nodes have come and gone; begin again from a new model.")
        # within a node, a life lasts until the next one begins
        begin = np.maximum.accumulate(np.where((number >= 0)[order], np.arange(len(order)), 0))
        life = np.empty_like(number)
        life[order] = number[order][begin]

        last = order[np.append(~again[1:], True)] if len(order) else order
        state = {"life": life[last], "last": time[last], "generation": generation[last]}
        self.nodes.remember(node[last])
        self.nodes.put(node[last], state | {"known": np.ones(len(last), bool)})
        return life.reshape(-1, 2)

    def _generations(self, before: Array, known: Mapping[str, Array], seconds: Array) -> Array:
        """Generation of each half-event; a new one may begin where time moves on."""
        count = len(seconds)
        generation = np.full(2 * count, self.generation)
        if count and self._half is not None:
            moves = np.append(seconds[0] > self.now, seconds[1:] > seconds[:-1])
            start = 0
            while start < count:
                start = self._fill(generation, start, before, known, moves)
        if count:
            self.now = seconds[-1]
        return generation

    def _fill(
        self, generation: Array, start: int, before: Array, known: Mapping[str, Array], moves: Array
    ) -> int:
        """Go on with the current generation from row `start`; returns the row where the next one begins."""
        assert self._half is not None
        first, reach = 2 * start, 2 * self._half
        while True:
            stop = min(start + reach, len(moves))
            half = slice(2 * start, 2 * stop)
            earlier = np.where(before[half] >= 0, before[half] >= first, _held(known, half, self.generation))
            total = self.active + np.append(0, np.cumsum(~earlier))
            full = np.flatnonzero(moves[start:stop] & (total[:-1:2] >= self._half))
            if len(full) or stop == len(moves):
                break
            reach *= 2
        end = start + int(full[0]) if len(full) else stop
        generation[2 * start : 2 * end] = self.generation
        self.active = int(total[2 * (end - start)])
        if len(full):
            self.generation, self.active = self.generation + 1, 0
        return end

    def alive(self) -> Array:
        """Per node: whether it is remembered now."""
        nodes = self.nodes
        recent = (self.now - nodes["last"] <= self._age) & (self.generation - nodes["generation"] <= 1)
        alive: Array = nodes["known"] & recent
        return alive

    # ------------------------------------------------------------------ what was, and files
    def note(self, nodes: Array) -> Note:
        """What is known of some nodes, for `go_back`."""
        self.nodes.resize(max(len(self.nodes), int(nodes.max(initial=-1)) + 1))
        return Note(nodes, self.nodes.take(nodes), self._plain())

    def go_back(self, note: Note) -> None:
        """As if no event had come since; none of other nodes has."""
        self.nodes.remember(note.nodes)
        self.nodes.put(note.nodes, note.known)
        self._set_plain(note.plain)

    def begin(self) -> None:
        super().begin()
        self.nodes.begin()

    def settle(self) -> None:
        super().settle()
        self.nodes.settle()

    def undo(self) -> None:
        super().undo()
        self.nodes.undo()

    def arrays(self) -> dict[str, Array]:
        return self.nodes.arrays() | {"lives.state": self._plain()}

    def load(self, arrays: Mapping[str, Array]) -> None:
        self.nodes.load(arrays)
        self._set_plain(arrays["lives.state"])

    def _plain(self) -> Array:
        """What there is besides the arrays of `nodes`."""
        return np.array([getattr(self, name) for name in self.values], float)

    def _set_plain(self, plain: Array) -> None:
        count, generation, active, now = plain.tolist()
        self.count, self.generation, self.active, self.now = int(count), int(generation), int(active), now


@dataclass(frozen=True)
class Note:
    """What was known of the lives of some nodes."""

    nodes: Array
    known: dict[str, Array]
    plain: Array


def _held(known: Mapping[str, Array], half: slice, generation: int) -> Array:
    """Half-events whose node was active in this generation before the call."""
    held: Array = known["known"][half] & (known["generation"][half] == generation)
    return held
