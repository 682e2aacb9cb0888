"""A stream is sorted, checked, coded and cut as it says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
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
from sdgad.events.vocabulary import NodeTable, Vocabulary

IDS = st.one_of(
    st.lists(st.integers(-5, 5), min_size=1, max_size=30),
    st.lists(st.sampled_from(["a", "b", "7", "007", "🙂", "a b", ""]), min_size=1, max_size=30),
)
ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 8)), min_size=1, max_size=40)


def stream(rows: list[tuple[int, int, int]], **options: Any) -> EventStream:
    src, dst, t = zip(*rows, strict=True)
    return EventStream(
        src, dst, t, np.arange(len(rows), dtype=np.float32), [i % 2 for i in range(len(rows))], **options
    )


def raw(events: EventStream) -> list[tuple[Any, Any, Any]]:
    src, dst = events.vocabulary.raw(events.src), events.vocabulary.raw(events.dst)
    return list(zip(src.to_pylist(), dst.to_pylist(), events.t.tolist(), strict=True))


# ---------------------------------------------------------------------- constructor
@settings(max_examples=200)
@given(ROWS, st.booleans())
def test_rows_are_sorted_by_time_and_ties_keep_their_order(
    rows: list[tuple[int, int, int]], bipartite: bool
) -> None:
    events = stream(rows, bipartite=bipartite)
    order = sorted(range(len(rows)), key=lambda i: rows[i][2])
    assert events.row.tolist() == order
    assert raw(events) == [rows[i] for i in order]
    assert events.msg is not None
    assert events.msg[:, 0].tolist() == order
    assert events.label.tolist() == [i % 2 for i in order]
    assert events.was_sorted == (order == list(range(len(rows))))
    assert events.in_input_order(np.array(order)).tolist() == list(range(len(rows)))


@settings(max_examples=200)
@given(ROWS, st.booleans())
def test_codes_are_one_dense_range_with_items_after_users(
    rows: list[tuple[int, int, int]], bipartite: bool
) -> None:
    events = stream(rows, bipartite=bipartite)
    used = np.unique(np.concatenate([events.src, events.dst]))
    assert used.tolist() == list(range(events.num_nodes))
    assert events.src.dtype == events.dst.dtype == np.int64
    users, items = {row[0] for row in rows}, {row[1] for row in rows}
    assert events.num_nodes == (len(users) + len(items) if bipartite else len(users | items))
    if bipartite:
        assert events.src.max() < len(users) <= events.dst.min()


def test_integer_and_float_times_keep_their_type_and_value() -> None:
    big = 2**60 + 1
    assert EventStream([0], [1], [big]).t.tolist() == [big]
    assert EventStream([0], [1], np.array([1], np.int32)).t.dtype == np.int64
    assert EventStream([0], [1], np.array([1.5], np.float32)).t.dtype == np.float64
    assert EventStream([0], [1], np.array(["2024-01-01T00:00:00.5"], "datetime64[ms]")).t.tolist() == [
        1_704_067_200.5
    ]


def test_defaults_say_nothing_about_labels_features_and_kinds() -> None:
    events = EventStream([0], [1], [2])
    assert (events.msg, events.anomaly_type, events.features) == (None, None, ())
    assert not events.has_labels
    assert events.names == ColumnNames()
    assert len(EventStream([], [], [])) == 0
    assert EventStream([0], [1], [2], np.empty((1, 0))).msg is None


def test_features_have_names_and_categories_of_their_own() -> None:
    events = EventStream(
        [0], [1], [2], [[1.5, 0]], features=(FeatureColumn("amount"), FeatureColumn("kind", ("x",)))
    )
    assert events.names.features == ("amount", "kind")
    assert events.names.categorical == ("kind",)
    assert [feature.name for feature in EventStream([0], [1], [2], [[1, 2]]).features] == ["f0", "f1"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"t": [1, 2]}, "rows for 2 events"),
        ({"t": [[1]]}, "one number per event"),
        ({"t": [np.nan]}, "Row 1 has no finite time"),
        ({"t": ["noon"]}, "numbers or datetimes"),
        ({"t": np.array(["NaT"], "datetime64[s]")}, "Row 1 has no time"),
        ({"src": [None]}, "row 1 has no id"),
        ({"src": [1.5]}, "not fractions"),
        ({"src": [b"x"]}, "strings or integers"),
        ({"label": [2]}, "Row 1 has label 2"),
        ({"label": [0, 1]}, "label has 2 rows for 1 events"),
        ({"msg": [[1], [2]]}, "one row of numbers per event"),
        ({"msg": [[np.inf]]}, "Row 1 has an infinite feature value"),
        ({"msg": [[1]], "features": ()}, "0 feature columns are described, but msg has 1"),
        (
            {"msg": [[1, 2]], "features": (FeatureColumn("a"), FeatureColumn("a"))},
            "Two feature columns have the name 'a'",
        ),
        ({"node_features": [[1]]}, "node_features has 1 rows for 2 nodes"),
        ({"anomaly_type": ["a", "b"]}, "anomaly_type has 2 rows"),
    ],
)
def test_columns_that_do_not_fit_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        EventStream(**{"src": [0], "dst": [1], "t": [2], **options})


# ---------------------------------------------------------------------- parts
@settings(max_examples=200)
@given(ROWS, st.integers(1, 19), st.integers(0, 20))
def test_a_split_cuts_the_stream_into_all_its_events(
    rows: list[tuple[int, int, int]], train: int, val: int
) -> None:
    val = min(val, 20 - train, 19)
    events = stream(rows)
    parts = events.split(train / 20, val / 20)
    first, second = train * len(rows) // 20, (train + val) * len(rows) // 20
    assert [len(part) for part in parts] == [first, second - first, len(rows) - second]
    assert [row for part in parts for row in raw(part)] == raw(events)


@settings(max_examples=200)
@given(ROWS, st.data())
def test_a_part_knows_everything_before_it_also_as_a_part_of_a_part(
    rows: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    events = stream(rows)
    start = data.draw(st.integers(0, len(rows)))
    inner = data.draw(st.integers(0, len(rows) - start))
    part = events[start:][inner:].with_labels("none")
    before = [] if part.predecessors is None else raw(part.predecessors)
    assert before == raw(events)[: start + inner]
    assert events.predecessors is None


def test_a_part_is_contiguous() -> None:
    events = stream([(0, 1, 0), (1, 2, 1)])
    for rows in (slice(None, None, 2), slice(None, None, -1), 1, np.array([True, False])):
        with pytest.raises(InputError, match="contiguous"):
            events[rows]  # type: ignore[index]
    assert len(events[5:]) == 0


@pytest.mark.parametrize("shares", [(0, 0.2), (1, 0), (0.5, -0.1), (0.8, 0.3)])
def test_shares_that_make_no_split_are_refused(shares: tuple[float, float]) -> None:
    with pytest.raises(InputError, match="shares"):
        stream([(0, 1, 0)]).split(*shares)


def test_fewer_shots_are_among_more_shots_of_the_same_seed() -> None:
    events = EventStream([0] * 20, [1] * 20, np.arange(20), label=[0, 1] * 10)
    kept = [set(np.flatnonzero(events.with_labels("few-shot", k=k, seed=3).label == 1)) for k in (1, 2, 3)]
    assert kept[0] < kept[1] < kept[2]


@settings(max_examples=200)
@given(ROWS, st.integers(1, 3), st.integers(0, 5))
def test_few_shot_keeps_k_anomalies_and_hides_all_else(
    rows: list[tuple[int, int, int]], k: int, seed: int
) -> None:
    events = stream(rows)
    anomalies = int(np.nansum(events.label))
    if anomalies < k:
        with pytest.raises(InputError, match=f"there are {anomalies}"):
            events.with_labels("few-shot", k=k, seed=seed)
        return
    few = events.with_labels("few-shot", k=k, seed=seed)
    assert int(np.sum(few.label == 1)) == k
    assert int(np.isnan(few.label).sum()) == len(rows) - k
    assert np.all(events.label[few.label == 1] == 1)
    assert np.array_equal(few.label, events.with_labels("few-shot", k=k, seed=seed).label, equal_nan=True)


def test_supervision_changes_labels_only_and_only_in_the_copy() -> None:
    events = stream([(0, 1, 0), (1, 2, 1), (0, 2, 2)])
    assert not events.with_labels("none").has_labels
    assert np.array_equal(events.with_labels("all").label, events.label)
    assert events.label.tolist() == [0, 1, 0]
    assert raw(events.with_labels("none")) == raw(events)
    with pytest.raises(InputError, match="'some'"):
        events.with_labels("some")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="k=0"):
        events.with_labels("few-shot", k=0)
    with pytest.raises(InputError, match="seed=-1"):
        events.with_labels("few-shot", k=1, seed=-1)
    with pytest.raises(InputError, match="label 3"):
        events.with_columns(label=[0, 3, 1])


def test_a_clock_is_guessed_from_the_sorted_times() -> None:
    assert EventStream([0, 1], [1, 0], [1_700_000_000, 1_600_000_000]).clock == Clock("s", wall_clock=True)
    assert EventStream([0], [1], [5]).clock == Clock()
    assert len(EventStream([], [], [])) == 0


@pytest.mark.parametrize("unit", ["D", "m", "s", "ms", "us"])
@pytest.mark.parametrize("year", [1, 1960, 1980, 2024, 9999])
def test_dates_of_any_year_are_epoch_seconds_on_a_wall_clock(year: int, unit: str) -> None:
    moment = datetime(year, 2, 3, tzinfo=UTC)
    events = EventStream([0], [1], np.array([moment.replace(tzinfo=None)], f"datetime64[{unit}]"))
    assert events.t.dtype == np.float64
    assert events.t.tolist() == [moment.timestamp()]
    assert events.clock == Clock("s", wall_clock=True)


@settings(max_examples=200)
@given(st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)), st.sampled_from(["us", "ns"]))
def test_dates_are_exact_to_microseconds_and_the_same_in_a_stream_and_in_a_table(
    moment: datetime, unit: str
) -> None:
    times = np.array([moment], f"datetime64[{unit}]")
    events = EventStream([0], [1], times)
    assert datetime(1970, 1, 1) + timedelta(seconds=events.t[0]) == moment
    assert events.t.tolist() == read_events(pa.table({"src": [0], "dst": [1], "t": times})).t.tolist()


def test_dates_keep_the_zone_of_a_clock_but_count_seconds() -> None:
    times = np.array(["1980-01-01"], "datetime64[D]")
    events = EventStream([0], [1], times, clock=Clock("ms", timezone="Europe/Berlin"))
    assert events.clock == Clock("s", wall_clock=True, timezone="Europe/Berlin")


def test_times_in_another_unit_are_the_same_moments_with_their_ties() -> None:
    events = EventStream([0, 1, 2], [1, 2, 0], [0.1, 0.1, 7.0])
    part = events[1:].counted_in("ms")
    assert part.clock == Clock("ms")
    assert part.t.tolist() == [100.0, 7000.0]
    assert part.predecessors is not None
    assert part.predecessors.t.tolist() == [100.0]
    assert part.counted_in("s").t.tolist() == [0.1, 7.0]
    assert events.t.tolist() == [0.1, 0.1, 7.0]


# ---------------------------------------------------------------------- vocabulary
@settings(max_examples=200)
@given(IDS, st.booleans())
def test_coding_and_naming_are_inverse(ids: list[Any], bipartite: bool) -> None:
    src, dst, vocabulary = Vocabulary.code(ids, ids[::-1], bipartite)
    assert vocabulary.raw(src).to_pylist() == ids
    assert vocabulary.raw(dst).to_pylist() == ids[::-1]
    assert len(vocabulary) == len(set(ids)) * (2 if bipartite else 1)
    for names in vocabulary.names:
        assert names.to_pylist() == sorted(set(ids))


def test_integers_and_text_in_one_name_space_are_compared_as_text() -> None:
    src, dst, vocabulary = Vocabulary.code([7, 8], ["7", "x"])
    assert src[0] == dst[0]
    assert vocabulary.names[0].to_pylist() == ["7", "8", "x"]


@settings(max_examples=200)
@given(IDS, IDS, st.integers(0, 30), st.booleans())
def test_a_model_numbers_nodes_by_first_appearance_however_the_stream_is_cut(
    one: list[Any], two: list[Any], cut: int, bipartite: bool
) -> None:
    count = min(len(one), len(two))
    src, dst = [str(x) for x in one[:count]], [str(x) for x in two[:count]]
    sides = 2 if bipartite else 1

    def number(table: NodeTable, part: slice) -> tuple[list[int], list[int], NodeTable]:
        if not src[part]:
            return [], [], table
        codes_src, codes_dst, vocabulary = Vocabulary.code(src[part], dst[part], bipartite)
        numbers_src, numbers_dst, grown = table.number(codes_src, codes_dst, vocabulary)
        return numbers_src.tolist(), numbers_dst.tolist(), grown

    seen: dict[tuple[int, str], int] = {}
    expected: tuple[list[int], list[int]] = ([], [])
    for a, b in zip(src, dst, strict=True):
        expected[0].append(seen.setdefault((0, a), len(seen)))
        expected[1].append(seen.setdefault((sides - 1, b), len(seen)))
    first_src, first_dst, table = number(NodeTable(sides), slice(0, cut))
    restored = NodeTable.from_table(table.to_table(), sides)
    rest_src, rest_dst, grown = number(restored, slice(cut, None))
    assert (first_src + rest_src, first_dst + rest_dst) == expected
    assert grown.size == len(seen)
    assert table.size == len(set(first_src) | set(first_dst))  # growing leaves the old table as it was


def test_an_integer_in_one_file_and_its_text_in_another_are_one_node() -> None:
    _, _, table = NodeTable().number(*Vocabulary.code([7], [8]))
    numbers, _, grown = table.number(*Vocabulary.code(["8"], ["7"]))
    assert numbers.tolist() == [1]
    assert grown.size == 2


def test_one_and_two_name_spaces_do_not_mix() -> None:
    with pytest.raises(InputError, match="name space"):
        NodeTable(2).number(*Vocabulary.code([1], [2]))


def test_ids_may_be_arrow_arrays_numpy_arrays_or_lists() -> None:
    for ids in (["a", "b"], np.array(["a", "b"]), pa.array(["a", "b"]), pa.chunked_array([["a"], ["b"]])):
        assert Vocabulary.code(ids, ids)[0].tolist() == [0, 1]
    assert Vocabulary.code(pa.array(["b", "a"]).dictionary_encode(), ["a", "a"])[0].tolist() == [1, 0]
