"""A detector and its model folder."""

from __future__ import annotations

import hashlib
import json
import os
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa

from sdgad.calibration.threshold import ValidationScores, need_threshold_of
from sdgad.detectors.archive import Archive
from sdgad.detectors.border import Border
from sdgad.detectors.card import write_card
from sdgad.detectors.config import AT_ONCE
from sdgad.detectors.deciding import Deciding
from sdgad.detectors.device import usable_device
from sdgad.detectors.folder import ModelFiles, seal_of, write_folder
from sdgad.detectors.model_lock import model_lock
from sdgad.detectors.opened_folder import one_line
from sdgad.detectors.options import Options
from sdgad.detectors.own_state import OwnState
from sdgad.detectors.read_back import need_same
from sdgad.detectors.record import Record
from sdgad.detectors.tally import Tally
from sdgad.errors import ModelFolderError, SdgadError, UnknownName
from sdgad.events.held import ANY, held, number, text
from sdgad.events.stream import Array
from sdgad.history.log import FURTHEST

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector

UNSOUND = (
    KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RuntimeError, MemoryError, AssertionError,
    ArithmeticError, pa.ArrowException,
)  # fmt: skip
"""What else may happen to a folder whose contents are not what they seem."""

OWN = "own."  # before the names of the arrays of a detector's own state


class Saving(Options, Deciding):
    """`save`, and the way back; how it is told that a state belongs to a model."""

    name: ClassVar[str]
    keeps_log: ClassVar[bool]
    record_: Record
    _archive: Archive | Tally
    _state: OwnState
    _origin: tuple[Path, str] | None = (
        None  # the folder that it was last read from or written to, and the seal it had
    )

    @abstractmethod
    def _new_state(self) -> OwnState: ...
    @abstractmethod
    def _weights(self) -> dict[str, Array]: ...
    @abstractmethod
    def _calibration(self) -> dict[str, Any]: ...
    @abstractmethod
    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None: ...
    @abstractmethod
    def _load_explaining(self, arrays: Mapping[str, Array]) -> None: ...

    def save(  # type: ignore[misc]
        self: Detector, path: str | os.PathLike[str], *, history: bool = True, undo: bool = False
    ) -> None:
        """Write the model folder.

        `history=False` leaves out raw ids, past events and what the detector's own state made of them; the card says so. A model
        that is there already stays until the new one was read back; with `undo` it is kept for `sdgad update --undo`. Who loaded
        a model and saves it again where somebody else has changed it meanwhile is refused: see `sdgad.detectors.model_lock`.
        """
        self._need_fit()
        with model_lock(path):
            self._need_unchanged(path)
            seal = write_folder(
                path, self._contents(history=history, card=True), prove=type(self).from_files, undo=undo
            )
            self._origin = Path(path).resolve(), seal

    def _need_unchanged(self, path: str | os.PathLike[str]) -> None:
        """What another wrote into the folder that this model came from must not be lost."""
        if self._origin is None or Path(path).resolve() != self._origin[0]:
            return
        if seal_of(path) not in (None, self._origin[1]):
            raise ModelFolderError(
                f"The model folder {path} was changed by another since this model was read from it or written there: load it "
                "again and repeat what you did, or save under another name."
            )

    def _contents(self: Detector, *, history: bool, card: bool = False) -> ModelFiles:  # type: ignore[misc]
        archive = self._archive if history else self._archive.without_history()
        config = {"detector": self.name, "options": self.get_params(), **archive.border.to_json()}
        calibration = {
            **self._calibration(),
            "threshold": self.threshold_,
            "threshold_rule": self.threshold_rule_,
            "validation_seconds": self._validation.seconds,
            "fitted_until": archive.fitted_until,
            "record": self.record_.to_json(),
        }
        state = {
            **archive.arrays(),
            **(prefixed(self._state.arrays()) if history else {}),
            "validation.score": self.validation_scores_,
            "validation.label": self._validation.label,
            "train.score": self.decision_scores_,
            **self._explaining_arrays(),
        }
        text = write_card(self, history=history) if card else ""
        return ModelFiles(config, calibration, self._weights(), state, archive.vocabulary(), text)

    @classmethod
    def from_files(cls, files: ModelFiles) -> Self:
        """The detector that `save` wrote. Every value is looked at: whoever alters a folder can make its checksums right, too."""
        try:
            detector = cls._from_files(files)
            need_same(files, detector._contents(history=True))  # type: ignore[misc]
            detector._need_consistent()  # type: ignore[misc]
        except UnknownName as problem:
            raise ModelFolderError(problem.missing) from problem
        except SdgadError as problem:
            raise ModelFolderError(str(problem)) from problem
        except UNSOUND as problem:
            raise ModelFolderError(
                f"The model folder does not fit this version of sdgad: {one_line(problem)}."
            ) from problem
        return detector

    @classmethod
    def _from_files(cls, files: ModelFiles) -> Self:
        config, calibration, state = files.config, files.calibration, files.state
        options = {**cls.config_type.before, **config["options"]}
        detector = cls(**{**options, "device": usable_device(options["device"])})
        border = Border.from_json(config)
        kind: type[Archive | Tally] = Archive if cls.keeps_log else Tally
        detector._archive = kind.from_files(border, files)
        detector.decision_scores_ = held(state, "train.score", "f8", (ANY,), low=0, high=1)
        seconds = number(calibration["validation_seconds"], "validation_seconds", low=0, high=FURTHEST)
        score = held(state, "validation.score", "f8", (ANY,), low=0, high=1)
        label = held(state, "validation.label", "f4", score.shape, special=True)
        detector._take_validation(ValidationScores(score, label, seconds))
        detector.threshold_ = number(calibration["threshold"], "threshold")
        detector.threshold_rule_ = text(calibration["threshold_rule"], "threshold_rule")
        need_threshold_of(detector.threshold_rule_, detector.threshold_)
        detector.record_ = Record.from_json(calibration.get("record"))
        detector._restore(files.weights, calibration)
        detector._state = detector._new_state()
        if own := unprefixed(state):
            detector._state.load(own)
        elif detector._state.remembers and len(detector._archive):
            raise KeyError("what the detector's own state holds of the history is missing")
        detector._load_explaining(state)
        detector._fitted = True
        return detector

    def _need_consistent(self: Detector) -> None:  # type: ignore[misc]
        """A ValueError where the parts of a folder, each of them sound, do not belong together."""
        self._state.need_fit(self._archive.size[1], self.window_shape)

    def fingerprint(self) -> str:
        """Of all that makes a live state usable: what was learned, how events are read, how much is remembered."""
        self._need_fit()
        before = self.config_type.before
        options = {
            key: value
            for key, value in self.get_params().items()
            if key not in AT_ONCE and (key not in before or value != before[key])
        }
        border, retention = self._archive.border, self.config.retention
        clock = border.clock
        said = [
            self.name,
            options,
            border.features.to_json(),
            [clock.unit, clock.wall_clock, clock.timezone, border.sides == 2],
            [retention.max_nodes, retention.max_age],
        ]
        if not self.keeps_log:  # there may be nothing else that tells two fits apart
            said.append([self._archive.fitted_until, digest({"score": self.decision_scores_})])
        text = json.dumps(said, sort_keys=True, default=str)
        return hashlib.sha256(text.encode() + digest(self._weights()).encode()).hexdigest()


def prefixed(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Arrays of a detector's own state, under names that clash with no others."""
    return {OWN + name: array for name, array in arrays.items()}


def unprefixed(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The inverse of `prefixed`, which leaves all others out."""
    return {name.removeprefix(OWN): array for name, array in arrays.items() if name.startswith(OWN)}


def digest(arrays: Mapping[str, Array]) -> str:
    """SHA-256 over names, kinds, shapes and bytes."""
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        total.update(array.reshape(-1).view(np.uint8).data)
    return total.hexdigest()
