"""How a check says what it found: these raise, so that they also count under `python -O`, where `assert` does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

CLOSE = 1e-5  # what a matrix product may differ by when a batch is cut elsewhere

Array = np.ndarray[Any, Any]


def need(holds: Any, otherwise: str) -> None:
    """An AssertionError that says `otherwise`, unless it holds."""
    if not holds:
        raise AssertionError(otherwise)


def same(found: Any, expected: Any, what: str) -> None:
    """Bit for bit."""
    np.testing.assert_array_equal(numbers(found), numbers(expected), err_msg=what)


def close(found: Any, expected: Any, what: str, within: float = CLOSE) -> None:
    """To a tolerance."""
    np.testing.assert_allclose(numbers(found), numbers(expected), rtol=0, atol=within, err_msg=what)


def numbers(values: Any) -> Array:
    """A tensor, or anything else that is an array, as one of numpy."""
    if isinstance(values, Tensor):
        return values.detach().cpu().numpy()
    return np.asarray(values)


@contextmanager
def refused(error: type[Exception], words: str, what: str) -> Iterator[None]:
    """What happens within has to be answered by an error whose message matches these words."""
    try:
        yield
    except error as problem:
        need(
            re.search(words, str(problem)),
            f"{what} was refused with {str(problem)!r}, which does not say {words!r}",
        )
    except Exception as problem:
        raise AssertionError(
            f"{what} ended in {type(problem).__name__}: {problem}; expected is {error.__name__}"
        ) from problem
    else:
        raise AssertionError(f"{what} was taken; expected is {error.__name__} that says {words!r}")


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Torch draws from this seed within, and afterwards goes on as if nothing had been."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
