"""A line means alone what it means in a file, and a bad one is refused in one sentence that names the column."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.errors import InputError
from sdgad.events.lines import LineReader, parse_line
from sdgad.events.read import read_events
from sdgad.events.stream import EventStream


def meaning(events: EventStream) -> list[tuple[Any, ...]]:
    """Who, with whom, when in seconds, with what; in the order of the input."""
    found = []
    for i in range(len(events)):
        values = [] if events.msg is None else events.msg[i].tolist()
        features = [
            None
            if math.isnan(value)
            else value
            if column.categories is None
            else column.categories[int(value)]
            for value, column in zip(values, events.features, strict=True)
        ]
        ids = [str(name) for name in events.vocabulary.raw(events.src[i : i + 1]).to_pylist()]
        ids += [str(name) for name in events.vocabulary.raw(events.dst[i : i + 1]).to_pylist()]
        found.append((int(events.row[i]), *ids, float(events.t[i]) * events.clock.seconds, *features))
    return [row[1:] for row in sorted(found, key=lambda row: row[0])]


def reader_of(events: EventStream) -> LineReader:
    """As a model that was fitted on these events would read."""
    names = [feature.name for feature in events.features]
    return LineReader(events.names, names, events.clock, events.bipartite)


def alike(reader: LineReader, rows: list[dict[str, Any]]) -> bool:
    """Whether rows may be read together: all of the usual kind, and in order."""
    when = reader.when(rows)
    return None not in when and all(a <= b for a, b in pairwise(cast(list[float], when)))


def write_lines(path: Path, rows: list[dict[str, Any]]) -> list[bytes]:
    lines = [json.dumps(row).encode() for row in rows]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return lines


FITTED = [
    {"who": "a", "whom": "b", "when": 1_600_000_000, "amount": 1.5, "kind": "x"},
    {"who": "b", "whom": "c", "when": 1_600_000_100, "amount": 2.5, "kind": "y"},
]
OPTIONS: dict[str, Any] = {"src": "who", "dst": "whom", "time": "when", "features": ["amount", "kind"]}

AMOUNTS = st.one_of(
    st.none(),
    st.integers(-(2**70), 2**70),
    st.floats(-1e30, 1e30),
    st.integers(-999, 999).map(str),
    st.just("NaN"),
)
KINDS = st.one_of(
    st.none(), st.sampled_from(["x", "7", "été", " ", ""]), st.text("ab \u2028\U0001f600", max_size=3)
)
IDS = st.one_of(st.integers(-(2**62), 2**62), st.sampled_from(["a", "7", "007", "é", "\x00"]))
TIMES = st.one_of(
    st.integers(1_600_000_000, 1_700_000_000),
    st.floats(1_600_000_000, 1_700_000_000),
    st.integers(1_600_000_000, 1_700_000_000).map(str),
)
ISO = st.datetimes(allow_imaginary=False).map(lambda moment: moment.isoformat()).filter(lambda t: t > "1700")
MILLISECONDS = st.integers(1_600_000_000_000, 1_700_000_000_000)


@st.composite
def files(draw: st.DrawFn) -> list[dict[str, Any]]:
    times = draw(st.sampled_from([TIMES, ISO, MILLISECONDS]))
    row = st.fixed_dictionaries(
        {"who": IDS, "whom": IDS, "when": times},
        optional={"amount": AMOUNTS, "kind": KINDS, "unused": st.sampled_from([{"a": [1]}, "", None, [[]]])},
    )
    rows = draw(st.lists(row, min_size=1, max_size=6))
    rows.append({**FITTED[0], "when": rows[-1]["when"]})  # every column has its usual type once
    return rows


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> EventStream:
    path = tmp_path_factory.mktemp("fitted") / "fitted.jsonl"
    write_lines(path, FITTED)
    return read_events(path, **OPTIONS)


@settings(max_examples=150, deadline=None)
@given(rows=files())
def test_a_line_means_alone_and_in_a_batch_what_it_means_in_a_file(
    rows: list[dict[str, Any]], fitted: EventStream, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.jsonl"
    lines = write_lines(path, rows)
    whole = meaning(read_events(path, columns=fitted.names, clock=fitted.clock, bipartite=fitted.bipartite))
    reader = reader_of(fitted)
    read = [reader.row(parse_line(line)) for line in lines]
    alone = [meaning(reader.events([row]))[0] for row in read]
    assert alone == whole
    if alike(reader, read):
        assert meaning(reader.events(read)) == alone


def test_units_of_time_are_told_apart_line_by_line(fitted: EventStream) -> None:
    reader = reader_of(fitted)
    rows = [
        reader.row({"who": "a", "whom": "b", "when": when})
        for when in (1_600_000_200, 1_600_000_200_000, "1600000200", "2020-09-13T12:30:00Z")
    ]
    assert [meaning(reader.events([row]))[0][2] for row in rows] == [1_600_000_200] * 4
    assert not alike(reader, rows[:2])
    assert alike(reader, [rows[0], rows[2]])


def test_times_are_put_in_order_by_the_nanosecond_beside_one_that_cannot_be_read(fitted: EventStream) -> None:
    """As floats the second and third would be equal, and go on together in the wrong order."""
    reader = reader_of(fitted)
    times = ["1600000000000000000", "1600000000000000003", "1600000000000000001", "soon"]
    found = reader.when([reader.row({"who": "a", "whom": "b", "when": when}) for when in times])
    assert found[:3] == [int(when) for when in times[:3]]
    assert found[3] is None
    words = ["2020-09-13T12:30:00Z", "2020-09-13T12:29:00Z", "soon"]
    found = reader.when([reader.row({"who": "a", "whom": "b", "when": when}) for when in words])
    assert found[:2] == [1_600_000_200, 1_600_000_140]
    assert found[2] is not None
    assert math.isnan(found[2])


def test_a_list_that_is_not_there_is_as_many_missing_values(tmp_path: Path) -> None:
    write_lines(tmp_path / "x.jsonl", [{"src": 1, "dst": 2, "t": i, "msg": [i, 2.5]} for i in range(3)])
    reader = reader_of(read_events(tmp_path / "x.jsonl"))
    end = {"src": 1, "dst": 2, "t": 9}

    def features(**fields: Any) -> tuple[Any, ...]:
        return meaning(reader.events([reader.row({**end, **fields})]))[0][3:]

    assert features() == features(msg=None) == features(msg=[None, None]) == (None, None)
    assert features(msg=[1, None]) == features(msg0=1) == features(f0=1) == (1.0, None)
    assert features(msg1=4) == features(f1=4) == (None, 4.0)
    for wrong, sentence in (
        ([1], "Column 'msg': 1 values where the model knows 2."),
        ([1, "2"], "Column 'msg': this is not a list of numbers."),
        ([1, [2]], "Column 'msg': this is not a list of numbers."),
        (7, "Column 'msg': this is not a list of numbers."),
    ):
        with pytest.raises(InputError) as caught:
            features(msg=wrong)
        assert str(caught.value) == sentence


def test_an_element_of_a_list_can_be_the_feature(tmp_path: Path) -> None:
    write_lines(tmp_path / "x.jsonl", [{"src": 1, "dst": 2, "t": i, "msg": [i, 2.5]} for i in range(3)])
    reader = reader_of(read_events(tmp_path / "x.jsonl", features=["msg1"]))
    end = {"src": 1, "dst": 2, "t": 9}
    for fields, expected in (({"msg": [5, 6]}, 6.0), ({"msg1": 7}, 7.0), ({"msg": [5]}, None), ({}, None)):
        row = reader.row({**end, **fields})
        assert meaning(reader.events([row]))[0][3:] == (expected,)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"", "The line is empty."),
        (b" \r", "The line is empty."),
        (b"\xff{}", "The line is not UTF-8 text."),
        (b'{"a": 1', "The line is not JSON: Expecting ',' delimiter at character 8."),
        (b"[1]", "The line is not a JSON object."),
        (b"null", "The line is not a JSON object."),
        (b'{"a": ' + b"[" * 100_000, "The line is nested too deeply."),
        (b'{"a": ' + b"7" * 5000 + b"}", "The line has a number of too many digits."),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_line_without_an_object_is_refused(line: bytes, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_line(line)
    assert str(caught.value) == sentence


def test_a_byte_order_mark_and_a_repeated_key_are_taken_as_in_a_file() -> None:
    assert parse_line(b'\xef\xbb\xbf{"a": 1, "a": 2}\r') == {"a": 2}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"who": None}, "Column 'who': there is no id."),
        ({"who": ""}, "Column 'who': there is no id."),
        ({"who": True}, "Column 'who': ids are text or integers, not bool like True."),
        ({"who": 1.5}, "Column 'who': 1.5 is not an id; ids are text or integers."),
        ({"who": {"a": 1}}, "Column 'who': an object where there should be one value."),
        ({"whom": [1]}, "Column 'whom': a list where there should be one value."),
        ({"whom": "\ud800"}, "Column 'whom': half of a surrogate pair is not text."),
        ({"when": None}, "Column 'when': there is no time."),
        ({"when": "soon"}, "Column 'when': 'soon' is not a time."),
        ({"when": False}, "Column 'when': times are numbers, dates or ISO-8601 text, not bool."),
        ({"when": math.inf}, "Column 'when': inf is not a time."),
        ({"when": 1e300}, "Column 'when': 1e+300 is too far away to be a time."),
        ({"when": -(2**63)}, f"Column 'when': {-(2**63)} is too far away to be a time."),
        ({"when": 10**40}, "Column 'when': 1e+40 is too far away to be a time."),
        ({"amount": math.inf}, "Column 'amount': inf is infinite or too large for a feature."),
        (
            {"amount": "1,5"},
            "Column 'amount': '1,5' is not a number, which needs a decimal point, not a comma.",
        ),
        ({"kind": {}}, "Column 'kind': an object where there should be one value."),
    ],
    ids=str,
)
def test_what_a_column_cannot_hold_is_refused_by_its_name(
    fields: dict[str, Any], sentence: str, fitted: EventStream
) -> None:
    reader = reader_of(fitted)
    with pytest.raises(InputError) as caught:
        reader.events([reader.row({**FITTED[0], **fields})])
    assert str(caught.value) == sentence


def test_a_key_that_must_be_there_is_named(fitted: EventStream) -> None:
    for key in ("who", "whom", "when"):
        with pytest.raises(InputError) as caught:
            reader_of(fitted).row({name: 1 for name in ("who", "whom", "when") if name != key})
        assert str(caught.value) == f"The line has no key {key!r}."
