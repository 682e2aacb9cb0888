"""The model folder: what a fitted detector is made of, as plain files that other tools can read.

    config.json          how it was made, and the `format_version`
    calibration.json     thresholds and what they were found on
    model.safetensors    weights
    state.safetensors    history
    vocabulary.parquet   raw ids (left out when there are none)
    card.md              for people
    manifest.json        size and SHA-256 of all the others
    previous/            the model before the last `sdgad update`, for `--undo`; left out where there was none

A folder appears whole or not at all, one process writes it at a time, and who reads it sees one model however often it is
replaced. Nothing in it is ever unpickled, and nothing is parsed before its checksum was found right, except for the
`format_version`: a newer folder may well have another manifest.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sdgad.atomic import recovered, whole_folder
from sdgad.detectors.folder_formats import (
    CONTENT_ERRORS,
    Arrays,
    read_arrays,
    read_json,
    read_table,
    read_text,
    to_json,
    write_arrays,
)
from sdgad.detectors.model_lock import model_lock
from sdgad.detectors.opened_folder import OpenFolder, one_line, open_folder, refuse
from sdgad.errors import ModelFolderError

FORMAT_VERSION = 1

CONFIG, CALIBRATION, CARD = "config.json", "calibration.json", "card.md"
WEIGHTS, STATE, VOCABULARY = "model.safetensors", "state.safetensors", "vocabulary.parquet"
MANIFEST = "manifest.json"
PREVIOUS = "previous"
REQUIRED = frozenset({CONFIG, CALIBRATION, WEIGHTS, STATE, CARD})
KNOWN = REQUIRED | {VOCABULARY}
ALL = KNOWN | {MANIFEST}


@dataclass(frozen=True, eq=False)
class ModelFiles:
    """The contents of a model folder.

    `config` and `calibration` hold what JSON knows: None, bool, int, float (NaN and ±inf too), str, and lists
    and dicts of them. Tuples come back as lists and numpy scalars as Python numbers; all else to the bit.
    `seal` is the SHA-256 of the manifest that they were read with: that of another model is another.
    """

    config: dict[str, Any]
    calibration: dict[str, Any]
    weights: Arrays
    state: Arrays
    vocabulary: pa.Table | None
    card: str
    seal: str = ""


Prove = Callable[[ModelFiles], object]


def write_folder(
    path: str | os.PathLike[str], files: ModelFiles, *, prove: Prove | None = None, undo: bool = False
) -> str:
    """Write a model folder in place of nothing, an empty folder or another model; no other is replaced. Returns its seal.

    Where there is one already it stays until the new one was read back, and found good by `prove`; with `undo` the new one keeps
    it (`undo_folder`).
    """
    folder = Path(path)
    writers: dict[str, Callable[[Path], object]] = {
        CONFIG: lambda file: _write_config(file, files.config),
        CALIBRATION: lambda file: file.write_bytes(to_json(files.calibration)),
        WEIGHTS: lambda file: write_arrays(file, files.weights),
        STATE: lambda file: write_arrays(file, files.state),
        CARD: lambda file: file.write_bytes(files.card.encode()),
    }
    if files.vocabulary is not None:
        writers[VOCABULARY] = lambda file: pq.write_table(files.vocabulary, file, compression="zstd")

    target = folder.resolve()  # a link to a model stays a link
    try:
        with model_lock(folder):
            recovered(target)
            need_replaceable(folder)
            with whole_folder(target) as new:
                manifest = {}
                for name, write in writers.items():
                    try:
                        write(new / name)
                    except CONTENT_ERRORS as problem:
                        refuse(folder, f"{name}: {one_line(problem)}", "written", problem)
                    manifest[name] = _seal(new / name)
                (new / MANIFEST).write_bytes(to_json({"files": manifest}))
                seal = str(_seal(new / MANIFEST)["sha256"])
                if (target / CONFIG).exists():
                    _prove(folder, new, prove)
                    if undo:
                        _link(target, new / PREVIOUS)
            return seal
    except OSError as problem:
        refuse(folder, one_line(problem), "written", problem)


def read_folder(path: str | os.PathLike[str]) -> ModelFiles:
    """Read a model folder back, bit for bit; one that is damaged, newer or holds a pickle is refused."""
    folder = Path(path)
    try:
        with open_folder(folder, ALL) as found:
            _need_format(found)
            found.need_no_pickle()
            names = _need_intact(found)
            config = found.parse(CONFIG, read_json)
            del config["format_version"]
            return ModelFiles(
                config=config,
                calibration=found.parse(CALIBRATION, read_json),
                weights=found.parse(WEIGHTS, read_arrays),
                state=found.parse(STATE, read_arrays),
                vocabulary=found.parse(VOCABULARY, read_table) if VOCABULARY in names else None,
                card=found.parse(CARD, read_text),
                seal=found.parse(MANIFEST, _digest),
            )
    except OSError as problem:
        refuse(folder, one_line(problem), "read", problem)


def seal_of(path: str | os.PathLike[str]) -> str | None:
    """The seal of the model that lies there now; None where there is none."""
    with contextlib.suppress(OSError):
        return hashlib.sha256((Path(path) / MANIFEST).read_bytes()).hexdigest()
    return None


def can_undo(path: str | os.PathLike[str]) -> bool:
    """Whether the last change of a model folder can be taken back."""
    return (Path(path) / PREVIOUS / MANIFEST).is_file()


def undo_folder(path: str | os.PathLike[str], prove: Prove) -> None:
    """The model that the last one was written over is there again, in one step; there is no second one behind it."""
    folder = Path(path)
    try:
        with model_lock(folder), open_folder(folder, ALL):
            if not can_undo(folder):
                raise ModelFolderError(
                    f"The model folder {folder} has nothing to undo: it was not written by an update, or that was undone already."
                )
            with whole_folder(folder.resolve()) as new:
                _link(folder / PREVIOUS, new)
                _prove(folder / PREVIOUS, new, prove)
    except OSError as problem:
        refuse(folder, one_line(problem), "written", problem)


def need_replaceable(folder: Path) -> None:
    """Saving must not cost anybody their files: only a model, and nothing beside it, is ever replaced."""
    if not folder.is_dir():
        return
    present = {file.name for file in folder.iterdir()}
    if PREVIOUS in present and _holds_a_model(folder / PREVIOUS):
        present.remove(PREVIOUS)
    foreign = sorted(present - ALL)
    if foreign:
        refuse(folder, f"it already exists and holds {foreign[0]!r}, which is no part of a model", "written")
    if present and not present >= {CONFIG, MANIFEST}:
        refuse(
            folder,
            f"it already exists and is not a model ({CONFIG} and {MANIFEST} are not both there)",
            "written",
        )


def _holds_a_model(folder: Path) -> bool:
    return folder.is_dir() and {CONFIG, MANIFEST} <= {file.name for file in folder.iterdir()} <= ALL


def _prove(folder: Path, new: Path, prove: Prove | None) -> None:
    """What was written can be read, and used."""
    try:
        files = read_folder(new)
        if prove is not None:
            prove(files)
    except ModelFolderError as problem:
        sentence = str(problem).replace(str(new), str(folder))
        raise ModelFolderError(
            f"The model folder {folder} stays as it is, since the new model could not be used: {sentence}"
        ) from problem


def _link(source: Path, target: Path) -> None:
    """The files of a model under a second name, as links where the file system has such, since nobody ever changes them."""
    target.mkdir(exist_ok=True)
    for name in sorted(ALL):
        if (source / name).exists():
            try:
                os.link(source / name, target / name)
            except OSError:
                shutil.copyfile(source / name, target / name)


def _need_format(found: OpenFolder) -> None:
    found.need(CONFIG)
    version = found.parse(CONFIG, read_json).get("format_version")
    if type(version) is not int or version < 1:
        refuse(found.path, f"{CONFIG} has no valid format_version")
    if version > FORMAT_VERSION:
        raise ModelFolderError(
            f"The model folder {found.path} was written by a newer sdgad "
            f"(format {version}; this one reads up to {FORMAT_VERSION})."
        )


def _need_intact(found: OpenFolder) -> set[str]:
    """Compare every file with the manifest; returns the names of the files."""
    found.need(MANIFEST)
    expected = found.parse(MANIFEST, _read_manifest)
    for name in sorted(expected.keys() - KNOWN):
        refuse(found.path, f"{MANIFEST} names {name!r}, which is no file of a model")
    for name in sorted(REQUIRED - expected.keys()):
        refuse(found.path, f"{MANIFEST} does not name {name}")
    for name, (size, digest) in expected.items():
        found.need_unchanged(name, size, digest, MANIFEST)
    return set(expected)


def _read_manifest(file: BufferedReader) -> dict[str, tuple[int, str]]:
    """Name → (size, SHA-256)."""
    manifest = read_json(file)
    file.seek(0)
    if file.read() != to_json(manifest):  # it has no checksum of its own, but only one right spelling
        raise ValueError("it was altered")
    entries = {name: (entry["size"], entry["sha256"]) for name, entry in dict(manifest["files"]).items()}
    if not all(type(size) is int and type(digest) is str for size, digest in entries.values()):
        raise ValueError("a size or SHA-256 is of the wrong kind")
    return entries


def _digest(file: BufferedReader) -> str:
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()


def _seal(file: Path) -> dict[str, Any]:
    """The manifest's entry of a file, which is on the disk itself from here on."""
    with file.open("r+b") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        os.fsync(stream.fileno())
    return {"size": file.stat().st_size, "sha256": digest}


def _write_config(file: Path, config: dict[str, Any]) -> None:
    if "format_version" in config:
        raise ValueError("the key 'format_version' belongs to the folder")
    file.write_bytes(to_json(config | {"format_version": FORMAT_VERSION}))
