"""Panel: the kinds of evidence that were fitted, and their units."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping
from typing import Self

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
from sdgad.detectors.sdgad.evidence.base import Group, Kind, Lesson, kinds
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


class Panel:
    """Several kinds, each asked about the same events."""

    def __init__(self, table: EventTable, names: Iterable[str]) -> None:
        self.table = table
        self.kinds: dict[str, Kind] = {name: kinds.get(name)(table) for name in names}
        self.tails: dict[str, Tail] = {}

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

    def groups(self, network: Mapping[str, Group]) -> dict[str, Group]:
        """The group of every kind; `network` names those of the network."""
        return {**{name: kind.group for name, kind in self.kinds.items()}, **network}

    def raw(self, rows: Table) -> Numbers:
        """In the units of the kinds."""
        return {name: kind.raw(rows) for name, kind in self.kinds.items()}

    def fit_tails(self, normal: Numbers) -> None:
        """The unit of every kind, from normal events that were not learned from."""
        relative = {name for name in normal if name not in self.kinds or not self.kinds[name].absolute}
        self.tails = {name: Tail.fit(normal[name]) for name in sorted(relative)}

    def surprise(self, raw: Numbers) -> Numbers:
        """−log p among normals."""
        return {name: self.tails[name](value) if name in self.tails else value for name, value in raw.items()}

    def nats(self, raw: Numbers) -> Numbers:
        """What is joined."""
        return self.counted(raw, self.surprise(raw))

    def counted(self, raw: Numbers, surprise: Numbers) -> Numbers:
        """The same, where the surprise is known."""
        return {
            name: self.kinds[name].counted(raw[name], value) if name in self.kinds else value
            for name, value in surprise.items()
        }

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
        return {f"{owner}.{name}": array for owner, arrays in held.items() for name, array in arrays.items()}

    def load(self, arrays: Mapping[str, Array]) -> None:
        """The inverse of `arrays`."""
        held: dict[str, dict[str, dict[str, Array]]] = {"kind": {}, "tail": {}}
        for key, array in arrays.items():
            what, owner, name = key.split(".", 2)
            held[what].setdefault(owner, {})[name] = array
        for owner in held["kind"].keys() - self.kinds.keys():
            raise ValueError(f"there is no kind of evidence {owner!r}")
        for owner, kind in self.kinds.items():
            kind.load(held["kind"].get(owner, {}))
        self.tails = {owner: Tail.from_arrays(parts) for owner, parts in held["tail"].items()}
