"""Checks of detectors: scores, and what follows from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdgad.checks.detector_subject import DetectorSubject, remembered
from sdgad.checks.saying import Array, close, need, refused, same
from sdgad.checks.streams import TICK
from sdgad.detectors.registry import detectors
from sdgad.errors import InputError
from sdgad.events.stream import EventStream, FeatureColumn

FEW_VALUES = 10


def check_it_is_found_by_its_name(subject: DetectorSubject) -> None:
    """A model folder names its detector: `@detectors.register("name")` stands above the class."""
    name = getattr(subject.cls, "name", None)
    need(name is not None, "the class has no name")
    need(detectors.get(str(name)) is subject.cls, f"another class is registered under the name {name!r}")


def check_a_score_is_one_finite_float64_inside_0_and_1_per_row(subject: DetectorSubject) -> None:
    """Scores of new, training and validation events: as many as rows, in (0, 1), and of more than a few values.

    Where the tag `two_values` says so, of a few values only.
    """
    detector, stream = subject.detector(), subject.stream
    for scores, events in (
        (subject.scores(), stream.test),
        (detector.decision_scores_, stream.train),
        (detector.validation_scores_, stream.val),
    ):
        need(scores.dtype == np.float64, f"scores are {scores.dtype}")
        need(scores.shape == (len(events),), f"scores have shape {scores.shape} for {len(events)} events")
        need_scores(scores)
    values = len(np.unique(subject.scores()))
    if subject.tags.two_values:
        need(2 <= values <= FEW_VALUES, f"scores have {values} values, though the tag says two_values")
    else:
        need(values > FEW_VALUES, f"scores have {values} values only")


def check_scoring_changes_nothing(subject: DetectorSubject) -> None:
    """`decision_function` may be called as often as one likes: history, state and threshold stay as they are."""
    detector, test = subject.detector(), subject.stream.test
    before, kept = remembered(detector), (detector.history_size, detector.threshold_)
    for _ in range(2):
        same(detector.decision_function(test), subject.scores(), "scores of the same events, again")
    need((detector.history_size, detector.threshold_) == kept, "history or threshold changed by scoring")
    need(remembered(detector) == before, "what the detector remembers changed by scoring")


def check_predictions_and_probabilities_follow_from_the_scores(subject: DetectorSubject) -> None:
    """`predict` is score ≥ `threshold_`, `predict_proba` has the score beside 1 − score, p-values fall as scores rise."""
    detector, test, scores = subject.detector(), subject.stream.test, subject.scores()
    middle = float(np.median(scores))
    detector.set_threshold(middle)
    same(detector.predict(test), (scores >= middle).astype(int), "predictions")
    probability = detector.predict_proba(test)
    same(probability[:, 1], scores, "probabilities")
    close(probability.sum(1), np.ones(len(scores)), "the sum of both probabilities", 1e-14)
    same(detector.labels_, (detector.decision_scores_ >= middle).astype(int), "labels_")
    p_value = detector.p_value(scores)
    need(((p_value > 0) & (p_value <= 1)).all(), "a p-value lies outside (0, 1]")
    need((np.diff(p_value[np.argsort(scores)]) <= 0).all(), "a higher score has a higher p-value")


def check_the_same_event_in_another_unit_of_time(subject: DetectorSubject) -> None:
    """Seconds or milliseconds: the clock of the events says what their times mean, for new and for validation events."""
    stream = subject.stream
    in_ms = stream.stream(unit="ms")
    first = stream.fitted
    same(subject.detector().decision_function(in_ms[first:]), subject.scores(), "scores in milliseconds")
    other = subject.fitted(stream.train, in_ms[len(stream.train) : first])
    close(other.decision_function(stream.test), subject.scores(), "scores after validation in milliseconds")
    seconds = subject.detector().validation.seconds
    close(other.validation.seconds, seconds, "length of the validation part", 1e-6 * seconds)


def check_unseen_nodes_and_single_events_have_scores(subject: DetectorSubject) -> None:
    """Nobody has to be known, and one event is enough."""
    stream, detector = subject.stream, subject.detector()
    known = str(stream.src[0])
    for src, dst in (("nobody 🙈", "no one"), (known, "no one"), ("nobody", known), ("same", "same")):
        need_scores(detector.decision_function(stream.fresh([src], [dst], [stream.end + 60.0])))
    need(detector.decision_function(stream.test[:1]).shape == (1,), "one event has not one score")


def check_no_events_have_no_scores(subject: DetectorSubject) -> None:
    """An empty stream is a stream."""
    detector, nothing = subject.detector(), subject.stream.test[:0]
    need(detector.decision_function(nothing).shape == (0,), "no events have scores")
    size = detector.history_size
    need(detector.update(nothing).history_size == size, "no events changed the history")


def check_events_that_all_happen_at_one_time_have_scores(subject: DetectorSubject) -> None:
    """New events at one time, and a whole stream at one time, are scored."""
    stream = subject.stream
    at_once = stream.rows(slice(0, 80), t=np.full(80, stream.end))
    need_scores(subject.detector().decision_function(at_once))
    whole = stream.rows(slice(0, 80), t=np.full(80, 5.0))
    need_scores(subject.fitted(whole[:40], whole[40:60]).decision_function(whole[60:]))


def check_features_have_a_say_unless_the_tag_says_not(subject: DetectorSubject) -> None:
    """Other edge features change scores; where the tag `uses_features` is False, no bit of them."""
    stream = subject.stream
    rows = slice(stream.fitted, None)
    other = stream.rows(rows, msg=stream.msg[rows][::-1] * np.array([3.0, 1.0]))
    scores = subject.detector().decision_function(other)
    if subject.tags.uses_features:
        need(not np.array_equal(scores, subject.scores()), "other features changed no score")
    else:
        same(scores, subject.scores(), "scores of events with other features")


def check_what_cannot_be_read_is_refused(subject: DetectorSubject) -> None:
    """A table, or events without a feature that the model uses, get a sentence that names it."""
    detector, stream = subject.detector(), subject.stream
    table: Any = {"src": ["a"], "dst": ["b"], "t": [1.0]}
    for call in (detector.fit, detector.decision_function, detector.update):
        with refused(InputError, r"EventStream, not a dict: sdgad\.read_events", "a dict in place of events"):
            call(table)
    t = [stream.end + TICK]
    lacking = EventStream(["a"], ["b"], t, [[1.0]], features=(FeatureColumn("amount"),), clock=stream.clock)
    if not subject.tags.uses_features:
        need_scores(detector.decision_function(lacking))
        return
    with refused(InputError, "'channel'", "an event without a feature"):
        detector.decision_function(lacking)


def need_scores(scores: Array) -> None:
    """All inside (0, 1), hence finite."""
    need(
        ((scores > 0) & (scores < 1)).all(),
        f"a score lies outside (0, 1): {np.nanmin(scores)} to {np.nanmax(scores)}, {np.isnan(scores).sum()} NaN",
    )
