"""The options of SDGAD and its two presets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

import torch

from sdgad.configuration import build, unknown_option
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.sdgad.boundary import Form
from sdgad.detectors.sdgad.density import densities
from sdgad.encoders.base import EncoderConfig, encoders
from sdgad.errors import InputError
from sdgad.history.window import WindowShape

TINY = 1e-9  # for what must be above 0, or below 1
RANGES: tuple[tuple[tuple[str, ...], float, float], ...] = (
    (("history", "hidden", "bins", "transforms", "epochs", "patience", "batch"), 1, math.inf),
    (("projection",), 2, math.inf),  # a coupling block splits it
    (("margin", "tau", "weight_decay", "lambda_boundary", "lambda_restriction", "lambda_known"), 0, math.inf),
    (("r_max", "learning_rate"), TINY, math.inf),
    (("gamma", "shell_gradient"), 0, 1),
    (("alpha",), TINY, 1 - TINY),
    (("head_dropout", "average"), 0, 1 - TINY),
)


@dataclass(frozen=True)
class SDGADConfig(DetectorConfig):
    """Everything that may be set. Options of the encoder (`width`, `layers`, `dropout`, …) go into `encoder_options`."""

    preset: Literal["default", "paper"] = "default"
    encoder: str = "tcl"
    encoder_options: dict[str, Any] = field(default_factory=dict)
    history: int = 20  # L, past events per endpoint
    # switches
    residual: bool = True
    restriction: bool = True
    boundary: Form = "bi"
    joint: bool = False  # likelihood gradient into the encoder, as printed; collapses
    context: bool = True
    pseudo: bool = True  # pseudo-anomalies where labelled ones are few
    known: bool = True  # second latent centre for known anomalies
    # representation
    projection: int = 48  # d_x
    hidden: int = 64  # width of the MLP on the event's own features
    bins: int = 16
    head_dropout: float = 0.3
    # shell and boundary
    r_max: float = 0.4
    gamma: float = 0.99
    margin: float = 0.1
    alpha: float = 0.01
    tau: float = 0.1
    # density
    density: str = "realnvp"
    transforms: int = 6
    # weights of the losses; the likelihood has weight 1
    lambda_boundary: float = 0.1
    lambda_restriction: float = 0.1
    lambda_known: float = 1.0
    shell_gradient: float = (
        0.0  # share of the gradient of restriction and boundary that reaches the encoder beside `known`
    )
    # training
    epochs: int | None = (
        None  # at most; None: enough for 600 steps and at least 8; with pseudo-anomalies 80 and 1
    )
    patience: int = 4
    batch: int = 256
    order: Literal["shuffled", "time"] = "shuffled"
    learning_rate: float = 2e-3
    weight_decay: float = 1e-2
    average: float = 0.998
    select: Literal["mixture", "f1"] = "mixture"
    # score
    score: Literal["calibrated", "printed"] = "calibrated"

    def __post_init__(self) -> None:
        super().__post_init__()
        for names, low, high in RANGES:
            for name in names:
                value = getattr(self, name)
                if value is not None and not low <= value <= high:
                    floor = "above 0" if low == TINY else f"at least {low:g}"
                    ceiling = {math.inf: "", 1 - TINY: " and below 1"}.get(high, f" and at most {high:g}")
                    within = floor + ceiling
                    raise InputError(f"Option {name}={value} must be {within}.")

    def encoder_config(self) -> EncoderConfig:
        """The typed config of the chosen encoder."""
        return build(encoders.get(self.encoder).config_type, self.encoder_options)


PAPER: dict[str, Any] = {
    "context": False, "pseudo": False, "known": False, "batch": 200, "order": "time", "select": "f1", "score": "printed",
    "epochs": 200, "patience": 10, "learning_rate": 1e-3, "weight_decay": 1e-5, "average": 0.0, "projection": 64,
    "head_dropout": 0.0, "lambda_boundary": 1.0, "lambda_restriction": 0.5, "history": 20, "density": "realnvp", "transforms": 6,
    "r_max": 0.4, "gamma": 0.99, "margin": 0.1, "alpha": 0.01, "tau": 0.1,
}  # fmt: skip
"""The printed hyper-parameters and protocol, with the repaired losses. Learning rate and weight decay are one point of the
paper's grid ({1e-3, 1e-4, 1e-5} × {1e-1 … 1e-5}); the optimiser is AdamW where the paper has Adam."""

PAPER_BY_DATASET: dict[str, dict[str, Any]] = {
    "wikipedia": {"history": 2, "lambda_boundary": 1.0, "lambda_restriction": 0.5},
    "mooc": {"history": 20, "lambda_boundary": 0.5, "lambda_restriction": 0.5},
}
"""What the paper reports per dataset beside the shared τ = 0.1, γ = 0.99, α = 0.01."""


def configure(options: Mapping[str, Any]) -> SDGADConfig:
    """Options over the preset; names that belong to the encoder are handed to it; unknown names are errors.

    `dataset=` (with `preset="paper"`) takes the values that the paper reports for that dataset.
    """
    options = dict(options)
    paper = options.get("preset") == "paper"
    dataset = options.pop("dataset", None)
    base: dict[str, Any] = {}
    encoder_type = encoders.get(str(options.get("encoder", "tcl")))
    if paper:
        base |= PAPER
        base["encoder_options"] = asdict(encoder_type.paper)
        if dataset is not None:
            if dataset not in PAPER_BY_DATASET:
                raise InputError(
                    f"The paper reports no settings for dataset {dataset!r}; it does for mooc, wikipedia."
                )
            base |= PAPER_BY_DATASET[dataset]
    elif dataset is not None:
        raise InputError("Option dataset= goes with preset='paper'.")
    own = {f.name for f in fields(SDGADConfig)}
    of_encoder = {f.name for f in fields(encoder_type.config_type)}
    extra = {key: options.pop(key) for key in list(options) if key not in own and key in of_encoder}
    unknown = [key for key in options if key not in own]
    if unknown:
        raise InputError(unknown_option(unknown[0], sorted(own | of_encoder)))
    given = options.get("encoder_options", {})
    if not isinstance(given, Mapping):
        raise InputError(f"Option encoder_options={given!r} should be a mapping of names to values.")
    encoder_options = {**base.get("encoder_options", {}), **given, **extra}
    config = build(SDGADConfig, {**base, **options, "encoder_options": encoder_options})
    with torch.device(
        "meta"
    ):  # unknown names and sizes that do not fit fail here, not in the middle of a fit
        encoder_type(WindowShape(config.history, 1, 1), config.encoder_config())
    densities.get(config.density)
    return config
