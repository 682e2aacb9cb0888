"""The state of a live scorer in one file: arrays in safetensors, the rest as JSON in its header; no pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from sdgad.atomic import whole_file
from sdgad.detectors.saving import digest
from sdgad.durable import to_disk
from sdgad.errors import InputError, ModelFolderError
from sdgad.events.stream import Array

FORMAT_VERSION = 1
KEY = "sdgad.live"


def write_state(
    path: str | os.PathLike[str], arrays: Mapping[str, Array], model: str, note: Mapping[str, Any]
) -> None:
    """One file, on the disk itself before it takes its name."""
    packed = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    head = {"format_version": FORMAT_VERSION, "model": model, "digest": digest(packed), "note": dict(note)}
    with whole_file(path) as temporary:
        try:
            save_file(packed, temporary, metadata={KEY: json.dumps(head, allow_nan=False)})
        except SafetensorError as problem:  # what a full disk becomes on its way through that library
            raise InputError(f"{path} cannot be written: {problem}.") from None
        with temporary.open("rb") as file:
            to_disk(file.fileno(), path)


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
        if digest(arrays) != head["digest"]:
            raise ValueError
        return arrays, dict(head["note"])
    except OSError as problem:
        raise ModelFolderError(f"The state {path} cannot be read: {problem.strerror or problem}.") from None
    except (SafetensorError, KeyError, TypeError, ValueError):
        raise ModelFolderError(f"The state {path} is damaged.") from None
