"""Panel: the kinds of evidence that were fitted, and their units."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Iterable, Mapping
from typing import Self

import numpy as np

from sdgad.detectors.event_table import EventTable, Table
from sdgad.detectors.sdgad.evidence import (
    contrast,
    ellipse,
    features,
    floods,
    forest,
    labelled_trees,
    likeness,
    unfamiliar,
)
from sdgad.detectors.sdgad.evidence.base import NETWORK, Group, Kind, Lesson, kinds
from sdgad.detectors.sdgad.evidence.tail import Tail
from sdgad.events.stream import Array

__all__ = [
    "Numbers",
    "Panel",
    "contrast",
    "ellipse",
    "features",
    "floods",
    "forest",
    "labelled_trees",
    "likeness",
    "unfamiliar",
]

Numbers = dict[str, Array]  # of every kind, `[B]`
UNIT = "unit.density"  # before the names of arrays of the unit of the mean of densities
LEAST_MEAN = 1e-9  # nats


class Panel:
    """Several kinds, each asked about the same events."""

    def __init__(self, table: EventTable, names: Iterable[str]) -> None:
        self.table = table
        self.kinds: dict[str, Kind] = {name: kinds.get(name)(table) for name in names}
        self.tails: dict[str, Tail] = {}
        self.density: Tail | None = (
            None  # the unit of the mean of densities; folders from before it have none
        )

    @classmethod
    def fitted(cls, table: EventTable, lesson: Lesson, names: Iterable[str]) -> Self:
        """Those of these names that find something to learn from."""
        panel = cls(table, names)
        panel.kinds = {name: kind for name, kind in panel.kinds.items() if kind.learns(lesson)}
        for kind in panel.kinds.values():
            kind.fit(lesson)
        return panel

    def reading(self, table: EventTable) -> Panel:
        """The same, of rows of a table on another device."""
        moved = copy.copy(self)
        moved.table, moved.kinds = table, {name: kind.reading(table) for name, kind in self.kinds.items()}
        return moved

    def keep(self, names: Collection[str]) -> None:
        """Forget the other kinds: what has no say need not be asked."""
        self.kinds = {name: kind for name, kind in self.kinds.items() if name in names}
        self.tails = {name: tail for name, tail in self.tails.items() if name in names}
        if not self._densities(self.tails):
            self.density = None

    def groups(self, network: Collection[str]) -> dict[str, Group]:
        """The group of every kind; `network` names those of the network."""
        return {
            **{name: kind.group for name, kind in self.kinds.items()},
            **{name: NETWORK[name] for name in network},
        }

    def raw(self, rows: Table) -> Numbers:
        """In the units of the kinds."""
        return {name: kind.raw(rows) for name, kind in self.kinds.items()}

    def fit_tails(self, normal: Numbers) -> None:
        """The unit of every kind, from normal events that were not learned from."""
        relative = {name for name in normal if name not in self.kinds or not self.kinds[name].absolute}
        self.tails = {name: Tail.fit(normal[name]) for name in sorted(relative)}
        self.density = None
        if dense := self._densities(normal):
            surprise = self.surprise({name: normal[name] for name in dense})
            self.density = Tail.fit(np.mean([surprise[name] for name in dense], 0))

    def _densities(self, names: Iterable[str]) -> list[str]:
        """Those of these names that are densities, in their order: the last bits of a mean depend on it."""
        asked = set(names)
        groups = self.groups(asked & NETWORK.keys())
        return sorted(name for name in asked if groups.get(name) == "density")

    def surprise(self, raw: Numbers) -> Numbers:
        """−log p among normals."""
        return {name: self.tails[name](value) if name in self.tails else value for name, value in raw.items()}

    def nats(self, raw: Numbers) -> Numbers:
        """What is joined."""
        return self.joinable(self.surprise(raw))

    def joinable(self, surprise: Numbers) -> Numbers:
        """The surprise n; but m (1 − e^{−n/m}) of kinds that have m nats at most, and n · T(d) / d of densities.

        d is the mean of these, and T(d) = −log P(D ≥ d) among normals: it is seldom that several densities find an event odd, so
        that their mean says less than it knows. What they have to say together is measured once more.
        """
        most = {name: kind.most for name, kind in self.kinds.items() if kind.most < math.inf}
        found = {
            name: -most[name] * np.expm1(-value / most[name]) if name in most else value
            for name, value in surprise.items()
        }
        dense = self._densities(found)
        if self.density is not None and dense:
            mean = np.mean([found[name] for name in dense], 0)
            rarer = np.divide(self.density(mean), mean, out=np.ones_like(mean), where=mean > LEAST_MEAN)
            found |= {name: rarer * found[name] for name in dense}
        return found

    def need_for(self, say: Collection[str], network: Collection[str]) -> None:
        """A ValueError where what has a say is not what there is, kinds of the network included, each in its unit."""
        others = set(say) - set(self.kinds)
        absolute = {name for name, kind in self.kinds.items() if kind.absolute}
        if not say or not set(self.kinds) <= set(say) or not others <= set(network):
            raise ValueError("what has a say is not the evidence that there is")
        if set(self.tails) != set(say) - absolute:
            raise ValueError("a kind of evidence has no unit, or a unit no kind")

    # ------------------------------------------------------------------ files
    def arrays(self) -> dict[str, Array]:
        """By names like `kind.forest.value` and `tail.forest.nats`."""
        held = {f"kind.{name}": kind.arrays() for name, kind in self.kinds.items()}
        held |= {f"tail.{name}": tail.arrays() for name, tail in self.tails.items()}
        held |= {} if self.density is None else {UNIT: self.density.arrays()}
        return {f"{owner}.{name}": array for owner, arrays in held.items() for name, array in arrays.items()}

    def load(self, arrays: Mapping[str, Array]) -> None:
        """The inverse of `arrays`."""
        held: dict[str, dict[str, dict[str, Array]]] = {"kind": {}, "tail": {}, "unit": {}}
        for key, array in arrays.items():
            what, owner, name = key.split(".", 2)
            held[what].setdefault(owner, {})[name] = array
        for owner in held["kind"].keys() - self.kinds.keys():
            raise ValueError(f"there is no kind of evidence {owner!r}")
        for owner, kind in self.kinds.items():
            kind.load(held["kind"].get(owner, {}))
        self.tails = {owner: Tail.from_arrays(parts) for owner, parts in held["tail"].items()}
        units = {f"unit.{owner}": Tail.from_arrays(parts) for owner, parts in held["unit"].items()}
        if not units.keys() <= {UNIT}:
            raise ValueError("something has a unit that is no evidence")
        self.density = units.get(UNIT)
