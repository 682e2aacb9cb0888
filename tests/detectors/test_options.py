"""Every option of every detector can be seen, read and changed; scikit-learn can clone a detector."""

from __future__ import annotations

import inspect
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from tests.checks.tiny_detectors import Snapshots

from sdgad.configuration import build, describe_options, option
from sdgad.detectors.config import AT_ONCE, DetectorConfig
from sdgad.detectors.options import Options
from sdgad.detectors.registry import detectors
from sdgad.errors import InputError
from sdgad.events.simulator import simulate_payments

SIZES = {"small": 8, "large": 64}


@dataclass(frozen=True)
class StubConfig(DetectorConfig):
    preset: str = option("default", "all options at once")
    encoder: str = option("tcl", "the encoder")
    encoder_options: dict[str, Any] = option(factory=dict, line="its options")
    size: int = option(8, "how large")
    bare: float | None = 0.5  # by a plug-in that knows of no `option`


@dataclass(frozen=True)
class StubShorthand:
    like: str | None = option(None, "the size of something known")


class Stub(Options):
    """A detector in all that matters here.

    It has a preset, an encoder, and an option that stands for another.
    """

    config_type: ClassVar[type[DetectorConfig]] = StubConfig
    shorthand_type: ClassVar[type[Any] | None] = StubShorthand

    @classmethod
    def configure(cls, options: dict[str, Any]) -> DetectorConfig:
        like = options.pop("like", None)
        base: dict[str, Any] = {} if like is None else {"size": SIZES[like]}
        if options.get("preset") == "paper":
            base |= {"size": 99, "encoder_options": {"width": 172}}
        return build(cls.config_type, {**base, **options})


def fitted(**options: Any) -> Stub:
    stub = Stub(**options)
    stub._fitted = True
    return stub


@pytest.fixture(params=["stub", *detectors.names()])
def kind(request: pytest.FixtureRequest) -> type[Options]:
    return Stub if request.param == "stub" else detectors.get(request.param)


# ---------------------------------------------------------------------- to be seen
def test_the_signature_has_every_option_with_its_type_and_default(kind: type[Options]) -> None:
    parameters = inspect.signature(kind).parameters
    config = kind().config
    for field in fields(kind.config_type):
        shown = parameters[field.name]
        assert shown.kind is inspect.Parameter.KEYWORD_ONLY
        assert shown.default == getattr(config, field.name)
        assert shown.annotation is not inspect.Parameter.empty
    rest = [name for name, shown in parameters.items() if shown.kind is inspect.Parameter.VAR_KEYWORD]
    assert bool(rest) == ("encoder" in parameters)


def test_the_docstring_ends_with_every_option(kind: type[Options]) -> None:
    text = inspect.getdoc(kind) or ""
    own, _, options = text.partition("\n\nOptions\n-------\n")
    assert own
    lines = options.splitlines()
    for name, words, default, line in describe_options(kind.config_type):
        at = lines.index(f"{name} : {words}, default {default!r}")
        assert not line or lines[at + 1] == f"    {line}"


def test_an_option_that_stands_for_others_is_shown_too() -> None:
    assert inspect.signature(Stub).parameters["like"].default is None
    assert "like : str or None, default None\n    the size of something known" in (Stub.__doc__ or "")
    assert Stub(like="large").config.size == 64


def test_a_class_without_a_docstring_shows_its_own_options_not_those_of_its_base() -> None:
    class Bare(Stub):
        config_type = DetectorConfig
        shorthand_type = None

    assert Bare.__doc__ is not None
    assert Bare.__doc__.startswith("Options\n-------\nseed : int, default 0\n")
    assert "encoder" not in Bare.__doc__


def test_a_constructor_of_ones_own_keeps_its_signature() -> None:
    class Own(Stub):
        def __init__(self, colour: str) -> None:
            super().__init__()
            self.colour = colour

    assert list(inspect.signature(Own).parameters) == ["colour"]
    assert list(inspect.signature(type("Below", (Own,), {})).parameters) == ["colour"]


# ---------------------------------------------------------------------- to be read
def test_the_constructor_takes_what_get_params_gives(kind: type[Options]) -> None:
    detector = kind(seed=3, late="drop")
    assert detector.get_params() == detector.get_params(deep=False) == asdict(detector.config)
    assert kind(**detector.get_params()).config == detector.config
    assert repr(detector).startswith(f"{kind.__name__}(seed=3, ")


def test_a_clone_has_the_options_and_not_the_fit(kind: type[Options]) -> None:
    detector = kind(seed=3)
    detector._fitted = True
    again = clone(detector)
    assert type(again) is kind
    assert again is not detector
    assert again.get_params() == detector.get_params()
    assert not again._fitted
    assert detector._fitted


def test_a_clone_shares_no_mutable_option() -> None:
    stub = Stub(encoder_options={"width": 8})
    clone(stub).config.encoder_options["width"] = 9
    stub.get_params()["encoder_options"]["width"] = 9
    assert stub.config.encoder_options == {"width": 8}


# ---------------------------------------------------------------------- to be changed
@pytest.mark.parametrize("options", [{"late": "drop"}, {"device": "cpu"}, {"max_nodes": 9, "max_age": 1.5}])
def test_some_options_change_and_the_fit_stays(options: dict[str, Any]) -> None:
    assert set(options) <= AT_ONCE
    stub = fitted(size=5).set_params(**options)
    assert stub._fitted
    assert asdict(stub.config) == {**Stub(size=5).get_params(), **options}


@pytest.mark.parametrize("options", [{"size": 6}, {"seed": 1, "late": "drop"}])
def test_any_other_option_asks_for_a_new_fit(options: dict[str, Any]) -> None:
    stub = fitted(size=5).set_params(**options)
    assert not stub._fitted
    assert asdict(stub.config) == {**Stub(size=5).get_params(), **options}


@pytest.mark.parametrize(
    ("made", "options", "sentence"),
    [
        ({}, {"preset": "paper"}, "cannot turn preset='default' into 'paper'"),
        ({"preset": "paper"}, {"preset": "default"}, "cannot turn preset='paper' into 'default'"),
        ({"preset": "paper"}, {"encoder": "tgn"}, "cannot turn encoder='tcl' into 'tgn'"),
        ({"preset": "paper"}, {"like": "large"}, "takes no like"),
        ({}, {"size": "huge"}, "size='huge' should be int"),
        ({}, {"colour": 1}, "no option 'colour'"),
    ],
)
def test_a_change_that_cannot_be_whole_is_refused_and_changes_nothing(
    made: dict[str, Any], options: dict[str, Any], sentence: str
) -> None:
    stub = fitted(**made)
    with pytest.raises(InputError, match=sentence):
        stub.set_params(late="drop", **options)
    assert stub._fitted
    assert stub.config == Stub(**made).config


def test_what_leaves_a_preset_whole_may_be_set() -> None:
    stub = Stub(preset="paper").set_params(preset="paper", size=7)
    assert (stub.config.preset, stub.config.size) == ("paper", 7)
    stub.set_params(encoder="tgn", encoder_options={"width": 100})
    assert (stub.config.encoder, stub.config.encoder_options) == ("tgn", {"width": 100})
    assert Stub().set_params(encoder="tgn").config.encoder == "tgn"


def test_bounds_of_memory_cannot_change_under_a_state_that_was_written_without_them() -> None:
    """A node that is forgotten comes back under another number, which the state has never heard of."""
    train, val, test = simulate_payments(600, anomaly_rate=0.05, seed=2).split()
    detector = Snapshots(device="cpu").fit(train, val)
    scores = detector.decision_function(test)
    with pytest.raises(InputError, match="max_nodes and max_age cannot change after the fit"):
        detector.set_params(max_nodes=20)
    assert detector.get_params()["max_nodes"] is None
    np.testing.assert_array_equal(detector.set_params(late="drop").decision_function(test), scores)
    bounded = Snapshots(device="cpu", max_nodes=20).fit(train, val)
    live = bounded.live()
    parts = [live.score_and_update(test[start : start + 7]) for start in range(0, len(test), 7)]
    np.testing.assert_allclose(np.concatenate(parts), bounded.decision_function(test), rtol=0, atol=1e-5)


@pytest.mark.parametrize("bound", [{"max_nodes": 50}, {"max_age": 3600.0}])
def test_bounds_of_memory_are_refused_for_an_encoder_that_remembers_everybody(bound: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="do not go with encoder 'tgn', which keeps a memory"):
        detectors.get("classifier")(encoder="tgn", **bound)
    detectors.get("classifier")(encoder="tgat", **bound)
