"""Whoever alters a model folder, and makes its manifest fit again, gets one clear sentence, or a model that works."""

from __future__ import annotations

import io
import json
import logging
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from sdgad.detectors import load, make_detector
from sdgad.errors import ModelFolderError
from sdgad.events.simulator import simulate_payments

from .altering import Folder, altered, resealed

COUNT, SLOW_COUNT = 120, 10_000  # altered folders, every second of them resealed
TINY = {"history": 3, "width": 4, "hidden": 4, "epochs": 1, "bins": 2}
LOOKING_BACK = {"snapshot": 50, "epochs": 1, "width": 4, "window": 2}
DETECTORS = {
    "midas": ("midas", {"tick": 7200.0, "buckets": 16}),
    "midas-f": ("midas-f", {"tick": 7200.0, "buckets": 16}),
    "boosting": ("boosting", {"max_iter": 5, "history": 5}),
    "isolation-forest": ("isolation-forest", {"trees": 4, "samples": 16, "history": 5}),
    "histogram": ("histogram", {"bins": 3, "history": 5}),
    "edgebank": ("edgebank", {"memory": "window"}),
    "sdgad": ("sdgad", {**TINY, "projection": 4, "trees": 3, "transforms": 1}),
    "sad": ("sad", {**TINY, "hop": 2, "head": (4,), "bank": 8}),
    "generaldyg": ("generaldyg", {**TINY, "hop": 2, "edges": 4, "depth": 1, "feed": 4, "head": (4,)}),
    "netwalk": (
        "netwalk",
        {"snapshot": 50, "width": 3, "walks": 1, "passes": 1, "clusters": 2, "reservoir": 3},
    ),
    "addgraph": ("addgraph", {"snapshot": 50, "epochs": 1, "width": 4, "window": 2}),
    "strgnn": ("strgnn", {**LOOKING_BACK, "hidden": 4, "neighbours": 3}),
    "taddy": ("taddy", {**LOOKING_BACK, "nodes": 2, "listed": 4}),
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


# ---------------------------------------------------------------- one by one


def change_json(folder: Folder, name: str, *keys: Any, value: Any) -> Folder:
    whole = json.loads(folder[name])
    inner = whole
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return {**folder, name: (json.dumps(whole, indent=2, sort_keys=True) + "\n").encode()}


def change_array(folder: Folder, name: str, key: str, change: Callable[[Any], Any]) -> Folder:
    arrays = load_arrays(folder[name])
    changed = change(arrays[key].copy())
    arrays[key] = arrays[key] if changed is None else changed
    return {**folder, name: save_arrays({each: np.array(array, order="C") for each, array in arrays.items()})}


def without_arrays(folder: Folder, name: str, start: str) -> Folder:
    """Without those whose names begin so."""
    kept = {key: array for key, array in load_arrays(folder[name]).items() if not key.startswith(start)}
    return {**folder, name: save_arrays(kept)}


def put(place: Any, value: Any) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array[place] = value
        return array

    return change


CONFIG, CALIBRATION, WEIGHTS, STATE = (
    "config.json",
    "calibration.json",
    "model.safetensors",
    "state.safetensors",
)
NAN = {"$float": "nan"}
CASES: dict[str, tuple[str, Callable[[Folder], Folder], str]] = {
    "a threshold of a tree that is no number": (
        "boosting", lambda f: change_array(f, WEIGHTS, "threshold", put(0, np.nan)), "threshold"),
    "a threshold of a tree beyond all numbers": (
        "boosting", lambda f: change_array(f, WEIGHTS, "threshold", put(0, np.inf)), "threshold"),
    "a leaf that is no number": ("isolation-forest", lambda f: change_array(f, WEIGHTS, "value", put(-1, np.nan)), "value"),
    "a child beyond the nodes": ("isolation-forest", lambda f: change_array(f, WEIGHTS, "child", put((0, 0), 10**6)), "child"),
    "a child before its parent": ("boosting", lambda f: change_array(f, WEIGHTS, "child", put((-1, 0), 0)), "child"),
    "a node with two parents": (
        "boosting", lambda f: change_array(f, WEIGHTS, "child", lambda c: put((0, 0), c[0, 1])(c)), "child"),
    "a feature that no row has": ("boosting", lambda f: change_array(f, WEIGHTS, "feature", put(0, 10**6)), "feature"),
    "a baseline that is no number": ("boosting", lambda f: change_array(f, WEIGHTS, "baseline", put((), np.nan)), "baseline"),
    "trees of another table": (
        "boosting", lambda f: change_array(f, WEIGHTS, "columns", lambda c: c + 1), "columns"),
    "roots out of order": ("boosting", lambda f: change_array(f, WEIGHTS, "roots", lambda r: r[::-1]), "roots"),
    "a history that is not in order": ("boosting", lambda f: change_array(f, STATE, "log.t", lambda t: t[::-1]), "log.t"),
    "a time outside of the calendar": ("boosting", lambda f: change_array(f, STATE, "log.t", put(-1, 2**61)), "calendar"),
    "a party that nobody knows": ("boosting", lambda f: change_array(f, STATE, "log.src", put(0, 10**6)), "vocabulary"),
    "a party below all": ("boosting", lambda f: change_array(f, STATE, "log.dst", put(0, -1)), "log.dst"),
    "a history of two lengths": ("boosting", lambda f: change_array(f, STATE, "log.src", lambda a: a[:-1]), "log.src"),
    "features that are no numbers": ("boosting", lambda f: change_array(f, STATE, "log.msg", put((0, 0), np.inf)), "log.msg"),
    "validation beyond 1": ("boosting", lambda f: change_array(f, STATE, "validation.score", put(0, 1.5)), "validation.score"),
    "an array that means nothing": (
        "boosting", lambda f: {**f, STATE: save_arrays({**load_arrays(f[STATE]), "extra": np.zeros(2)})}, "extra"),
    "sketches of another size": ("midas", lambda f: change_array(f, STATE, "own.midas.now", lambda a: a[:-1]), "midas.now"),
    "a count that is no number": ("midas", lambda f: change_array(f, STATE, "own.midas.total", put(0, np.nan)), "midas.total"),
    "ticks without events": (
        "midas-f", lambda f: change_array(f, STATE, "own.midas.clock", put(slice(0, 2), [1e12, 1e11])), "ticks"),
    "sketches of absurd size": ("midas", lambda f: change_json(f, CONFIG, "options", "buckets", value=1 << 20), "midas"),
    "a network of absurd size": ("tgn", lambda f: change_json(f, CONFIG, "options", "hidden", value=10**8), "event"),
    "a network of absurd depth": (
        "tgn", lambda f: change_json(f, CONFIG, "options", "encoder_options", "layers", value=10**8), "layers"),
    "a weight that is no number": (
        "tgn", lambda f: change_array(f, WEIGHTS, "head.0.bias", put(0, np.nan)), "head.0.bias"),
    "a block of nobody": ("tgn", lambda f: change_array(f, STATE, "own.block.node", put((0, 0), 10**9)), "block"),
    "a memory of nothing": ("tgn", lambda f: change_array(f, STATE, "own.table.row", put((0, 0), np.inf)), "row"),
    "a memory of no event": ("tgn", lambda f: without_arrays(f, STATE, "own."), "own state"),
    "a snapshot method that remembers nothing": ("taddy", lambda f: without_arrays(f, STATE, "own."), "own state"),
    "a table that is missing": ("strgnn", lambda f: without_arrays(f, STATE, "own.table.near1"), "near1"),
    "a snapshot of no events": ("addgraph", lambda f: change_json(f, CALIBRATION, "snapshot", value=0), "snapshot"),
    "a snapshot of other events than the option says": (
        "addgraph", lambda f: change_json(f, CALIBRATION, "snapshot", value=51), "snapshot"),
    "nodes of two in one row": ("addgraph", lambda f: change_array(f, STATE, "own.table.row", put(0, 1)), "row"),
    "states of somebody else's width": (
        "addgraph", lambda f: change_array(f, STATE, "own.table.states", lambda a: a[:, :, :-1]), "states"),
    "a state that is no number": (
        "addgraph", lambda f: change_array(f, STATE, "own.table.states", put((0, 0, 0), np.nan)), "states"),
    "a state beyond all": ("addgraph", lambda f: change_array(f, STATE, "own.table.states", put((0, 0, 0), 1e6)), "states"),
    "first states beyond all": ("addgraph", lambda f: change_array(f, WEIGHTS, "first", put((0, 0), 1e6)), "first"),
    "first states of no shape": ("addgraph", lambda f: change_array(f, WEIGHTS, "first", lambda a: a[0, 0]), "first"),
    "first states of other nodes": ("addgraph", lambda f: change_json(f, CALIBRATION, "nodes", value=3), "nodes"),
    "graph convolutions without end": ("addgraph", lambda f: change_json(f, CONFIG, "options", "layers", value=10**9), "layers"),
    "states of absurd width": ("addgraph", lambda f: change_json(f, CONFIG, "options", "width", value=10**5), "width"),
    "states of another width": ("addgraph", lambda f: change_json(f, CONFIG, "options", "width", value=9999), "first"),
    "an embedding that is no number": (
        "netwalk", lambda f: change_array(f, STATE, "own.table.encoder", put((0, 0), np.inf)), "encoder"),
    "an embedding of too few": ("netwalk", lambda f: change_array(f, STATE, "own.table.decoder", lambda a: a[:-1]), "decoder"),
    "a reservoir of nobody": ("netwalk", lambda f: change_array(f, STATE, "own.table.reservoir", put((0, 0), -1)), "reservoir"),
    "a neighbour beyond all": (
        "netwalk", lambda f: change_array(f, STATE, "own.table.reservoir", put((0, 0), 10**6)), "reservoir"),
    "more meetings than can be": ("netwalk", lambda f: change_array(f, STATE, "own.table.degree", put(0, 2**62)), "degree"),
    "a cluster of more edges than are kept": (
        "netwalk", lambda f: change_array(f, STATE, "own.table.sizes", put(0, 1e30)), "sizes"),
    "a spread of 0": ("netwalk", lambda f: change_array(f, STATE, "own.table.spread", put(0, 0)), "spread"),
    "clusters that are not there": ("netwalk", lambda f: change_json(f, CALIBRATION, "clusters", value=3), "clusters"),
    "a head that there is not": ("netwalk", lambda f: change_json(f, CALIBRATION, "labelled", value=False), "layers"),
    "a furthest edge at 0": ("netwalk", lambda f: change_array(f, WEIGHTS, "furthest", put((), 0)), "furthest"),
    "walks without end": ("netwalk", lambda f: change_json(f, CONFIG, "options", "walks", value=10**6), "walks"),
    "passes without end": ("netwalk", lambda f: change_json(f, CONFIG, "options", "passes", value=10**6), "passes"),
    "a neighbour who was not met": (
        "strgnn", lambda f: change_array(f, STATE, "own.table.near0", lambda a: a[::-1]), "near0"),
    "a neighbour twice": ("strgnn", lambda f: change_array(f, STATE, "own.table.near0", lambda a: a[:, [0, 0, 0]]), "near0"),
    "a pair of nobody": ("strgnn", lambda f: change_array(f, STATE, "own.table.pairs0", put(-1, 2**62)), "pairs0"),
    "a pair twice": ("strgnn", lambda f: change_array(f, STATE, "own.table.pairs1", lambda a: a[[0, *range(len(a))]]), "pairs1"),
    "somebody who met nobody": ("strgnn", lambda f: change_array(f, STATE, "own.table.pairs0", lambda a: a[:1]), "who0"),
    "pooling of another size": ("strgnn", lambda f: change_json(f, CALIBRATION, "k", value=10**6), "k is"),
    "a recurrent unit of absurd size": (
        "strgnn", lambda f: change_json(f, CONFIG, "options", "hidden", value=10**8), "recurrent"),
    "a weight of a subgraph that is no number": (
        "strgnn", lambda f: change_array(f, WEIGHTS, "first.weight", put((0, 0), np.nan)), "first.weight"),
    "a diffusion to nobody": ("taddy", lambda f: change_array(f, STATE, "own.table.near0", put((0, 0), -1)), "mass0"),
    "a diffusion to oneself": (
        "taddy", lambda f: change_array(f, STATE, "own.table.near0", put((0, 0), 0)), "near0"),
    "a share of diffusion beyond 1": ("taddy", lambda f: change_array(f, STATE, "own.table.mass1", put((0, 0), 1.5)), "mass1"),
    "a distance of 0": ("taddy", lambda f: change_array(f, STATE, "own.table.apart0", put((0, 0), 0)), "apart0"),
    "a distance to somebody that is none": (
        "taddy", lambda f: change_array(f, STATE, "own.table.apart0", put((0, 0), 10)), "apart0"),
    "tables of more snapshots than are looked at": (
        "taddy", lambda f: change_json(f, CONFIG, "options", "window", value=3), "encoding.time.weight"),
    "a transformer without end": ("taddy", lambda f: change_json(f, CONFIG, "options", "layers", value=10**9), "layers"),
    "a transformer of absurd width": ("taddy", lambda f: change_json(f, CONFIG, "options", "width", value=9998), "weight"),
    "a token that is no number": (
        "taddy", lambda f: change_array(f, WEIGHTS, "encoding.rank.weight", put((0, 0), np.nan)), "encoding.rank.weight"),
    "a bank beyond all memory": ("sad", lambda f: change_json(f, CONFIG, "options", "bank", value=10**10), "bank"),
    "an attention of another width": ("sad", lambda f: change_json(f, CONFIG, "options", "width", value=8), "event.encoder"),
    "a deviation network that is missing": ("sad", lambda f: without_arrays(f, WEIGHTS, "deviation.1.bias"), "deviation.1.bias"),
    "a scale of nothing": (
        "sad", lambda f: change_array(f, WEIGHTS, "event.scale.msg.scale", put(0, 0)), "event.scale.msg.scale"),
    "a frequency that is no number": (
        "sad", lambda f: change_array(f, WEIGHTS, "event.encoder.clock.frequency", put(0, np.nan)), "clock.frequency"),
    "events of another shape": ("sad", lambda f: change_json(f, CALIBRATION, "shape", "msg", value=7), "other events"),
    "an ego-graph of all edges": ("generaldyg", lambda f: change_json(f, CONFIG, "options", "edges", value=10**6), "edges"),
    "neighbours without end": ("generaldyg", lambda f: change_json(f, CONFIG, "options", "hop", value=10**6), "hop"),
    "a layer applied without end": ("generaldyg", lambda f: change_json(f, CONFIG, "options", "depth", value=10**9), "depth"),
    "roles that are missing": (
        "generaldyg", lambda f: change_array(f, WEIGHTS, "event.encoder.role.weight", lambda a: a[:-1]), "role.weight"),
    "a transformer's weight beyond all": (
        "generaldyg", lambda f: change_array(f, WEIGHTS, "event.encoder.norm.weight", put(0, 1e30)), "norm.weight"),
    "events of another length": (
        "generaldyg", lambda f: change_json(f, CALIBRATION, "shape", "history", value=4), "other events"),
    "a say that is no number": (
        "sdgad", lambda f: change_json(f, CALIBRATION, "say", "flow", value=NAN), "flow"),
    "a boundary beyond all": ("sdgad", lambda f: change_json(f, CALIBRATION, "score", "boundary", value=NAN), "boundary"),
    "an alarm that never comes": ("boosting", lambda f: change_json(f, CALIBRATION, "threshold", value=NAN), "threshold"),
    "an alarm that always comes": ("boosting", lambda f: change_json(f, CALIBRATION, "threshold", value=-1), "threshold"),
    "a rule that nobody knows": ("boosting", lambda f: change_json(f, CALIBRATION, "threshold_rule", value="x 1"), "rule"),
    "a number as text": ("boosting", lambda f: change_json(f, CALIBRATION, "validation_seconds", value="9"), "seconds"),
    "an end of the fit that is text": ("boosting", lambda f: change_json(f, CALIBRATION, "fitted_until", value="x"), "until"),
    "a key that means nothing": ("boosting", lambda f: change_json(f, CALIBRATION, "fitted", value=1), "fitted"),
    "a scale of 0": ("boosting", lambda f: change_json(f, CONFIG, "features", 0, "scale", value=0), "scale"),
    "three sides": ("boosting", lambda f: change_json(f, CONFIG, "sides", value=3), "sides"),
    "a unit that nobody knows": ("boosting", lambda f: change_json(f, CONFIG, "clock", "unit", value="x"), "unit"),
    "a column that is a number": ("boosting", lambda f: change_json(f, CONFIG, "columns", "src", value=1), "src"),
    "an absurd header": ("midas", lambda f: {**f, STATE: (2**62).to_bytes(8, "little") + f[STATE][8:]}, "header"),
}  # fmt: skip


def refusal(shelf: Path, folder: Folder) -> str:
    path = shelf / "one"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    for name, content in resealed(folder).items():
        (path / name).write_bytes(content)
    with pytest.raises(ModelFolderError) as caught:
        load(path)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert str(path) in sentence
    return sentence


@pytest.mark.parametrize("case", CASES)
def test_a_resealed_alteration_is_told(folders: dict[str, Folder], shelf: Path, case: str) -> None:
    name, change, word = CASES[case]
    assert word in refusal(shelf, change(folders[name]))


NAMES: dict[str, Callable[[pa.Table], pa.Table]] = {
    "in another order": lambda t: t.take(pa.array([1, 0, *range(2, len(t))])),
    "one too few": lambda t: t.slice(0, len(t) - 1),
    "one twice": lambda t: pa.concat_tables([t, t.slice(0, 1)]),
    "one name twice": lambda t: t.set_column(
        0, "name", pa.array([t["name"][1].as_py(), *t["name"].to_pylist()[1:]])
    ),
    "one without a name": lambda t: t.set_column(
        0, "name", pa.array([None, *t["name"].to_pylist()[1:]], pa.large_string())
    ),
    "nobody": lambda t: t.slice(0, 0),
    "on another side": lambda t: t.set_column(1, "side", pa.array(np.ones(len(t), np.int8))),
    "without nodes": lambda t: t.drop_columns(["node"]),
    "with numbers for names": lambda t: t.set_column(0, "name", t["node"]),
}


@pytest.mark.parametrize("case", NAMES)
def test_a_vocabulary_is_complete_and_in_order(folders: dict[str, Folder], shelf: Path, case: str) -> None:
    folder, out = folders["boosting"], io.BytesIO()
    pq.write_table(NAMES[case](pq.read_table(io.BytesIO(folder["vocabulary.parquet"]))), out)
    assert "vocabulary" in refusal(shelf, {**folder, "vocabulary.parquet": out.getvalue()})


def test_scores_that_are_no_numbers_are_not_given(folders: dict[str, Folder], shelf: Path) -> None:
    """Weights that are numbers, one by one, and whose products are not."""
    arrays = load_arrays(folders["tgn"][WEIGHTS])
    huge = {name: np.full_like(a, 9e8) if name.startswith("head.") else a for name, a in arrays.items()}
    path = shelf / "one"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    for name, content in resealed({**folders["tgn"], WEIGHTS: save_arrays(huge)}).items():
        (path / name).write_bytes(content)
    model = load(path)
    model._model.head[-1].weight.data.fill_(float("nan"))
    for scores in (model.decision_function, model.live().score, model.explain):
        with pytest.raises(ModelFolderError, match="no numbers from 0 to 1"):
            scores(NEW)


# ---------------------------------------------------------------- at random


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
