"""Options of every detector that has an encoder and learns by gradient."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self

import torch

from sdgad.configuration import build, option, unknown_option
from sdgad.detectors.config import MOST_HISTORY, DetectorConfig
from sdgad.detectors.precision import Precision
from sdgad.encoders.base import EncoderConfig, encoders
from sdgad.errors import InputError
from sdgad.history.needs import Needs
from sdgad.history.window import WindowShape

TINY = 1e-9  # for what must be above 0, or below 1

Ranges = tuple[tuple[tuple[str, ...], float, float], ...]


@dataclass(frozen=True)
class Shorthand:
    """What only stands for other options."""

    dataset: str | None = option(
        None, 'the values that the paper reports for this dataset; goes with preset="paper"'
    )


@dataclass(frozen=True)
class LearnedConfig(DetectorConfig):
    """Encoder, head and training. Options of the encoder (`width`, `layers`, `dropout`, …) go into `encoder_options`."""

    preset: Literal["default", "paper"] = option("default", "whose values hold for what is not given")
    encoder: str = option("tcl", "name of the encoder")
    encoder_options: dict[str, Any] = option(
        factory=dict, line="options of the encoder, which may also be given by their own names"
    )
    history: int = option(20, "L, past events per endpoint")
    context: bool = option(True, "context features, and the event's own numbers beside the encoder")
    pseudo: bool = option(True, "pseudo-anomalies where labelled ones are few")
    hidden: int = option(64, "width of the network on the event's own features")
    bins: int = option(16, "quantile bins for each of these features")
    head_dropout: float = option(0.3, "dropout behind encoder and own features")
    epochs: int | None = option(
        None, "at most; None: enough for 400 steps and at least 8, with pseudo-anomalies 80 and 1"
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

    paper: ClassVar[Mapping[str, Any]] = {}  # preset="paper"
    paper_by_dataset: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    ranges: ClassVar[Ranges] = (
        (("history",), 1, MOST_HISTORY),
        (("hidden", "bins", "epochs", "patience", "batch"), 1, math.inf),
        (("weight_decay",), 0, math.inf),
        (("learning_rate",), TINY, math.inf),
        (("head_dropout", "average"), 0, 1 - TINY),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for names, low, high in self.ranges:
            for name in names:
                value = getattr(self, name)
                if value is not None and not low <= value <= high:
                    floor = "above 0" if low == TINY else f"at least {low:g}"
                    ceiling = {math.inf: "", 1 - TINY: " and below 1"}.get(high, f" and at most {high:g}")
                    raise InputError(f"Option {name}={value} must be {floor + ceiling}.")

    @property
    def training_precision(self) -> Precision:
        return "fp32" if self.precision == "fp32" else "tf32"

    @property
    def scoring_precision(self) -> Precision:
        return "fp32" if self.precision == "auto" else self.precision

    def encoder_config(self) -> EncoderConfig:
        """The typed config of the chosen encoder."""
        return build(encoders.get(self.encoder).config_type, self.encoder_options)

    def needs(self, shape: WindowShape) -> Needs:
        """What the chosen encoder needs in its Windows."""
        return _needs(self.encoder, self.encoder_config(), shape)

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Options over the preset; names that belong to the encoder are handed to it; unknown names are errors.

        `dataset=` (with `preset="paper"`) takes the values that the paper reports for that dataset.
        """
        options = dict(options)
        dataset = options.pop("dataset", None)
        encoder_type = encoders.get(str(options.get("encoder", cls.encoder)))
        base: dict[str, Any] = {}
        if options.get("preset") == "paper":
            base = {**cls.paper, "encoder_options": asdict(encoder_type.paper), **cls._reported(dataset)}
        elif dataset is not None:
            raise InputError("Option dataset= goes with preset='paper'.")
        own = {f.name for f in fields(cls)}
        of_encoder = {f.name for f in fields(encoder_type.config_type)}
        extra = {key: options.pop(key) for key in list(options) if key not in own and key in of_encoder}
        unknown = [key for key in options if key not in own]
        if unknown:
            raise InputError(unknown_option(unknown[0], sorted(own | of_encoder)))
        given = options.get("encoder_options", {})
        if not isinstance(given, Mapping):
            raise InputError(f"Option encoder_options={given!r} should be a mapping of names to values.")
        encoder_options = {**base.get("encoder_options", {}), **given, **extra}
        config = build(cls, {**base, **options, "encoder_options": encoder_options})
        # unknown names, sizes that do not fit and needs that are not met fail here, not in the middle of a fit
        config.need_room_for(config.needs(WindowShape(config.history, 1, 1)))
        return config

    @classmethod
    def _reported(cls, dataset: str | None) -> Mapping[str, Any]:
        if dataset is None:
            return {}
        if dataset not in cls.paper_by_dataset:
            known = ", ".join(sorted(cls.paper_by_dataset)) or "none"
            raise InputError(f"The paper reports no settings for dataset {dataset!r}; it does for {known}.")
        return cls.paper_by_dataset[dataset]

    def need_room_for(self, needs: Needs) -> None:
        """A table of memory by node grows with every life of a node, and no ring holds the neighbours of who was forgotten."""
        if self.retention.bounded and needs.memory:
            raise InputError(
                f"Options max_nodes and max_age do not go with encoder {self.encoder!r}, which keeps a memory of every node."
            )
        if self.retention.bounded and needs.hop and needs.at == "root":
            raise InputError(
                f"Options max_nodes and max_age do not go with encoder {self.encoder!r}, "
                "which looks at the neighbours of neighbours as they are now."
            )


@lru_cache(maxsize=64)
def _needs(encoder: str, config: EncoderConfig, shape: WindowShape) -> Needs:
    with torch.device("meta"):
        return encoders.get(encoder)(shape, config).needs
