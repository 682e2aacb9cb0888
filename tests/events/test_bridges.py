"""A stream that goes to another package comes back as it was."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.events.read import read_events
from sdgad.events.stream import ColumnNames, EventStream, FeatureColumn

from .plain_times import FLOATS, INTEGERS, NANOSECONDS, SECONDS

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
TABLES = {"to_arrow": "pyarrow", "to_pandas": "pandas", "to_polars": "polars"}
CODED = {"to_pyg": "torch_geometric", "to_tgb": "numpy"}


def need(method: str) -> None:
    """Skip, saying so, where the other package is missing."""
    pytest.importorskip((TABLES | CODED)[method])


@st.composite
def streams(draw: st.DrawFn) -> EventStream:
    count = draw(st.integers(1, 9))  # too few for any of their times to be absurd

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=count, max_size=count))

    ids = draw(st.sampled_from([TEXT, st.integers(-(2**63), 2**63 - 1), st.sampled_from(["7", "007", "🙂"])]))
    times = draw(
        st.sampled_from(
            [
                INTEGERS,
                SECONDS,
                NANOSECONDS,
                st.integers(
                    1_700_000_000_000_000_000, 1_700_000_000_000_000_100
                ),  # nanoseconds, not exact in float64
                FLOATS,
            ]
        )
    )
    width = draw(st.integers(0, 3))
    msg = np.array([column(st.floats(width=32, allow_infinity=False)) for _ in range(width)], np.float32).T
    features: list[FeatureColumn] | None = None
    if width and draw(st.booleans()):
        texts = column(st.none() | TEXT)
        categories = tuple(sorted({text for text in texts if text is not None}))
        codes = [np.nan if text is None else categories.index(text) for text in texts]
        msg = np.column_stack([msg, np.float32(codes)])
        features = [*(FeatureColumn(f"x {i}") for i in range(width)), FeatureColumn("kind", categories)]
    return EventStream(
        column(ids),
        column(ids),
        np.array(column(times)),
        msg if width else None,
        column(st.sampled_from([0.0, 1.0, np.nan])),
        bipartite=draw(st.booleans()),
        features=None if features is None else tuple(features),
        anomaly_type=draw(st.none() | st.just(["" if i % 2 else "mule" for i in range(count)])),
        clock=draw(st.none() | st.just(Clock("h", timezone="Europe/Berlin"))),
    )


def assert_same_numbers(left: EventStream, right: EventStream) -> None:
    assert left.t.dtype == right.t.dtype
    assert left.t.tobytes() == right.t.tobytes()
    assert np.array_equal(left.label, right.label, equal_nan=True)
    assert left.bipartite == right.bipartite
    assert left.clock == right.clock
    assert (left.msg is None) == (right.msg is None)
    if left.msg is not None and right.msg is not None:
        assert np.array_equal(np.isnan(left.msg), np.isnan(right.msg))
        assert np.nan_to_num(left.msg).tobytes() == np.nan_to_num(right.msg).tobytes()


def types(events: EventStream) -> list[str] | None:
    return None if events.anomaly_type is None else list(events.anomaly_type)


# ---------------------------------------------------------------------- there and back
@pytest.mark.parametrize("method", TABLES)
def test_a_table_brings_back_names_numbers_and_categories(method: str) -> None:
    need(method)

    @settings(max_examples=150, deadline=None)
    @given(streams())
    def check(events: EventStream) -> None:
        told: dict[str, Any] = {}
        if method == "to_polars":  # which has no place for what the columns cannot say
            told = {"columns": events.names, "clock": events.clock, "bipartite": events.bipartite}
        again = read_events(getattr(events, method)(), **told)
        assert_same_numbers(events, again)
        for side in ("src", "dst"):
            raw, back = (e.vocabulary.raw(getattr(e, side)) for e in (events, again))
            assert raw.to_pylist() == back.to_pylist()  # 7 and "7" are not equal
        assert [f.name for f in again.features] == [f.name for f in events.features]
        assert [f.categories for f in again.features] == [f.categories for f in events.features]
        assert types(again) == types(events)

    check()


@pytest.mark.parametrize("method", CODED)
def test_what_knows_only_integers_brings_back_codes_and_numbers(method: str) -> None:
    need(method)

    @settings(max_examples=150, deadline=None)
    @given(streams())
    def check(events: EventStream) -> None:
        told: dict[str, Any] = {"clock": events.clock, "bipartite": events.bipartite}
        if method == "to_pyg" and np.all(events.label == 1):
            told["label"] = "y"  # which would else be taken for TGB's mark of links that exist
        again = read_events(getattr(events, method)(), **told)
        assert_same_numbers(events, again)
        assert again.vocabulary.raw(again.src).to_pylist() == again.src.tolist() == events.src.tolist()
        assert again.vocabulary.raw(again.dst).to_pylist() == again.dst.tolist() == events.dst.tolist()
        assert types(again) == (types(events) if method == "to_tgb" else None)

    check()


@pytest.mark.parametrize("method", TABLES | CODED)
def test_a_part_goes_out_under_the_codes_and_names_of_the_whole(method: str) -> None:
    need(method)
    part = EventStream(["b", "a", "c", "a"], ["x", "y", "x", "z"], [1, 2, 3, 4], bipartite=True)[2:]
    again = read_events(getattr(part, method)())
    if method in TABLES:
        assert again.vocabulary.raw(again.src).to_pylist() == ["c", "a"]
    else:
        assert again.vocabulary.raw(again.src).to_pylist() == part.src.tolist() == [2, 0]
        assert again.vocabulary.raw(again.dst).to_pylist() == part.dst.tolist() == [3, 5]


@pytest.mark.parametrize("method", TABLES | CODED)
def test_writing_to_what_came_out_leaves_the_stream_alone(method: str) -> None:
    need(method)
    events = EventStream([0, 1], [1, 2], [1.5, 2.5], [[1.0], [2.0]], [0, 1])
    out = getattr(events, method)()
    writers: dict[str, Any] = {
        "to_pandas": lambda: out.__setitem__("t", out["t"] + 1),
        "to_polars": lambda: out.__setitem__((0, "t"), 9.0),
        "to_pyg": lambda: [column.mul_(0) for column in (out.src, out.t, out.msg, out.y)],
        "to_tgb": lambda: [column.fill(0) for column in out.values()],
    }
    writers.get(method, lambda: None)()  # arrow tables cannot be changed
    assert events.src.tolist() == [0, 1]
    assert events.t.tolist() == [1.5, 2.5]
    assert events.msg is not None
    assert events.msg.tolist() == [[1.0], [2.0]]
    assert events.label.tolist() == [0, 1]


def test_tables_use_the_names_of_the_stream_and_null_for_what_is_unknown() -> None:
    names = ColumnNames("payer", "payee", "when", "is_fraud", ("amount",))
    events = EventStream(
        ["a", "b"], ["c", "d"], [1, 2], [[np.nan], [2]], [np.nan, 1],
        features=(FeatureColumn("amount"),), names=names,
    )  # fmt: skip
    assert events.to_arrow().to_pydict() == {
        "payer": ["a", "b"], "payee": ["c", "d"], "when": [1, 2], "is_fraud": [None, 1], "amount": [None, 2.0]
    }  # fmt: skip
    with pytest.raises(InputError, match="two columns of the same name, 'who'"):
        EventStream([1], [2], [3], names=ColumnNames(src="who", dst="who")).to_arrow()


def test_tgb_gets_its_own_keys_and_never_an_anomaly_as_a_mark_of_a_link() -> None:
    data = EventStream(["b", "a"], ["c", "c"], [1, 2], label=[0, 1]).to_tgb()
    assert list(data) == [
        "sources", "destinations", "timestamps", "edge_idxs", "edge_feat", "w", "edge_label", "label"
    ]  # fmt: skip
    assert data["sources"].tolist() == [1, 0]
    assert data["edge_label"].tolist() == [1, 1]
    assert data["label"].tolist() == [0, 1]
    assert data["edge_feat"].shape == (2, 0)
    assert "label" not in EventStream([0], [1], [2]).to_tgb()


def test_pyg_can_slice_and_load_what_came_out() -> None:
    pytest.importorskip("torch_geometric")
    from torch_geometric.loader import TemporalDataLoader

    data = EventStream(range(6), range(6), range(6), np.eye(6), [0, 1, np.nan, 0, 0, 1]).to_pyg()
    batches = list(TemporalDataLoader(data, batch_size=4))
    assert [len(batch) for batch in batches] == [4, 2]
    assert read_events(batches[1]).label.tolist() == [0, 1]
    assert "y" not in EventStream([0], [1], [2]).to_pyg().to_dict()


@pytest.mark.parametrize(
    ("method", "package"),
    [("to_pandas", "pandas"), ("to_polars", "polars"), ("to_pyg", "torch-geometric")],
)
def test_a_missing_package_is_named_with_the_command_that_brings_it(
    method: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("pandas", "polars", "torch_geometric", "torch_geometric.data"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError) as caught:
        getattr(EventStream([0], [1], [2]), method)()
    assert str(caught.value) == f"{method} needs {package}: pip install 'sdgad[bridges]'."


@pytest.mark.parametrize("method", TABLES | CODED)
def test_a_stream_without_events_has_an_empty_shape_and_is_no_source(method: str) -> None:
    need(method)
    out = getattr(EventStream([0, 1], [1, 2], [1, 2], [[1], [2]])[:0], method)()
    with pytest.raises(InputError, match="holds no events"):
        read_events(out)


def test_a_clock_survives_pandas_only_where_the_columns_are_still_there() -> None:
    pytest.importorskip("pandas")
    frame = EventStream([0, 1], [1, 2], [1, 2], clock=Clock("h"), bipartite=True).to_pandas()
    assert read_events(frame[frame["t"] > 1]).clock == Clock("h")
    renamed = read_events(frame.rename(columns={"src": "payer", "dst": "payee"}))
    assert renamed.clock == Clock("s")
    assert not renamed.bipartite


def test_arrow_readers_and_batches_are_tables_too() -> None:
    table = EventStream(["a", "b"], ["b", "c"], [1, 2]).to_arrow()
    for source in (table.to_reader(), table.to_batches()[0]):
        assert read_events(source).vocabulary.names[0].to_pylist() == ["a", "b", "c"]
    with pytest.raises(InputError, match="a table of columns, not from"):
        read_events(pa.array([1, 2]))
