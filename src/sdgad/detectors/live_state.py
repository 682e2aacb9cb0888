"""The state of a live scorer in one file: arrays in safetensors, the rest as JSON in its header; no pickle."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from sdgad.atomic import whole_file
from sdgad.detectors.base import Detector
from sdgad.detectors.config import AT_ONCE
from sdgad.errors import InputError, ModelFolderError
from sdgad.events.stream import Array

FORMAT_VERSION = 1
KEY = "sdgad.live"


def fingerprint(detector: Detector) -> str:
    """Of all that makes a state usable: what was learned, how events are read, how much is remembered."""
    options = {key: value for key, value in detector.get_params().items() if key not in AT_ONCE}
    retention = detector.config.retention
    said = [
        detector.name,
        options,
        detector._features.to_json(),
        [detector.clock.unit, detector.clock.wall_clock, detector.clock.timezone, detector.bipartite],
        [retention.max_nodes, retention.max_age],
    ]
    text = json.dumps(said, sort_keys=True, default=str)
    return hashlib.sha256(text.encode() + _digest(detector._weights()).encode()).hexdigest()


def write_state(
    path: str | os.PathLike[str], arrays: Mapping[str, Array], model: str, note: Mapping[str, Any]
) -> None:
    """One file, on the disk itself before it takes its name."""
    packed = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    head = {"format_version": FORMAT_VERSION, "model": model, "digest": _digest(packed), "note": dict(note)}
    with whole_file(path) as temporary:
        try:
            save_file(packed, temporary, metadata={KEY: json.dumps(head, allow_nan=False)})
        except SafetensorError as problem:  # what a full disk becomes on its way through that library
            raise InputError(f"{path} cannot be written: {problem}.") from None
        with temporary.open("rb") as file:
            os.fsync(file.fileno())


def read_state(path: str | os.PathLike[str], model: str) -> tuple[dict[str, Array], dict[str, Any]]:
    """Arrays and note of a file that `write_state` wrote for the same model."""
    if not Path(path).is_file():
        raise ModelFolderError(f"There is no state {path}.")
    try:
        with safe_open(path, framework="np") as file:
            head = json.loads((file.metadata() or {})[KEY])
            if head["format_version"] > FORMAT_VERSION:
                raise ModelFolderError(f"The state {path} was written by a newer version of sdgad.")
            if head["model"] != model:
                raise ModelFolderError(
                    f"The state {path} belongs to another model, or to other bounds of its memory."
                )
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
        if _digest(arrays) != head["digest"]:
            raise ValueError
        return arrays, dict(head["note"])
    except OSError as problem:
        raise ModelFolderError(f"The state {path} cannot be read: {problem.strerror or problem}.") from None
    except (SafetensorError, KeyError, TypeError, ValueError):
        raise ModelFolderError(f"The state {path} is damaged.") from None


def _digest(arrays: Mapping[str, Array]) -> str:
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        total.update(array.reshape(-1).view(np.uint8).data)
    return total.hexdigest()
