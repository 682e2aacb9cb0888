"""A file that is something else than its name says is told by what it is."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sdgad.errors import InputError
from sdgad.events import text_file
from sdgad.events.read import read_events
from sdgad.events.table import read_table

CSV = b"src,dst,t\na,b,1\n"
JSON = b'{"src": "a", "dst": "b", "t": 1}\n'


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("xl/workbook.xml"), "<workbook/>")  # without the time of day
    return out.getvalue()


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"src": ["a"], "dst": ["b"], "t": [1]}), out)
    return out.getvalue()


WRONG = [
    ("x.csv", parquet(), "holds Parquet, not rows of text; rename it to end in .parquet"),
    ("x.csv.gz", gzip.compress(parquet(), mtime=0), "holds Parquet"),
    ("x.jsonl", parquet(), "holds Parquet"),
    ("x.csv.gz", parquet(), "is not gzip, though its name ends in .gz; it holds Parquet."),
    ("x.jsonl.gz", JSON, "is not gzip, though its name ends in .gz; if it is not packed, rename it to x.jsonl."),
    ("x.csv", gzip.compress(CSV, mtime=0), "holds data packed by gzip, not rows of text; rename it to x.csv.gz"),
    ("x.jsonl", gzip.compress(JSON, mtime=0), "rename it to x.jsonl.gz"),
    ("x.csv", zipped(), "holds a zip archive or a workbook, not rows of text; unpack it, or save the sheet as CSV"),
    ("x.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99, "holds an Excel workbook"),
    ("x.csv", b"BZh91AY&SY" + b"\0" * 99, "holds data packed by bzip2, not rows of text; unpack it first"),
    ("x.jsonl", b"\x28\xb5\x2f\xfd" + b"\0" * 99, "holds data packed by zstd"),
    ("x.csv", b"ARROW1\0\0" + b"\0" * 99, "holds an Arrow file"),
    ("x.csv", b"SQLite format 3\0" + b"\0" * 99, "holds an SQLite database"),
    ("x.csv", b"\x80\x04\x95" + b"\0" * 99, "holds a Python pickle, which is never opened"),
    ("x.csv", b"\n<!DOCTYPE html><html>Please log in, user</html>", "holds a web page"),
    ("x.csv", JSON * 3, "holds JSON lines, not separated values; rename it to end in .jsonl"),
    ("x.tsv", JSON, "holds JSON lines"),
    ("x.jsonl", CSV, "row 1: not a line of JSON"),
    ("x.parquet", CSV, "not a readable Parquet file; it holds text, so rename it to end in .csv"),
    ("x.parquet", JSON, "it holds text, so rename it to end in .jsonl"),
    ("x.parquet.gz", gzip.compress(parquet(), mtime=0), "not a readable Parquet file; it holds data packed by gzip"),
    ("x.pq", zipped(), "it holds a zip archive"),
    ("x.parquet", b"PARE" + b"\0" * 20 + b"PARE", "it is encrypted"),
    ("x.xlsx", zipped(), "has no known format; files end in .parquet, .pq, .csv, .tsv, .jsonl, .ndjson, .json; save the sheet"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "problem"), WRONG)
def test_a_file_of_another_kind_is_told_by_its_kind(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_events(path)
    assert str(caught.value).startswith(str(path))
    assert problem in str(caught.value)


@pytest.mark.parametrize("header", ["PARTNER", "BZhour", "Object", "{", "<x>", "PK"])
def test_a_header_that_begins_like_another_kind_is_a_header(tmp_path: Path, header: str) -> None:
    (tmp_path / "x.csv").write_text(f"{header},src,dst,t\n1,a,b,2\n")
    assert read_table(tmp_path / "x.csv").column_names[0] == header


def test_a_model_folder_is_no_file_of_events(tmp_path: Path) -> None:
    for name in ("config.json", "manifest.json"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match="is a model folder, not a file of events"):
        read_events(tmp_path)


# ---------------------------------------------------------------------- separated values
@pytest.mark.parametrize(
    ("content", "place"),
    [
        (CSV + b"\xe9,b,2\n", "in row 2"),
        (b'src,dst,t,note\n"a\n\nb",b,1,x\n\na,b,2,\xff\n', "in row 2"),
        (b"src,dst,t,\xe9\na,b,1,2\n", "in its header"),
        (CSV * 9000 + b"a,\xc3,2\n", "in row 18000"),
        (CSV + b"a,b\n\xff,b,1\n", "in row 3"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_bytes_that_are_no_text_are_refused_by_their_row(
    tmp_path: Path, content: bytes, place: str, packed: bool
) -> None:
    path = tmp_path / ("x.csv.gz" if packed else "x.csv")
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    with pytest.raises(
        InputError, match=f"is not UTF-8 text {place}; convert it, for instance by iconv -f latin1"
    ):
        read_table(path)


def test_a_blank_line_before_the_header_hides_no_separator(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"\n \nsrc;dst;t\na;b;1\n")
    assert read_table(tmp_path / "x.csv").column_names == ["src", "dst", "t"]


def test_a_header_with_odd_quotes_leaves_columns_text(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b'src,dst,"t"x,a"b\n007,b,1,01\n')
    table = read_table(tmp_path / "x.csv")
    assert set(table.schema.types) == {pa.string()}
    assert table.to_pylist()[0]["src"] == "007"


@pytest.mark.parametrize(
    "content",
    [b'"src,dst,t\na,b,1\n', b'src,dst,t\na,"b,1\n' + CSV * 9, b"src,dst,t\na,b," + b'"' * 4001 + b"\n"],
)
def test_quotes_without_end_are_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_events(tmp_path / "x.csv")
    assert "\n" not in str(caught.value)


def test_a_packed_file_larger_than_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_file, "memory", lambda: 1 << 20)
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(CSV + b"a,b,2\n" * 400_000))
    with pytest.raises(
        InputError, match=r"x\.csv\.gz unpacks to more than .* which is all the memory there is"
    ):
        read_table(path)
    path.write_bytes(gzip.compress(CSV + b"a,b,2\n" * 400))
    assert read_table(path).num_rows == 401
