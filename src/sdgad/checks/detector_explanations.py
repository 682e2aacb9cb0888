"""Checks of detectors: explanations are those of the scores, offline, live and after a way through a folder."""

from __future__ import annotations

import json
import re

import numpy as np

from sdgad.checks.detector_subject import DetectorSubject, remembered
from sdgad.checks.saying import CLOSE, close, need, same
from sdgad.detectors.explaining.explanation import Explanation
from sdgad.history.context import NAMES, PHASE_NAMES
from sdgad.history.habits import HabitNames

SOME = 60  # events
JARGON = re.compile(
    r"\blog (count|gap|rate|age|partners)\b|\b(src|dst)\b|\bspreads\b|against habit|\b(sin|cos) "
)


def check_explains(subject: DetectorSubject) -> None:
    """One explanation per row: the score of `decision_function`, its p-value, and words that a person understands."""
    detector, test = subject.detector(), subject.stream.test
    before = remembered(detector)
    found = detector.explain(test)
    need(len(found) == len(test), f"{len(found)} explanations of {len(test)} events")
    scores = np.array([one.score for one in found])
    close(scores, subject.scores(), "scores of explanations", 1e-9)
    same([one.p_value for one in found], detector.p_value(scores), "p-values of explanations")
    need(remembered(detector) == before, "an explanation left a trace in what is remembered")
    internal = {*NAMES, *PHASE_NAMES, *HabitNames.of((*NAMES, *PHASE_NAMES), ()).relations}
    for one in found:
        text = str(one)
        need(text and "\n" not in text, f"an explanation says {text!r}")
        need(not JARGON.search(text), f"an explanation speaks of columns: {text!r}")
        need(not any(name in text for name in internal), f"an explanation speaks of columns: {text!r}")
        json.dumps(one.to_dict(), allow_nan=False)
        need(len(one.residuals) <= 3, f"{len(one.residuals)} residuals are told")
        themes = [residual.theme for residual in one.residuals]
        need(len(set(themes)) == len(themes), f"one theme is told twice: {themes}")
        need(all(0 < each.p_value <= 1 for each in one.residuals), "a p-value lies outside (0, 1]")
        said = [kind.contribution for kind in one.evidence]
        need(said == sorted(said, reverse=True), "kinds of evidence are not in order of what they contribute")


def check_explanations_are_the_same_live(subject: DetectorSubject) -> None:
    """`live.explain` tells at a place of the stream what `explain` tells there, and changes nothing."""
    detector, test = subject.detector(), subject.stream.test[:SOME]
    offline, live = detector.explain(test), detector.live(explain=True)
    whole = live.explain(test)
    alike(whole, offline, "live, against offline")
    for start in range(0, len(test), 17):
        part = test[start : start + 17]
        alike(live.explain(part), offline[start : start + 17], f"live from row {start} on, against offline")
        close(
            live.score_and_update(part),
            [one.score for one in offline[start : start + 17]],
            "scores behind it",
        )


def check_explanations_survive_the_model_folder(subject: DetectorSubject) -> None:
    """Saved and loaded, also without history, it explains as before."""
    detector, test = subject.detector(), subject.stream.test[:SOME]
    told = [[one.residuals, one.evidence] for one in detector.explain(test)]
    again = [[one.residuals, one.evidence] for one in subject.reloaded(detector).explain(test)]
    need(again == told, "after a way through a folder other habits or kinds of evidence are told")
    blank = subject.reloaded(detector, history=False)
    need(len(blank.explain(test)) == len(test), "without history it does not explain every row")


def check_late_events_that_are_dropped_have_no_explanation(subject: DetectorSubject) -> None:
    """late="drop": a score of NaN and nothing else."""
    detector, stream = subject.detector(), subject.stream
    detector.set_params(late="drop")
    late = stream.fresh(stream.src[:2], stream.dst[:2], [stream.t[0], stream.end + 1])
    found = detector.explain(late)
    need(
        np.isnan(found[0].score) and np.isnan(found[0].p_value), f"a dropped event has score {found[0].score}"
    )
    need(not (found[0].evidence or found[0].residuals), "a dropped event has evidence or residuals")
    need(not np.isnan(found[1].score), "the event behind it has no score")
    need(detector.explain(stream.test[:0]) == [], "no events have explanations")


def alike(found: list[Explanation], expected: list[Explanation], what: str) -> None:
    """The same scores, kinds and habits, to rounding; ranks that are as good as equal may change places."""
    close([one.score for one in found], [one.score for one in expected], f"scores {what}")
    differ = 0
    for one, other in zip(found, expected, strict=True):
        same(len(one.residuals), len(other.residuals), f"number of residuals {what}")
        told, before = ([(each.theme, each.side) for each in some.residuals] for some in (one, other))
        differ += told != before
        if told == before:
            for a, b in zip(one.residuals, other.residuals, strict=True):
                near = abs(a.now - b.now) <= 1e-3 * (1 + abs(b.now)) and abs(a.p_value - b.p_value) <= 1e-3
                need(near, f"a residual {what} is {a} instead of {b}")
        nats = ({kind.name: kind.nats for kind in some.evidence} for some in (one, other))
        mine, theirs = nats
        need(mine.keys() == theirs.keys(), f"kinds of evidence {what}")
        close([mine[name] for name in mine], [theirs[name] for name in mine], f"nats {what}", 100 * CLOSE)
    need(differ <= len(found) // 50, f"{differ} of {len(found)} explanations {what} tell other habits")
