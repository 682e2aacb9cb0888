"""The options of a detector, where a person looks for them: `help`, completion, `get_params`, scikit-learn's `clone`."""

from __future__ import annotations

from dataclasses import asdict
from inspect import Parameter, Signature, cleandoc
from typing import Any, ClassVar, Self, get_type_hints

from sdgad.configuration import Option, build, describe_options
from sdgad.detectors.config import AT_ONCE, DetectorConfig
from sdgad.encoders.base import EncoderConfig
from sdgad.errors import InputError


class Options:
    """What is set on a detector before it learns: a typed config, shown in the signature and docstring of its class."""

    config_type: ClassVar[type[DetectorConfig]] = DetectorConfig
    shorthand_type: ClassVar[type[Any] | None] = (
        None  # options that only stand for others, where there are any
    )

    config: Any
    _fitted: bool
    __signature__: ClassVar[Signature | None]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        own_constructor = cls.__init__ is not Options.__init__
        cls.__signature__ = None if own_constructor else cls._signature()
        cls.__doc__ = f"{cleandoc(vars(cls).get('__doc__') or '')}\n\n{cls._options_text()}".lstrip()

    def __init__(self, **options: Any) -> None:
        self.config = self.configure(options)
        self._fitted = False

    @classmethod
    def configure(cls, options: dict[str, Any]) -> DetectorConfig:
        """Options → typed config."""
        return build(cls.config_type, options)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 (scikit-learn asks with it)
        """The options, as they may be given to the constructor."""
        return asdict(self.config)

    def set_params(self, **options: Any) -> Self:
        """Change options: `late`, `bad_rows`, `device`, `max_nodes` and `max_age` act at once, any other asks for a new fit."""
        self._refuse_part_of_a_preset(options)
        self.config = self.configure({**self.get_params(), **options})
        if not set(options) <= AT_ONCE:
            self._fitted = False
        return self

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in self.get_params().items())
        return f"{type(self).__name__}({options})"

    def __sklearn_clone__(self) -> Self:
        return type(self)(**self.get_params())

    @classmethod
    def described_options(cls) -> list[Option]:
        """All that the constructor takes by name, but for the options of an encoder."""
        return [option for kind in cls._option_types() for option in describe_options(kind)]

    def _refuse_part_of_a_preset(self, options: dict[str, Any]) -> None:
        """A preset also speaks for options that nobody gave, which one change among set values would leave behind."""
        shorthands = describe_options(self.shorthand_type) if self.shorthand_type else []
        for option in shorthands:
            if option.name in options:
                raise InputError(
                    f"A preset is a whole: set_params takes no {option.name}; make a new detector instead."
                )
        whole = ["preset"] if hasattr(self.config, "preset") else []
        given = self._takes_encoder() and "encoder_options" not in options
        if whole and given and self.config.preset != self.config_type.preset:  # type: ignore[attr-defined]
            whole.append("encoder")  # whose published sizes are those of the encoder before
        for name in whole:
            now = getattr(self.config, name)
            if options.get(name, now) != now:
                raise InputError(
                    f"A preset is a whole: set_params cannot turn {name}={now!r} into {options[name]!r}; "
                    "make a new detector instead."
                )

    @classmethod
    def _option_types(cls) -> list[type[Any]]:
        return [cls.config_type, *([cls.shorthand_type] if cls.shorthand_type else [])]

    @classmethod
    def _takes_encoder(cls) -> bool:
        return hasattr(cls.config_type, "encoder")

    @classmethod
    def _signature(cls) -> Signature:
        """Every option by name; what is an option of the encoder depends on the encoder."""
        hints = {name: hint for kind in cls._option_types() for name, hint in get_type_hints(kind).items()}
        parameters = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])
            for name, _, default, _ in cls.described_options()
        ]
        if cls._takes_encoder():
            parameters.append(Parameter("of_encoder", Parameter.VAR_KEYWORD, annotation=Any))
        return Signature(parameters)

    @classmethod
    def _options_text(cls) -> str:
        lines = ["Options", "-------"]
        for name, kind, default, line in cls.described_options():
            lines += [f"{name} : {kind}, default {default!r}", *([f"    {line}"] if line else [])]
        if cls._takes_encoder():
            shared = ", ".join(option.name for option in describe_options(EncoderConfig))
            lines += ["**of_encoder", f"    options of the encoder: {shared}, and its own"]
        return "\n".join(lines)
