"""Random Windows, as a history would make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sdgad.checks.windows import Sizes, random_window
from sdgad.history.window import Window

MakeWindow = Callable[..., Window]


@pytest.fixture
def make_window() -> MakeWindow:
    """Those that the checks are run on, by their sizes."""

    def make(**sizes: Any) -> Window:
        return random_window(Sizes(**sizes))

    return make
