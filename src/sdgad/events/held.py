"""Values that come from a file, as they have to be: nobody but the checksum knows who wrote them."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
ANY = -1  # a length that may be any


def held(
    arrays: Mapping[str, Array],
    name: str,
    kind: str,
    shape: tuple[int, ...],
    *,
    low: float = -math.inf,
    high: float = sys.float_info.max,
    rising: bool = False,
    special: bool = False,
) -> Array:
    """An array of a kind ("f8", or "i8 f8" for one of two) and shape. Its numbers are finite (or `high`, where that is not) and
    lie from `low` to `high`, unless `special` ones are allowed; `rising`: along the last axis none is below the one before."""
    if name not in arrays:
        raise KeyError(f"the array {name!r} is missing")
    array = arrays[name]
    if array.dtype not in [np.dtype(each) for each in kind.split()]:
        raise ValueError(f"the array {name!r} is of kind {array.dtype}")
    if array.ndim != len(shape) or any(
        want not in (ANY, has) for want, has in zip(shape, array.shape, strict=True)
    ):
        raise ValueError(f"the array {name!r} has the shape {array.shape}")
    if not array.size:
        return array
    if (
        array.dtype.kind == "f"
        and not special
        and not (np.isfinite(array) | ((array == math.inf) & (high == math.inf))).all()
    ):
        raise ValueError(f"the array {name!r} holds something that is not a finite number")
    if (
        array.dtype.kind != "b"
        and not special
        and not low <= array.min().item() <= array.max().item() <= high
    ):
        raise ValueError(f"the array {name!r} holds a number that cannot be")
    if rising and not (array[..., 1:] >= array[..., :-1]).all():
        raise ValueError(f"the array {name!r} is not in order")
    return array


def number(value: Any, what: str, *, low: float = -math.inf, high: float = math.inf) -> float:
    """A finite number in a range."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{what} is {value!r}, which is no number")
    if not low <= value <= high:
        raise ValueError(f"{what} is {value!r}, which cannot be")
    return float(value)


def whole(value: Any, what: str, *, low: int = 0, high: int = 2**62) -> int:
    """A whole number in a range."""
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{what} is {value!r}, which cannot be")
    return value


def text(value: Any, what: str) -> str:
    """Text that can be printed and written."""
    if type(value) is not str:
        raise ValueError(f"{what} is {value!r}, which is no text")
    return value


def texts(value: Any, what: str) -> tuple[str, ...]:
    """A list of texts, none of them twice."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"{what} is {value!r}, which is no list")
    found = tuple(text(each, what) for each in value)
    if len(set(found)) < len(found):
        raise ValueError(f"{what} names one thing twice")
    return found


def truth(value: Any, what: str) -> bool:
    """True or False, and no number that stands for it."""
    if type(value) is not bool:
        raise ValueError(f"{what} is {value!r}, which is neither true nor false")
    return value
