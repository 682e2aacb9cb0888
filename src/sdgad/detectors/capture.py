"""Capture: work that is the same every time, recorded once as a CUDA graph and replayed from then on."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from typing import Generic, TypeVar

import torch
from torch import Tensor

from sdgad.detectors.pace import Pace
from sdgad.detectors.precision import Precision, products

logger = logging.getLogger("sdgad.capture")

R = TypeVar("R")
PLAIN_FIRST = 2  # calls of each shape that run plainly: libraries and the optimiser set themselves up in them


class Capture(Generic[R]):
    """A function of one tensor, replayed as one CUDA graph for each shape of it that comes often enough.

    The function must be the same work for every tensor of a shape: no question to the device (`.item()`, a boolean index,
    `nonzero`), no new memory that it keeps, no decision in Python that changes from call to call. What it returns lies in
    memory that the next call overwrites. Random numbers come from `generator`. Where recording fails, that is said once and
    the function runs plainly, as it always does on a CPU; so it does from the start where an `obstacle` is known.

    What was tried and left: `torch.compile` of the encoder makes a step of default sizes a sixth shorter (2.90 → 2.44 ms on an
    H200) and takes 26 s, twice a whole fit. A chunk of 32,768 scored events is as quick plainly (21.3 ms) as recorded (20.9 ms).
    """

    def __init__(
        self,
        function: Callable[[Tensor], R],
        generator: torch.Generator,
        *,
        of: str,
        precision: Precision = "fp32",
        wanted: bool = True,
        obstacle: str = "",
    ) -> None:
        self._function = function
        self._generator = generator
        self._precision: Precision = precision
        self._of = of
        self.works = wanted and generator.device.type == "cuda"
        self._pace = Pace()
        self._calls: dict[torch.Size, int] = {}
        self._graphs: dict[torch.Size, tuple[torch.cuda.CUDAGraph, Tensor, R]] = {}
        if self.works and obstacle:
            self._give_up(obstacle)

    @property
    def used(self) -> bool:
        """Whether anything is replayed."""
        return bool(self._graphs)

    def __call__(self, given: Tensor) -> R:
        shape = given.shape
        if shape not in self._graphs and not self._record(given):
            with products(self._precision, given.device):
                return self._function(given)
        graph, static, result = self._graphs[shape]
        self._pace.wait()
        static.copy_(given)
        graph.replay()
        self._pace.sent()
        return result

    def _record(self, given: Tensor) -> bool:
        """Whether there is a graph for this shape now."""
        calls = self._calls[given.shape] = self._calls.get(given.shape, 0) + 1
        if not self.works or calls <= PLAIN_FIRST:
            return False
        graph, static = torch.cuda.CUDAGraph(), given.clone()
        generators = [self._generator, torch.cuda.default_generators[given.device.index or 0]]
        before = [generator.clone_state() for generator in generators]
        graph.register_generator_state(self._generator)
        with products(self._precision, given.device):
            torch.cuda.current_stream().synchronize()
            try:
                graph.capture_begin(capture_error_mode="thread_local")
                result = self._function(static)
                graph.capture_end()
            except BaseException as problem:
                with contextlib.suppress(RuntimeError):  # of a recording that is spoilt
                    graph.capture_end()
                for generator, state in zip(generators, before, strict=True):
                    # or it would go on waiting for the end of the recording
                    generator.graphsafe_set_state(state)
                if not isinstance(problem, Exception):  # Ctrl-C
                    raise
                self._give_up(str(problem).strip() or type(problem).__name__)
                return False
        self._graphs[given.shape] = graph, static, result
        return True

    def _give_up(self, reason: str) -> None:
        self.works = False
        logger.warning(
            "%s cannot be recorded as a CUDA graph and runs plainly: %s.",
            self._of,
            reason.splitlines()[0].rstrip("."),
        )
