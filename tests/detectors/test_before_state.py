"""Models, states and scores of the version before State and Archive (81a0a08): they load, and no score has moved."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from sdgad.cli.main import run
from sdgad.detectors import Detector, load, make_detector
from sdgad.events.read import read_events

FOLDER = Path(__file__).parent / "before_state"
SCORES = json.loads((FOLDER / "scores.json").read_text())
EVENTS = read_events(FOLDER / "events.parquet", features=["amount", "channel"])
TRAIN, VAL, TEST = EVENTS.split(train=0.4, val=0.2)
CLOSE = 1e-6


@pytest.fixture(scope="module", params=sorted(SCORES))
def old(request: pytest.FixtureRequest) -> Detector:
    return load(FOLDER / str(request.param))


def test_an_old_model_folder_scores_as_it_did(old: Detector) -> None:
    want = SCORES[old.name]
    np.testing.assert_allclose(old.decision_function(TEST), want["test"], rtol=0, atol=CLOSE)
    np.testing.assert_array_equal(old.decision_scores_, want["train"])
    np.testing.assert_array_equal(old.validation_scores_, want["val"])


def test_an_old_live_state_goes_on(old: Detector) -> None:
    live = old.live()
    assert live.restore(FOLDER / f"{old.name}.state.safetensors") == {"lines": 100}
    np.testing.assert_allclose(live.score(TEST[100:]), SCORES[old.name]["live after 100"], rtol=0, atol=CLOSE)


def test_a_new_fit_scores_as_an_old_one(old: Detector) -> None:
    """A forest, that is: a network draws other numbers since its step is one graph, and there are other pseudo-anomalies."""
    if old.name != "isolation-forest":
        pytest.skip("what learns from pseudo-anomalies, or by a network, is another one when it learns anew")
    again = make_detector(old.name, **old.get_params()).fit(TRAIN, val=VAL)
    for scores, part in ((again.decision_scores_, "train"), (again.decision_function(TEST), "test")):
        np.testing.assert_allclose(scores, SCORES[old.name][part], rtol=0, atol=CLOSE)


def test_an_old_state_folder_of_a_stream_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    shutil.copytree(FOLDER / "stream-state", tmp_path / "state")
    with (FOLDER / "new.jsonl").open() as lines:
        monkeypatch.setattr("sys.stdin", lines)
        assert run(["stream", str(FOLDER / "boosting"), "--state", str(tmp_path / "state")]) == 0
    answers = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    want = [json.loads(line) for line in (FOLDER / "stream.jsonl").read_text().splitlines()]
    assert [answer["line"] for answer in answers] == list(range(81, 241))
    np.testing.assert_allclose(
        [answer["score"] for answer in answers], [answer["score"] for answer in want[80:]], rtol=0, atol=CLOSE
    )
