"""Checks of detectors: what labels may do, and what too few of them do."""

from __future__ import annotations

import numpy as np

from sdgad.checks.detector_scores import need_scores
from sdgad.checks.detector_subject import DetectorSubject
from sdgad.checks.saying import need, refused
from sdgad.errors import InputError


def check_validation_labels_have_no_say_when_training_has_none(subject: DetectorSubject) -> None:
    """A fit without training labels touches no label at all, neither for scores nor for the threshold."""
    stream = subject.stream
    unlabelled = stream.train.with_labels("none")
    with_labels = subject.fitted(unlabelled, stream.val)
    without = subject.fitted(unlabelled, stream.val.with_labels("none"))
    subject.alike(
        with_labels.decision_function(stream.test), without.decision_function(stream.test), "scores"
    )
    subject.alike(with_labels.validation_scores_, without.validation_scores_, "validation scores")
    subject.alike(with_labels.threshold_, without.threshold_, "thresholds")
    with refused(InputError, "'f1'", "an F1 threshold without labels"):
        with_labels.set_threshold("f1")


def check_labels_have_a_say_unless_the_tag_says_not(subject: DetectorSubject) -> None:
    """Labelled anomalies change scores; where the tag `uses_labels` is False, no bit of them."""
    stream = subject.stream
    without = subject.fitted(stream.train.with_labels("none"), stream.val.with_labels("none"))
    scores = without.decision_function(stream.test)
    if subject.tags.uses_labels:
        need(not np.array_equal(scores, subject.scores()), "a fit without labels gives the same scores")
    else:
        subject.alike(scores, subject.scores(), "scores of a fit without labels")


def check_one_labelled_anomaly_and_no_validation_part_suffice(subject: DetectorSubject) -> None:
    """One label, all other events unlabelled, and the last fifth held out: that can be learned from."""
    stream = subject.stream
    few = stream.train.with_labels("few-shot", k=1)
    need_scores(subject.fitted(few, None).decision_function(stream.test))


def check_streams_that_cannot_be_learned_from_are_refused(subject: DetectorSubject) -> None:
    """Too few events, validation before training, nothing but anomalies: each gets its sentence."""
    stream = subject.stream
    with refused(InputError, "too few events to fit: 10 ", "a fit on ten events"):
        subject.made().fit(stream.train[:10], val=stream.val)
    with refused(InputError, "begin before", "validation events before the training events"):
        subject.made().fit(stream.val, val=stream.train)
    with refused(InputError, "begin before", "validation events before the training events, in milliseconds"):
        subject.made().fit(stream.val, val=stream.stream(unit="ms")[: len(stream.train)])
    everything = stream.train.with_columns(label=np.ones(len(stream.train)))
    with refused(InputError, "Every training event", "a fit on anomalies alone"):
        subject.made().fit(everything, val=stream.val)
