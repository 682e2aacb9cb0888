"""Checks of detectors: events older than the end of the history, and events that come again."""

from __future__ import annotations

import numpy as np

from sdgad.checks.detector_subject import DetectorSubject
from sdgad.checks.saying import close, need, refused, same
from sdgad.checks.streams import TICK
from sdgad.errors import InputError


def check_late_events_follow_the_policy(subject: DetectorSubject) -> None:
    """late="score" scores and keeps them, "drop" gives NaN and leaves them out, "error" refuses them and names the row."""
    stream = subject.stream
    events = stream.fresh(
        ["a", "b", "c"], ["b", "c", "a"], [stream.end - 5 * TICK, stream.end, stream.end + TICK]
    )
    for late, kept in (("score", 3), ("drop", 2)):
        detector = subject.detector().set_params(late=late)
        finite = np.isfinite(detector.decision_function(events)).tolist()
        need(finite == [late == "score", True, True], f"late={late!r}: scores are finite at {finite}")
        size = detector.history_size[0]
        grown = detector.update(events).history_size[0] - size
        need(grown == kept, f"late={late!r}: the history grew by {grown} events instead of {kept}")
    detector = subject.detector().set_params(late="error")
    with refused(InputError, r"^Row 1 .*late='error'", "scoring a late event"):
        detector.decision_function(events)
    with refused(InputError, "Row 1 ", "an update with a late event"):
        detector.update(events)


def check_a_late_event_stands_where_it_belongs(subject: DetectorSubject) -> None:
    """It sees what came before it: a validation event that comes once more has the same score.

    Where ids are hashed there is no past to go back to: it has the score that it would have at the end of the history.
    """
    stream, detector = subject.stream, subject.detector()
    for row in range(0, len(stream.val), 45):
        again = stream.val[row : row + 1]
        score = detector.decision_function(again)
        if subject.tags.hashes_ids:
            place = slice(len(stream.train) + row, len(stream.train) + row + 1)
            now = stream.rows(place, t=np.array([stream.end]))
            same(score, detector.decision_function(now), "a late event, against the same event now")
        else:
            close(score, detector.validation_scores_[row : row + 1], f"validation event {row}, come again")


def check_events_of_the_history_count_once(subject: DetectorSubject) -> None:
    """Rows that the history holds are scored where they stand and not kept twice; where ids are hashed, they are new ones."""
    stream, detector = subject.stream, subject.detector()
    seen = np.concatenate([detector.decision_scores_, detector.validation_scores_])
    past = stream.stream()[: len(seen)]
    earlier = past.t < stream.end  # rows at the very end of the history may be new ones of the same moment
    size = detector.history_size[0]
    if subject.tags.hashes_ids:
        grown = detector.update(past).history_size[0] - size
        need(grown == len(past), f"{grown} of {len(past)} events that came again were counted")
        return
    close(detector.decision_function(past)[earlier], seen[earlier], "scores of events of the history")
    grown = detector.update(past).history_size[0] - size
    need(grown == int(np.sum(~earlier)), f"the history grew by {grown} events that it held already")
