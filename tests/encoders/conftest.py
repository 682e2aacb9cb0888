"""Random Windows, as a history would make them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from sdgad.history.window import Window

MakeWindow = Callable[..., Window]


@pytest.fixture
def make_window() -> MakeWindow:
    """Gaps from seconds to days, few enough nodes to meet again; a share `filled` of endpoints has a past."""

    def make(
        *,
        count: int = 7,
        history: int = 5,
        msg: int = 3,
        context: int = 4,
        filled: float = 0.7,
        seed: int = 0,
    ) -> Window:
        g = torch.Generator().manual_seed(seed)
        lengths = torch.rand(count, 2, 1, generator=g).lt(filled) * torch.randint(
            1, history + 1, (count, 2, 1), generator=g
        )
        mask = torch.arange(history) >= history - lengths
        gap = (10 ** (6 * torch.rand(count, 2, history, generator=g))).sort(2, descending=True).values
        return Window(
            node=torch.randint(0, 6, (count, 2), generator=g),
            msg=torch.randn(count, msg, generator=g),
            context=torch.randn(count, context, generator=g),
            past_node=torch.randint(0, 6, (count, 2, history), generator=g).masked_fill(~mask, -1),
            past_gap=gap * mask,
            past_msg=torch.randn(count, 2, history, msg, generator=g) * mask[..., None],
            past_context=torch.randn(count, 2, history, context, generator=g) * mask[..., None],
            mask=mask,
        )

    return make
