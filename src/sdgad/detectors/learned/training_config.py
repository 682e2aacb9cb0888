"""Options of every detector that learns by gradient, whatever its network."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from sdgad.configuration import build, option
from sdgad.detectors.config import MOST_HISTORY, DetectorConfig
from sdgad.detectors.precision import Precision
from sdgad.detectors.ranges import TINY, Ranges, need_in_ranges
from sdgad.errors import InputError
from sdgad.history.needs import NONE, Needs
from sdgad.history.window import WindowShape


@dataclass(frozen=True)
class PresetConfig(DetectorConfig):
    """Options that a paper names values for, all at once."""

    preset: Literal["default", "paper"] = option("default", "whose values hold for what is not given")

    paper: ClassVar[Mapping[str, Any]] = {}  # preset="paper"


@dataclass(frozen=True)
class TrainingConfig(PresetConfig):
    """What a Window holds, how long, how fast and how carefully to learn, which epoch to keep."""

    history: int = option(20, "L, past events per endpoint")
    context: bool = option(True, "context features, and the event's own numbers beside the encoder")
    pseudo: bool = option(True, "pseudo-anomalies where labelled ones are few")
    hidden: int = option(64, "width of the network on the event's own features")
    bins: int = option(16, "quantile bins for each of these features")
    head_dropout: float = option(0.3, "dropout behind encoder and own features")
    epochs: int | None = option(
        None, "at most; None: enough for 300 steps and at least 6, with pseudo-anomalies 80 and 1"
    )
    patience: int = option(
        4,
        "epochs without a better one, after which training ends; on a small stream as many as make 250 steps, with "
        "pseudo-anomalies 40",
    )
    batch: int = option(256, "events of a step; an encoder with memory ends batches at its commits, too")
    order: Literal["shuffled", "time"] = option(
        "shuffled", "of training events; an encoder with memory always takes them in order of time"
    )
    learning_rate: float = option(2e-3, "of AdamW")
    weight_decay: float = option(1e-2, "of AdamW, on matrices")
    average: float = option(
        0.998, "decay of the running average of weights that is validated and kept; 0: none"
    )
    select: Literal["mixture", "f1"] = option(
        "mixture", "which epoch is kept, by labels: AUROC and AP on validation, or F1 at 0.5"
    )

    precision: Literal["auto", "fp32", "tf32", "bf16"] = option(
        "auto",
        "of a network's matrix products: auto trains in tf32 on a GPU and scores in fp32; bf16 is for scoring, training is as "
        "with tf32; may change after a fit",
    )
    graphs: bool = option(True, "train by a recorded CUDA graph, on a GPU")

    ranges: ClassVar[Ranges] = (
        (("history",), 1, MOST_HISTORY),
        (("hidden", "bins", "epochs", "patience", "batch"), 1, math.inf),
        (("weight_decay",), 0, math.inf),
        (("learning_rate",), TINY, math.inf),
        (("head_dropout", "average"), 0, 1 - TINY),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        need_in_ranges(self, self.ranges)

    @property
    def training_precision(self) -> Precision:
        return "fp32" if self.precision == "fp32" else "tf32"

    @property
    def scoring_precision(self) -> Precision:
        return "fp32" if self.precision == "auto" else self.precision

    @property
    def network(self) -> str:
        """What looks at the Windows, in words."""
        return "this detector"

    @property
    def vector_width(self) -> int:
        """How many numbers its network holds for an event of a Window."""
        return self.hidden

    def needs(self, shape: WindowShape) -> Needs:  # noqa: ARG002
        """What its network needs in Windows of this shape."""
        return NONE

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Options over the preset; unknown names are errors."""
        base = cls.paper if options.get("preset") == "paper" else {}
        return build(cls, {**base, **options}).checked()

    def checked(self) -> Self:
        """Sizes that do not fit and needs that are not met fail here, not in the middle of a fit."""
        self.need_room_for(self.needs(WindowShape(self.history, 1, 1)))
        return self

    def need_room_for(self, needs: Needs) -> None:
        """A table of memory by node grows with every life of a node, and no ring holds the neighbours of who was forgotten."""
        if self.retention.bounded and needs.memory:
            raise InputError(
                f"Options max_nodes and max_age do not go with {self.network}, which keeps a memory of every node."
            )
        if self.retention.bounded and needs.hop and needs.at == "root":
            raise InputError(
                f"Options max_nodes and max_age do not go with {self.network}, "
                "which looks at the neighbours of neighbours as they are now."
            )
