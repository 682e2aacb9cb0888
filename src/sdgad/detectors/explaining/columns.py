"""TableColumns: where in a row of the event table what stands, what it is called, and what it is about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sdgad.events.clock import Clock
from sdgad.events.features import CategoryEncoding, FeatureEncoder
from sdgad.history.context import PHASE_NAMES, context_names
from sdgad.history.habits import CIRCLES, SEQUELS, HabitNames
from sdgad.history.window import WindowShape

End = Literal["source", "destination", "both"]  # both: of the source with this very destination
SHORT: dict[str, End] = {"src": "source", "dst": "destination"}
PAIR = "pair"
SEQUEL = "source sequels"  # how soon those went on whom it met
NO_THEME = ""  # how long a node is known, and the like: it says nothing by itself


@dataclass(frozen=True)
class TableColumns:
    """Columns of an `EventTable` with context, edge features and habit residuals."""

    shape: WindowShape
    features: FeatureEncoder
    clock: Clock

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """Context features, then edge features as the model has them: an indicator for every category."""
        return (*context_names(self.clock), *(name for name, _ in self._encoded))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of all columns, in order."""
        habit = HabitNames.of(context_names(self.clock), [name for name, _ in self._encoded])
        sequels = habit.sequels if self.shape.sequels else ()
        return (
            *self.levels,
            *habit.relations,
            *habit.deviations,
            *habit.surprises,
            *habit.circles,
            *sequels,
        )

    @cached_property
    def themes(self) -> tuple[str, ...]:
        """What every column is about."""
        context = [theme_of(name) for name in context_names(self.clock)]
        features = [theme for _, theme in self._encoded]
        relations = [theme_of(name) for name in HabitNames.of(context_names(self.clock), ()).relations]
        phases = [theme_of(name) for name in context_names(self.clock) if name in PHASE_NAMES]
        levels = [*context, *features]
        around = [PAIR for _ in CIRCLES] + [SEQUEL for _ in SEQUELS if self.shape.sequels]
        return (*levels, *relations, *levels, *levels, *features, *phases, *levels, *levels, *around)

    @property
    def _encoded(self) -> list[tuple[str, str]]:
        """Name and theme of every encoded edge feature."""
        found = []
        for column in self.features.columns:
            if isinstance(column, CategoryEncoding):
                kinds = [*column.categories, "any other", "missing"]
                found += [(f"{column.name} {kind}", column.name) for kind in kinds]
            else:
                found += [(column.name, column.name), (f"{column.name} missing", column.name)][: column.width]
        return [(name, feature_theme(theme)) for name, theme in found]

    # ------------------------------------------------------------------ places
    def sequel(self, name: str) -> int:
        """How soon those went on whom the source met: the last columns."""
        return len(self.names) - len(SEQUELS) + SEQUELS.index(name)

    def level(self, name: str) -> int:
        """A context feature."""
        return self.levels.index(name)

    def feature(self, place: int) -> int:
        """An encoded edge feature."""
        return self.shape.context + place

    @property
    def _deviations(self) -> int:
        return len(self.levels) + len(HabitNames.of(("any",), ()).relations)

    def deviation(self, end: End, level: int) -> int:
        """Of a level from the habit of an end; of `both` for edge features alone."""
        width = len(self.levels)
        if end == "both":
            return self._deviations + 2 * width + level - self.shape.context
        return self._deviations + (end == "destination") * width + level

    def surprise(self, end: End, level: int) -> int:
        """The same over the spread of the end's own past."""
        width = len(self.levels)
        behind = self._deviations + 2 * width + self.shape.msg + self.shape.phases
        return behind + (end == "destination") * width + level


def feature_theme(name: str) -> str:
    return f"feature {name}"


def theme_of(name: str) -> str:
    """What a context feature, or a relation between two, is about."""
    if "stream" in name or name == "log gap anyone":
        return "stream"
    if "pair" in name or "direction" in name:
        return PAIR
    end = next((SHORT[word] for word in name.replace(",", "").split() if word in SHORT), None)
    if "partners" in name:
        return f"{end} partners"
    if name.startswith("new"):
        return f"new {end}"
    if "gap" in name or "rate" in name:
        return f"{end} pace"
    if name in PHASE_NAMES:
        return name.split()[1]
    return NO_THEME
