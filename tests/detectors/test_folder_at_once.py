"""Several processes and one model folder: no mixture, no lost model, nothing left behind."""

from __future__ import annotations

import os
import shutil
import stat
import time
from pathlib import Path

import numpy as np
import pytest

from sdgad import atomic
from sdgad.detectors.folder import read_folder, write_folder
from sdgad.errors import InputError, ModelFolderError

from .one_model import beside, number_in, numbered, started, write_on

SECONDS, SLOW_SECONDS = 1.0, 30.0  # of reading while others write
KILLS, SLOW_KILLS = 6, 100  # of a process that saves
WAYS = pytest.mark.parametrize("one_step", [True, False], ids=["swap", "two renames"])


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_folder(tmp_path / "model", numbered(0))
    return tmp_path / "model"


# ---------------------------------------------------------------- readers


def read_while_others_write(model: Path, seconds: float, one_step: bool, writers: int) -> int:
    processes = [started(write_on, model, 1000 * (i + 1), one_step) for i in range(writers)]
    loads, seen, end = 0, set(), time.monotonic() + 60 + seconds
    try:
        while len(seen) < 5 and time.monotonic() < end:  # they have begun
            seen.add(number_in(model))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            seen.add(number_in(model))
            loads += 1
    finally:
        for process in processes:
            process.kill()
            process.join()
    assert len(seen) > 10, "nobody wrote"
    return loads


@WAYS
def test_a_reader_sees_one_model_however_often_it_is_replaced(model: Path, one_step: bool) -> None:
    read_while_others_write(model, SECONDS, one_step, writers=1)


@pytest.mark.slow
@WAYS
def test_a_reader_sees_one_model_for_long(model: Path, one_step: bool) -> None:
    loads = read_while_others_write(model, SLOW_SECONDS, one_step, writers=2)
    print(f"{loads} loads while two processes saved")


# ---------------------------------------------------------------- kills


def survive(model: Path, kills: int, one_step: bool) -> None:
    """After every kill there is one whole model; after the next save there is nothing beside it."""
    rng = np.random.default_rng(0)
    now = 0
    for _ in range(kills):
        process = started(write_on, model, now + 1, one_step)
        end = time.monotonic() + 60
        while number_in(model) <= now and time.monotonic() < end:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.05))
        process.kill()
        process.join()
        found = number_in(model)
        assert found > now
        now = found + 1
        write_folder(model, numbered(now))
        assert number_in(model) == now
        assert beside(model) == []


@WAYS
def test_a_kill_at_any_moment_leaves_a_whole_model(model: Path, one_step: bool) -> None:
    survive(model, KILLS // 2, one_step)


@pytest.mark.slow
@WAYS
def test_many_kills_leave_a_whole_model(model: Path, one_step: bool) -> None:
    survive(model, SLOW_KILLS // 2, one_step)


class Killed(BaseException):
    """Stands for kill -9, after which nothing is tidied up."""


@pytest.fixture
def killed_between(monkeypatch: pytest.MonkeyPatch, model: Path) -> Path:
    """A model whose save ended between its two renames: it has no name."""
    plain = shutil.rmtree
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)

    def die(self: Path, target: Path) -> Path:
        if self.name == atomic.NEW:
            raise Killed
        return self.replace(target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", die)
        patch.setattr(atomic, "_put", lambda new, target, old: (target.rename(old), new.rename(target)))
        with pytest.raises(Killed):
            write_folder(model, numbered(1))
    monkeypatch.setattr(shutil, "rmtree", plain)
    assert not model.exists()
    assert len(beside(model)) == 1
    return model


def test_a_model_without_a_name_is_recovered_by_the_next_reader_who_says_so(
    killed_between: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert number_in(killed_between) == 0
    assert "was recovered: a save was killed" in caplog.text
    assert beside(killed_between) == []


def test_a_model_without_a_name_is_recovered_by_the_next_writer(killed_between: Path) -> None:
    write_folder(killed_between, numbered(2))
    assert number_in(killed_between) == 2
    assert beside(killed_between) == []


def test_what_an_older_version_left_is_recovered_and_cleared_away(model: Path) -> None:
    old = model.parent / ".model.old.abc_1234"
    old.mkdir()
    model.rename(old / "model")
    assert number_in(model) == 0
    assert beside(model) == []
    (old / "model").mkdir(parents=True)
    write_folder(model, numbered(1))
    assert beside(model) == []


def test_only_what_nobody_works_in_is_cleared_away(model: Path) -> None:
    foreign = model.parent / ".model.backup.part"
    foreign.mkdir()
    (model.parent / ".model.0123abcd.part").mkdir()
    with atomic._workplace(model) as living:
        write_folder(model, numbered(1))
        assert beside(model) == sorted([living.name, foreign.name])
    assert beside(model) == [foreign.name]


def test_a_missing_model_is_still_told_and_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(ModelFolderError, match="model does not exist"):
        read_folder(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- places and modes


@pytest.mark.parametrize("place", ["manifest.json", "x.csv", "previous/x.csv", "deep/down/x.csv"])
def test_output_has_no_place_in_a_model(model: Path, place: str) -> None:
    (model / place).parent.mkdir(parents=True, exist_ok=True)
    before = sorted(model.rglob("*"))
    for make in (atomic.whole_file, atomic.whole_folder):
        with pytest.raises(InputError, match="lies in the model folder"), make(model / place):
            pass
    assert sorted(model.rglob("*")) == before
    assert number_in(model) == 0


@pytest.mark.parametrize("mask", [0o022, 0o027, 0o002, 0o077])
def test_modes_follow_the_umask_alike(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_folder(tmp_path / "model", numbered(0))
        write_folder(tmp_path / "model", numbered(1), undo=True)
        with atomic.whole_file(tmp_path / "out.csv") as file:
            file.unlink()
            file.touch(0o600)  # as a library does that puts a private file in its place
    finally:
        os.umask(before)
    for file in tmp_path.rglob("*"):
        assert stat.S_IMODE(file.stat().st_mode) == (0o777 if file.is_dir() else 0o666) & ~mask, file


def test_a_killed_writer_of_a_file_leaves_nothing_for_long(tmp_path: Path) -> None:
    (tmp_path / ".out.csv.0123abcd.part").mkdir()
    (tmp_path / ".out.csv.0123abcd.part" / "out.csv").write_text("half")
    with atomic.whole_file(tmp_path / "out.csv") as file:
        file.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
