"""`sdgad update`: no update is lost, whoever else writes; a bad one can be taken back; the model is there after any kill."""

from __future__ import annotations

import shutil
import threading
import time
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import pytest
from tests.detectors.one_model import beside, command, started

from sdgad.cli.main import run
from sdgad.detectors import load
from sdgad.detectors.archive import Archive, Arrivals
from sdgad.detectors.model_lock import model_lock
from sdgad.errors import ModelFolderError
from sdgad.events.simulator import simulate_payments
from sdgad.events.write import write_events

from .conftest import Command

WRITERS, GROUP, SLOW_WRITERS = 4, 8, 100  # updates of one model, and how many at a time
KILLS, SLOW_KILLS = 4, 100  # of updates


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the model `model` and single events of later times."""
    folder = tmp_path_factory.mktemp("update")
    events = simulate_payments(300 + SLOW_WRITERS, anomaly_rate=0.05, seed=2)
    write_events(events[:300], folder / "past.parquet")
    for i in range(SLOW_WRITERS):
        write_events(events[300 + i : 301 + i], folder / f"event-{i}.parquet")
    fit = ["fit", f"{folder}/past.parquet", "-o", f"{folder}/model", "--detector", "isolation-forest"]
    assert run([*fit, "--set", "trees=3", "--set", "samples=16"]) == 0
    return folder


@pytest.fixture
def place(fresh: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    shutil.copytree(fresh / "model", tmp_path / "model")
    for file in fresh.glob("event-*"):
        (tmp_path / file.name).symlink_to(file)
    return tmp_path


def size(model: Path) -> int:
    return load(model).history_size[0]


def bytes_of(model: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in model.iterdir() if file.is_file()}


# ---------------------------------------------------------------- undo


def test_the_last_update_is_undone_and_only_that(place: Path, sdgad: Command) -> None:
    model = place / "model"
    for i in range(2):
        assert sdgad("update", model, place / f"event-{i}.parquet").code == 0
        assert "can be undone" in sdgad("info", model).out
    assert size(model) == 302
    undone = sdgad("update", model, "--undo")
    assert (undone.code, undone.err) == (0, "")
    assert "is undone, the history is again 301 events" in undone.out
    again = sdgad("update", model, "--undo")
    assert again.code == 2
    assert again.err.count("\n") == 1
    assert "has nothing to undo" in again.err
    assert size(model) == 301
    assert "can be undone" not in sdgad("info", model).out
    assert beside(model) == []


def test_the_model_before_an_update_comes_back_to_the_byte(place: Path, sdgad: Command) -> None:
    model = place / "model"
    before = bytes_of(model)
    assert sdgad("update", model, place / "event-0.parquet").code == 0
    assert bytes_of(model) != before
    assert bytes_of(model / "previous") == before
    assert sdgad("update", model, "--undo").code == 0
    assert bytes_of(model) == before
    assert not (model / "previous").exists()
    assert beside(model) == []


def test_nothing_to_undo_is_one_sentence(place: Path, sdgad: Command) -> None:
    model = place / "model"
    for words, said in (
        (["--undo"], "has nothing to undo"),
        ([], "EVENTS"),
        ([place / "event-0.parquet", "--undo"], "leave"),
    ):
        outcome = sdgad("update", model, *words)
        assert outcome.code == 2
        assert said in outcome.err
        assert outcome.err.count("\n") == 1
    missing = sdgad("update", place / "nobody", "--undo")
    assert missing.code == 2
    assert "nobody does not exist" in missing.err


def test_a_new_threshold_ends_the_undo(place: Path, sdgad: Command) -> None:
    model = place / "model"
    assert sdgad("update", model, place / "event-0.parquet").code == 0
    assert sdgad("threshold", model, "0.5").code == 0
    assert "has nothing to undo" in sdgad("update", model, "--undo").err
    assert size(model) == 301


def test_a_damaged_earlier_model_is_not_brought_back(place: Path, sdgad: Command) -> None:
    model = place / "model"
    assert sdgad("update", model, place / "event-0.parquet").code == 0
    now = bytes_of(model)
    weights = model / "previous" / "model.safetensors"
    damaged = bytearray(weights.read_bytes())
    weights.unlink()  # it is a link to what may be another's
    damaged[-1] ^= 1
    weights.write_bytes(damaged)
    outcome = sdgad("update", model, "--undo")
    assert outcome.code == 2
    assert "stays as it is" in outcome.err
    assert bytes_of(model) == now


def test_a_model_that_cannot_be_loaded_never_takes_the_place_of_one_that_can(
    place: Path, sdgad: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = place / "model"
    before, extended = bytes_of(model), Archive.extended

    def poisoned(self: Archive, arrivals: Arrivals) -> Archive:
        grown = extended(self, arrivals)
        return replace(grown, log=replace(grown.log, t=grown.log.t[::-1].copy()))  # not in order of time

    monkeypatch.setattr(Archive, "extended", poisoned)
    outcome = sdgad("update", model, place / "event-0.parquet")
    assert outcome.code == 2
    assert "stays as it is" in outcome.err
    assert bytes_of(model) == before
    assert beside(model) == []


# ---------------------------------------------------------------- several at once


def finish(processes: list[BaseProcess]) -> None:
    for process in processes:
        process.join(300)
        assert process.exitcode == 0


def write_at_once(place: Path, writers: int) -> None:
    """All updates come into the history, in groups of eight, each by a process of its own."""
    model, before = place / "model", size(place / "model")
    for first in range(0, writers, GROUP):
        group = range(first, min(first + GROUP, writers))
        words = [["update", str(model), str(place / f"event-{i}.parquet")] for i in group]
        finish([started(command, each, place / f"notes-{i}") for i, each in zip(group, words, strict=True)])
    assert size(model) == before + writers
    assert beside(model) == []


def test_no_update_of_four_at_once_is_lost(place: Path) -> None:
    write_at_once(place, WRITERS)


@pytest.mark.slow
def test_no_update_of_a_hundred_is_lost(place: Path) -> None:
    write_at_once(place, SLOW_WRITERS)


def test_updates_and_thresholds_do_not_undo_each_other(place: Path) -> None:
    model = place / "model"
    words = [["update", str(model), str(place / f"event-{i}.parquet")] for i in range(3)]
    words.insert(1, ["threshold", str(model), "0.123"])
    finish([started(command, each, place / f"notes-{i}") for i, each in enumerate(words)])
    detector = load(model)
    assert (detector.history_size[0], detector.threshold_) == (303, 0.123)


def test_who_cannot_wait_says_so_and_changes_nothing(place: Path) -> None:
    model, notes = place / "model", place / "notes"
    before = bytes_of(model)
    for words in (["update", str(model), str(place / "event-0.parquet")], ["threshold", str(model), "0.5"]):
        with model_lock(model):
            process = started(command, [*words, "--wait", "0.2"], notes)
            process.join(60)
        assert process.exitcode == 2
        assert "is being written by process" in notes.read_text()
        assert notes.read_text().count("\n") == 1
    assert bytes_of(model) == before


def test_who_waited_says_so(place: Path, sdgad: Command) -> None:
    model, holds = place / "model", threading.Event()

    def hold() -> None:
        with model_lock(model):
            holds.set()
            time.sleep(0.5)

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    outcome = sdgad("update", model, place / "event-0.parquet")
    thread.join()
    assert outcome.code == 0
    assert "is being written by process" in outcome.err
    assert "waiting for it" in outcome.err
    assert size(model) == 301


def test_the_library_does_not_write_over_what_another_wrote(place: Path) -> None:
    model = place / "model"
    one, other = load(model), load(model)
    one.set_threshold(0.25).save(model)
    one.set_threshold(0.26).save(model)  # its own work
    other.set_threshold(0.75)
    with pytest.raises(ModelFolderError, match="was changed by another") as caught:
        other.save(model)
    assert str(caught.value).count(". ") == 0
    assert load(model).threshold_ == 0.26
    other.save(place / "another")
    shutil.rmtree(model)
    other.save(model)
    with model_lock(model):
        load(model).set_threshold(0.5).save(model)
    assert load(model).threshold_ == 0.5


# ---------------------------------------------------------------- kills


def survive(place: Path, kills: int, one_step: bool) -> None:
    """Kill updates at moments that seed 0 chooses: each happened or did not, and the next one leaves nothing behind."""
    model, rng, now = place / "model", np.random.default_rng(0), size(place / "model")
    words = ["update", str(model), str(place / "event-0.parquet")]
    start = time.monotonic()
    finish([started(command, words, place / "notes", one_step)])
    usual, now = time.monotonic() - start, now + 1
    for _ in range(kills):
        process = started(command, words, place / "notes", one_step)
        process.join(rng.uniform(0, usual))
        process.kill()
        process.join()
        found = size(model)
        assert found in (now, now + 1)
        now = found
    finish([started(command, words, place / "notes", one_step)])
    assert size(model) == now + 1
    assert beside(model) == []


def test_a_killed_update_happened_or_did_not(place: Path) -> None:
    survive(place, KILLS, one_step=True)


@pytest.mark.slow
@pytest.mark.parametrize("one_step", [True, False], ids=["swap", "two renames"])
def test_many_killed_updates_happened_or_did_not(place: Path, one_step: bool) -> None:
    survive(place, SLOW_KILLS // 2, one_step)


# ---------------------------------------------------------------- output in a model


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x.csv", ["score", "MODEL", "EVENTS", "-o", "OUT"]),
        ("card.jsonl", ["score", "MODEL", "EVENTS", "-o", "OUT"]),
        ("vocabulary.parquet", ["score", "MODEL", "EVENTS", "-o", "OUT"]),
        ("x.html", ["report", "MODEL", "EVENTS", "-o", "OUT"]),
        ("x.csv", ["inject", "EVENTS", "-o", "OUT"]),
        ("sub", ["fit", "EVENTS", "-o", "OUT", "--detector", "midas"]),
        ("sub", ["demo", "--out", "OUT"]),
        ("sub", ["stream", "MODEL", "--state", "OUT"]),
        ("previous", ["stream", "MODEL", "--state", "OUT"]),
        ("manifest.json", ["score", "MODEL", "EVENTS", "-o", "OUT"]),
    ],
)
def test_output_into_a_model_is_refused(
    place: Path, fresh: Path, sdgad: Command, name: str, words: list[str]
) -> None:
    model = place / "model"
    before = bytes_of(model)
    places = {"MODEL": model, "EVENTS": fresh / "past.parquet", "OUT": model / name}
    outcome = sdgad(*(places.get(word, word) for word in words))
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    if name != "manifest.json":  # whose suffix is none of a table
        assert "lies in the model folder" in outcome.err
    assert bytes_of(model) == before
    assert sorted(file.name for file in model.iterdir()) == sorted(before)
