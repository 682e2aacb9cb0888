"""One absurd time among the events neither moves a model nor the scores of the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdgad
from sdgad.detectors.base import Detector
from sdgad.errors import InputError
from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import Array, EventStream

WHOLE = simulate_payments(400, anomaly_rate=0.05, seed=3)
TABLE = WHOLE.to_arrow()
PAST, NEW = 300, 400
IN_1970, IN_2099 = 0.0, 4_070_908_800.0
ABSURD = [IN_1970, IN_2099, -(2.0**63), 1e300, float("inf"), float("nan"), 253_370_764_800.0]
MANY = 1000  # bad rows, in the long run
NAMES = ["midas", "isolation-forest"]


def read(first: int, stop: int, *bad: tuple[int, float], model: Detector | None = None) -> EventStream:
    """Some rows of the table with bad ones put in at some places, read as a file is."""
    rows = TABLE[first:stop].to_pylist()
    for place, absurd in bad:
        rows.insert(place, {**rows[0], "src": "somebody", "t": absurd})
    table = pa.Table.from_pylist(rows, TABLE.schema)
    if model is None:
        return sdgad.read_events(table, bad_rows="skip")
    return sdgad.read_events(
        table, columns=model.columns, clock=model.clock, history=model.history_span, bad_rows="skip"
    )


def arrays(first: int, stop: int, *absurd: float) -> EventStream:
    """The same as a stream that no reader has looked at."""
    part = WHOLE[first:stop]
    src = [*part.vocabulary.raw(part.src).to_pylist(), *["somebody"] * len(absurd)]
    dst = [*part.vocabulary.raw(part.dst).to_pylist(), *["else"] * len(absurd)]
    assert part.msg is not None
    msg = np.concatenate([part.msg, np.repeat(part.msg[:1], len(absurd), 0)])
    return EventStream(src, dst, np.r_[part.t, absurd], msg, features=part.features, names=part.names)


@pytest.fixture(scope="module", params=NAMES)
def model(request: pytest.FixtureRequest) -> Detector:
    return sdgad.make_detector(request.param, seed=0).fit(read(0, PAST))


PUT_IN = (
    st.lists(st.tuples(st.integers(0, NEW - PAST), st.sampled_from(ABSURD)), min_size=1, max_size=2),
    st.sampled_from([1, 5, NEW - PAST]),
)


@pytest.mark.slow
@settings(max_examples=MANY, deadline=None)
@given(*PUT_IN)
def test_no_bad_row_changes_the_score_of_any_other(
    model: Detector, bad: list[tuple[int, float]], size: int
) -> None:
    same_scores(model, bad, size)


@settings(max_examples=15, deadline=None)
@given(*PUT_IN)
def test_a_bad_row_does_not_change_the_score_of_any_other(
    model: Detector, bad: list[tuple[int, float]], size: int
) -> None:
    same_scores(model, bad, size)


def same_scores(model: Detector, bad: list[tuple[int, float]], size: int) -> None:
    expected = model.decision_function(read(PAST, PAST + size, model=model))
    bad = [(min(place, size), absurd) for place, absurd in bad]
    spoiled = read(PAST, PAST + size, *bad, model=model)
    assert len(spoiled) == size
    assert np.array_equal(model.decision_function(spoiled), expected)


def folder(detector: Detector, path: Path) -> dict[str, bytes]:
    detector.save(path)
    return {file.name: file.read_bytes() for file in path.iterdir()}


@pytest.mark.parametrize(("name", "absurd"), [("isolation-forest", IN_2099), *(("midas", t) for t in ABSURD)])
def test_fit_and_update_write_the_same_model_whether_or_not_there_was_a_bad_row(
    name: str, absurd: float, tmp_path: Path
) -> None:
    plain = sdgad.make_detector(name, seed=0).fit(read(0, PAST))
    spoiled = sdgad.make_detector(name, seed=0).fit(read(0, PAST, (100, absurd)))
    assert folder(spoiled, tmp_path / "a") == folder(plain, tmp_path / "b")
    plain.update(read(PAST, NEW, model=plain))
    spoiled.update(read(PAST, NEW, (7, absurd), model=spoiled))
    assert folder(spoiled, tmp_path / "c") == folder(plain, tmp_path / "d")


@pytest.mark.parametrize("absurd", [IN_1970, IN_2099])
@pytest.mark.parametrize("count", [1, 5, NEW - PAST])
def test_a_detector_looks_at_the_times_of_streams_that_nobody_has_read(
    model: Detector, absurd: float, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    stream = arrays(PAST, PAST + count, absurd)
    before = model.history_span
    for act in (model.decision_function, model.update, model.predict, model.used_to_fit):
        with pytest.raises(
            InputError, match=rf"Row {count + 1}: the time is too far from .* \(bad_rows='error'\)"
        ):
            act(stream)
    assert model.history_span == before
    expected = model.decision_function(arrays(PAST, PAST + count))
    try:
        model.set_params(bad_rows="skip")
        scores = model.decision_function(stream)
        assert "set aside" in caplog.text
        assert np.array_equal(scores[stream.row < count], expected)
        assert np.isnan(scores[stream.row == count]).all()
        model.set_params(bad_rows="keep")
        assert not np.isnan(model.decision_function(stream)).any()
    finally:
        model.set_params(bad_rows="error")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("absurd", [IN_1970, IN_2099])
def test_an_update_that_skips_moves_no_further_than_the_others_reach(name: str, absurd: float) -> None:
    moved = sdgad.make_detector(name, seed=0, bad_rows="skip").fit(arrays(0, PAST))
    moved.update(arrays(PAST, NEW, absurd))
    assert moved.history_span == (WHOLE.t[0], WHOLE.t[NEW - 1])
    assert moved.history_size[0] == NEW


@pytest.mark.parametrize("absurd", [IN_1970, IN_2099])
def test_fit_refuses_absurd_times_wherever_they_stand(absurd: float) -> None:
    for bad_rows in ("error", "skip"):
        detector = sdgad.make_detector("midas", bad_rows=bad_rows)
        with pytest.raises(InputError, match=f"Row {PAST + 1}: the time is too far from the others"):
            detector.fit(arrays(0, PAST, absurd))
    sdgad.make_detector("midas", bad_rows="keep").fit(arrays(0, PAST, absurd))


def test_an_explanation_of_a_row_that_is_set_aside_says_nothing() -> None:
    detector = (
        sdgad.make_detector("isolation-forest", seed=0).fit(arrays(0, PAST)).set_params(bad_rows="skip")
    )
    stream = arrays(PAST, PAST + 20, IN_2099)
    found = detector.explain(stream)
    assert np.isnan(found[-1].score)
    assert [one.score for one in found[:-1]] == detector.decision_function(arrays(PAST, PAST + 20)).tolist()


def test_the_option_lives_in_the_folder_and_asks_for_no_new_fit(tmp_path: Path) -> None:
    detector = sdgad.make_detector("midas", seed=0).fit(arrays(0, PAST))
    fingerprint = detector.fingerprint()
    detector.set_params(bad_rows="skip").save(tmp_path / "model")
    again = sdgad.load(tmp_path / "model")
    assert again.config.bad_rows == "skip"
    assert again.fingerprint() == fingerprint
    with pytest.raises(InputError, match="bad_rows"):
        sdgad.make_detector("midas", bad_rows="drop")


def test_a_file_of_another_decade_is_honest_as_a_whole(model: Detector) -> None:
    later: Array = WHOLE.t[PAST:NEW] + 9 * 365 * 86_400
    part = WHOLE[PAST:NEW]
    stream = EventStream(part.src, part.dst, later, part.msg, features=part.features, names=part.names)
    assert not np.isnan(model.decision_function(stream)).any()
