"""Checks of detectors: what nodes are called has no say."""

from __future__ import annotations

import numpy as np

from sdgad.checks.detector_scores import need_scores
from sdgad.checks.detector_subject import DetectorSubject
from sdgad.checks.saying import CLOSE, Array, need, same
from sdgad.checks.streams import backwards, in_other_letters

COLLIDE = 0.5  # share of scores that other collisions of hashed ids may change
LETTERS = list("aZ09 _-./:\\'\"äßж漢🙈\t,;%")


def check_renaming_ids_changes_no_bit(subject: DetectorSubject) -> None:
    """A fit on the same stream under other names, numbers or text, gives the same scores and threshold.

    Where ids are hashed (tag `hashes_ids`), but for what collides.
    """
    stream, detector = subject.stream, subject.detector()
    for rename in (backwards, in_other_letters):
        train, val, test = stream.stream(rename).split(train=0.4, val=0.2)
        other = subject.fitted(train, val)
        scores = other.decision_function(test)
        if subject.tags.hashes_ids:
            _need_mostly(scores, subject.scores(), "scores under other names")
            _need_mostly(
                other.decision_scores_, detector.decision_scores_, "training scores under other names"
            )
            continue
        subject.alike(scores, subject.scores(), "scores under other names")
        subject.alike(other.decision_scores_, detector.decision_scores_, "training scores under other names")
        subject.alike(other.threshold_, detector.threshold_, "the threshold under other names")


def check_what_an_unseen_node_is_called_changes_no_bit(subject: DetectorSubject) -> None:
    """Strangers are strangers, whatever their names; where ids are hashed, but for what collides."""
    stream, detector = subject.stream, subject.detector()
    first = stream.fitted
    known = {*stream.src[:first], *stream.dst[:first]}
    unseen = sorted({*stream.src[first:], *stream.dst[first:]} - known)
    need(unseen, "the stream has no unseen ids to check with")
    draw = np.random.default_rng(2)
    for _ in range(8):
        names = [f"{i}{''.join(draw.choice(LETTERS, draw.integers(0, 9)))}" for i in range(len(unseen))]
        called = dict(zip(unseen, names, strict=True))
        events = stream.stream(lambda node, called=called: called.get(node, node))[first:]  # type: ignore[misc]
        scores = detector.decision_function(events)
        if subject.tags.hashes_ids:
            _need_mostly(scores, subject.scores(), "scores of strangers under other names")
        else:
            same(scores, subject.scores(), "scores of strangers under other names")


def _need_mostly(found: Array, expected: Array, what: str) -> None:
    """Up to collisions: finite, and most of them the same."""
    need_scores(found)
    changed = float(np.mean(np.abs(found - expected) > CLOSE))
    need(changed <= COLLIDE, f"{what}: {changed:.0%} differ, which is more than collisions explain")
