"""Checks of encoders: at work in a small detector, so that history, memory and files are seen to carry what they need."""

from __future__ import annotations

from sdgad.checks import detector_files, detector_live, detector_parts
from sdgad.checks.detector_subject import DetectorSubject
from sdgad.checks.encoder_subject import EncoderSubject
from sdgad.checks.saying import need
from sdgad.detectors.classifier import Classifier


def check_at_work_the_future_never_changes_a_past_score(subject: EncoderSubject) -> None:
    """In a `classifier`: the first n scores stay, whatever comes later, and events of one time do not see each other."""
    detector_parts.check_the_future_never_changes_a_past_score(at_work(subject))
    detector_parts.check_who_sees_whom_at_one_time(at_work(subject))


def check_at_work_parts_are_the_whole(subject: EncoderSubject) -> None:
    """In a `classifier`: scoring and updating in parts is scoring at once, and leaves copies as they are."""
    detector_parts.check_scoring_and_updating_in_parts_is_scoring_at_once(at_work(subject))
    detector_parts.check_update_leaves_copies_as_they_are(at_work(subject))


def check_at_work_live_scores_are_offline_scores(subject: EncoderSubject) -> None:
    """In a `classifier`: live = offline, however events arrive, and a live score leaves no trace."""
    detector_live.check_live_scores_are_offline_scores_however_events_arrive(at_work(subject))
    detector_live.check_live_scoring_changes_nothing(at_work(subject))


def check_at_work_files_keep_every_bit(subject: EncoderSubject) -> None:
    """In a `classifier`: model folder and snapshot bring back the same bits; a memory is in them, or left out if asked."""
    worker = at_work(subject)
    remembers = bool(worker.detector().needs.memory)
    need(
        worker.detector().remembers == remembers, f"needs.memory, but the detector remembers={not remembers}"
    )
    detector_files.check_save_and_load_keep_every_bit_also_after_an_update(worker)
    detector_files.check_a_model_saved_without_history_holds_none_and_still_scores(worker)
    detector_live.check_a_snapshot_goes_on_with_the_same_bits(worker)


def at_work(subject: EncoderSubject) -> DetectorSubject:
    """A small classifier with this encoder, fitted once for all checks of the subject."""
    if subject.worker is None:
        options = {**subject.options, "width": 8}
        subject.worker = DetectorSubject(
            Classifier, device=str(subject.device), encoder=subject.cls.name, encoder_options=options
        )
    return subject.worker
