"""Options are typed: what does not exist or does not fit is refused in one sentence that names it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.configuration import build, describe_options, option, parse_assignment
from sdgad.errors import InputError


@dataclass(frozen=True)
class Options:
    seed: int = 0
    rate: float = 0.1
    name: str = "tcl"
    joint: bool = False
    ties: Literal["strict", "arrival"] = "strict"
    level: Literal[1, 2] = 1
    limit: float | None = None
    either: int | str = 0
    widths: tuple[int, ...] = (64,)
    shares: tuple[float, float] = (0.4, 0.2)
    more: dict[str, Any] = field(default_factory=dict)


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ({"seed": 3}, 3),
        ({"seed": np.int64(3)}, 3),
        ({"rate": 1}, 1.0),
        ({"rate": np.float32(0.5)}, 0.5),
        ({"name": ""}, ""),
        ({"joint": True}, True),
        ({"ties": "arrival"}, "arrival"),
        ({"limit": None}, None),
        ({"limit": 2}, 2.0),
        ({"either": "a"}, "a"),
        ({"either": 4}, 4),
        ({"widths": [1, 2, 3]}, (1, 2, 3)),
        ({"widths": []}, ()),
        ({"shares": [1, 0.5]}, (1.0, 0.5)),
        ({"more": {"heads": 2}}, {"heads": 2}),
    ],
)
def test_a_fitting_value_is_kept_as_its_plain_type(given_: dict[str, Any], kept: Any) -> None:
    ((key, _),) = given_.items()
    value = getattr(build(Options, given_), key)
    assert value == kept
    assert type(value) is type(kept)
    if isinstance(kept, tuple):
        assert [type(v) for v in value] == [type(v) for v in kept]


@pytest.mark.parametrize(
    ("wrong", "wanted"),
    [
        ({"seed": 1.0}, "int"),
        ({"seed": "1"}, "int"),
        ({"seed": True}, "int"),
        ({"seed": None}, "int"),
        ({"rate": "fast"}, "float"),
        ({"rate": False}, "float"),
        ({"rate": float("nan")}, "float"),
        ({"name": 1}, "str"),
        ({"joint": 1}, "bool"),
        ({"joint": "yes"}, "bool"),
        ({"ties": "loose"}, "one of 'strict', 'arrival'"),
        ({"level": True}, "one of 1, 2"),
        ({"level": 3}, "one of 1, 2"),
        ({"limit": "none"}, "one of float, None"),
        ({"either": 1.5}, "one of int, str"),
        ({"widths": 3}, "tuple[int, ...]"),
        ({"widths": [1, "2"]}, "tuple[int, ...]"),
        ({"widths": "12"}, "tuple[int, ...]"),
        ({"shares": [0.1, 0.2, 0.3]}, "tuple[float, float]"),
        ({"more": [1]}, "dict[str, Any]"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_by_name(wrong: dict[str, Any], wanted: str) -> None:
    ((key, value),) = wrong.items()
    with pytest.raises(InputError) as refusal:
        build(Options, wrong)
    assert str(refusal.value) == f"Option {key}={value!r} should be {wanted}."


def test_an_unknown_key_is_refused_with_the_closest_known_one() -> None:
    with pytest.raises(InputError, match="no option 'sead'; did you mean 'seed'"):
        build(Options, {"sead": 1})
    with pytest.raises(InputError, match="no option 'qqq'; known options: either, joint"):
        build(Options, {"qqq": 1})


def test_nothing_given_is_the_defaults() -> None:
    assert build(Options, {}) == Options()


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None)
@given(key=st.sampled_from([f.name for f in fields(Options)]), value=anything)
def test_any_value_fits_or_is_refused_and_what_was_built_builds_again(key: str, value: Any) -> None:
    try:
        built = build(Options, {key: value})
    except InputError:
        return
    assert build(Options, {key: getattr(built, key)}) == built


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("seed=3", "seed", 3),
        ("rate=1e-3", "rate", 1e-3),
        ("joint=true", "joint", True),
        ("joint=False", "joint", False),
        ("limit=null", "limit", None),
        ("limit=None", "limit", None),
        ("name=graphmixer", "name", "graphmixer"),
        ('name="7"', "name", "7"),
        ("name=a=b", "name", "a=b"),
        ("name=", "name", ""),
        ("widths=[1, 2]", "widths", [1, 2]),
        (' more = {"heads": 2} ', "more", {"heads": 2}),
        ("name = two words ", "name", "two words"),
    ],
)
def test_an_assignment_is_read_as_json_else_as_text(text: str, key: str, value: Any) -> None:
    assert parse_assignment(text) == (key, value)
    assert type(parse_assignment(text)[1]) is type(value)


@pytest.mark.parametrize("text", ["seed", "", "=3", " = 3"])
def test_what_is_no_assignment_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="key=value"):
        parse_assignment(text)


@dataclass(frozen=True)
class Described(Options):
    leaves: int | None = option(8, "leaves of a tree")
    given: dict[str, Any] = option(factory=dict, line="options of something else")
    ties: Literal["strict", "arrival"] = option("arrival", "who sees whom")


def test_an_option_is_a_field_with_words() -> None:
    described = {each.name: each for each in describe_options(Described)}
    assert list(described) == [each.name for each in fields(Described)]
    assert described["leaves"] == ("leaves", "int or None", 8, "leaves of a tree")
    assert described["given"] == ("given", "dict[str, Any]", {}, "options of something else")
    assert described["ties"] == ("ties", "'strict' or 'arrival'", "arrival", "who sees whom")
    assert described["widths"] == ("widths", "tuple[int, ...]", (64,), "")
    assert asdict(build(Described, {"leaves": 3})) == asdict(Options()) | {
        "leaves": 3, "given": {}, "ties": "arrival",
    }  # fmt: skip


def test_a_mutable_default_is_made_anew_each_time() -> None:
    Described().given["heads"] = 2
    assert Described().given == {}
    with pytest.raises(ValueError, match="mutable default"):
        dataclass(type("Shared", (), {"__annotations__": {"a": list}, "a": option([], "shared by all")}))


def test_an_option_without_a_default_is_refused_by_name() -> None:
    @dataclass(frozen=True)
    class Asking:
        colour: str

    with pytest.raises(TypeError, match="'colour' has no default"):
        describe_options(Asking)
