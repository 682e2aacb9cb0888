"""The model folder comes back bit for bit, or is refused with one sentence."""

from __future__ import annotations

import hashlib
import json
import math
import os
import pickle
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sdgad.detectors import folder as module
from sdgad.detectors.folder import FORMAT_VERSION, ModelFiles, read_folder, write_folder
from sdgad.errors import InputError, ModelFolderError

PARTS = (
    "config.json",
    "calibration.json",
    "model.safetensors",
    "state.safetensors",
    "vocabulary.parquet",
    "card.md",
)


def example(**changes: Any) -> ModelFiles:
    parts: dict[str, Any] = {
        "config": {
            "detector": "sdgad",
            "seed": 0,
            "columns": {"src": "payer", "features": ["amount", "Größe"]},
        },
        "calibration": {"threshold": 0.1 + 0.2, "tiny": 5e-324, "never": math.inf, "zero": -0.0},
        "weights": {"layer.weight": np.arange(12, dtype=np.float32).reshape(3, 4), "step": np.array(7)},
        "state": {"t": np.array([1.5, 2.5]), "seen": np.array([True, False]), "none": np.zeros((0, 3))},
        "vocabulary": pa.table({"id": pa.array(["a b", "💸", ""], pa.large_string())}),
        "card": "# Card\r\n\nA line — and another.\n",
    }
    return ModelFiles(**parts | changes)


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody pulls the plug here."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_folder(tmp_path / "model", example())
    return tmp_path / "model"


def bits(value: Any) -> Any:
    """A value whose equality is that of types and bits: −0.0 is not 0.0, and NaN is NaN."""
    if isinstance(value, float):
        return "float", "nan" if math.isnan(value) else struct.pack("<d", value)
    if isinstance(value, dict):
        return {key: bits(item) for key, item in value.items()}
    if isinstance(value, list):
        return [bits(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    return type(value), value


def assert_same(one: ModelFiles, other: ModelFiles) -> None:
    for name in ("config", "calibration", "weights", "state", "card"):
        assert bits(getattr(one, name)) == bits(getattr(other, name)), name
    if one.vocabulary is None or other.vocabulary is None:
        assert one.vocabulary is other.vocabulary
    else:
        assert one.vocabulary.schema == other.vocabulary.schema
        assert one.vocabulary.equals(other.vocabulary)


def refused(path: Path, *words: str) -> None:
    """Reading fails with one sentence, which names the folder and has these words."""
    with pytest.raises(ModelFolderError) as caught:
        read_folder(path)
    sentence = str(caught.value)
    assert str(path) in sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")
    for word in words:
        assert word in sentence


def resign(path: Path, **extra: Any) -> None:
    """Make the manifest agree with the files again, as an attacker (or a careless tool) would."""
    files = {
        name: {
            "size": (path / name).stat().st_size,
            "sha256": hashlib.sha256((path / name).read_bytes()).hexdigest(),
        }
        for name in PARTS
        if (path / name).exists()
    }
    text = json.dumps({"files": files | extra}, indent=2, sort_keys=True) + "\n"
    (path / "manifest.json").write_text(text)


# ---------------------------------------------------------------- round trip

leaves = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text()
names = st.text().filter(lambda name: name not in {"$float", "format_version"})
objects = st.dictionaries(
    names,
    st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(names, inner), max_leaves=8),
    max_size=4,
)
codes = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")
dtypes = st.sampled_from([np.dtype(code) for code in codes])
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
arrays = st.dictionaries(st.text(max_size=8), hnp.arrays(dtypes, shapes), max_size=4)
encodable = st.text(st.characters(exclude_categories=["Cs"]))
tables = st.none() | st.one_of(
    st.lists(encodable).map(lambda ids: pa.table({"id": pa.array(ids, pa.large_string())})),
    st.lists(st.integers(-(2**63), 2**63 - 1)).map(lambda ids: pa.table({"id": pa.array(ids, pa.int64())})),
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.builds(ModelFiles, objects, objects, arrays, arrays, tables, encodable))
def test_what_was_written_is_read_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, files: ModelFiles
) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip"
    write_folder(path, files)
    assert_same(read_folder(path), files)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4).T,
        np.arange(12)[::-2],
        np.broadcast_to(np.float32(2), (3, 2)),
        np.arange(4, dtype=">i4"),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    ],
    ids=["transposed", "strided", "broadcast", "big-endian", "fortran"],
)
def test_the_memory_layout_of_an_array_does_not_matter(tmp_path: Path, array: np.ndarray) -> None:
    write_folder(tmp_path / "model", example(weights={"a": array}))
    np.testing.assert_array_equal(read_folder(tmp_path / "model").weights["a"], array)


def test_read_arrays_can_be_written_to(model: Path) -> None:
    files = read_folder(model)
    files.state["t"][0] = 9.0
    assert read_folder(model).state["t"][0] == 1.5


def test_tuples_come_back_as_lists_and_numpy_scalars_as_numbers(tmp_path: Path) -> None:
    write_folder(tmp_path / "model", example(config={"a": (1, 2), "b": np.float32(0.1), "c": np.int64(3)}))
    expected = {"a": [1, 2], "b": float(np.float32(0.1)), "c": 3}
    assert bits(read_folder(tmp_path / "model").config) == bits(expected)


def test_the_json_files_are_strict_sorted_and_indented(model: Path) -> None:
    for name in ("config.json", "calibration.json", "manifest.json"):
        text = (model / name).read_text()
        value = json.loads(text, parse_constant=lambda constant: pytest.fail(f"bare {constant}"))
        assert text == json.dumps(value, indent=2, sort_keys=True) + "\n"
    assert json.loads((model / "config.json").read_text())["format_version"] == FORMAT_VERSION


def test_the_same_model_is_the_same_bytes(tmp_path: Path, model: Path) -> None:
    write_folder(tmp_path / "again", read_folder(model))
    for name in (*PARTS, "manifest.json"):
        assert (tmp_path / "again" / name).read_bytes() == (model / name).read_bytes()


def test_a_folder_may_be_named_like_a_partition(tmp_path: Path) -> None:
    write_folder(tmp_path / "run=3", example())
    assert_same(read_folder(tmp_path / "run=3"), example())


def test_without_a_vocabulary_there_is_no_such_file(model: Path) -> None:
    write_folder(model, example(vocabulary=None))
    assert not (model / "vocabulary.parquet").exists()
    assert read_folder(model).vocabulary is None


# ---------------------------------------------------------------- damage


@pytest.mark.parametrize("name", [*PARTS, "manifest.json"])
def test_a_file_cut_anywhere_is_refused(model: Path, name: str) -> None:
    whole = (model / name).read_bytes()
    for length in sorted({0, 1, len(whole) // 3, len(whole) // 2, len(whole) - 1}):
        (model / name).write_bytes(whole[:length])
        refused(model, name)


@pytest.mark.parametrize("name", [*PARTS, "manifest.json"])
def test_a_changed_byte_anywhere_is_refused(model: Path, name: str) -> None:
    whole = (model / name).read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 60)):
        for flip in (0x01, 0x20, 0x80, ord(" ") ^ ord("\n"), 0xFF):
            changed = bytearray(whole)
            changed[place] ^= flip
            (model / name).write_bytes(changed)
            refused(model)
    (model / name).write_bytes(whole)
    assert_same(read_folder(model), example())


@pytest.mark.parametrize("name", PARTS)
def test_damage_is_told_by_its_kind(model: Path, name: str) -> None:
    whole = (model / name).read_bytes()
    (model / name).write_bytes(whole + b"\n")
    refused(model, name, "was altered", f"instead of {len(whole)}")
    if name != "config.json":  # which is parsed first
        (model / name).write_bytes(whole[:-1])
        refused(model, name, "is truncated", f"{len(whole) - 1} of {len(whole)} bytes")
        (model / name).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        refused(model, name, "was altered", "SHA-256")


@pytest.mark.parametrize("name", [*PARTS, "manifest.json"])
def test_a_missing_file_is_named(model: Path, name: str) -> None:
    (model / name).unlink()
    refused(model, f"{name} is missing")


def test_missing_and_wrong_folders_are_told_apart(tmp_path: Path) -> None:
    refused(tmp_path / "nowhere", "does not exist")
    (tmp_path / "file").write_text("x")
    refused(tmp_path / "file", "is a file")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "config.json is missing")


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", '{"format_version": NaN}', "\ufffe", "[" * 100_000])
def test_a_config_that_is_no_json_object_is_refused(model: Path, text: str) -> None:
    (model / "config.json").write_text(text, encoding="utf-8")
    refused(model, "config.json is not readable")


@pytest.mark.parametrize("name", [name for name in PARTS if name != "config.json"])
def test_nonsense_under_a_right_checksum_is_refused(model: Path, name: str) -> None:
    (model / name).write_bytes(b"\xff" * 50)
    resign(model)
    refused(model, f"{name} is not readable")


# ---------------------------------------------------------------- versions


def test_a_newer_format_is_told_before_any_checksum(model: Path) -> None:
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"format_version": FORMAT_VERSION + 1}))
    (model / "manifest.json").unlink()
    (model / "model.safetensors").write_bytes(b"")
    sentence = f"newer sdgad (format {FORMAT_VERSION + 1}; this one reads up to {FORMAT_VERSION})"
    refused(model, sentence)


@pytest.mark.parametrize("version", [None, 0, -1, "1", 1.0, True])
def test_a_config_without_a_valid_version_is_refused(model: Path, version: object) -> None:
    (model / "config.json").write_text(json.dumps({"format_version": version}))
    refused(model, "no valid format_version")


# ---------------------------------------------------------------- pickles


class Bomb:
    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return os.mkdir, ("exploded",)


@pytest.mark.parametrize("suffix", [".pkl", ".pickle", ".pt", ".pth", ".joblib", ".bin", ".ckpt", ".PKL"])
def test_a_pickle_by_name_is_refused_wherever_it_lies(model: Path, suffix: str) -> None:
    (model / "deep").mkdir()
    (model / "deep" / f"extra{suffix}").write_bytes(b"harmless")
    refused(model, f"extra{suffix} is a pickle")


@pytest.mark.parametrize("name", [name for name in PARTS if name != "config.json"])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_by_content_is_refused_and_never_run(
    model: Path, monkeypatch: pytest.MonkeyPatch, name: str, protocol: int
) -> None:
    monkeypatch.chdir(model.parent)
    (model / name).write_bytes(pickle.dumps({"weights": Bomb()}, protocol=protocol))
    resign(model)
    refused(model, f"{name} is a pickle")
    assert not Path("exploded").exists()


@pytest.mark.parametrize("zipped", [True, False])
def test_a_torch_file_named_safetensors_is_refused(model: Path, zipped: bool) -> None:
    torch.save({"w": torch.zeros(3)}, model / "model.safetensors", _use_new_zipfile_serialization=zipped)
    resign(model)
    refused(model, "model.safetensors is a pickle")


@pytest.mark.parametrize("length", [0x0280, 0x0380, 0x0480, 0x0580])
def test_a_header_length_that_spells_a_pickle_is_no_pickle(model: Path, length: int) -> None:
    header = len('{"":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}')
    files = example(weights={"n" * (length - header): np.zeros(2)})
    write_folder(model, files)
    assert (model / "model.safetensors").read_bytes()[:8] == length.to_bytes(8, "little")
    assert_same(read_folder(model), files)


# ---------------------------------------------------------------- the manifest


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "deep/config.json", "notes.txt", "manifest.json"]
)
def test_a_manifest_that_names_other_files_is_refused(model: Path, name: str) -> None:
    (model.parent / "secret").write_text("s")
    resign(model, **{name: {"size": 1, "sha256": hashlib.sha256(b"s").hexdigest()}})
    refused(model, "manifest.json names", name)


def test_a_linked_file_is_refused(model: Path) -> None:
    (model / "card.md").rename(model.parent / "elsewhere.md")
    (model / "card.md").symlink_to(model.parent / "elsewhere.md")
    refused(model, "card.md is a link")


@pytest.mark.parametrize(
    "manifest",
    [{}, {"files": []}, {"files": {"card.md": 3}}, {"files": {"card.md": {"size": "3", "sha256": ""}}}],
)
def test_a_manifest_of_another_shape_is_refused(model: Path, manifest: dict[str, Any]) -> None:
    (model / "manifest.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")
    refused(model, "manifest.json")


def test_foreign_files_beside_a_model_do_no_harm_to_reading(model: Path) -> None:
    (model / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    (model / "notes.txt").write_text("ours")
    assert_same(read_folder(model), example())


# ---------------------------------------------------------------- writing


def test_an_older_model_is_replaced_and_nothing_is_left_beside_it(model: Path) -> None:
    write_folder(model, example(card="new", vocabulary=None))
    assert_same(read_folder(model), example(card="new", vocabulary=None))
    assert [file.name for file in model.parent.iterdir()] == ["model"]


def test_an_empty_folder_and_a_damaged_model_may_be_replaced(tmp_path: Path, model: Path) -> None:
    (tmp_path / "empty").mkdir()
    (model / "model.safetensors").write_bytes(b"")
    for path in (tmp_path / "empty", model):
        write_folder(path, example())
        assert_same(read_folder(path), example())


def test_a_folder_that_is_not_a_model_is_never_replaced(tmp_path: Path) -> None:
    for number, content in enumerate(
        (["thesis.docx"], ["config.json"], ["manifest.json", "card.md"], [".git"])
    ):
        path = tmp_path / f"documents-{number}"
        path.mkdir()
        for name in content:
            (path / name).write_text("precious")
        with pytest.raises(ModelFolderError, match=f"{path.name} cannot be written: it already exists"):
            write_folder(path, example())
        assert sorted(file.name for file in path.iterdir()) == sorted(content)


def test_a_model_with_a_foreign_file_in_it_is_never_replaced(model: Path) -> None:
    (model / "notes.txt").write_text("precious")
    with pytest.raises(ModelFolderError, match=r"holds 'notes\.txt'"):
        write_folder(model, example(card="new"))
    assert (model / "notes.txt").read_text() == "precious"
    assert_same(read_folder(model), example())


def test_a_link_to_a_model_stays_a_link(tmp_path: Path, model: Path) -> None:
    (tmp_path / "current").symlink_to(model)
    write_folder(tmp_path / "current", example(card="new"))
    assert (tmp_path / "current").is_symlink()
    assert read_folder(model).card == "new"


def test_a_file_in_the_way_and_a_missing_parent_are_input_errors(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path / "no" / "model"):
        with pytest.raises(InputError):
            write_folder(path, example())


@pytest.mark.parametrize("crash", [KeyboardInterrupt, MemoryError, OSError])
@pytest.mark.parametrize("written", range(7))
def test_a_crash_in_the_middle_leaves_the_old_model(
    model: Path, monkeypatch: pytest.MonkeyPatch, written: int, crash: type[BaseException]
) -> None:
    seal, count = module._seal, iter(range(7))

    def fail(file: Path) -> dict[str, Any]:
        if next(count) == written:
            raise crash("no space left")
        return seal(file)

    monkeypatch.setattr(module, "_seal", fail)
    with pytest.raises(ModelFolderError if crash is OSError else crash, match="no space left"):
        write_folder(model, example(card="new"))
    assert_same(read_folder(model), example())
    assert [file.name for file in model.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("copied", range(len(PARTS) + 1))
def test_a_half_copied_folder_is_refused(tmp_path: Path, model: Path, copied: int) -> None:
    (tmp_path / "copy").mkdir()
    for name in [*PARTS, "manifest.json"][:copied]:
        shutil.copy(model / name, tmp_path / "copy" / name)
    refused(tmp_path / "copy", "missing")


@pytest.mark.parametrize(
    ("changes", "file"),
    [
        ({"config": {"format_version": 1}}, "config.json"),
        ({"config": {"a": {1: 2}}}, "config.json"),
        ({"config": {"a": {"$float": "nan"}}}, "config.json"),
        ({"config": {"a": {1, 2}}}, "config.json"),
        ({"calibration": {"a": np.zeros(2)}}, "calibration.json"),
        ({"weights": {"a": np.array([None])}}, "model.safetensors"),
        ({"weights": {"__metadata__": np.zeros(1)}}, "model.safetensors"),
        ({"state": {"a": np.array(["text"])}}, "state.safetensors"),
        ({"card": "\ud800"}, "card.md"),
    ],
)
def test_what_could_not_come_back_is_not_written(tmp_path: Path, changes: dict[str, Any], file: str) -> None:
    with pytest.raises(ModelFolderError, match=f"model cannot be written: {file}"):
        write_folder(tmp_path / "model", example(**changes))
    assert not any(tmp_path.iterdir())


def test_the_vocabulary_is_a_parquet_file_that_others_can_read(model: Path) -> None:
    assert pq.read_table(model / "vocabulary.parquet")["id"].to_pylist() == ["a b", "💸", ""]
