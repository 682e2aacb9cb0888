"""MemoryState: the state of a detector whose encoder keeps a memory."""

from __future__ import annotations

from collections.abc import Callable

import torch

from sdgad.detectors.own_state import OwnState
from sdgad.history.memory import NodeMemory, Rule
from sdgad.history.needs import Needs
from sdgad.history.state import Array
from sdgad.history.window import Window, WindowShape


class MemoryState(NodeMemory, OwnState):
    """Scores are a function of the Window with what the encoder wrote about its nodes."""

    def __init__(
        self, needs: Needs, rule: Rule, score: Callable[[Window], Array], device: torch.device
    ) -> None:
        super().__init__(needs, rule, device)
        self._score = score

    def need_fit(self, nodes: int, shape: WindowShape) -> None:
        self.need_block_of(nodes, shape)

    def score(self, window: Window) -> Array:
        self.move_on(window)
        return self._score(self.attach(window))
