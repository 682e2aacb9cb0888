"""What was read is what would be written: nothing in a model folder is passed over, bent or replaced by a default."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdgad.detectors.folder import CALIBRATION, CONFIG, STATE, WEIGHTS, ModelFiles
from sdgad.detectors.folder_formats import Arrays

HERE = ("device",)  # options that depend on the machine
GROWN = frozenset(
    {"recent.plain"}
)  # arrays that are longer than they were in older versions, by the end of their names


def need_same(read: ModelFiles, again: ModelFiles) -> None:
    """All that was read is there again, bit for bit; a newer version may have more to say. Else a ValueError."""
    options = dict(read.config["options"])
    for name in HERE:
        options.pop(name, None)
    _need_same_json({**read.config, "options": options}, again.config, CONFIG)
    _need_same_json(read.calibration, again.calibration, CALIBRATION)
    _need_same_arrays(read.weights, again.weights, WEIGHTS)
    _need_same_arrays(read.state, again.state, STATE)


def _need_same_json(read: Any, again: Any, where: str) -> None:
    if isinstance(read, dict) and isinstance(again, dict):
        for key, value in read.items():
            if key not in again:
                raise ValueError(f"{where} has {key!r}, which means nothing here")
            _need_same_json(value, again[key], f"{where}, {key}")
    elif isinstance(read, list) and isinstance(again, list | tuple):
        if len(read) != len(again):
            raise ValueError(f"{where} is not of the expected length")
        for value, other in zip(read, again, strict=True):
            _need_same_json(value, other, where)
    elif not _alike(read, again):
        raise ValueError(f"{where} is {read!r}, which was not understood")


def _alike(read: Any, again: Any) -> bool:
    if isinstance(read, bool) or isinstance(again, bool):
        return read is again
    return bool(read == again) or (read != read and again != again)  # noqa: PLR0124 (NaN is NaN)


def _need_same_arrays(read: Arrays, again: Arrays, where: str) -> None:
    for name, array in read.items():
        if name not in again:
            raise ValueError(f"{where} has the array {name!r}, which means nothing here")
        other = again[name]
        if other is array:
            continue
        if any(name.endswith(grown) for grown in GROWN) and other.ndim == array.ndim == 1:
            other = other[: len(array)]
        if (array.dtype, array.shape) != (other.dtype, other.shape) or not _same_bits(
            array, np.asarray(other)
        ):
            raise ValueError(f"the array {name!r} of {where} was not understood")


def _same_bits(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    mine, theirs = (np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in (one, other))
    return np.array_equal(mine, theirs)
