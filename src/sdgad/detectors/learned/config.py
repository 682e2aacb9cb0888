"""Options of every detector that has an encoder and learns by gradient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar, Self

from sdgad.configuration import build, option, unknown_option
from sdgad.detectors.drawn_up import drawn_up
from sdgad.detectors.learned.training_config import PresetConfig, TrainingConfig
from sdgad.encoders.base import Encoder, EncoderConfig, encoders
from sdgad.errors import InputError
from sdgad.history.needs import Needs
from sdgad.history.window import WindowShape


@dataclass(frozen=True)
class Shorthand:
    """What only stands for other options."""

    dataset: str | None = option(
        None, 'the values that the paper reports for this dataset; goes with preset="paper"'
    )


@dataclass(frozen=True)
class EncoderChoice(PresetConfig):
    """Which encoder, and how large."""

    encoder: str = option("tcl", "name of the encoder")
    encoder_options: dict[str, Any] = option(
        factory=dict, line="options of the encoder, which may also be given by their own names"
    )


@dataclass(frozen=True)
class LearnedConfig(TrainingConfig, EncoderChoice):
    """Encoder, head and training. Options of the encoder (`width`, `layers`, `dropout`, …) go into `encoder_options`."""

    paper_by_dataset: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def encoder_config(self) -> EncoderConfig:
        """The typed config of the chosen encoder."""
        return build(encoders.get(self.encoder).config_type, self.encoder_options)

    @property
    def network(self) -> str:
        return f"encoder {self.encoder!r}"

    @property
    def vector_width(self) -> int:
        return self.encoder_config().width

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
            base = {**cls.paper, "encoder_options": asdict(encoder_type.paper)}
            for name, value in cls._reported(dataset, encoder_type).items():
                (base if name in cls.__dataclass_fields__ else base["encoder_options"])[name] = value
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
        return build(cls, {**base, **options, "encoder_options": encoder_options}).checked()

    @classmethod
    def _reported(cls, dataset: str | None, encoder: type[Encoder]) -> Mapping[str, Any]:
        """What was published for a dataset: of the detector, with whatever encoder, or else of the encoder."""
        if dataset is None:
            return {}
        table = cls.paper_by_dataset or encoder.paper_by_dataset
        if dataset not in table:
            known = ", ".join(sorted(table)) or "none"
            raise InputError(f"The paper reports no settings for dataset {dataset!r}; it does for {known}.")
        return table[dataset]


@lru_cache(maxsize=64)
def _needs(encoder: str, config: EncoderConfig, shape: WindowShape) -> Needs:
    with drawn_up():
        return encoders.get(encoder)(shape, config).needs
