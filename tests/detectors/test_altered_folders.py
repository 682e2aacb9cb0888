"""Whoever alters a model folder, and makes its manifest fit again, gets one clear sentence, or a model that works."""

from __future__ import annotations

import logging
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sdgad.detectors import load, make_detector
from sdgad.errors import ModelFolderError
from sdgad.events.simulator import simulate_payments

from .altering import Folder, altered, resealed

COUNT, SLOW_COUNT = 120, 10_000  # altered folders, every second of them resealed
TINY = {"history": 3, "width": 4, "hidden": 4, "epochs": 1, "bins": 2}
DETECTORS = {
    "midas": ("midas", {"tick": 7200.0, "buckets": 16}),
    "midas-f": ("midas-f", {"tick": 7200.0, "buckets": 16}),
    "boosting": ("boosting", {"max_iter": 5, "history": 5}),
    "isolation-forest": ("isolation-forest", {"trees": 4, "samples": 16, "history": 5}),
    "sdgad": ("sdgad", {**TINY, "projection": 4, "trees": 3, "transforms": 1}),
    "tgn": ("classifier", {**TINY, "encoder": "tgn", "head": (4,), "commit": 20}),
}
EVENTS = simulate_payments(260, anomaly_rate=0.1, seed=3)
NEW = EVENTS[240:]


@pytest.fixture(scope="module")
def shelf() -> Iterator[Path]:
    """A place in memory, where there is such."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def folders(shelf: Path) -> dict[str, Folder]:
    """Model folders by name, as bytes."""
    found = {}
    for name, (detector, options) in DETECTORS.items():
        model = make_detector(detector, seed=0, **options).fit(EVENTS[:160], val=EVENTS[160:240])
        model.save(shelf / name)
        found[name] = {file.name: file.read_bytes() for file in (shelf / name).iterdir()}
    return found


def try_out(path: Path) -> str:
    """What becomes of a folder: refused, or a model whose scores are numbers from 0 to 1."""
    try:
        model = load(path)
    except ModelFolderError as problem:
        sentence = str(problem)
    else:
        sentence = ""
    if sentence:
        assert "\n" not in sentence
        assert sentence.endswith(".")
        assert str(path) in sentence
        return "refused"
    try:
        scores = model.decision_function(NEW)
    except ModelFolderError:  # weights that are numbers, and no network
        return "refused when it scored"
    assert len(scores) == len(NEW)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert ((model.p_value(scores) > 0) & (model.p_value(scores) <= 1)).all()
    assert np.isfinite(model.threshold_)
    return "loaded"


def alter(folders: dict[str, Folder], shelf: Path, count: int) -> dict[str, Counter[str]]:
    rng = np.random.default_rng(0)
    found = {"as it was": Counter[str](), "resealed": Counter[str]()}
    path = shelf / "altered"
    path.mkdir(exist_ok=True)
    names = sorted(folders)
    for number in range(count):
        name = names[number // 2 % len(names)]
        what, folder = altered(folders[name], rng)
        sealed = number % 2 == 1
        folder = resealed(folder) if sealed else folder
        for file in path.iterdir():
            file.unlink()
        for file, content in folder.items():
            (path / file).write_bytes(content)
        try:
            outcome = try_out(path)
        except Exception as problem:
            raise AssertionError(
                f"{number}: {name}, {what}, sealed {sealed}: {type(problem).__name__}: {problem}"
            ) from problem
        same = folder == folders[name]
        assert sealed or same or outcome == "refused", f"{number}: {name}, {what}: nobody noticed"
        found["resealed" if sealed else "as it was"][outcome] += 1
    return found


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "sdgad")


def test_folders_as_they_were_score(folders: dict[str, Folder], shelf: Path) -> None:
    for name in folders:
        assert try_out(shelf / name) == "loaded"


def test_an_altered_folder_is_refused_or_works(folders: dict[str, Folder], shelf: Path) -> None:
    alter(folders, shelf, COUNT)


@pytest.mark.slow
def test_ten_thousand_altered_folders_are_refused_or_work(folders: dict[str, Folder], shelf: Path) -> None:
    start = time.perf_counter()
    found = alter(folders, shelf, SLOW_COUNT)
    print(f"{SLOW_COUNT} altered folders in {time.perf_counter() - start:.0f} s: {found}")
