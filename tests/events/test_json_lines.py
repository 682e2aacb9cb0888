"""JSON lines: what arrow would die of is refused by its row, and what it would change is read exactly."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sdgad.errors import InputError
from sdgad.events import json_lines
from sdgad.events.json_lines import DEEPEST
from sdgad.events.read import read_events
from sdgad.events.stream import EventStream
from sdgad.events.table import read_table
from sdgad.events.write import write_table

GOOD = b'{"src": "a", "dst": "b", "t": 1}\n'


def written(folder: Path, content: bytes, name: str = "x.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def of_rows(folder: Path, *rows: dict[str, Any]) -> Path:
    return written(folder, b"".join(json.dumps({"dst": "b", "t": 1, **row}).encode() + b"\n" for row in rows))


def sources(events: EventStream) -> list[str]:
    return [str(one) for one in events.vocabulary.raw(events.src).to_pylist()]


NESTED = b'{"src": "a", "dst": "b", "t": 1, "x": %b}\n'
CRASHES = {
    "null first": (b"null\n" + GOOD, "row 1: not a JSON object; there should be one on each line"),
    "null only": (b"null", "row 1: not a JSON object"),
    "null after a mark": (b"\xef\xbb\xbfnull\n", "row 1: not a JSON object"),
    "null later": (GOOD + b"\n \n" + GOOD + b" null \n", "row 3: not a JSON object"),
    "deep lists": (GOOD + NESTED % (b"[" * 200_000 + b"]" * 200_000), f"row 2: lists and objects are nested more than {DEEPEST}"),
    "deep objects": (GOOD + NESTED % (b'{"a":' * 100_000 + b"1" + b"}" * 100_000), "row 2: lists and objects are nested"),
    "nesting to no end": (b"[" * 1_000_000, "row 1: lists and objects are nested too deeply"),
    "a bit too deep": (NESTED % (b"[" * DEEPEST + b"]" * DEEPEST), "row 1: lists and objects are nested"),
    "a number": (GOOD + b"7\n", "row 2: not a JSON object"),
    "a list": (GOOD + b"[{}]\n", "row 2: not a JSON object"),
    "a zero byte": (GOOD + b"\0\n", "row 2: not a line of JSON"),
    "two on a line": (GOOD + GOOD[:-1] + GOOD, "row 2: not a line of JSON"),
    "an object on several lines": (GOOD + GOOD.replace(b", ", b",\n"), "row 2: not a line of JSON"),
    "too many digits": (GOOD + b'{"src": %b, "dst": 1, "t": 1}\n' % (b"1" * 5000), "row 2: a number of too many digits"),
    "half a surrogate pair in a key": (b'{"\\ud800": 1}\n', "half of a surrogate pair"),
    "half a surrogate pair inside": (GOOD + NESTED % b'["\\ud800"]', "column 'x', row 2: half of a surrogate pair"),
    "half a surrogate pair among numbers": (NESTED % b"1" + NESTED % b'"\\ud800"', "column 'x', row 2: half of"),
}  # fmt: skip


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("case", CRASHES)
def test_what_arrow_would_die_of_is_refused_by_its_row(tmp_path: Path, case: str, packed: bool) -> None:
    content, problem = CRASHES[case]
    path = (
        written(tmp_path, gzip.compress(content, 1), "x.jsonl.gz") if packed else written(tmp_path, content)
    )
    with pytest.raises(InputError) as caught:
        read_events(path)
    assert str(caught.value).startswith(str(path))
    assert problem in str(caught.value)
    assert len(str(caught.value)) < 300


def test_brackets_in_text_are_no_nesting(tmp_path: Path) -> None:
    path = of_rows(tmp_path, {"src": "[" * 500 + '"{' * 500 + "\\"}, {"src": "[]" * 500})
    assert sources(read_events(path)) == ["[" * 500 + '"{' * 500 + "\\", "[]" * 500]


@pytest.mark.parametrize(
    "place", ['"src": "?"', '"dst": "?"', '"note": "?"', '"?": 1', '"msg": ["?"]', '"x": {"y": "?"}']
)
def test_bytes_that_are_no_text_are_refused_by_their_row(tmp_path: Path, place: str) -> None:
    line = b'{"src": "a", "dst": "b", "t": 1, ' + place.encode().replace(b"?", b"\xe9") + b"}\n"
    with pytest.raises(InputError, match=r"x\.jsonl is not UTF-8 text in row 3; convert it"):
        read_table(written(tmp_path, GOOD + b"\n" + GOOD + line + GOOD))


def test_a_row_is_named_beyond_the_first_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "_BLOCK", 100)
    with pytest.raises(InputError, match="in row 51;"):
        read_table(written(tmp_path, (GOOD + b"\n") * 50 + b'{"src": "\xff"}'))
    with pytest.raises(InputError, match="row 51: not a JSON object"):
        read_table(written(tmp_path, (GOOD + b" \r\n") * 50 + b"null"))
    assert read_table(written(tmp_path, (GOOD + b"\n") * 50 + GOOD[:-1])).num_rows == 51


def test_a_line_without_end_is_not_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "_BLOCK", 100)
    monkeypatch.setattr(json_lines, "LONGEST", 1000)
    with pytest.raises(InputError, match="a line is longer than"):
        read_table(written(tmp_path, GOOD + b'{"src": "' + b"a" * 5000))


def test_keys_that_are_ids_are_no_columns(tmp_path: Path) -> None:
    lines = b"".join(b'{"src": "a", "dst": "b", "t": %d, "user%d": 1}\n' % (i, i) for i in range(2500))
    with pytest.raises(InputError, match="2,503 different keys, which should be names of columns"):
        read_table(written(tmp_path, lines))
    wide = json.dumps({f"f{i}": i for i in range(1500)}).encode() + b"\n"
    assert read_table(written(tmp_path, wide * 3)).num_columns == 1500


BIG = 2**53


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([BIG + 1, BIG], [BIG + 1, BIG]),
        ([BIG + 1, BIG, 5.0], [BIG + 1, BIG, 5]),
        ([BIG, 5.0], [BIG, 5]),
        ([-BIG - 1, -BIG, 5.0], [-BIG - 1, -BIG, 5]),
        ([2**63, 2**63 - 1], [2**63, 2**63 - 1]),
        ([2**64, 2**64 + 1, 1], [2**64, 2**64 + 1, 1]),
        ([BIG + 1, "x"], [BIG + 1, "x"]),
        ([1042.0, "x"], [1042, "x"]),
        ([1042.0, 7], [1042, 7]),
    ],
)
def test_large_integers_are_other_ids_than_their_neighbours(
    tmp_path: Path, ids: list[Any], expected: list[Any]
) -> None:
    assert sources(read_events(of_rows(tmp_path, *({"src": one} for one in ids)))) == list(map(str, expected))


@pytest.mark.parametrize("wrong", [1.5, 1e300, float(BIG), True, [1], {"a": 1}])
@pytest.mark.parametrize("others", ["text", 7, 2.0])
def test_what_is_no_id_alone_is_none_among_others(tmp_path: Path, wrong: Any, others: Any) -> None:
    with pytest.raises(InputError, match=r"x\.jsonl, column 'src', row 2: "):
        read_events(of_rows(tmp_path, {"src": others}, {"src": wrong}))


def test_large_integers_are_carried_into_the_output(tmp_path: Path) -> None:
    path = of_rows(tmp_path, {"src": "a", "code": BIG + 1}, {"src": "b", "code": 1.5})
    write_table(read_table(path), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1].endswith(str(BIG + 1))


def test_columns_keep_their_order_beside_dates(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, b'{"src": "a", "dst": "b", "t": "2026-01-05"}\n'))
    assert table.column_names == ["src", "dst", "t"]
    assert table["t"].type == pa.string()


def test_the_last_of_two_keys_counts(tmp_path: Path) -> None:
    assert sources(read_events(written(tmp_path, b'{"src": "a", "src": "z", "dst": "b", "t": 1}\n'))) == ["z"]
