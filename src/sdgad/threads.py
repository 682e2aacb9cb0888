"""Threads of the numerical libraries: how many there are, and that they do not spin."""

from __future__ import annotations

import os
import sys

SPINS = "5000"


def wait_calmly() -> None:
    """Let threads that wait for each other sleep after a few microseconds, unless the user has said how they shall wait.

    Those of torch and scikit-learn wait many thousand times a second. By default they spin while they do, and beside any other
    busy process a fit then takes many times as long; if they fell asleep at once, it would take a third longer on a machine of
    its own. It has to be said before these libraries are loaded.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ["OMP_WAIT_POLICY"] = "passive"
        os.environ.setdefault("GOMP_SPINCOUNT", SPINS)


def use_threads(count: int) -> None:
    """So many threads for numerical work, by libraries that are loaded already and by those that will be."""
    os.environ["OMP_NUM_THREADS"] = str(count)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(count)
