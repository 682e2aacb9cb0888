"""What detectors have in common that see every event as a row of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sdgad.configuration import option
from sdgad.detectors.base import WindowDetector
from sdgad.detectors.config import MOST_HISTORY, DetectorConfig
from sdgad.detectors.device import choose_device
from sdgad.detectors.event_table import EventTable, Table
from sdgad.errors import InputError
from sdgad.history.window import Window


@dataclass(frozen=True)
class TableConfig(DetectorConfig):
    """Which numbers a row has: context and edge features, and habit residuals."""

    habits: bool = option(True, "habit residuals beside context and edge features")
    history: int = option(20, "past events of an endpoint that tell its habits")

    before: ClassVar[Mapping[str, Any]] = {"habits": False, "history": 20}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.history <= MOST_HISTORY:
            raise InputError(f"Option history={self.history} must be at least 1 and at most {MOST_HISTORY}.")


class TableDetector(WindowDetector):
    """A detector whose scores are a function of one row per event."""

    config: TableConfig

    @property
    def history_length(self) -> int:  # type: ignore[override]
        return self.config.history if self.config.habits else 0

    @property
    def tells_rows(self) -> bool:  # type: ignore[override]
        return self.config.habits

    @property
    def table(self) -> EventTable:
        """How events become rows."""
        return EventTable(self.window_shape, choose_device(self.config.device))

    def _rows(self, window: Window) -> Table:
        """Of events to be scored."""
        rows = self.table.of(window)
        self._tell(rows)
        return rows
