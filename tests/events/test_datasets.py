"""A dataset is the same stream whichever file it came from, and it is found where one would look."""

from __future__ import annotations

import importlib.metadata
import logging
import os
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sdgad
from sdgad.errors import InputError
from sdgad.events.datasets.dataset import MODULES, Dataset, datasets, list_datasets
from sdgad.events.datasets.loading import import_dataset, load_dataset
from sdgad.events.datasets.places import cache, find
from sdgad.events.stream import EventStream
from sdgad.events.write import write_events
from sdgad.registry import Registry

from .published import college_messages, dgb, jodie, midas, same, shared


@pytest.fixture(autouse=True)
def an_empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No dataset anywhere, and no way to download one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.delenv("SDGAD_DATA", raising=False)
    for name in list_datasets():
        monkeypatch.setattr(datasets.get(name), "sources", ())
    return tmp_path


def as_shared(path: Path, csv: Path) -> Path:
    """The events of a JODIE file as `data/README.md` describes ours: users before items, a list of features."""
    values = np.loadtxt(csv, delimiter=",", skiprows=1)
    users, items = values[:, 0].astype(np.int32), values[:, 1].astype(np.int32)
    width = values.shape[1] - 4
    flat = pa.array(values[:, 4:].astype(np.float32).reshape(-1))
    columns = {
        "src": np.unique(users, return_inverse=True)[1].astype(np.int32),
        "dst": (np.unique(items, return_inverse=True)[1] + len(np.unique(users))).astype(np.int32),
        "t": values[:, 2],
        "label": values[:, 3].astype(np.int8),
        "msg": pa.FixedSizeListArray.from_arrays(flat, width),
    }
    pq.write_table(pa.table(columns), path)
    return path


# ---------------------------------------------------------------------- what is declared
def test_every_dataset_says_where_it_is_and_what_is_known_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert set(list_datasets()) >= {"wikipedia", "reddit", "mooc", "lastfm", "enron", "uci", "darpa"}
    assert sdgad.list_datasets() == list_datasets()
    for name in list_datasets():
        dataset = datasets.get(name)
        assert dataset.title
        assert dataset.licence
        assert dataset.figures is not None
        assert dataset.sources
        assert all(source.url.startswith("https://") for source in dataset.sources)
        assert all(source.sha256 is None for source in dataset.sources)  # nobody told us any
        assert dataset.sources[0].file == dataset.files[0]
        with pytest.raises(FrozenInstanceError):
            dataset.figures.nodes = 1  # type: ignore[misc]


def test_datasets_of_other_packages_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ours(Dataset):
        title = "ours"

    class Point:
        name, value = "ours", "package:Ours"

        def load(self) -> type[Dataset]:
            return Ours

    monkeypatch.setattr(
        "sdgad.registry.entry_points", lambda group: [Point()] if group == "sdgad.datasets" else []
    )
    registry: Registry[Dataset] = Registry("dataset", "sdgad.datasets", modules=MODULES[:1], base=Dataset)
    assert registry.get("ours") is Ours
    assert importlib.metadata.entry_points is not None


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"no dataset named 'wikipeda' \(did you mean 'wikipedia'\?\)"):
        load_dataset("wikipeda")


# ---------------------------------------------------------------------- one stream, many files
@pytest.mark.parametrize(("name", "width"), [("wikipedia", 172), ("reddit", 172), ("mooc", 4)])
def test_jodie_files_and_parquet_give_the_same_stream(name: str, width: int, tmp_path: Path) -> None:
    csv = jodie(tmp_path / f"{name}.csv", width=width)
    published = load_dataset(name, data=csv)
    same(published, load_dataset(name, data=as_shared(tmp_path / "ours.parquet", csv)))
    assert published.bipartite
    assert published.num_features == width
    assert published.label.sum() == 6
    assert published.t.dtype == np.float64
    assert (published.t[0], published.t[-1]) == (0.0, 43.5)
    write_events(published, tmp_path / "again.parquet")
    same(published, load_dataset(name, data=tmp_path / "again.parquet"))


def test_lastfm_has_neither_labels_nor_features(tmp_path: Path) -> None:
    csv = jodie(tmp_path / "lastfm.csv", width=1, labelled=False)
    events = load_dataset("lastfm", data=csv)
    assert events.msg is None
    assert events.bipartite
    assert np.all(events.label == 0)
    same(events, load_dataset("lastfm", data=as_shared(tmp_path / "lastfm.parquet", csv)))


def test_labels_where_there_can_be_none_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        events = load_dataset("lastfm", data=jodie(tmp_path / "lastfm.csv", labelled=True))
    assert np.all(events.label == 0)
    assert "its labels are not used, since lastfm has none" in caplog.text


@pytest.mark.parametrize("file", ["CollegeMsg.txt", "CollegeMsg.txt.gz"])
def test_college_messages_are_uci(file: str, tmp_path: Path) -> None:
    ours = load_dataset("uci", data=shared("uci"))
    same(ours, load_dataset("uci", data=college_messages(tmp_path / file, ours)))


def test_the_zip_of_dgb_is_enron(tmp_path: Path) -> None:
    ours = load_dataset("enron", data=shared("enron"))
    same(ours, load_dataset("enron", data=dgb(tmp_path / "enron.zip", ours)))
    assert {path.name for path in tmp_path.iterdir()} == {"enron.zip"}


def test_the_file_of_midas_is_darpa(tmp_path: Path) -> None:
    events = load_dataset("darpa", data=midas(tmp_path / "darpa_original.csv"))
    assert events.src.tolist() == [0, 1, 2, 0]  # by first appearance
    assert events.dst.tolist() == [1, 0, 1, 2]
    month = 29 * 86_400 + 15 * 3_600 + 59 * 60  # from 8:00 on the 1st to 23:59 on the 30th
    assert events.t.tolist() == [0.0, 0.0, month, month + 120]
    assert events.label.tolist() == [0, 0, 1, 1]
    write_events(events, tmp_path / "darpa.parquet")
    same(events, load_dataset("darpa", data=tmp_path / "darpa.parquet"))


def test_darpa_in_our_form_is_numbered_as_the_published_one_would_be() -> None:
    path = shared("darpa")
    table = pq.read_table(path, columns=["src", "dst"]).slice(0, 50_000)
    both = np.stack([table["src"].to_numpy(), table["dst"].to_numpy()], axis=1).reshape(-1)
    _, seen = np.unique(both, return_index=True)
    assert np.all(np.diff(seen) > 0)


def test_a_dataset_as_any_table_will_do(tmp_path: Path) -> None:
    events = load_dataset("darpa", data=midas(tmp_path / "darpa_original.csv"))
    for name in ("darpa.csv", "darpa.jsonl", "darpa.tsv"):
        write_events(events, tmp_path / name)
        same(events, load_dataset("darpa", data=tmp_path / name))


# ---------------------------------------------------------------------- where it is looked for
def test_the_named_folder_comes_before_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def size() -> int:
        return len(load_dataset("mooc", download=False))

    import_dataset("mooc", jodie(tmp_path / "a.csv", rows=10), force=True)
    assert size() == 10
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("SDGAD_DATA", str(folder))
    assert size() == 10
    jodie(folder / "mooc.csv", rows=20)
    assert size() == 20
    as_shared(folder / "mooc.parquet", jodie(tmp_path / "b.csv", rows=30))
    assert size() == 30
    other = tmp_path / "other"
    other.mkdir()
    assert len(load_dataset("mooc", data=other)) == 10  # not there, so from the cache
    jodie(other / "mooc.csv", rows=40)
    assert len(load_dataset("mooc", data=other)) == 40


def test_what_is_not_here_is_an_error_that_says_how_to_get_it() -> None:
    with pytest.raises(InputError, match=r"reddit is not here.*sdgad data fetch reddit.*import reddit FILE"):
        load_dataset("reddit", download=False)
    with pytest.raises(InputError, match=r"^nowhere does not exist\.$"):
        load_dataset("reddit", data="nowhere")


def test_a_folder_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SDGAD_DATA", str(tmp_path / "gone"))
    with pytest.raises(InputError, match=r"^SDGAD_DATA names .*gone, which is no folder\.$"):
        find(datasets.get("uci"))
    monkeypatch.setenv("SDGAD_DATA", "")
    assert find(datasets.get("uci")) is None


def test_the_cache_is_where_the_system_wants_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache() == tmp_path / "caches" / "sdgad" / "datasets"
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr("sys.platform", "linux")
    assert cache() == tmp_path / ".cache" / "sdgad" / "datasets"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache() == tmp_path / "Library" / "Caches" / "sdgad" / "datasets"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache() == tmp_path / "local" / "sdgad" / "datasets"


# ---------------------------------------------------------------------- copies from elsewhere
def test_an_imported_file_is_what_is_loaded_from_then_on(tmp_path: Path) -> None:
    csv = jodie(tmp_path / "download.csv")
    kept = import_dataset("reddit", csv, force=True)
    assert kept == cache() / "reddit.parquet"
    assert [path.name for path in cache().iterdir()] == ["reddit.parquet"]
    events = load_dataset("reddit", data=csv)
    csv.unlink()
    same(events, load_dataset("reddit", download=False))


def test_the_wrong_file_is_refused_or_kept_but_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = jodie(tmp_path / "wikipedia.csv")
    with pytest.raises(InputError) as refused:
        import_dataset("mooc", file)
    assert str(refused.value).startswith(f"{file} is not mooc: nodes 12, not 7,144, events 60, not 411,749, ")
    assert str(refused.value).endswith("; `sdgad data import mooc FILE --force` takes it all the same.")
    assert caplog.text == ""
    assert not cache().exists()
    import_dataset("mooc", file, force=True)
    assert (
        "differs from what the paper says of it: nodes 12, not 7,144, events 60, not 411,749" in caplog.text
    )
    assert len(load_dataset("mooc", download=False)) == 60


@pytest.mark.parametrize("known", [{"nodes": 12}, {"events": 60}])
def test_a_file_with_the_nodes_or_the_events_of_a_dataset_is_a_copy_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, known: dict[str, int]
) -> None:
    dataset = datasets.get("mooc")
    monkeypatch.setattr(dataset, "figures", replace(dataset.figures, **known))
    import_dataset("mooc", jodie(tmp_path / "cut.csv"))
    assert "cut.csv is kept as mooc, but differs" in caplog.text
    assert len(load_dataset("mooc", download=False)) == 60


def test_the_right_file_is_kept_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    import_dataset("mooc", shared("mooc"))
    import_dataset("enron", shared("enron"))
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("name", "file", "content", "complaint"),
    [
        ("mooc", "x.csv", b"", "x.csv is empty"),
        ("mooc", "x.csv", b"a,b\n1,2\n", "x.csv has no column for the source"),
        ("mooc", "x.txt", b"1 2 3\n", "x.txt has no known format"),
        ("mooc", "x.parquet", b"PAR1", "x.parquet is not a readable Parquet file"),
        ("uci", "x.txt", b"1 2\n3 4\n", "x.txt is not the published uci"),
        (
            "uci",
            "x.txt",
            b"1 2 3\n4 5\n",
            "x.txt is not the published uci, row 2: 2 fields where there should be 3.",
        ),
        (
            "uci",
            "x.txt",
            b"\xff \xfe \x00\n",
            "x.txt is not the published uci: it is no text.",
        ),
        ("uci", "x.txt", b"1 2 noon\n", "x.txt, column 't', row 1: 'noon' is not a time"),
        ("uci", "x.txt.gz", b"1 2 3\n", "x.txt.gz is not gzip, though"),
        ("enron", "x.zip", b"PK", "x.zip is no readable zip archive"),
        ("darpa", "x.csv", b"1,2,06/01/1998-08:00,-\n1,2,6/1,-\n", "x.csv, column 't', row 2: '6/1' is not"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_leaves_nothing(
    name: str, file: str, content: bytes, complaint: str, tmp_path: Path
) -> None:
    path = tmp_path / file
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        import_dataset(name, path)
    assert complaint in str(caught.value)
    assert str(path) in str(caught.value)
    assert not cache().exists()


@pytest.mark.parametrize("path", ["gone.csv", "."])
def test_only_a_file_can_be_imported(path: str) -> None:
    with pytest.raises(InputError, match=r"does not exist|is a folder"):
        import_dataset("uci", path)


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdgad.events.datasets.unpacking.LARGEST", 1_000)
    events = EventStream(np.zeros(500, int), np.ones(500, int), np.arange(500.0))
    for name, file in (
        ("uci", college_messages(tmp_path / "uci.txt.gz", events)),
        ("enron", dgb(tmp_path / "enron.zip", events)),
    ):
        with pytest.raises(InputError, match=f"{file.name} unpacks to more than 1,000 bytes"):
            import_dataset(name, file)


def test_an_archive_without_the_file_is_told(tmp_path: Path) -> None:
    events = EventStream([0], [1], [0.0])
    with pytest.raises(InputError, match=r"holds none of wikipedia\.csv, ml_wikipedia\.csv"):
        import_dataset("wikipedia", dgb(tmp_path / "enron.zip", events))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_cache_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match=r"The cache .* cannot be made"):
        import_dataset("mooc", shared("mooc"))
