"""Checks of detectors: the model folder."""

from __future__ import annotations

import numpy as np

from sdgad.checks.detector_scores import need_scores
from sdgad.checks.detector_subject import DetectorSubject, remembered, scratch
from sdgad.checks.saying import close, need, same
from sdgad.checks.streams import TICK
from sdgad.detectors.folder import read_folder
from sdgad.detectors.saving import unprefixed

RULES: tuple[tuple[str, float] | tuple[str] | tuple[float], ...] = (
    ("f1",),
    ("fpr", 0.1),
    ("alerts_per_day", 3),
    ("quantile", 0.05),
    (0.5,),
)


def check_save_and_load_keep_every_bit_also_after_an_update(subject: DetectorSubject) -> None:
    """A loaded model is the saved one: scores, thresholds, p-values, history and state, now and after more events."""
    detector, test, scores = subject.detector(), subject.stream.test, subject.scores()
    detector.set_threshold("quantile", 0.05)
    with scratch() as folder:
        detector.save(folder / "model")
        again = subject.load(folder / "model")
        need(type(again) is type(detector), f"a {type(again).__name__} was loaded")
        need(again.get_params() == detector.get_params(), "other options were loaded")
        for name in ("threshold_", "threshold_rule_", "columns", "clock", "history_size", "remembers"):
            one, other = getattr(detector, name), getattr(again, name)
            need(one == other, f"{name} was {one!r} and is {other!r}")
        same(again.decision_function(test), scores, "scores of the loaded model")
        same(again.decision_scores_, detector.decision_scores_, "training scores of the loaded model")
        same(again.validation_scores_, detector.validation_scores_, "validation scores of the loaded model")
        same(again.p_value(scores), detector.p_value(scores), "p-values of the loaded model")
        need(again.fingerprint() == detector.fingerprint(), "the loaded model has another fingerprint")

        detector.update(test[:151])
        again.update(test[:151]).save(folder / "model")
        after = detector.decision_function(test[151:])
        same(again.decision_function(test[151:]), after, "scores of the loaded model after an update")
        third = subject.load(folder / "model")
        same(third.decision_function(test[151:]), after, "scores after update, save and load")


def check_threshold_rules_work_after_load_and_keep_their_promise(subject: DetectorSubject) -> None:
    """The validation part is in the folder: every rule gives what it gave before, and no more alarms than it says."""
    detector, val = subject.detector(), subject.stream.val
    again = subject.reloaded(detector)
    for rule in RULES:
        one, other = detector.set_threshold(*rule).threshold_, again.set_threshold(*rule).threshold_
        need(one == other, f"rule {rule} gave {one}, after load {other}")
    score, normal = again.validation_scores_, val.label != 1
    days = (val.t[-1] - val.t[0]) / 86400
    flagged = score[normal] >= again.set_threshold("fpr", 0.1).threshold_
    need(flagged.mean() <= 0.1, f"the rule fpr 0.1 flags {flagged.mean():.0%} of validation normals")
    flagged = score >= again.set_threshold("alerts_per_day", 3).threshold_
    need(flagged.sum() <= 3 * days, f"the rule of 3 alerts a day gives {flagged.sum()} in {days:.1f} days")
    flagged = score >= again.set_threshold("quantile", 0.05).threshold_
    need(flagged.mean() <= 0.05, f"the rule quantile 0.05 flags {flagged.mean():.0%}")


def check_a_model_saved_without_history_holds_none_and_still_scores(subject: DetectorSubject) -> None:
    """`save(history=False)` leaves out raw ids, past events and the own state, and the card says so; it begins anew."""
    detector, stream = subject.detector(), subject.stream
    with scratch() as folder:
        detector.save(folder / "with")
        detector.save(folder / "without", history=False)
        content = b"".join(file.read_bytes() for file in (folder / "without").rglob("*") if file.is_file())
        ids = {str(node) for node in {*stream.src, *stream.dst}}
        told = sorted(node for node in ids if node.encode() in content)
        need(not told, f"the folder without history holds the raw ids {told[:3]}")
        for name, history in (("with", True), ("without", False)):
            named = (folder / name / "vocabulary.parquet").exists()
            need(
                named == (history and subject.cls.keeps_log), f"{name} history: vocabulary is there: {named}"
            )
            own = unprefixed(read_folder(folder / name).state)
            need(
                bool(own) == (history and detector.remembers),
                f"{name} history: the folder holds {sorted(own)} of the detector's own state",
            )
        card = (folder / "without" / "card.md").read_text("utf-8")
        need("left out" in card, "the card does not say that the history is left out")
        if detector.remembers:
            need("its state" in card, "the card does not say that the state is left out")
        again = subject.load(folder / "without")
    need(again.history_size == (0, 0), f"the history is not empty: {again.history_size}")
    need(again.threshold_ == detector.threshold_, "the threshold is another one")
    need_scores(again.decision_function(stream.test))
    again.update(stream.test[:200])
    need(again.history_size[0] == 200, f"200 events make a history of {again.history_size[0]}")
    need_scores(again.decision_function(stream.test[200:]))


def check_a_model_without_history_is_as_new_whatever_came_before(subject: DetectorSubject) -> None:
    """What is left out is gone: after other updates, the folder without history gives the same model."""
    detector, test = subject.detector(), subject.stream.test
    blank = subject.reloaded(detector, history=False)
    other = subject.reloaded(subject.detector().update(test), history=False)
    same(other.decision_function(test), blank.decision_function(test), "scores of two models without history")
    need(remembered(other) == remembered(blank), "two models without history remember different things")


def check_the_history_is_what_came(subject: DetectorSubject) -> None:
    """`history_size` and `history_span` tell of all events so far; nodes are kept where a log is, and none where not."""
    detector, stream = subject.detector(), subject.stream
    parties = {*stream.src[: stream.fitted], *stream.dst[: stream.fitted]} if subject.cls.keeps_log else ()
    need(
        detector.history_size == (stream.fitted, len(parties)),
        f"the history holds {detector.history_size} events and nodes instead of {(stream.fitted, len(parties))}",
    )
    span = (float(stream.t[0]), stream.end)
    need(detector.history_span == span, f"the history spans {detector.history_span} instead of {span}")
    need(detector.fitted_until == stream.end, f"fitted until {detector.fitted_until} instead of {stream.end}")
    later = stream.end + TICK
    detector.update(stream.fresh(["new"], ["newer"], [later]))
    size = (stream.fitted + 1, len(parties) + 2 if subject.cls.keeps_log else 0)
    need(detector.history_size == size, f"one more event: {detector.history_size} instead of {size}")
    close(
        np.array(detector.history_span), np.array([stream.t[0], later]), "the span after one more event", 0.0
    )
