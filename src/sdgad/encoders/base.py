"""The encoder contract and the registry of encoders.

A new encoder is one file: a subclass of `Encoder` under `@encoders.register("name")`, listed in `MODULES`
below or, from another package, under the entry-point group `sdgad.encoders`. The generic contract test then
runs it untouched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from sdgad.configuration import option
from sdgad.encoders.dropout import paired_dropout
from sdgad.encoders.tags import EncoderTags
from sdgad.errors import InputError
from sdgad.history.needs import NONE, Needs
from sdgad.history.window import Window, WindowShape
from sdgad.registry import Registry

MODULES = (
    "sdgad.encoders.tcl",
    "sdgad.encoders.graphmixer",
    "sdgad.encoders.dygformer",
    "sdgad.encoders.tgn",
    "sdgad.encoders.tgat",
    "sdgad.encoders.jodie",
    "sdgad.encoders.dyrep",
    "sdgad.encoders.cawn",
    "sdgad.encoders.freedyg",
)

MOST_LAYERS = 1000


@dataclass(frozen=True)
class EncoderConfig:
    """Sizes that every encoder understands; `width` is the width of the vectors that it returns."""

    width: int = option(32, "width of the vectors that it returns")
    time_width: int = option(16, "cosines that encode the time since an event")
    layers: int = option(1, "layers, one upon the other")
    heads: int = option(2, "heads of each attention, where it has any")
    dropout: float = option(0.1, "share of inner values that training leaves out at random")
    train_time: bool = option(False, "learn the frequencies and phases of the time encoding")
    log_gap: bool = option(True, "a logarithm of the time since an event beside its cosines")

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int) and not isinstance(value, bool) and value < 1:
                raise InputError(f"{field.name}={value}: must be at least 1.")
        for name in ("layers", "messages"):
            if getattr(self, name, 1) > MOST_LAYERS:
                raise InputError(f"{name}={getattr(self, name)}: must be at most {MOST_LAYERS}.")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout={self.dropout}: must lie in [0, 1).")


class Encoder(nn.Module, ABC):
    """`encode(window, include_event) -> (z_src, z_dst)`, each `[B, width]`.

    The current event is one more token after the L past ones; without it, that token's slot is masked, not
    shifted, so that both branches share positions. `include_event` is one bool for the batch, or a bool
    tensor `[B]`. Stateless encoders are pure functions of the Window: the rows of a batch do not influence
    each other. Dropout comes from `sdgad.encoders.dropout.Dropout`, so that the two branches of a residual
    share their masks.
    """

    name: ClassVar[str]
    config_type: ClassVar[type[EncoderConfig]] = EncoderConfig  # a subclass where there are more options
    paper: ClassVar[EncoderConfig]  # the published sizes, for preset="paper"; without any, the defaults
    paper_by_dataset: ClassVar[
        Mapping[str, Mapping[str, Any]]
    ] = {}  # what was published for some, L as `history`
    tags: ClassVar[EncoderTags] = EncoderTags()  # what the checks must know of it
    check_options: ClassVar[Mapping[str, Any]] = {}  # small and quick, for the checks

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "paper" not in vars(cls) and not isinstance(getattr(cls, "paper", None), cls.config_type):
            cls.paper = cls.config_type()

    def __init__(self, shape: WindowShape, config: EncoderConfig) -> None:
        super().__init__()
        self.shape = shape
        self.config = config

    @property
    def needs(self) -> Needs:
        """What its Windows have to hold beyond the events and the recent past of their endpoints."""
        return NONE

    def fit_scales(self, sample: Window) -> None:
        """Before the first step: units of its own, from Windows of training events, into buffers that are saved with the weights.

        Features are scaled as `encode` sees them; there is none of what `needs` asks for. Until then both endpoints are
        treated alike. Most encoders have nothing to measure.
        """

    def commit(self, window: Window) -> Tensor:  # noqa: ARG002
        """For encoders with memory (`needs.memory` = R): what is kept of both endpoints after each event, `[B, 2, R]`.

        It is called without gradients and without dropout, with the Windows of a block of events and their memory as it was
        before the block.
        """
        raise TypeError(f"Encoder {self.name!r} keeps no memory: `commit` goes with `needs.memory`.")

    @abstractmethod
    def encode(self, window: Window, include_event: bool | Tensor) -> tuple[Tensor, Tensor]:
        """Vectors of the two endpoints, from their histories and, where included, the current event."""

    def both(self, window: Window) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """`encode` with the event and without it, in one doubled batch under the same dropout masks."""
        count = len(window)
        include = torch.arange(2 * count, device=window.node.device) < count
        with paired_dropout():
            src, dst = self._checked(self.encode(window.doubled(), include), 2 * count)
        return (src[:count], dst[:count]), (src[count:], dst[count:])

    def _checked(self, encoded: tuple[Tensor, Tensor], count: int) -> tuple[Tensor, Tensor]:
        """What `encode` returned, if it is what the contract says; its author learns the rest here, not from a matmul."""
        shapes = [tuple(z.shape) for z in encoded] if isinstance(encoded, tuple) else [type(encoded).__name__]
        expected = (count, self.config.width)
        if shapes != [expected, expected]:
            found = " and ".join(map(str, shapes))
            raise InputError(
                f"Encoder {self.name!r} returned {found} for {count} rows; expected is a pair of tensors {expected}."
            )
        return encoded


encoders: Registry[Encoder] = Registry("encoder", "sdgad.encoders", MODULES, base=Encoder)


def list_encoders() -> list[str]:
    """Names of all encoders, ours and those of installed packages."""
    return encoders.names()
