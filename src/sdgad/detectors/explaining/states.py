"""States around a detector's own: one that shows it narrower Windows, and one that listens while it scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from sdgad.detectors.explaining.account import Account
from sdgad.detectors.own_state import OwnState
from sdgad.history.state import Array
from sdgad.history.window import Window


class Around(OwnState):
    """A state that does all that another does, on Windows as `shown` gives them."""

    def __init__(self, inner: OwnState) -> None:
        self._inner = inner

    def shown(self, window: Window) -> Window:
        """What the other gets to see when it scores."""
        return window

    def entered(self, window: Window) -> Window:
        """What enters it."""
        return window

    @property
    def remembers(self) -> bool:  # type: ignore[override]
        return self._inner.remembers

    @property
    def in_order(self) -> bool:  # type: ignore[override]
        return self._inner.in_order

    @property
    def pads(self) -> bool:  # type: ignore[override]
        return self._inner.pads

    def score(self, window: Window) -> Array:
        return self._inner.score(self.shown(window))

    def through(self, window: Window) -> Array:
        return self._inner.through(self.shown(window))

    def padded_through(self, window: Window, size: int) -> Array:
        return self._inner.padded_through(self.shown(window), size)

    def all_through(self, windows: Iterable[Window]) -> Array:
        return self._inner.all_through(map(self.shown, windows))

    def cuts(self, t: Array) -> Array:
        return self._inner.cuts(t)

    def enter(self, rows: Window) -> None:
        self._inner.enter(self.entered(rows))

    def begin(self) -> None:
        self._inner.begin()

    def settle(self) -> None:
        self._inner.settle()

    def undo(self) -> None:
        self._inner.undo()

    def arrays(self) -> dict[str, Array]:
        return self._inner.arrays()

    def load(self, arrays: Mapping[str, Array]) -> None:
        self._inner.load(arrays)


class Narrowed(Around):
    """Windows hold a longer history, or context features, than the detector looks at: it gets its own part."""

    def __init__(self, inner: OwnState, history: int, context: bool) -> None:
        super().__init__(inner)
        self._history, self._context = history, context

    def shown(self, window: Window) -> Window:
        return narrow(window, self._history, self._context)

    entered = shown


class Witness(Around):
    """Has an account see all events that are scored.

    `all_through` gives two numbers per event, its score and its place on the account: an archive may return some of them only.
    """

    def __init__(self, inner: OwnState, account: Account) -> None:
        super().__init__(inner)
        self._account = account

    def shown(self, window: Window) -> Window:
        self._account.see(window)
        return window

    def padded_through(self, window: Window, size: int) -> Array:
        self._account.see(window.padded(size))
        return self._inner.padded_through(window, size)

    def enter(self, rows: Window) -> None:
        with self._account.deaf():  # a state may have to score what enters
            super().enter(rows)

    def all_through(self, windows: Iterable[Window]) -> Array:
        scores = super().all_through(windows)
        return np.stack([scores, np.arange(len(scores), dtype=np.float64)], 1)


def narrow(window: Window, history: int, context: bool) -> Window:
    """A Window without past events, where the detector looks at none, and without context, where it has none."""
    if not history:
        parts = {
            name: getattr(window, name)[:, :, :0]
            for name in ("past_node", "past_gap", "past_msg", "past_context", "mask")
        }
        window = replace(window, **parts)
    if not context:
        window = replace(window, context=window.context[:, :0], past_context=window.past_context[..., :0])
        if window.hop is not None:
            window = replace(window, hop=replace(window.hop, context=window.hop.context[..., :0]))
    return window
