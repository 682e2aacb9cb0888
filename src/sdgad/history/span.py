"""Span: where a live stream began and how far it has come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from sdgad.history.entering import Entering
from sdgad.history.state import Array, FewValues


class Span(FewValues[Entering]):
    """Times of the first event and of the newest that was looked at, in their own type, so that differences are exact."""

    values: ClassVar[tuple[str, ...]] = ("origin", "newest", "events")

    def __init__(self) -> None:
        self.origin: Any = None
        self.newest: Any = None
        self.events = 0  # that have entered

    def enter(self, rows: Entering) -> None:
        self.events += len(rows)

    def arrays(self) -> dict[str, Array]:
        seen = self.origin is not None
        return {
            "stream.origin": np.array([self.origin] if seen else []),
            "stream.newest": np.array([self.newest] if seen else []),
            "stream.events": np.array([self.events]),
        }

    def load(self, arrays: Mapping[str, Array]) -> None:
        self.origin, self.newest = (
            arrays[name][0] if len(arrays[name]) else None for name in ("stream.origin", "stream.newest")
        )
        self.events = int(arrays["stream.events"][0])
