"""Checks of detectors: live scoring is offline scoring, however events arrive."""

from __future__ import annotations

import numpy as np

from sdgad.checks.detector_subject import TIES, DetectorSubject, scratch
from sdgad.checks.saying import Array, close, need, refused, same
from sdgad.checks.streams import TICK
from sdgad.detectors.live import LiveScorer
from sdgad.errors import InputError
from sdgad.events.stream import EventStream

TIMES = 10  # random repetitions


def check_live_scores_are_offline_scores_however_events_arrive(subject: DetectorSubject) -> None:
    """One score per event, the same live and offline, for any cut into batches, under both rules for ties."""
    stream = subject.stream
    for ties in TIES:
        detector, draw = subject.detector(ties), np.random.default_rng(3)
        with scratch() as folder:
            live = detector.live()
            live.snapshot(folder / "start")
            found = in_parts(live, stream.test, draw, most=40)
            close(found, subject.scores(ties), f"live scores of the test part, ties={ties}")
            for _ in range(TIMES):
                events = stream.arrivals(draw)
                offline = detector.decision_function(events)
                live.restore(folder / "start")
                close(live.score(events), offline, f"scores of a batch at once, ties={ties}")
                close(in_parts(live, events, draw), offline, f"scores of a batch in parts, ties={ties}")


def check_live_scoring_changes_nothing(subject: DetectorSubject) -> None:
    """`live.score` leaves no trace, bit for bit, also when a state changes on the way, and when a crowd of strangers comes."""
    test, crowd = subject.stream.test, subject.stream.crowd()
    with scratch() as folder:
        for ties in TIES:
            live = subject.detector(ties).live()
            live.score_and_update(test[:20])
            live.snapshot(folder / "before")
            once = live.score(test[20:])
            live.score(crowd)
            live.snapshot(folder / "after")
            before, after = ((folder / name).read_bytes() for name in ("before", "after"))
            need(before == after, f"a score left a trace in what is remembered, ties={ties}")
            same(live.score(test[20:]), once, f"the same events, scored again, ties={ties}")


def check_a_live_scorer_works_on_a_copy(subject: DetectorSubject) -> None:
    """The detector stays where it is, whatever a live scorer goes through; and `update` is what `score_and_update` does."""
    detector, test = subject.detector(), subject.stream.test
    size = detector.history_size
    one, other = detector.live(), detector.live()
    one.update(test[:30])
    other.score_and_update(test[:30])
    # on a GPU what a state remembers of scores may differ in their last bits
    alike = same if subject.device == "cpu" else close
    alike(one.score(test[30:]), other.score(test[30:]), "scores after update, and after score_and_update")
    need(
        one.history_size == other.history_size and one.history_size[0] == size[0] + 30,
        f"{one.history_size} and {other.history_size} are remembered after 30 events beside {size}",
    )
    same(detector.decision_function(test), subject.scores(), "scores of the detector")
    need(detector.history_size == size, "the history of the detector moved on")


def check_a_snapshot_goes_on_with_the_same_bits(subject: DetectorSubject) -> None:
    """A new process with the saved model and a snapshot goes on as if nothing had been, bit for bit."""
    test = subject.stream.test
    for ties in TIES:
        detector = subject.detector(ties)
        live = detector.live()
        live.score_and_update(test[:51])
        with scratch() as folder:
            live.snapshot(folder / "state", {"lines": 51, "where": "über"})
            other = subject.reloaded(detector).live()
            other.update(test[:7])  # which the snapshot replaces
            note = other.restore(folder / "state")
        need(note == {"lines": 51, "where": "über"}, f"the note came back as {note}")
        need(other.history_size == live.history_size, "another history came back")
        for start in range(51, len(test), 23):
            part = test[start : start + 23]
            same(other.score_and_update(part), live.score_and_update(part), f"scores from row {start} on")


def check_a_model_without_history_begins_with_the_first_event(subject: DetectorSubject) -> None:
    """Live and offline agree from nothing on."""
    blank, test = subject.reloaded(subject.detector(), history=False), subject.stream.test
    need(blank.live().newest is None, "an empty history has a newest event")
    need(len(blank.live().score(test[:0])) == 0, "no events have scores")
    found = in_parts(blank.live(), test, np.random.default_rng(4), most=40)
    close(found, blank.decision_function(test), "live scores from nothing on")


def check_a_bounded_memory_scores_alike_live_and_offline(subject: DetectorSubject) -> None:
    """max_nodes: whom a live scorer forgets is forgotten offline; who cannot forget refuses the option by its name."""
    detector, stream = subject.detector(), subject.stream
    try:
        offline = detector.set_params(max_nodes=20).decision_function(stream.test)
    except InputError as problem:
        need(
            "max_nodes" in str(problem),
            f"max_nodes=20 is refused by {str(problem)!r}, which does not name it",
        )
        return
    found = in_parts(detector.live(), stream.test, np.random.default_rng(6), most=40)
    close(found, offline, "live scores with max_nodes=20, where slots of forgotten nodes are used again")


def check_late_events_follow_the_policy_live(subject: DetectorSubject) -> None:
    """Scored as if they happened now, dropped without a trace, or refused, which changes nothing."""
    stream, detector = subject.stream, subject.detector()
    src, dst = stream.src[:2], stream.dst[10:12]
    events = stream.fresh(src, dst, [stream.end - 5 * TICK, stream.end + TICK])
    now = stream.fresh(src, dst, [stream.end, stream.end + TICK])
    live = detector.live(late="score")
    close(live.score_and_update(events), detector.decision_function(now), "a late event, against one of now")
    need(live.newest == events.t[-1], f"the newest time is {live.newest} instead of {events.t[-1]}")

    dropping, without = detector.live(late="drop"), detector.live()
    scores = dropping.score_and_update(events)
    need(np.isnan(scores[0]), f"a dropped event has the score {scores[0]}")
    same(scores[1:], without.score_and_update(events[1:]), "the event after a dropped one")
    need(dropping.history_size == without.history_size, "a dropped event is remembered")
    same(dropping.score(stream.test[60:]), without.score(stream.test[60:]), "scores after a dropped event")

    refusing = detector.live(late="error")
    with scratch() as folder:
        refusing.snapshot(folder / "before")
        with refused(InputError, "Row 1 is older", "a late event"):
            refusing.score_and_update(events)
        refusing.snapshot(folder / "after")
        before, after = ((folder / name).read_bytes() for name in ("before", "after"))
        need(before == after, "a refused batch left a trace")


def check_flagged_events_stay_out_of_the_history_if_asked(subject: DetectorSubject) -> None:
    """flagged="skip": what reaches the threshold becomes nobody's past, however the stream is cut."""
    test = subject.stream.test[:120]
    for ties in TIES:
        detector = subject.detector(ties)
        before = detector.history_size[0]
        some = (0.0, 1.0) if subject.tags.two_values else (0.6, 0.9)
        detector.set_threshold(_between(subject.scores(ties)[:120], *some))
        whole = detector.live(flagged="skip").score_and_update(test)
        live = detector.live(flagged="skip")
        scores = in_parts(live, test, np.random.default_rng(5), most=40)
        close(scores, whole, f"scores in parts, against scores at once, ties={ties}")
        flagged = scores >= detector.threshold_
        need(flagged.any() and not flagged.all(), "the threshold tells nothing apart")
        kept_events = live.history_size[0] - before
        need(
            kept_events == (~flagged).sum(), f"{kept_events} of {(~flagged).sum()} unflagged events are kept"
        )
        kept = detector.live()
        for row in np.flatnonzero(~flagged):
            kept.update(test[row : row + 1])
        last = subject.stream.test[-1:]
        close(live.score(last), kept.score(last), f"a score after the unflagged events alone, ties={ties}")
        same(detector.live(flagged="skip").score(test), whole, "scores without an update")


def check_a_live_scorer_ends_with_the_fit_that_it_came_from(subject: DetectorSubject) -> None:
    """After a new fit an old live scorer refuses to go on, since its numbers mean something else."""
    detector, stream = subject.detector(), subject.stream
    live = detector.live()
    detector.fit(stream.train, val=stream.val)
    with refused(InputError, "fitted again", "scoring by a live scorer of the fit before"):
        live.score(stream.test)
    need(len(detector.live().score(stream.test)) == len(stream.test), "a new live scorer does not work")


def in_parts(live: LiveScorer, events: EventStream, draw: np.random.Generator, most: int = 5) -> Array:
    """Scores of events that come in random batches."""
    scores, start = [], 0
    while start < len(events):
        size = int(draw.integers(1, most + 1))
        scores.append(live.score_and_update(events[start : start + size]))
        start += size
    return np.concatenate(scores)


def _between(scores: Array, low: float, high: float) -> float:
    """A threshold in the widest gap between these shares of the ranked scores: no rounding moves a score across it."""
    ranked = np.sort(scores)
    some = ranked[int(low * len(ranked)) : 1 + int(high * len(ranked))]
    widest = int(np.diff(some).argmax())
    return float(some[widest : widest + 2].mean())
