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

from sdgad.calibration.threshold import ValidationScores
from sdgad.detectors.archive import Archive
from sdgad.detectors.border import Border
from sdgad.detectors.card import write_card
from sdgad.detectors.config import AT_ONCE
from sdgad.detectors.deciding import Deciding
from sdgad.detectors.device import usable_device
from sdgad.detectors.folder import ModelFiles, seal_of, write_folder
from sdgad.detectors.model_lock import model_lock
from sdgad.detectors.options import Options
from sdgad.detectors.own_state import OwnState
from sdgad.detectors.record import Record
from sdgad.detectors.tally import Tally
from sdgad.errors import ModelFolderError
from sdgad.events.stream import Array

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector

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
            seal = write_folder(path, self._files(history=history), prove=type(self).from_files, undo=undo)
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

    def _files(self: Detector, *, history: bool) -> ModelFiles:  # type: ignore[misc]
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
        card = write_card(self, history=history)
        return ModelFiles(config, calibration, self._weights(), state, archive.vocabulary(), card)

    @classmethod
    def from_files(cls, files: ModelFiles) -> Self:
        """The detector that `save` wrote."""
        config, calibration, state = files.config, files.calibration, files.state
        try:
            options = {**cls.config_type.before, **config["options"]}
            detector = cls(**{**options, "device": usable_device(options["device"])})
            border = Border.from_json(config)
            kind: type[Archive | Tally] = Archive if cls.keeps_log else Tally
            detector._archive = kind.from_files(border, files)
            detector.decision_scores_ = state["train.score"]
            seconds = float(calibration["validation_seconds"])
            detector._take_validation(
                ValidationScores(state["validation.score"], state["validation.label"], seconds)
            )
            detector.threshold_ = float(calibration["threshold"])
            detector.threshold_rule_ = str(calibration["threshold_rule"])
            detector.record_ = Record.from_json(calibration.get("record"))
            detector._restore(files.weights, calibration)
            detector._state = detector._new_state()
            if own := unprefixed(state):
                _load(detector._state, own)
            detector._load_explaining(state)
        except (KeyError, TypeError) as problem:
            raise ModelFolderError(
                f"The model folder does not fit this version of sdgad: {problem}."
            ) from None
        detector._fitted = True
        return detector

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


def _load(state: OwnState, arrays: Mapping[str, Array]) -> None:
    try:
        state.load(arrays)
    except (ValueError, IndexError) as problem:
        raise KeyError(str(problem)) from None


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
