"""Ranges of options, and the sentence that says so where one lies outside."""

from __future__ import annotations

import math
from typing import Any

from sdgad.errors import InputError

TINY = 1e-9  # for what must be above 0, or below 1

Ranges = tuple[tuple[tuple[str, ...], float, float], ...]  # names, least, most


def need_in_ranges(config: Any, ranges: Ranges) -> None:
    """An InputError that names the option, where one that was given is not in its range."""
    for names, low, high in ranges:
        for name in names:
            value = getattr(config, name)
            if value is not None and not low <= value <= high:
                floor = "above 0" if low == TINY else f"at least {low:g}"
                ceiling = {math.inf: "", 1 - TINY: " and below 1"}.get(high, f" and at most {high:g}")
                raise InputError(f"Option {name}={value} must be {floor + ceiling}.")
