"""Edge features reach a model finite, by name, and the same after a round trip through JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.errors import InputError
from sdgad.events.features import MAX_CATEGORIES, CategoryEncoding, FeatureEncoder
from sdgad.events.stream import EventStream, FeatureColumn

Column = tuple[str, Sequence[float | str | None]]


def stream(*columns: Column) -> EventStream:
    """Events with these feature columns; a column that holds text is categorical, as a reader makes it."""
    features, values = [], []
    for name, cells in columns:
        words = sorted({cell for cell in cells if isinstance(cell, str)})
        features.append(FeatureColumn(name, tuple(words) if words else None))
        values.append([words.index(c) if isinstance(c, str) else np.nan if c is None else c for c in cells])
    count = len(values[0])
    return EventStream(
        [0] * count, [1] * count, range(count), np.array(values, np.float32).T, features=tuple(features)
    )


def is_text(cells: Sequence[float | str | None]) -> bool:
    return any(isinstance(cell, str) for cell in cells)


numbers = st.one_of(
    st.none(),
    st.sampled_from([0.0, 1.0, -1.0, 1e30, -1e30, 1e-30, 1e-45, 3e38]),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
)
words = st.one_of(st.none(), st.text(max_size=3), st.sampled_from(["a", "b", "🙂", "7", ""]))
cells = st.one_of(st.lists(numbers, min_size=1, max_size=30), st.lists(words, min_size=1, max_size=30))


@settings(max_examples=300, deadline=None)
@given(train=cells, new=cells)
def test_every_value_has_a_finite_code(train: list, new: list) -> None:
    """Missing, constant, heavy-tailed, unseen; only text for numbers and numbers for text are refused."""
    encoder = FeatureEncoder.fit(stream(("x", train)))
    for values in (train, new):
        if is_text(train) is not is_text(values) and any(cell is not None for cell in values):
            with pytest.raises(InputError, match="'x'"):
                encoder.encode(stream(("x", values)))
            continue
        encoded = encoder.encode(stream(("x", values)))
        assert encoded.dtype == np.float32
        assert encoded.shape == (len(values), encoder.width)
        assert np.isfinite(encoded).all()
        assert np.abs(encoded).max() < 1e3


@settings(max_examples=200, deadline=None)
@given(train=cells)
def test_json_and_back_is_the_same_encoder(train: list) -> None:
    encoder = FeatureEncoder.fit(stream(("x", train), ("y", [None] * len(train))))
    back = FeatureEncoder.from_json(json.loads(json.dumps(encoder.to_json())))
    assert back == encoder
    events = stream(("x", train), ("y", [1.0] * len(train)))
    assert np.array_equal(back.encode(events), encoder.encode(events))


def test_columns_are_found_by_name_in_any_order() -> None:
    amount, kind = ("amount", [1.0, 5.0, 7.0]), ("kind", ["in", "out", "in"])
    encoder = FeatureEncoder.fit(stream(amount, kind))
    other_order = stream(("more", [0.0, 0.0, 0.0]), kind, amount)
    assert np.array_equal(encoder.encode(other_order), encoder.encode(stream(amount, kind)))


def test_a_column_that_is_not_there_is_named() -> None:
    encoder = FeatureEncoder.fit(stream(("amount", [1.0, 2.0]), ("kind", ["a", "b"])))
    with pytest.raises(InputError, match="'kind'"):
        encoder.encode(stream(("amount", [1.0])))


def test_codes_of_the_new_stream_do_not_matter() -> None:
    """ "b" is code 1 in training, code 0 in a stream without "a": it is the same category."""
    encoder = FeatureEncoder.fit(stream(("kind", ["a", "b", "c"])))
    there = encoder.encode(stream(("kind", ["a", "b", "c"])))
    assert np.array_equal(encoder.encode(stream(("kind", ["b", "c"]))), there[1:])
    assert len(np.unique(there, axis=0)) == 3


def test_rare_and_unseen_categories_share_a_code_that_missing_values_do_not() -> None:
    often = [f"often {i}" for i in range(MAX_CATEGORIES)] * 2
    encoder = FeatureEncoder.fit(stream(("kind", [*often, "rare"])))
    rare, unseen, missing, common = encoder.encode(stream(("kind", ["rare", "unseen", None, "often 0"])))
    assert np.array_equal(rare, unseen)
    assert not np.array_equal(rare, missing)
    assert not np.array_equal(rare, common)
    assert encoder.width == MAX_CATEGORIES + 2


def test_a_missing_number_is_told_from_a_typical_one_where_training_had_missing_ones() -> None:
    encoder = FeatureEncoder.fit(stream(("x", [1.0, 2.0, 3.0, None])))
    typical, missing = encoder.encode(stream(("x", [2.0, None])))
    assert typical.tolist() == [0, 0]
    assert missing.tolist() == [0, 1]


@pytest.mark.parametrize(
    "train", [[0.1, 0.2, 0.3, 0.4], [1.0, 2.0, 3.0, 1e6, 2e6, 1e30], [-5.0, 5.0, 9.0, -1e30]]
)
def test_larger_numbers_have_larger_codes(train: list[float]) -> None:
    encoder = FeatureEncoder.fit(stream(("x", train)))
    codes = encoder.encode(stream(("x", [0.0, 0.15, 0.3, 2.0, 50.0, 1e6, 1e30])))[:, 0]
    assert (np.diff(codes) >= 0).all()
    assert codes[-1] > codes[-2] > codes[3]


def test_text_where_numbers_were_and_numbers_where_text_was_are_refused() -> None:
    number, text = (
        FeatureEncoder.fit(stream(("x", [1.0, 2.0]))),
        FeatureEncoder.fit(stream(("x", ["a", "b"]))),
    )
    with pytest.raises(InputError, match="'x' was numeric"):
        number.encode(stream(("x", ["a"])))
    with pytest.raises(InputError, match="'x' was text"):
        text.encode(stream(("x", [1.0])))


def test_a_column_with_nothing_in_it_is_neither_text_nor_number() -> None:
    text = FeatureEncoder.fit(stream(("x", ["a", "b"])))
    assert np.array_equal(text.encode(stream(("x", [None]))), text.encode(stream(("x", ["a", None])))[1:])
    number = FeatureEncoder.fit(stream(("x", [1.0, 2.0])))
    empty = EventStream([0], [1], [0], [[np.nan]], features=(FeatureColumn("x", ()),))
    assert np.isfinite(number.encode(empty)).all()


def test_categories_that_never_occurred_in_training_get_no_code() -> None:
    """A part of a stream lists the categories of the whole stream; the future's must not shape the model."""
    values = np.array([0.0, 2.0, 2.0, np.nan], np.float32)
    assert CategoryEncoding.fit("x", values, ("a", "future", "c")).categories == ("c", "a")


def test_no_features_are_no_columns() -> None:
    events = EventStream([0, 1], [1, 0], [0, 1])
    encoder = FeatureEncoder.fit(events)
    assert encoder.encode(events).shape == (2, 0)
    assert FeatureEncoder.from_json(encoder.to_json()) == encoder
