"""Three small detectors that keep the contract, one per kind of state, and others that break one promise each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch

from sdgad.detectors.base import Detector, WindowDetector
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.own_state import OwnState
from sdgad.detectors.tags import Tags
from sdgad.detectors.task import FitScores, Task
from sdgad.events.stream import Array, EventStream
from sdgad.history.blocks import BlockState
from sdgad.history.index import HistoryIndex
from sdgad.history.needs import Needs
from sdgad.history.state import FewValues
from sdgad.history.window import Window


def squash(values: Array) -> Array:
    """Into (0, 1), strictly."""
    scores: Array = 1 / (1 + np.exp(-np.clip(values, -30, 30)))
    return scores


# ---------------------------------------------------------------------- a function of the Window
class Plain(WindowDetector):
    """How far context and features lie from their training mean."""

    name = "tiny-plain"
    tags: ClassVar[Tags] = Tags(uses_labels=False)
    _mean: float

    def _learn(self, task: Task) -> FitScores:
        self._mean = float(self._values(self.view.rows(task.index, task.train)).mean())
        return self._score_both(task)

    def _values(self, window: Window) -> Array:
        table = torch.cat([window.context, window.msg], 1).double()
        values: Array = torch.tanh(table / 10).sum(1).cpu().numpy()
        return values

    def _score_window(self, window: Window) -> Array:
        return squash(self._values(window) - self._mean)

    def _weights(self) -> dict[str, Array]:
        return {"mean": np.array([self._mean])}

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:  # noqa: ARG002
        self._mean = float(weights["mean"][0])


class PeeksAtTheFuture(Plain):
    def _values(self, window: Window) -> Array:
        values = super()._values(window)
        return values - values[-1:]


class MovesOnWhenAsked(Plain):
    def decision_function(self, events: EventStream) -> Array:
        scores = super().decision_function(events)
        self.update(events)
        return scores


class SeesItsTie(Plain):
    """It counts how many rows with the same pair are in the Window, at the same time or not."""

    def _values(self, window: Window) -> Array:
        _, place, count = np.unique(
            window.node.cpu().numpy(), axis=0, return_inverse=True, return_counts=True
        )
        return super()._values(window) + 0.1 * count[place.ravel()]


class LeavesTheRange(Plain):
    def _score_window(self, window: Window) -> Array:
        return 2 * super()._score_window(window)


class SaysLittle(Plain):
    def _score_window(self, window: Window) -> Array:
        return np.round(super()._score_window(window)) * 0.5 + 0.25


class SaysThatItSaysLittle(Plain):
    tags: ClassVar[Tags] = Tags(uses_labels=False, two_values=True)


class RollsDice(Plain):
    def _learn(self, task: Task) -> FitScores:
        super()._learn(task)
        self._mean += np.random.default_rng().random()
        return self._score_both(task)


class LosesItsWeights(Plain):
    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:
        super()._restore(weights, calibration)
        self._mean = 0.0


class UsesLabelsInSecret(Plain):
    def _learn(self, task: Task) -> FitScores:
        super()._learn(task)
        self._mean += float(task.train_label.nan_to_num().mean())
        return self._score_both(task)


class PeeksAtValidationLabels(Plain):
    tags: ClassVar[Tags] = Tags()

    def fit(self, train: EventStream, val: EventStream | None = None, **options: Any) -> Self:
        self._known = 0.0 if val is None else float(np.nan_to_num(val.label).mean())
        return super().fit(train, val, **options)

    def _learn(self, task: Task) -> FitScores:
        super()._learn(task)
        self._mean += self._known
        return self._score_both(task)


class UsesNoFeatures(Plain):
    def _values(self, window: Window) -> Array:
        values: Array = torch.tanh(window.context.double() / 10).sum(1).cpu().numpy()
        return values


class SaysThatTiesAreVoid(Plain):
    tags: ClassVar[Tags] = Tags(uses_labels=False, ties="strict")


class SaysThatItHashes(Plain):
    tags: ClassVar[Tags] = Tags(uses_labels=False, hashes_ids=True)


@dataclass(frozen=True)
class SilentConfig(DetectorConfig):
    """An option that nobody explains."""

    width: int = 3


class HidesAnOption(Plain):
    config_type: ClassVar[type[DetectorConfig]] = SilentConfig


# ---------------------------------------------------------------------- a state beside the log
class Degrees(BlockState, OwnState):
    """How often each node occurred up to the last snapshot."""

    def __init__(self) -> None:
        super().__init__(50)
        self.seen = np.zeros(0, np.int64)

    def commit(self, block: Window) -> None:
        node = block.node.cpu().numpy().ravel()
        more = np.bincount(node, minlength=len(self.seen))
        more[: len(self.seen)] += self.seen
        self.seen = more

    def table(self) -> dict[str, Array]:
        return {"seen": self.seen}

    def set_table(self, table: Mapping[str, Array]) -> None:
        self.seen = table["seen"]

    def score(self, window: Window) -> Array:
        self.move_on(window)
        return self.rarity(window)

    def rarity(self, window: Window) -> Array:
        node = window.node.cpu().numpy()
        known = (node >= 0) & (node < len(self.seen))
        seen = np.append(self.seen, 0)[np.where(known, node, len(self.seen))]
        return squash(1 - np.log1p(seen).sum(1) / 4)


class Snapshots(Detector):
    """Rare parties are odd, as of the last snapshot."""

    name = "tiny-snapshots"
    tags: ClassVar[Tags] = Tags(uses_labels=False, uses_features=False, ties="strict")
    uses_context = False
    needs = Needs(time=True)
    state: ClassVar[type[OwnState]] = Degrees

    def _learn(self, task: Task) -> FitScores:
        return self._score_both(task)

    def _new_state(self) -> OwnState:
        return self.state()

    def _weights(self) -> dict[str, Array]:
        return {}

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:
        pass


class ForgetfulDegrees(Degrees):
    def arrays(self) -> dict[str, Array]:
        return {name: array for name, array in super().arrays().items() if not name.startswith("block.node")}

    def load(self, arrays: Mapping[str, Array]) -> None:
        super().load(
            {name: array for name, array in arrays.items() if name.startswith(("table", "block.st"))}
        )


class StateForgets(Snapshots):
    """Its files leave out the events that wait in the open block."""

    state = ForgetfulDegrees


class UndoingNothing(Degrees):
    def put_back(self, note: Any) -> None:
        pass


class CannotUndo(Snapshots):
    """A commit stays, whatever is undone."""

    state = UndoingNothing


class EagerDegrees(Degrees):
    def score(self, window: Window) -> Array:
        self.move_on(window)
        scores = self.rarity(window)
        self.commit(window.take(slice(0, 1)))
        return scores


class LetsEventsIn(Snapshots):
    """To score is to count."""

    state = EagerDegrees


class BatchDegrees(Degrees):
    def cuts(self, t: Array) -> Array:
        return super().cuts(t)[:0] if len(t) > 1 else super().cuts(t)


class CommitsByBatch(Snapshots):
    """Blocks end where batches do, not where the stream says."""

    state = BatchDegrees


# ---------------------------------------------------------------------- a state in place of the log
class Bits(FewValues[Window], OwnState):
    """How often each bucket of pairs was met: a sketch of constant size."""

    values = ("met",)
    pads = False

    def __init__(self) -> None:
        self.met = np.zeros(4096)

    def _place(self, window: Window) -> Array:
        node = window.node.cpu().numpy()
        place: Array = (node[:, 0] * 31 + node[:, 1] * 17) % len(self.met)
        return place

    def through(self, window: Window) -> Array:
        met, scores = self.met.copy(), np.empty(len(window))
        for row, place in enumerate(self._place(window)):
            scores[row] = 2.0 - np.log1p(met[place])
            met[place] += 1
        self.met = met
        return squash(scores)

    def score(self, window: Window) -> Array:
        before = self.met
        scores = self.through(window)
        self.met = before
        return scores

    def enter(self, rows: Window) -> None:
        self.through(rows)

    def arrays(self) -> dict[str, Array]:
        return {"met": self.met}

    def load(self, arrays: Mapping[str, Array]) -> None:
        self.met = arrays["met"].copy()


class Sketch(Snapshots):
    """Pairs that were met seldom are odd."""

    name = "tiny-sketch"
    tags: ClassVar[Tags] = Tags(hashes_ids=True, ties="arrival", uses_labels=False, uses_features=False)
    keeps_log: ClassVar[bool] = False
    state = Bits


class BitsInPlace(Bits):
    def through(self, window: Window) -> Array:
        scores = super().through(window)
        self.arrays_given()[:] = self.met
        self.met = self.arrays_given()
        return scores

    def arrays_given(self) -> Array:
        return getattr(self, "given", self.met)

    def load(self, arrays: Mapping[str, Array]) -> None:
        self.met = self.given = arrays["met"]


class SharesItsState(Sketch):
    """What it loads it goes on writing into."""

    state = BitsInPlace


class BuildsAnIndex(Sketch):
    """Of what it is given, for no reason."""

    def _learn(self, task: Task) -> FitScores:
        HistoryIndex(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1), np.zeros((1, 0)))
        return super()._learn(task)


class GrowingBits(Bits):
    def arrays(self) -> dict[str, Array]:
        return {"met": self.met, "log": np.zeros(int(self.met.sum()))}


class KeepsALogOfItsOwn(Sketch):
    """Its state grows with the stream."""

    state = GrowingBits


class DeniesItsHashing(Sketch):
    tags: ClassVar[Tags] = Tags(ties="arrival", uses_labels=False, uses_features=False)
