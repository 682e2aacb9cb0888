"""The formats of the files of a model folder: strict JSON, safetensors, Parquet, text; nothing is ever unpickled.

Readers take an open file, and believe nothing that it says about itself: sizes are compared with the file's before room is made.
"""

from __future__ import annotations

import json
import math
import os
from io import BufferedReader
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save_file

PICKLE_SUFFIXES = frozenset({".pkl", ".pickle", ".pt", ".pth", ".joblib", ".bin", ".ckpt"})
PICKLE_PROTOCOLS = frozenset(bytes([version]) for version in range(2, 10))  # a few more than there are

CONTENT_ERRORS = (
    SafetensorError, pa.ArrowException, KeyError, TypeError, ValueError, OverflowError, RecursionError, MemoryError,
    NotImplementedError,
)  # fmt: skip

Arrays = dict[str, NDArray[Any]]

HEADER_MOST = 100 << 20  # bytes, as the format has it
KINDS = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "I16": np.int16,
    "I8": np.int8, "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip
DIMENSIONS = 32
ROWS_PER_BYTE, MOST_COLUMNS = 64, 64  # of a vocabulary: different names cannot be pressed into less


# ---------------------------------------------------------------------- JSON and text


def to_json(value: dict[str, Any]) -> bytes:
    return json.dumps(_plain(value), indent=2, sort_keys=True, allow_nan=False).encode() + b"\n"


def _plain(value: Any) -> Any:
    """What JSON can spell without loss; NaN and ±inf, which it cannot, become {"$float": "nan"}."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": str(float(value))}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str) or key == "$float":
                raise TypeError(f"{key!r} cannot be a key")
        return {key: _plain(item) for key, item in value.items()}
    raise TypeError(f"a {type(value).__name__} cannot be saved as JSON")


def read_text(file: BufferedReader) -> str:
    file.seek(0)
    return file.read().decode()  # a text file would change the ends of lines


def read_json(file: BufferedReader) -> dict[str, Any]:
    def unwrap(pairs: list[tuple[str, Any]]) -> Any:
        item = dict(pairs)
        if len(item) < len(pairs):
            raise ValueError("a key stands twice in one object")
        return _special(item["$float"]) if item.keys() == {"$float"} else item

    def no_constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    def number(text: str) -> float:
        if math.isinf(float(text)):
            raise ValueError(f"{text} is beyond all numbers")
        return float(text)

    text = read_text(file)
    value = json.loads(text, object_pairs_hook=unwrap, parse_constant=no_constant, parse_float=number)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def _special(text: Any) -> float:
    if text not in ("nan", "inf", "-inf"):
        raise ValueError(f"{text!r} is no special number")
    return float(text)


# ---------------------------------------------------------------------- arrays


def write_arrays(file: Path, arrays: Arrays) -> None:
    if "__metadata__" in arrays:
        raise ValueError("an array cannot be named '__metadata__'")
    # safetensors copies memory as it lies: anything but C order would come back shuffled
    save_file({name: np.asarray(array, order="C") for name, array in arrays.items()}, file)


def read_arrays(file: BufferedReader) -> Arrays:
    """The arrays of a safetensors file. Every size is checked against that of the file before memory is asked for."""
    size = os.fstat(file.fileno()).st_size
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or not 2 <= length <= min(size - 8, HEADER_MOST):
        raise ValueError("its header claims more than there is")
    header = json.loads(file.read(length).decode(), object_pairs_hook=_once)
    if not isinstance(header, dict):
        raise ValueError("its header is no JSON object")
    header.pop("__metadata__", None)
    start = 8 + length
    entries = {name: _entry(name, entry, size - start) for name, entry in header.items()}
    _need_seamless([(first, stop) for _, _, first, stop in entries.values()], size - start)
    return {
        name: _array(file, start + first, kind, shape) for name, (kind, shape, first, _) in entries.items()
    }


def _array(file: BufferedReader, start: int, kind: type[np.generic], shape: tuple[int, ...]) -> NDArray[Any]:
    array = np.empty(shape, kind)
    if array.size:
        room = array.reshape(-1).view(np.uint8)
        file.seek(start)
        if file.readinto(room.data) != array.nbytes:
            raise ValueError("it ends too early")
        if kind is np.bool_ and room.max() > 1:
            raise ValueError("a truth value is neither 0 nor 1")
    return array


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in its header")
    return found


def _entry(name: str, entry: Any, room: int) -> tuple[type[np.generic], tuple[int, ...], int, int]:
    """Kind, shape, first byte and last of an array."""
    kind, shape, places = KINDS.get(entry["dtype"]), entry["shape"], entry["data_offsets"]
    whole = [*shape, *places]
    if (
        kind is None
        or len(places) != 2
        or len(shape) > DIMENSIONS
        or not all(type(n) is int and n >= 0 for n in whole)
    ):
        raise ValueError(f"array {name!r} is not described as one")
    first, stop = places
    if not first <= stop <= room or stop - first != math.prod(shape) * np.dtype(kind).itemsize:
        raise ValueError(f"array {name!r} does not have the size that it claims")
    return kind, tuple(shape), first, stop


def _need_seamless(places: list[tuple[int, int]], room: int) -> None:
    """The arrays fill the file, one after the other."""
    end = 0
    for first, stop in sorted(places):
        if first != end:
            raise ValueError("its arrays overlap or leave a gap")
        end = stop
    if end != room:
        raise ValueError("there is more in it than its arrays")


# ---------------------------------------------------------------------- the vocabulary


def read_table(file: BufferedReader) -> pa.Table:
    """A Parquet file, after a look at how much it claims to hold.

    What the footer says of row groups and their columns is not asked for: where that is absurd, pyarrow ends the process.
    """
    size = os.fstat(file.fileno()).st_size
    file.seek(0)
    found = pq.ParquetFile(file)
    footer = found.metadata
    if not 0 <= footer.num_rows <= ROWS_PER_BYTE * size or footer.num_columns > MOST_COLUMNS:
        raise ValueError(f"it claims {footer.num_rows} rows of {footer.num_columns} columns in {size} bytes")
    table = found.read(use_threads=False)
    if len(table) != footer.num_rows:
        raise ValueError(f"it holds {len(table)} rows instead of {footer.num_rows}")
    table.validate(full=True)
    return table


# ---------------------------------------------------------------------- pickles


def is_pickle(name: str, head: bytes) -> bool:
    return Path(name).suffix.lower() in PICKLE_SUFFIXES or _looks_pickled(head)


def _looks_pickled(head: bytes) -> bool:
    """First bytes of a pickle (protocol 2 and up) or of a zip archive, in which torch wraps its pickles.

    A safetensors file starts with the length of its header, which may happen to spell the same (640 is 80 02
    00 00 00 00 00 00); but then comes a brace, and neither of the two has one there.
    """
    if head[6:9] == b"\0\0{":
        return False
    return head.startswith(b"PK\x03\x04") or (head[:1] == b"\x80" and head[1:2] in PICKLE_PROTOCOLS)
