"""Events from what other packages hold: polars frames, PyG and TGB data, dictionaries of columns."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.events.read import read_events
from sdgad.events.stream import EventStream

COLUMNS: dict[str, Any] = {
    "payer": ["ann", "bob", "💸"],
    "payee": ["shop", "shop", "ann"],
    "when": ["2024-01-02T00:00:00Z", "2024-01-01T00:00:00Z", "2024-01-03"],
    "is_fraud": [0, 1, None],
    "amount": [1.5, None, 1e6],
    "currency": ["EUR", "USD", None],
}
NAMES: dict[str, Any] = {
    "src": "payer", "dst": "payee", "time": "when", "label": "is_fraud", "features": ["amount", "currency"]
}  # fmt: skip
EVENTS: dict[str, Any] = {"src": [1, 2], "dst": [3, 3], "t": [1, 2]}


def polars_frame(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("polars").DataFrame(columns)


def temporal_data(**attributes: Any) -> Any:
    data = pytest.importorskip("torch_geometric.data")
    import torch

    columns = {name: torch.as_tensor(values) for name, values in attributes.items()}
    return data.TemporalData(**columns)


def tgb(**changes: Any) -> dict[str, Any]:
    """What `LinkPropPredDataset.full_data` looks like."""
    return {
        "sources": np.array([0, 1, 0]),
        "destinations": np.array([5, 6, 6]),
        "timestamps": np.array([0, 36, 36]),
        "edge_idxs": np.array([0.0, 1.0, 2.0]),
        "edge_feat": np.arange(6.0).reshape(3, 2),
        "w": np.ones(3),
        "edge_label": np.ones(3),
    } | changes


# ---------------------------------------------------------------------- the same options as for files
@pytest.mark.parametrize(
    "make",
    [
        polars_frame,
        lambda columns: polars_frame(columns).lazy(),
        lambda columns: polars_frame(columns).with_columns(currency=categorical("currency")),
        dict,
        lambda columns: {name: np.array(values, object) for name, values in columns.items()},
        lambda columns: {name: polars_frame(columns)[name] for name in columns},
        lambda columns: {
            name: pa.chunked_array([values[:1], values[1:]]) for name, values in columns.items()
        },
        lambda columns: {name: tuple(values) for name, values in columns.items()},
    ],
    ids=["polars", "lazy", "polars-categorical", "lists", "numpy", "series", "arrow", "tuples"],
)
def test_options_order_and_missing_values_mean_the_same_as_in_a_file(
    make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    events = read_events(make(COLUMNS), **NAMES)
    assert events.row.tolist() == [1, 0, 2]
    assert "1 of 3 rows were not in time order" in caplog.text
    assert events.vocabulary.raw(events.src).to_pylist() == ["bob", "ann", "💸"]
    assert np.array_equal(events.label, np.float32([1, 0, np.nan]), equal_nan=True)
    assert events.msg is not None
    assert np.array_equal(events.msg, np.float32([[np.nan, 1], [1.5, 0], [1e6, np.nan]]), equal_nan=True)
    assert events.features[1].categories == ("EUR", "USD")
    assert events.clock.wall_clock


def categorical(name: str) -> Any:
    pl = pytest.importorskip("polars")
    return pl.col(name).cast(pl.Categorical)


def test_polars_dates_are_times() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(EVENTS).with_columns(t=pl.from_epoch("t", "s").dt.replace_time_zone("Europe/Berlin"))
    events = read_events(frame)
    assert events.t.tolist() == [1 - 3600, 2 - 3600]
    assert events.clock == Clock("s", wall_clock=True, timezone="Europe/Berlin")


def test_a_polars_type_that_arrow_lacks_is_named() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(EVENTS).with_columns(wide=pl.Series([1, 2], dtype=pl.Int128))
    with pytest.raises(InputError, match="The data frame, column 'wide': arrow has no type for Int128"):
        read_events(frame)


# ---------------------------------------------------------------------- PyG
def test_temporal_data_gives_ids_times_messages_and_labels_to_the_bit() -> None:
    t = np.array([2**62 + 1, 2**62 + 2, 2**62 + 3])
    msg = np.float32([[0.1, np.nan], [-0.0, 1e-40], [3.4e38, 2]])
    data = temporal_data(src=[7, 3, 7], dst=[9, 9, 3], t=t, msg=msg, y=[0, 1, 0])
    events = read_events(data, bipartite=True)
    assert events.t.dtype == np.int64
    assert events.t.tolist() == t.tolist()
    assert events.msg is not None
    assert events.msg.tobytes() == msg.tobytes()
    assert events.label.tolist() == [0, 1, 0]
    assert events.vocabulary.raw(events.src).to_pylist() == [7, 3, 7]
    assert events.num_nodes == 4


def test_the_floats_of_the_pyg_manual_are_ids_and_times() -> None:
    whole = np.float32([1000, 1010, 1100])
    events = read_events(
        temporal_data(src=np.float32([1, 2, 3]), dst=np.float32([2, 3, 4]), t=whole, msg=whole)
    )
    assert events.vocabulary.names[0].to_pylist() == [1, 2, 3, 4]
    assert events.t.dtype == np.float64
    assert events.num_features == 1


def test_half_precision_and_gradients_are_no_obstacle() -> None:
    torch = pytest.importorskip("torch")
    data = temporal_data(
        src=[1, 2], dst=[3, 3], t=[1, 2], msg=torch.ones(2, 2, dtype=torch.bfloat16, requires_grad=True)
    )
    events = read_events(data)
    assert events.msg is not None
    assert events.msg.tolist() == [[1, 1], [1, 1]]


def test_attributes_with_a_row_per_event_are_columns_and_others_are_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    data = temporal_data(**EVENTS, amount=[5.0, 6.0], node_x=np.zeros((4, 2)))
    data.title = "two events"
    events = read_events(data, features=["amount"])
    assert events.msg is not None
    assert events.msg.tolist() == [[5], [6]]
    assert not read_events(data).num_features
    assert "The TemporalData: not used: 'amount'; name" in caplog.text
    with pytest.raises(InputError, match="The TemporalData has no column 'node_x'"):
        read_events(data, features=["node_x"])


def test_incomplete_temporal_data_is_refused_in_one_sentence() -> None:
    with pytest.raises(InputError, match=r"^The TemporalData: 'dst' has 1 values, but 'src' has 2\.$"):
        read_events(temporal_data(src=[1, 2], dst=[1], t=[1, 2]))
    with pytest.raises(InputError, match="The TemporalData has no column for the time"):
        read_events(temporal_data(src=[1, 2], dst=[1, 2]))
    with pytest.raises(InputError, match="The TemporalData holds no events"):
        read_events(temporal_data())
    with pytest.raises(InputError, match="The TemporalData: 'src' must be a list or an array"):
        read_events(temporal_data(src=1, dst=2, t=3))


# ---------------------------------------------------------------------- TGB, and what is a label
def test_a_tgb_dictionary_is_read_without_being_told_anything() -> None:
    events = read_events(tgb())
    assert events.vocabulary.names[0].to_pylist() == [0, 1, 5, 6]
    assert events.t.dtype == np.int64
    assert events.msg is not None
    assert events.msg.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert read_events(tgb(edge_feat=None)).msg is None
    assert read_events(tgb(edge_feat=np.zeros((3, 0)))).names.features == ()
    assert read_events(tgb(edge_feat=np.ones(3))).num_features == 1  # node property data have one weight
    assert read_events(tgb(), features=["edge_feat", "w"]).num_features == 3


@pytest.mark.parametrize("kind", ["tgb", "frame", "pyg"])
def test_a_mark_of_existing_links_is_no_label_unless_it_is_named(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    makers: dict[str, Any] = {
        "tgb": lambda: (tgb(), "edge_label"),
        "frame": lambda: (pa.table({**EVENTS, "edge_label": [1.0, 1.0]}), "edge_label"),
        "pyg": lambda: (temporal_data(**EVENTS, y=[1.0, 1.0]), "y"),
    }
    source, name = makers[kind]()
    with caplog.at_level(logging.WARNING, "sdgad"):
        assert not read_events(source).has_labels
    assert f"column {name!r} is 1 for every event and is not taken for the label" in caplog.text
    assert read_events(source, label=name).label.tolist() == [1.0] * len(read_events(source))


def test_a_vague_column_that_looks_like_labels_is_the_label() -> None:
    assert read_events(tgb(edge_label=np.array([0, 1, np.nan]))).label[:2].tolist() == [0, 1]
    assert read_events(temporal_data(**EVENTS, y=[1.0, np.nan])).label[0] == 1
    assert read_events({**EVENTS, "y": [True, False]}).label.tolist() == [1, 0]
    both = read_events(tgb(edge_label=np.array([1, 0, 0]), label=np.array([0, 0, 1])))
    assert both.label.tolist() == [0, 0, 1]
    assert read_events({**EVENTS, "y": [1, 1], "is_fraud": [0, 1]}).label.tolist() == [0, 1]


@pytest.mark.parametrize("y", [[0, 2], [0.5, 1.0], [[0, 1], [1, 0]]], ids=str)
def test_a_vague_column_that_does_not_is_a_column_like_any_other(
    y: Any, caplog: pytest.LogCaptureFixture
) -> None:
    data = temporal_data(**EVENTS, y=y)
    events = read_events(data, features=["y"])
    assert not events.has_labels
    assert "column 'y' holds other values than 0, 1 and empty" in caplog.text
    assert events.msg is not None
    assert np.array_equal(events.msg, np.float32(y).reshape(2, -1))
    with pytest.raises(InputError, match=r"The TemporalData, column 'y', row [12]: label"):
        read_events(data, label="y")
    with pytest.raises(InputError, match="column 'label', row 2: label 2 is not 0, 1 or empty"):
        read_events({**EVENTS, "label": [0, 2]})


# ---------------------------------------------------------------------- dictionaries
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"dst": [3]}, "The dictionary: 'dst' has 1 values, but 'src' has 2."),
        ({"msg": np.zeros((3, 2))}, "The dictionary: 'msg' has 3 values, but 'src' has 2."),
        ({"t": 5}, "The dictionary: 't' must be a list or an array, with one value per event."),
        ({"src": "ab"}, "The dictionary: 'src' must be a list or an array, with one value per event."),
        ({"t": {1, 2}}, "The dictionary: 't' must be a list or an array, with one value per event."),
        ({"note": {"a": 1, "b": 2}}, "The dictionary: 'note' must be a list or an array, with one value per event."),
        ({"src": np.array(1)}, "The dictionary: 'src' must be a list or an array, with one value per event."),
        ({"msg": [[1, 2], [3]]}, "The dictionary, column 'msg', row 2: 1 values where the rows before have 2."),
        ({"t": [1, None]}, "The dictionary, column 't', row 2: there is no time."),
        ({"src": [1, "a"], "t": ["x", 2]}, "The dictionary, column 't', row 1: 'x' is not a time."),
        ({"msg": np.zeros((2, 2), complex)}, "Column 'msg' holds complex128, which is no number or text."),
    ],
)  # fmt: skip
def test_a_wrong_dictionary_is_refused_by_the_key(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        read_events(EVENTS | changes)
    assert str(caught.value) == sentence


def test_a_dictionary_of_nothing_holds_no_events() -> None:
    for empty in ({}, {"src": [], "dst": [], "t": []}, {"src": None}):
        with pytest.raises(InputError, match="The dictionary holds no events"):
            read_events(empty)


def test_arrays_of_any_layout_are_understood() -> None:
    wide = np.arange(12, dtype=np.float64).reshape(2, 6)
    for msg in (wide[:, ::2], np.asfortranarray(wide[:, ::2]), wide[:, ::2].astype(">f4")):
        events = read_events({**EVENTS, "msg": msg, "t": np.array([1, 2], ">i8")})
        assert events.msg is not None
        assert events.msg.tolist() == [[0, 2, 4], [6, 8, 10]]
        assert events.t.tolist() == [1, 2]
    assert read_events({**EVENTS, "t": np.array(["2024-01-01", "2024-01-02"], "M8[D]")}).clock.wall_clock
    mixed = read_events({**EVENTS, "src": ["a", 7]})
    assert mixed.vocabulary.raw(mixed.src).to_pylist() == ["a", "7"]


def test_the_sources_there_are_are_listed_for_any_other() -> None:
    events = EventStream([0], [1], [2])
    for wrong in (events, None, [1, 2], object()):
        with pytest.raises(
            InputError, match=r"polars\), a PyG TemporalData or a dictionary of columns, not from"
        ):
            read_events(wrong)
