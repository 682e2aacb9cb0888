"""Detectors by name, ours and those of installed packages (entry-point group `sdgad.detectors`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sdgad.detectors.base import Detector
from sdgad.detectors.folder import ModelFiles, read_folder, undo_folder
from sdgad.errors import InputError, ModelFolderError, UnknownName
from sdgad.registry import Registry

MODULES = (
    "sdgad.detectors.sdgad.detector",
    "sdgad.detectors.classifier",
    "sdgad.detectors.baselines.boosting",
    "sdgad.detectors.baselines.isolation_forest",
    "sdgad.detectors.baselines.histogram",
    "sdgad.detectors.baselines.midas",
    "sdgad.detectors.baselines.edgebank",
    "sdgad.detectors.baselines.sad.detector",
    "sdgad.detectors.baselines.generaldyg.detector",
    "sdgad.detectors.baselines.addgraph.detector",
    "sdgad.detectors.baselines.netwalk.detector",
    "sdgad.detectors.baselines.strgnn.detector",
    "sdgad.detectors.baselines.taddy.detector",
)

detectors: Registry[Detector] = Registry("detector", "sdgad.detectors", MODULES, base=Detector)


def list_detectors() -> list[str]:
    """Names of all detectors."""
    return detectors.names()


def make_detector(name: str, **options: Any) -> Detector:
    """A detector by name; unknown options are errors."""
    return detectors.get(name)(**options)


def load(path: str | os.PathLike[str]) -> Detector:
    """A saved detector, with its history, ready to score what comes next."""
    files = read_folder(path)
    try:
        detector = _from_files(files)
    except (InputError, ModelFolderError) as problem:
        raise ModelFolderError(
            f"The model folder {path} cannot be used: {str(problem).rstrip('.')}."
        ) from None
    detector._origin = Path(path).resolve(), files.seal
    return detector


def undo_update(path: str | os.PathLike[str]) -> None:
    """Bring back the model that the last `save(undo=True)` was written over."""
    undo_folder(path, _from_files)


def _from_files(files: ModelFiles) -> Detector:
    try:
        cls = detectors.get(str(files.config.get("detector")))
    except UnknownName as problem:
        raise ModelFolderError(problem.missing) from None
    return cls.from_files(files)
