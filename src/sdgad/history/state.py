"""State: whatever changes as events go by, under one protocol.

Rings of past events, pair tables, rates, the memory of an encoder, the sketches of a stream detector, a snapshot:
offline scoring, live scoring, crash recovery and the model folder know of them just this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

Array = np.ndarray[Any, Any]
R = TypeVar("R")  # what enters: events as this state takes them

NOWHERE: Array = np.empty(0, np.int64)


class State(ABC, Generic[R]):
    """Events enter and change it; what came after `begin` is undone by `undo` or stays by `settle`; arrays go into files."""

    def cuts(self, t: Array) -> Array:  # noqa: ARG002
        """Among events that come next, at times `t`: the rows before which this state changes of itself.

        Events between two cuts may be looked at together. By default there are none.
        """
        return NOWHERE

    @abstractmethod
    def enter(self, rows: R) -> None:
        """These events are past from now on."""

    @abstractmethod
    def begin(self) -> None:
        """What comes from here on can be undone."""

    @abstractmethod
    def settle(self) -> None:
        """What came since `begin` stays."""

    @abstractmethod
    def undo(self) -> None:
        """Back to where `begin` was called."""

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """All that it holds, for a file."""

    @abstractmethod
    def load(self, arrays: Mapping[str, Array]) -> None:
        """The inverse of `arrays`; a KeyError or ValueError where they do not fit."""

    @contextmanager
    def trial(self, *, keep: bool = False) -> Iterator[None]:
        """Whatever comes within is undone at the end; with `keep` only if it fails."""
        self.begin()
        done = False
        try:
            yield
            done = keep
        finally:
            self.settle() if done else self.undo()


class Together(State[R]):
    """Several states as one; their arrays have different names."""

    def __init__(self, parts: Sequence[State[Any]]) -> None:
        self._parts = list(parts)

    def cuts(self, t: Array) -> Array:
        return np.unique(np.concatenate([NOWHERE, *(part.cuts(t) for part in self._parts)]))

    def enter(self, rows: R) -> None:
        for part in self._parts:
            part.enter(rows)

    def begin(self) -> None:
        for part in self._parts:
            part.begin()

    def settle(self) -> None:
        for part in self._parts:
            part.settle()

    def undo(self) -> None:
        for part in self._parts:
            part.undo()

    def arrays(self) -> dict[str, Array]:
        return {name: array for part in self._parts for name, array in part.arrays().items()}

    def load(self, arrays: Mapping[str, Array]) -> None:
        for part in self._parts:
            part.load(arrays)


class FewValues(State[R]):
    """A state of a few plain attributes, named in `values`, which are replaced and never changed in place."""

    values: ClassVar[tuple[str, ...]]
    _before: dict[str, Any] | None = None

    def begin(self) -> None:
        self._before = {name: getattr(self, name) for name in self.values}

    def settle(self) -> None:
        self._before = None

    def undo(self) -> None:
        for name, value in (self._before or {}).items():
            setattr(self, name, value)
        self._before = None


class Nothing(State[Any]):
    """The state of who needs none."""

    def enter(self, rows: Any) -> None:
        pass

    def begin(self) -> None:
        pass

    def settle(self) -> None:
        pass

    def undo(self) -> None:
        pass

    def arrays(self) -> dict[str, Array]:
        return {}

    def load(self, arrays: Mapping[str, Array]) -> None:
        pass
