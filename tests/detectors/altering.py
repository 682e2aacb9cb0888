"""Model folders that somebody altered, with the manifest made to fit again or not."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import load, save

Folder = dict[str, bytes]
Rng = np.random.Generator

JSON = ("config.json", "calibration.json")
ARRAYS = ("model.safetensors", "state.safetensors")
ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2, 3.5, -0.0, 1e308, -1e308, 1e-320, 2**31, 2**63, -(2**63), 10**30, "", "x", "nan", "1", "auto",
    [], {}, [1], {"a": 1}, {"$float": "nan"}, {"$float": "inf"}, {"$float": "-inf"}, {"$float": "7"}, [[]], "\u0000", "é" * 50,
    ["a", "a"], 1e15, 17, 0.5,
]  # fmt: skip
NUMBERS: list[float] = [
    math.nan,
    math.inf,
    -math.inf,
    1e30,
    -1e30,
    1e300,
    -1,
    0,
    1,
    2,
    1e9,
    -1e9,
    2**62,
    -(2**62),
    0.5,
    1e-300,
]


def resealed(folder: Folder) -> Folder:
    """With a manifest that fits the files."""
    files = {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in folder.items()
        if name != "manifest.json"
    }
    manifest = json.dumps({"files": files}, indent=2, sort_keys=True) + "\n"
    return {**folder, "manifest.json": manifest.encode()}


def altered(folder: Folder, rng: Rng) -> tuple[str, Folder]:
    """One random alteration, in words, and the folder after it; its manifest is the old one."""
    kinds: list[Callable[[Folder, Rng], tuple[str, Folder]]] = [
        _bytes,
        _json,
        _json,
        _arrays,
        _arrays,
        _arrays,
        _header,
        _names,
    ]
    return kinds[rng.integers(len(kinds))](folder, rng)


# ---------------------------------------------------------------------- bytes


def _bytes(folder: Folder, rng: Rng) -> tuple[str, Folder]:
    name = str(rng.choice(sorted(folder)))
    content = bytearray(folder[name])
    what = rng.integers(5)
    if what == 0:
        content = content[: rng.integers(len(content) + 1)]
    elif what == 1:
        content += rng.bytes(rng.integers(1, 20))
    elif what == 2 and content:
        place = int(rng.integers(len(content)))
        content[place : place + int(rng.integers(1, 9))] = rng.bytes(int(rng.integers(0, 9)))
    elif content:
        for _ in range(rng.integers(1, 4)):
            content[rng.integers(len(content))] = rng.integers(256)
    return f"bytes of {name} ({what})", {**folder, name: bytes(content)}


# ---------------------------------------------------------------------- JSON


def _json(folder: Folder, rng: Rng) -> tuple[str, Folder]:
    name = str(rng.choice(JSON))
    value = json.loads(folder[name])
    places = list(_places(value))
    holder, key = places[rng.integers(len(places))]
    what = rng.integers(6)
    odd = ODD[rng.integers(len(ODD))]
    if what == 0:
        del holder[key]
    elif what == 1 and isinstance(key, str):
        holder[key + "x"] = holder.pop(key)
    elif what == 2 and isinstance(key, str):
        holder["new"] = odd
    elif what == 3 and isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
        holder[key] = holder[key] * float(rng.choice([-1, 1e3, 1e-9, 1e20]))
    else:
        holder[key] = odd
    text = json.dumps(value, indent=2, sort_keys=True) + "\n"
    return f"{name}: {key!r} ({what}, {odd!r})", {**folder, name: text.encode()}


def _places(value: Any) -> Any:
    """Every value inside, as (what holds it, its key)."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield value, key
        yield from _places(inner)


# ---------------------------------------------------------------------- arrays


def _arrays(folder: Folder, rng: Rng) -> tuple[str, Folder]:
    name = str(rng.choice(ARRAYS))
    arrays = dict(load(folder[name]))
    if not arrays:
        arrays["new"] = np.zeros(3)
        return f"{name}: new array", {**folder, name: save(arrays)}
    key = str(rng.choice(sorted(arrays)))
    array = arrays.pop(key).copy()
    what = int(rng.integers(12))
    if what == 0:
        pass
    elif what == 1:
        arrays[key + "x"] = array
    elif what == 2:
        arrays[key], arrays["new"] = array, array
    elif what == 3:
        with np.errstate(all="ignore"):
            arrays[key] = array.astype(rng.choice(["f8", "f4", "i8", "i4", "u1", "?"]))
    elif what == 4:
        arrays[key] = array[..., None] if rng.integers(2) else array.reshape(-1)
    elif what == 5 and array.ndim:
        arrays[key] = array[:-1] if rng.integers(2) else np.concatenate([array, array[-1:]])
    elif what == 6 and array.ndim:
        arrays[key] = array[rng.permutation(len(array))]
    elif array.size:
        flat = array.reshape(-1)
        for place in rng.integers(flat.size, size=rng.integers(1, 3)):
            odd = NUMBERS[rng.integers(len(NUMBERS))]
            with np.errstate(all="ignore"):
                flat[place] = np.array(odd).astype(array.dtype)
        arrays[key] = array
    else:
        arrays[key] = array
    return f"{name}: {key} ({what})", {
        **folder,
        name: save({k: np.array(v, order="C") for k, v in arrays.items()}),
    }


def _header(folder: Folder, rng: Rng) -> tuple[str, Folder]:
    """What a safetensors file says about itself."""
    name = str(rng.choice(ARRAYS))
    content = folder[name]
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    keys = sorted(key for key in header if key != "__metadata__")
    if rng.integers(4) == 0 or not keys:
        claim = int(rng.choice([0, 1, 2**20, 2**40, 2**62]))
        return f"{name}: length {claim}", {**folder, name: claim.to_bytes(8, "little") + content[8:]}
    entry = header[str(rng.choice(keys))]
    what = int(rng.integers(4))
    if what == 0:
        entry["shape"] = [int(rng.choice([0, -1, 2**31, 2**62])), *entry["shape"]]
    elif what == 1:
        entry["data_offsets"][rng.integers(2)] = int(rng.choice([0, -8, 2**40, 2**63]))
    elif what == 2:
        entry["dtype"] = str(rng.choice(["F64", "F32", "I64", "BF16", "X", "BOOL"]))
    else:
        entry[str(rng.choice(sorted(entry)))] = ODD[rng.integers(len(ODD))]
    text = json.dumps(header).encode()
    return f"{name}: header ({what})", {
        **folder,
        name: len(text).to_bytes(8, "little") + text + content[8 + length :],
    }


# ---------------------------------------------------------------------- names


def _names(folder: Folder, rng: Rng) -> tuple[str, Folder]:
    name = "vocabulary.parquet"
    if name not in folder:
        return _arrays(folder, rng)
    columns = pq.read_table(io.BytesIO(folder[name])).to_pydict()
    rows = len(columns["node"])
    what = int(rng.integers(9))
    key = str(rng.choice(sorted(columns)))
    if what == 0:
        order = rng.permutation(rows)
        columns = {each: [values[i] for i in order] for each, values in columns.items()}
    elif what == 1:
        columns = {each: values[:-1] for each, values in columns.items()}
    elif what == 2:
        columns = {each: [*values, values[-1]] for each, values in columns.items()}
    elif what == 3:
        columns[key][rng.integers(rows)] = None
    elif what == 4:
        del columns[key]
    elif what == 5:
        columns["new"] = columns[key]
    elif what == 6:
        columns[key] = [str(value) if key != "name" else i for i, value in enumerate(columns[key])]
    elif what == 7:
        columns[key][rng.integers(rows)] = columns[key][rng.integers(rows)]
    else:
        columns = {each: [] for each in columns}
    out = io.BytesIO()
    kinds = {"name": pa.large_string(), "side": pa.int8(), "node": pa.int64()}
    try:
        table = pa.table({each: pa.array(values, kinds.get(each)) for each, values in columns.items()})
    except (pa.ArrowException, TypeError):
        table = pa.table(columns)
    pq.write_table(table, out)
    return f"{name}: {key} ({what})", {**folder, name: out.getvalue()}
