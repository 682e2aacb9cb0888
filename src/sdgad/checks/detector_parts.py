"""Checks of detectors: the future, and how the stream is cut, have no say."""

from __future__ import annotations

import copy

import numpy as np

from sdgad.checks.detector_subject import TIES, DetectorSubject, remembered
from sdgad.checks.saying import close, need, same
from sdgad.checks.streams import TICK

TIMES = 12  # random repetitions


def check_the_future_never_changes_a_past_score(subject: DetectorSubject) -> None:
    """The first n scores stay, whether the rest is missing or is anything else that comes no earlier."""
    stream, detector, scores = subject.stream, subject.detector(), subject.scores()
    draw = np.random.default_rng(0)
    first, total = stream.fitted, len(stream.t)
    for _ in range(TIMES):
        cut, later = int(draw.integers(1, len(stream.test))), int(draw.integers(0, 41))
        raw = slice(first, first + cut)
        pick = draw.integers(first, total, later)
        strangers = [f"stranger {i}" if i % 3 == 0 else stream.dst[i] for i in pick]
        t = stream.t[first + cut - 1] + TICK * np.sort(
            draw.integers(0, 4, later)
        )  # also at the very same time
        other = stream.msg[draw.permutation(pick)] * np.array([3.0, 1.0])
        events = stream.fresh(
            [*stream.src[raw], *stream.src[pick]],
            [*stream.dst[raw], *strangers],
            np.concatenate([stream.t[raw], t]),
            np.concatenate([stream.msg[raw], other]),
        )
        found = detector.decision_function(events)[:cut]
        close(found, scores[:cut], f"scores of {cut} events before {later} others")


def check_scoring_and_updating_in_parts_is_scoring_at_once(subject: DetectorSubject) -> None:
    """score(a + b) = score(a), then update(a) and score(b), for cuts inside a tie too, under both rules for ties."""
    test = subject.stream.test
    for ties in TIES:
        draw, start, whole = np.random.default_rng(1), subject.detector(ties), subject.scores(ties)
        for _ in range(TIMES):
            first, second = subject.stream.cuts(draw)
            moving = copy.copy(start).update(test[:first]).update(test[first:second])
            found = moving.decision_function(test[second:])
            close(found, whole[second:], f"scores after updates at {first} and {second}, ties={ties}")
            size = start.history_size[0] + second
            need(
                moving.history_size[0] == size, f"{moving.history_size[0]} events are kept instead of {size}"
            )


def check_update_leaves_copies_as_they_are(subject: DetectorSubject) -> None:
    """`update` rebinds what a detector remembers, and never changes what a shallow copy shares with it."""
    original, test = subject.detector(), subject.stream.test
    before = remembered(original)
    moved = copy.copy(original).update(test[:100])
    moved.update(test[100:])
    need(remembered(original) == before, "what the original remembers changed by updating its copy")
    same(original.decision_function(test), subject.scores(), "scores of the original")
    need(remembered(moved) != before, "an update left no trace")


def check_the_own_history_wins_over_that_of_the_events(subject: DetectorSubject) -> None:
    """A part of a stream knows its predecessors; a fitted detector goes on from its own history."""
    stream, detector = subject.stream, subject.detector()
    part = stream.test[100:140]
    alone = stream.rows(slice(stream.fitted + 100, stream.fitted + 140))
    assert part.predecessors is not None
    assert alone.predecessors is None
    same(
        detector.decision_function(part),
        detector.decision_function(alone),
        "scores of a part of a stream, against those of the same events alone",
    )


def check_who_sees_whom_at_one_time(subject: DetectorSubject) -> None:
    """Under ties="strict" events of one time have the scores that each has alone; a tag `ties` makes the option void."""
    stream = subject.stream
    if subject.tags.ties is not None:
        need(subject.tags.ties in TIES, f"the tag ties={subject.tags.ties!r} is none of {TIES}")
        same(subject.scores("arrival"), subject.scores("strict"), "scores under the two rules")
        return
    count = 110  # enough to reach the end of a block, of a state that has such
    t = np.full(count, stream.end + TICK)
    again = np.random.default_rng(7).integers(0, 40, count)  # the same pairs, again and again
    src, dst, msg = (column[stream.fitted + again] for column in (stream.src, stream.dst, stream.msg))
    detector = subject.detector("strict")
    together = detector.decision_function(stream.fresh(src, dst, t, msg))
    rows = np.arange(0, count, 9)
    alone = [
        detector.decision_function(stream.fresh(src[i : i + 1], dst[i : i + 1], t[:1], msg[i : i + 1]))
        for i in rows
    ]
    close(together[rows], np.concatenate(alone), "scores at one time, against those of each alone")
