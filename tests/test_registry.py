"""Methods are found by name, ours and those that an installed package announces."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from sdgad import registry
from sdgad.calibration.score import scores
from sdgad.calibration.threshold import threshold_rules
from sdgad.detectors.registry import detectors
from sdgad.detectors.sdgad.density import densities
from sdgad.encoders.base import encoders
from sdgad.errors import InputError, UnknownName
from sdgad.events.datasets.dataset import datasets
from sdgad.registry import Registry


class Method:
    name: str


class Announced:
    """An entry point of somebody else's package."""

    def __init__(self, name: str, target: Any) -> None:
        self.name = name
        self.value = f"theirs:{name}"
        self.target = target

    def load(self) -> Any:
        if isinstance(self.target, Exception):
            raise self.target
        return self.target


def test_an_entry_point_adds_a_method_but_cannot_replace_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def announced(*, group: str) -> list[Announced]:
        asked.append(group)
        return [
            Announced("theirs", type("Theirs", (Method,), {})),
            Announced("ours", type("Fake", (Method,), {})),
        ]

    monkeypatch.setattr(registry, "entry_points", announced)
    methods: Registry[Method] = Registry("method", "somebody.methods")
    ours = methods.register("ours")(type("Ours", (Method,), {}))
    assert methods.names() == ["ours", "theirs"]
    assert methods.get("ours") is ours
    assert methods.get("theirs").name == "theirs"
    assert asked == ["somebody.methods"]


def test_an_unknown_name_is_told_the_known_ones() -> None:
    methods: Registry[Method] = Registry("method", "nobody.methods")
    methods.register("one")(type("One", (Method,), {}))
    with pytest.raises(InputError, match=r"no method named 'two' .*entry point nobody\.methods.*: one\.$"):
        methods.get("two")
    with pytest.raises(
        InputError, match=r"no method named 'onee' \(did you mean 'one'\?\); there are: one\.$"
    ):
        methods.get("onee")


def test_a_model_is_told_what_to_install_and_not_what_it_may_have_meant() -> None:
    methods: Registry[Method] = Registry("method", "somebody.methods")
    methods.register("one")(type("One", (Method,), {}))
    with pytest.raises(UnknownName) as found:
        methods.get("onee")
    assert found.value.missing == (
        "It needs the method 'onee', which is not installed here; install the package that brings it (entry point "
        "somebody.methods), or import its module before."
    )


def test_two_methods_cannot_have_one_name() -> None:
    methods: Registry[Method] = Registry("method", "nobody.methods")
    methods.register("one")(type("One", (Method,), {}))
    with pytest.raises(ValueError, match="already a method named 'one'"):
        methods.register("one")(type("Another", (Method,), {}))


@pytest.mark.parametrize("broken", [AttributeError("no Bga"), ImportError("no torch"), 7, object])
def test_a_broken_plugin_is_told_and_left_out(
    broken: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    points = [Announced("bad", broken), Announced("good", type("Good", (Method,), {}))]
    monkeypatch.setattr(registry, "entry_points", lambda **_: points)
    methods: Registry[Method] = Registry("method", "somebody.methods", base=Method)
    assert methods.names() == ["good"]
    assert len(caplog.records) == 1
    assert "The method 'bad' (theirs:bad) cannot be loaded: " in caplog.text
    with pytest.raises(InputError, match=r"The method 'bad' \(theirs:bad\) cannot be loaded: \w+Error: "):
        methods.get("bad")


def test_only_a_class_of_the_right_kind_can_be_registered() -> None:
    methods: Registry[Method] = Registry("encoder", "nobody.methods", base=Method)
    with pytest.raises(TypeError, match=r"no subclass of .*Method"):
        methods.register("one")(object)  # type: ignore[arg-type]
    methods.register("one")(type("One", (Method,), {}))
    with pytest.raises(ValueError, match="already an encoder"):
        methods.register("one")(type("Another", (Method,), {}))


@pytest.mark.parametrize(
    "ours", [datasets, encoders, detectors, densities, scores, threshold_rules], ids=lambda ours: ours.kind
)
def test_no_registry_of_ours_takes_a_class_of_another_kind(ours: Registry[Any]) -> None:
    with pytest.raises(TypeError, match="no subclass of sdgad"):
        ours.register("stranger")(Method)
    assert "stranger" not in ours.names()


def test_threads_that_ask_at_the_same_time_all_find_what_is_there() -> None:
    code = (
        "from concurrent.futures import ThreadPoolExecutor as Pool\n"
        "from sdgad.detectors.registry import detectors\n"
        "print(set(Pool(8).map(lambda _: len(detectors.names()), range(8))) == {len(detectors.names())})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
