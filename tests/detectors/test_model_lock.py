"""One process writes a model at a time; the second waits, and a killed one holds nobody up."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

import pytest

from sdgad.detectors.model_lock import model_lock
from sdgad.errors import InputError, ModelFolderError

from .one_model import beside, started


def hold(path: Path, ready: Path) -> None:
    with model_lock(path):
        ready.touch()
        time.sleep(60)


@pytest.fixture
def held(tmp_path: Path) -> Path:
    """A model whose lock another process holds, and is killed in the end."""
    path, ready = tmp_path / "model", tmp_path / "ready"
    process = started(hold, path, ready)
    while not ready.exists():
        time.sleep(0.01)
    yield path
    process.kill()
    process.join()


def test_who_comes_second_gives_up_with_one_sentence_that_names_the_first(held: Path) -> None:
    start = time.monotonic()
    with (
        pytest.raises(
            ModelFolderError, match=r"model is being written by process \d+, which did not end within 0\.3"
        ),
        model_lock(held, wait=0.3),
    ):
        pass
    assert time.monotonic() - start < 5


def test_a_killed_process_holds_nobody_up_and_its_file_goes(held: Path, tmp_path: Path) -> None:
    path, ready = tmp_path / "other", tmp_path / "other-ready"
    process = started(hold, path, ready)
    while not ready.exists():
        time.sleep(0.01)
    process.kill()
    process.join()
    assert beside(path) == [".other.lock"]
    with model_lock(path, wait=0):
        pass
    assert beside(path) == []
    assert beside(held) == [".model.lock"]


def test_threads_of_one_process_come_one_after_the_other_and_say_that_they_wait(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(5):
            with model_lock(tmp_path / "model"):
                inside += 1
                most = max(most, inside)
                time.sleep(0.005)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    with caplog.at_level(logging.WARNING, "sdgad"):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert most == 1
    assert "waiting for it" in caplog.text
    assert beside(tmp_path / "model") == []


def test_what_is_done_within_may_ask_for_it_again_also_by_another_name(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "model")
    with (
        model_lock(tmp_path / "model"),
        model_lock(tmp_path / "model", wait=0),
        model_lock(tmp_path / "link", wait=0),
    ):
        pass


def test_a_place_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"), model_lock(tmp_path / "no" / "model"):
        pass
