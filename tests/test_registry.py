"""Methods are found by name, ours and those that an installed package announces."""

from __future__ import annotations

from typing import Any

import pytest

from sdgad import registry
from sdgad.errors import InputError
from sdgad.registry import Registry


class Method:
    name: str


class Announced:
    """An entry point of somebody else's package."""

    def __init__(self, name: str, target: type[Any]) -> None:
        self.name = name
        self.target = target

    def load(self) -> type[Any]:
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
    with pytest.raises(InputError, match=r"no method named 'two'; there are: one\.$"):
        methods.get("two")


def test_two_methods_cannot_have_one_name() -> None:
    methods: Registry[Method] = Registry("method", "nobody.methods")
    methods.register("one")(type("One", (Method,), {}))
    with pytest.raises(ValueError, match="already a method named 'one'"):
        methods.register("one")(type("Another", (Method,), {}))
