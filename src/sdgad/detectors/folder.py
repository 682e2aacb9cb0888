"""The model folder: what a fitted detector is made of, as plain files that other tools can read.

    config.json          how it was made, and the `format_version`
    calibration.json     thresholds and what they were found on
    model.safetensors    weights
    state.safetensors    history
    vocabulary.parquet   raw ids (left out when there are none)
    card.md              for people
    manifest.json        size and SHA-256 of all the others

A folder appears whole or not at all. Nothing in it is ever unpickled, and nothing is parsed before its
checksum was found right, except for the `format_version`: a newer folder may well have another manifest.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from sdgad.atomic import whole_folder
from sdgad.errors import ModelFolderError

FORMAT_VERSION = 1

CONFIG, CALIBRATION, CARD = "config.json", "calibration.json", "card.md"
WEIGHTS, STATE, VOCABULARY = "model.safetensors", "state.safetensors", "vocabulary.parquet"
MANIFEST = "manifest.json"
REQUIRED = frozenset({CONFIG, CALIBRATION, WEIGHTS, STATE, CARD})
KNOWN = REQUIRED | {VOCABULARY}

PICKLE_SUFFIXES = frozenset({".pkl", ".pickle", ".pt", ".pth", ".joblib", ".bin", ".ckpt"})

PICKLE_PROTOCOLS = frozenset(bytes([version]) for version in range(2, 10))  # a few more than there are

CONTENT_ERRORS = (SafetensorError, pa.ArrowException, KeyError, TypeError, ValueError, RecursionError)

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class ModelFiles:
    """The contents of a model folder.

    `config` and `calibration` hold what JSON knows: None, bool, int, float (NaN and ±inf too), str, and lists
    and dicts of them. Tuples come back as lists and numpy scalars as Python numbers; all else to the bit.
    """

    config: dict[str, Any]
    calibration: dict[str, Any]
    weights: Arrays
    state: Arrays
    vocabulary: pa.Table | None
    card: str


def write_folder(path: str | os.PathLike[str], files: ModelFiles) -> None:
    """Write a model folder in place of nothing, an empty folder or another model; no other is replaced."""
    folder = Path(path)
    writers: dict[str, Callable[[Path], object]] = {
        CONFIG: lambda file: _write_config(file, files.config),
        CALIBRATION: lambda file: file.write_bytes(_to_json(files.calibration)),
        WEIGHTS: lambda file: _write_arrays(file, files.weights),
        STATE: lambda file: _write_arrays(file, files.state),
        CARD: lambda file: file.write_bytes(files.card.encode()),
    }
    if files.vocabulary is not None:
        writers[VOCABULARY] = lambda file: pq.write_table(files.vocabulary, file, compression="zstd")

    try:
        need_replaceable(folder)
        with whole_folder(folder.resolve()) as new:  # resolved: a link to a model stays a link
            manifest = {}
            for name, write in writers.items():
                try:
                    write(new / name)
                except CONTENT_ERRORS as problem:
                    _refuse(folder, f"{name}: {_one_line(problem)}", "written", problem)
                manifest[name] = _seal(new / name)
            (new / MANIFEST).write_bytes(_to_json({"files": manifest}))
            _seal(new / MANIFEST)
    except OSError as problem:
        _refuse(folder, _one_line(problem), "written", problem)


def read_folder(path: str | os.PathLike[str]) -> ModelFiles:
    """Read a model folder back, bit for bit; one that is damaged, newer or holds a pickle is refused."""
    folder = Path(path)
    if not folder.is_dir():
        raise ModelFolderError(
            f"The model folder {folder} {'is a file' if folder.exists() else 'does not exist'}."
        )
    try:
        _need_format(folder)
        _need_no_pickle(folder)
        names = _need_intact(folder)
        config = _parse(folder, CONFIG, _read_json)
        del config["format_version"]
        return ModelFiles(
            config=config,
            calibration=_parse(folder, CALIBRATION, _read_json),
            weights=_parse(folder, WEIGHTS, load_file),
            state=_parse(folder, STATE, load_file),
            vocabulary=_parse(folder, VOCABULARY, _read_table) if VOCABULARY in names else None,
            card=_parse(folder, CARD, _read_text),
        )
    except OSError as problem:
        _refuse(folder, _one_line(problem), "read", problem)


def _parse(folder: Path, name: str, read: Callable[[Path], T]) -> T:
    try:
        return read(folder / name)
    except (*CONTENT_ERRORS, OSError) as problem:  # arrow and parquet raise OSError on damage, too
        _refuse(folder, f"{name} is not readable ({_one_line(problem)})", "read", problem)


def need_replaceable(folder: Path) -> None:
    """Saving must not cost anybody their files: only a model, and nothing beside it, is ever replaced."""
    if not folder.is_dir():
        return
    present = {file.name for file in folder.iterdir()}
    foreign = sorted(present - KNOWN - {MANIFEST})
    if foreign:
        _refuse(folder, f"it already exists and holds {foreign[0]!r}, which is no part of a model", "written")
    if present and not present >= {CONFIG, MANIFEST}:
        _refuse(
            folder,
            f"it already exists and is not a model ({CONFIG} and {MANIFEST} are not both there)",
            "written",
        )


def _need_format(folder: Path) -> None:
    if not (folder / CONFIG).is_file():
        _refuse(folder, f"{CONFIG} is missing")
    version = _parse(folder, CONFIG, _read_json).get("format_version")
    if type(version) is not int or version < 1:
        _refuse(folder, f"{CONFIG} has no valid format_version")
    if version > FORMAT_VERSION:
        raise ModelFolderError(
            f"The model folder {folder} was written by a newer sdgad "
            f"(format {version}; this one reads up to {FORMAT_VERSION})."
        )


def _need_no_pickle(folder: Path) -> None:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and (file.suffix.lower() in PICKLE_SUFFIXES or _looks_pickled(file)):
            _refuse(
                folder,
                f"{file.relative_to(folder)} is a pickle, which could run any code and is never opened",
            )


def _looks_pickled(file: Path) -> bool:
    """First bytes of a pickle (protocol 2 and up) or of a zip archive, in which torch wraps its pickles.

    A safetensors file starts with the length of its header, which may happen to spell the same (640 is 80 02
    00 00 00 00 00 00); but then comes a brace, and neither of the two has one there.
    """
    with file.open("rb") as stream:
        head = stream.read(9)
    if head[6:] == b"\0\0{":
        return False
    return head.startswith(b"PK\x03\x04") or (head[:1] == b"\x80" and head[1:2] in PICKLE_PROTOCOLS)


def _need_intact(folder: Path) -> set[str]:
    """Compare every file with the manifest; returns the names of the files."""
    if not (folder / MANIFEST).is_file():
        _refuse(folder, f"{MANIFEST} is missing")
    expected = _parse(folder, MANIFEST, _read_manifest)
    for name in sorted(expected.keys() - KNOWN):
        _refuse(folder, f"{MANIFEST} names {name!r}, which is no file of a model")
    for name in sorted(REQUIRED - expected.keys()):
        _refuse(folder, f"{MANIFEST} does not name {name}")
    for name, (size, digest) in expected.items():
        _need_unchanged(folder, name, size, digest)
    return set(expected)


def _need_unchanged(folder: Path, name: str, size: int, digest: str) -> None:
    file = folder / name
    if file.is_symlink():
        _refuse(folder, f"{name} is a link, not a file")
    if not file.is_file():
        _refuse(folder, f"{name} is missing")
    found = file.stat().st_size
    if found < size:
        _refuse(folder, f"{name} is truncated ({found} of {size} bytes)")
    if found > size:
        _refuse(folder, f"{name} was altered ({found} bytes instead of {size})")
    with file.open("rb") as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != digest:
            _refuse(folder, f"{name} was altered (its SHA-256 is not the one in {MANIFEST})")


def _seal(file: Path) -> dict[str, Any]:
    """The manifest's entry of a file, which is on the disk itself from here on."""
    with file.open("r+b") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        os.fsync(stream.fileno())
    return {"size": file.stat().st_size, "sha256": digest}


def _write_config(file: Path, config: dict[str, Any]) -> None:
    if "format_version" in config:
        raise ValueError("the key 'format_version' belongs to the folder")
    file.write_bytes(_to_json(config | {"format_version": FORMAT_VERSION}))


def _write_arrays(file: Path, arrays: Arrays) -> None:
    if "__metadata__" in arrays:
        raise ValueError("an array cannot be named '__metadata__'")
    # safetensors copies memory as it lies: anything but C order would come back shuffled
    save_file({name: np.asarray(array, order="C") for name, array in arrays.items()}, file)


def _to_json(value: dict[str, Any]) -> bytes:
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


def _read_manifest(file: Path) -> dict[str, tuple[int, str]]:
    """Name → (size, SHA-256)."""
    manifest = _read_json(file)
    if file.read_bytes() != _to_json(manifest):  # it has no checksum of its own, but only one right spelling
        raise ValueError("it was altered")
    entries = {name: (entry["size"], entry["sha256"]) for name, entry in dict(manifest["files"]).items()}
    if not all(type(size) is int and type(digest) is str for size, digest in entries.values()):
        raise ValueError("a size or SHA-256 is of the wrong kind")
    return entries


def _read_text(file: Path) -> str:
    return file.read_bytes().decode()  # read_text would change the ends of lines


def _read_table(file: Path) -> pa.Table:
    return pq.read_table(file, partitioning=None)  # a folder named "run=3" is no column


def _read_json(file: Path) -> dict[str, Any]:
    def unwrap(item: dict[str, Any]) -> Any:
        return float(item["$float"]) if item.keys() == {"$float"} else item

    def no_constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    value = json.loads(_read_text(file), object_hook=unwrap, parse_constant=no_constant)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def _refuse(folder: Path, why: str, what: str = "read", cause: BaseException | None = None) -> NoReturn:
    raise ModelFolderError(f"The model folder {folder} cannot be {what}: {why}.") from cause


def _one_line(problem: BaseException) -> str:
    text = str(problem)
    if isinstance(problem, OSError) and problem.strerror:
        text = (
            problem.strerror
            if problem.filename is None
            else f"{Path(problem.filename).name}: {problem.strerror}"
        )
    return " ".join(text.split()).rstrip(".")
