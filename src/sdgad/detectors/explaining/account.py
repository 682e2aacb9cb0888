"""Account: what is known of events from their being scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from sdgad.detectors.event_table import EventTable, Table
from sdgad.events.stream import Array
from sdgad.history.window import NOBODY, Window


@dataclass(eq=False)
class Account:
    """Rows of the event table, and a number of every kind of evidence, in order of scoring, while it listens.

    Rows come from the detector that makes them anyhow, or from an `own_table`. Batches that were filled up with nobody's events
    are cut to the real ones.
    """

    own_table: EventTable | None = None
    _rows: list[Table] = field(default_factory=list)
    _kinds: list[Mapping[str, Array]] = field(default_factory=list)
    _real: list[Array] = field(default_factory=list)
    _listens: bool = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """All is forgotten before it, and kept after it."""
        self._rows, self._kinds, self._real, self._listens = [], [], [], True
        try:
            yield
        finally:
            self._listens = False

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """What is told within is not put down."""
        before, self._listens = self._listens, False
        try:
            yield
        finally:
            self._listens = before

    def see(self, window: Window) -> None:
        """These events are about to be scored."""
        self._real.append((window.node[:, 0] != NOBODY).cpu().numpy())
        if self.own_table is not None:
            self._rows.append(self.own_table.of(window))

    def tell(self, rows: Table, kinds: Mapping[str, Array]) -> None:
        """What a detector has to say of them."""
        if not self._listens:
            return
        if self.own_table is None:
            self._rows.append(rows)
        if kinds:
            self._kinds.append(kinds)

    def table(self) -> Table:
        """The rows of all events."""
        return self._joined(self._rows) if self._rows else np.empty((0, 0), np.float32)

    def kinds(self) -> dict[str, Array]:
        """The numbers of all events."""
        names = list(self._kinds[0]) if self._kinds else []
        return {name: self._joined([part[name] for part in self._kinds]) for name in names}

    def _joined(self, parts: list[Array]) -> Array:
        real = np.concatenate(self._real)
        joined = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return joined if real.all() else joined[real]
