"""Files of events that are odd in one way or another, and what reading them must give. All by a generator of random numbers."""

from __future__ import annotations

import copy
import csv
import gzip
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from crafted import BINARY, INTEGERS, LIST, STRUCT, join, split

Rng = np.random.Generator
Row = dict[str, Any]
NAMES = ("src", "dst", "t", "amount", "label", "note")
EXACT = 2**53
csv.field_size_limit(1 << 24)


@dataclass
class Case:
    """A file, and what is known of it: the rows as they must be read, or the rows that must be refused."""

    suffix: str
    content: bytes
    rows: int
    expected: list[tuple[str, str, float, float]] | None = None  # src, dst, t, amount
    refused: set[tuple[str, int]] = field(default_factory=set)  # column, row from 1
    oracle: Callable[[bytes], list[tuple[str, str]] | None] | None = None  # ids as another reader finds them


def pick(rng: Rng, values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def plain_rows(rng: Rng) -> list[Row]:
    count = int(pick(rng, [1, 2, 3, 10, 50, 100, 200, 400]))
    spell = pick(
        rng,
        [
            lambda i: f"u{i}",
            int,
            lambda i: EXACT - 5 + int(i),
            lambda i: f"é{i}",
            lambda i: f"{i:03d}",
        ],
    )
    return [
        {
            "src": spell(rng.integers(9)), "dst": spell(rng.integers(9)), "t": i,
            "amount": round(float(rng.lognormal()), 3), "label": int(rng.integers(2)), "note": f"n{i}",
        }
        for i in range(count)
    ]  # fmt: skip


# ---------------------------------------------------------------------- what values mean
JSON_IDS = [
    "u1", "", " a ", "1042.0", "007", 5, -3, EXACT + 1, EXACT, 2**63, 2**64, 10**30, 1042.0, 1.5, 1e300, None, [1], {"a": 1},
    "\ud800", "💸", "a\0b", "x" * 1000, "null", "NaN", "2020-01-01", "\u2028", "a\nb", True, float(EXACT), -0.0,
]  # fmt: skip
CSV_IDS = [
    "u1", "", " a ", "007", "1042.0", "é", "a,b", 'a"b', "a\nb", "NaN", "null", str(EXACT + 1), "x" * 1000, "a;b", "a\tb",
    "'", "a\r\nb",
]  # fmt: skip
AMOUNTS = [0, 1, -1.5, None, 1e-30, 10**18, 1e38, 1e39]
TIMES = [None, "noon", "", [1], {"a": 1}]
LABELS = [0, 1, None, "0", "1", "true", 2, "yes", 0.5]
NOTES = [None, "x", 1, 1.5, [1, "a"], {"b": {"c": []}}, True, "", "y" * 5000, EXACT + 1]


def id_text(value: Any) -> str | None:
    """How an id is called; None for what is none."""
    if isinstance(value, bool) or value is None or isinstance(value, list | dict):
        return None
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < EXACT else None
    text = str(value)
    return text if text and not any("\ud800" <= c <= "\udfff" for c in text) else None


def judged(case: Case, rows: list[Row]) -> Case:
    """Fills in what reading these rows must give."""
    for number, row in enumerate(rows, 1):
        case.refused |= {(name, number) for name in ("src", "dst") if id_text(row[name]) is None}
        if not isinstance(row["t"], int):
            case.refused.add(("t", number))
            if len(rows) == 2:  # which of two is the odd one out is a matter of taste
                case.refused |= {("t", 1), ("t", 2)}
        if isinstance(row["amount"], float) and row["amount"] > 1e38:
            case.refused.add(("amount", number))
        if str(row["label"]) in ("2", "yes", "0.5"):
            case.refused.add(("label", number))
    if not case.refused:
        nan = float("nan")
        case.expected = [
            (
                id_text(r["src"]) or "", id_text(r["dst"]) or "", float(r["t"]),
                nan if r["amount"] in (None, "") else float(np.float32(r["amount"])),
            )
            for r in rows
        ]  # fmt: skip
    return case


def with_odd_values(rng: Rng, rows: list[Row], ids: list[Any]) -> list[Row]:
    pools = {"src": ids, "dst": ids, "amount": AMOUNTS, "t": TIMES, "label": LABELS, "note": NOTES}
    weights = [0.35, 0.3, 0.03, 0.12, 0.05, 0.15]
    for _ in range(int(rng.integers(0, 4))):
        name = str(rng.choice(["src", "dst", "t", "amount", "label", "note"], p=weights))
        row = pick(rng, rows)
        row[name] = pick(rng, pools[name])
    return rows


# ---------------------------------------------------------------------- JSON lines
def json_values(rng: Rng) -> Case:
    rows = with_odd_values(rng, plain_rows(rng), JSON_IDS)
    ascii_only = bool(rng.integers(2)) or any(
        "\ud800" in str(row.values()) or "\\ud800" in str(row) for row in rows
    )
    end = pick(rng, ["\n", "\r\n", "\n\n", "\n \n"])
    lines = []
    for row in rows:
        keys = list(row)
        rng.shuffle(keys)
        lines.append(json.dumps({key: row[key] for key in keys}, ensure_ascii=ascii_only))
    text = end.join(lines) + pick(rng, ["", end])
    content = pick(rng, [b"", b"\xef\xbb\xbf", b"\n"]) + text.encode()
    return judged(_packed(rng, Case("jsonl", content, len(rows))), rows)


NASTY_LINES = [
    b"null", b"[]", b"7", b'"x"', b"true", b"{}", b"", b" ", b"\0", b"\xef\xbb\xbf", b"\xff", b"[" * 100_000, b'{"a":' * 5_000,
    b'{"src":"a","dst":"b","t":1,"x":' + b"[" * 70 + b"]" * 70 + b"}", b'{"src":"a","src":"b","dst":"c","t":1}', b"{", b"}",
    b"{}{}",
    b'{"src":"a","dst":"b","t":1}{"src":"a","dst":"b","t":2}', b"NaN", b'{"src":"\\ud800","dst":"b","t":1}', b'{"\\ud800":1}',
    b'{"src":' + b"9" * 5_000 + b',"dst":1,"t":1}', b"{'src':1}", b'{"src":"a","dst":"b","t":1,}', b'\x1e{"src":"a"}', b"--",
    b'{"src":"a","dst":"b","t":1,"x":{"y":[[[1],[null]],"\xc3\xa9"]}}', b'{"src":NaN,"dst":-Infinity,"t":Infinity}', b"\r",
]  # fmt: skip


def json_bytes(rng: Rng) -> Case:
    rows = plain_rows(rng)
    content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    return _packed(rng, Case("jsonl", mutated(rng, content, NASTY_LINES), len(rows), oracle=ids_by_json))


def ids_by_json(content: bytes) -> list[tuple[str, str]] | None:
    """Ids that Python finds; None where it finds none."""
    found = []
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        try:
            rows = [json.loads(line)] if line.strip(b" \t\r") else []
        except ValueError:
            rows = [json.loads(part.decode("utf-8-sig")) for part in line.split(b"\r") if part.strip(b" \t")]
        found += [(id_text(row["src"]) or "", id_text(row["dst"]) or "") for row in rows]
    return found


# ---------------------------------------------------------------------- CSV
def csv_values(rng: Rng) -> Case:
    rows = plain_rows(rng)
    for row in rows:
        row["src"], row["dst"] = str(row["src"]), str(row["dst"])
    rows = with_odd_values(rng, rows, CSV_IDS)
    for row in rows:
        row["t"] = row["t"] if isinstance(row["t"], int | str) else None
    suffix, mark = pick(rng, [("csv", ","), ("csv", ";"), ("csv", "\t"), ("tsv", "\t")])
    out = io.StringIO()
    write = csv.writer(out, delimiter=mark, lineterminator=pick(rng, ["\n", "\r\n", "\n\n"]))
    write.writerow(NAMES)
    write.writerows([["" if row[name] is None else row[name] for name in NAMES] for row in rows])
    content = pick(rng, [b"", b"\xef\xbb\xbf", b"\n"]) + out.getvalue().encode()
    return judged(_packed(rng, Case(suffix, content, len(rows))), rows)


NASTY_RECORDS = [
    b"", b",", b",,,,,", b'"', b'""""', b'"a,b', b'a"b,c,1,2,0,', b"\0,\0,\0,\0,\0,\0", b"\xff,b,1,2,0,x", b"a,b,1,2,0,\xc3",
    b"a,b", b"\r",
    b"a,b,1,2,0,x,y,z", b"x" * 200_000 + b",b,1,2,0,x", b'"a\nb",c,1,2,0,x', b"a,b,1,2,0,'", b"\xef\xbb\xbf", b"a;b;1;2;0;x",
    b"#",
]  # fmt: skip


def csv_bytes(rng: Rng) -> Case:
    rows = plain_rows(rng)
    lines = [",".join(str(row[name]) for name in NAMES) for row in rows]
    content = "\n".join([",".join(NAMES), *lines, ""]).encode()
    return _packed(rng, Case("csv", mutated(rng, content, NASTY_RECORDS), len(rows), oracle=ids_by_csv))


def ids_by_csv(content: bytes) -> list[tuple[str, str]] | None:
    """Ids that Python finds; None where quotes leave room for opinions, or another character separates."""
    text = content.decode("utf-8-sig")
    records = [record for record in csv.reader(io.StringIO(text, newline="")) if record]
    header = records[0]
    if '"' in text or "src" not in header or "dst" not in header:
        return None
    source, destination = header.index("src"), header.index("dst")
    return [(record[source], record[destination]) for record in records[1:]]


def _packed(rng: Rng, case: Case) -> Case:
    if rng.random() < 0.1:
        case.suffix, case.content = f"{case.suffix}.gz", gzip.compress(case.content, 1)
        if case.oracle is not None:
            oracle = case.oracle
            case.oracle = lambda content: oracle(gzip.decompress(content))
            if rng.random() < 0.3:
                case.content = mutated(rng, case.content, [])
    return case


def mutated(rng: Rng, content: bytes, nasty: list[bytes]) -> bytes:
    """Some bytes changed, lost, doubled or put in; lines too."""
    for _ in range(int(rng.integers(0, 4))):
        action, at = int(rng.integers(8)), int(rng.integers(len(content) + 1))
        to = min(len(content), at + int(rng.integers(1, 20)))
        if action == 0:
            content = content[:at] + rng.bytes(to - at) + content[to:]
        elif action == 1:
            content = content[:at] + content[to:]
        elif action == 2:
            content = content[:at] + content[at:to] * int(rng.integers(2, 5)) + content[to:]
        elif action == 3:
            content = content[: max(1, at)]
        elif action == 4:
            content = (
                content[:at]
                + pick(rng, [b'"', b"\n", b",", b"{", b"[", b"\0", b"\xff", b"\\", b"\r", b" "])
                + content[at:]
            )
        elif nasty:
            lines = content.split(b"\n")
            lines.insert(int(rng.integers(len(lines) + 1)), pick(rng, nasty))
            content = b"\n".join(lines)
    return content


# ---------------------------------------------------------------------- Parquet
def parquet_values(rng: Rng) -> Case:
    count = int(pick(rng, [1, 2, 10, 100, 400]))
    source, said = _id_column(rng, count)
    destination, meant = _id_column(rng, count)
    amount = rng.lognormal(size=count).astype(np.float32)
    note = pa.array(rng.integers(0, 5, count))
    table = pa.table(
        {"src": source, "dst": destination, "t": np.arange(count), "amount": amount, "note": note}
    )
    case = Case("parquet", _written(rng, table), count)
    for name, texts in (("src", said), ("dst", meant)):
        case.refused |= {(name, i) for i, text in enumerate(texts, 1) if text is None}
    if not case.refused:
        times = np.arange(count, dtype=float)
        case.expected = list(
            zip(map(str, said), map(str, meant), times.tolist(), amount.tolist(), strict=True)
        )
    return case


def _id_column(rng: Rng, count: int) -> tuple[pa.Array, list[str | None]]:
    numbers = rng.integers(0, 9, count)
    kind = int(rng.integers(8))
    if kind == 0:
        return pa.array(numbers), [str(n) for n in numbers]
    if kind == 1:
        large = [2**64 - 1 - int(n) for n in numbers]
        return pa.array(large, pa.uint64()), [str(n) for n in large]
    if kind == 2:
        return pa.array(numbers.astype(float)), [str(n) for n in numbers]
    if kind == 3:
        values = numbers.astype(float)
        values[int(rng.integers(count))] = pick(rng, [np.nan, 1.5, 2.0**53, 1e300, np.inf])
        return pa.array(values), [
            str(int(v)) if v < 9 and v == int(v) else None for v in np.nan_to_num(values, nan=0.5)
        ]
    texts: list[str | None] = [f"ü{n}" for n in numbers]
    if kind == 4:
        texts[int(rng.integers(count))] = None
        return pa.array(texts), texts
    if kind == 5:
        encoded = pa.array(texts).dictionary_encode()
        return encoded, texts
    if kind == 6:  # bytes that pose as text
        raw = [str(text).encode() for text in texts]
        row = int(rng.integers(count))
        raw[row], texts[row] = pick(rng, [b"\xff", b"\xc3", b"a\xe9b", b"\xed\xa0\x80"]), None
        spoiled = pa.array(raw, pa.binary())
        return pa.Array.from_buffers(pa.string(), count, spoiled.buffers()), texts
    return pa.array(texts, pa.large_string()), texts


def _written(rng: Rng, table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(
        table, out, compression=pick(rng, ["none", "snappy", "zstd", "gzip"]), row_group_size=int(pick(rng, [7, 100, 10_000])),
        data_page_version=pick(rng, ["1.0", "2.0"]), use_dictionary=bool(rng.integers(2)),
        data_page_size=int(pick(rng, [64, 1 << 20])),
        store_schema=bool(rng.integers(4)), write_page_checksum=bool(rng.integers(2)), version=pick(rng, ["1.0", "2.6"]),
    )  # fmt: skip
    return out.getvalue()


def _some_table(rng: Rng) -> pa.Table:
    rows = plain_rows(rng)
    table = pa.table({name: [row[name] for row in rows] for name in NAMES})
    if rng.integers(2):
        table = table.append_column(
            "msg", pa.array([[1.0, None] if i % 3 else None for i in range(len(rows))])
        )
        table = table.append_column("deep", pa.array([{"a": [{"b": i}]} for i in range(len(rows))]))
        table = table.append_column("when", pa.array(range(len(rows)), pa.timestamp("us", "UTC")))
    return table


def parquet_bytes(rng: Rng) -> Case:
    table = _some_table(rng)
    return Case("parquet", mutated(rng, _written(rng, table), []), table.num_rows)


ABSURD = [
    -1,
    0,
    1,
    2,
    7,
    99,
    127,
    2**15,
    2**31 - 1,
    2**31,
    2**40,
    10**15,
    2**62,
    2**63 - 1,
    -(2**63),
    -(2**31),
]


def parquet_footer(rng: Rng) -> Case:
    table = _some_table(rng)
    body, footer = split(_written(rng, table))
    footer = copy.deepcopy(footer)
    for _ in range(int(rng.integers(1, 4))):
        _alter(rng, footer)
    return Case("parquet", join(body, footer), table.num_rows)


def _alter(rng: Rng, struct: dict[int, Any]) -> None:
    """Goes down to some value and makes it absurd, drops it, or doubles it."""
    while True:
        if not struct:
            return
        number = pick(rng, list(struct))
        kind, value = struct[number]
        if rng.random() < 0.05:
            del struct[number]
            return
        if kind == STRUCT:
            struct = value
        elif kind == LIST and value[1]:
            inner, items = value
            place = int(rng.integers(len(items)))
            if inner == STRUCT and rng.random() < 0.85:
                struct = items[place]
                continue
            if rng.random() < 0.5:
                items.insert(place, copy.deepcopy(items[place]))
            else:
                items.pop(place)
            return
        else:
            if kind in INTEGERS:
                value = pick(rng, ABSURD)
            elif kind == BINARY:
                value = pick(
                    rng, [b"", b"\xff\xfe", b"src", b"\0" * 40, value[::-1], value + value, b"x" * 100_000]
                )
            struct[number] = (kind, value)
            return


MAKERS: dict[str, tuple[Callable[[Rng], Case], ...]] = {
    "json": (json_values, json_bytes),
    "csv": (csv_values, csv_bytes),
    "parquet": (parquet_values, parquet_bytes, parquet_footer),
}
