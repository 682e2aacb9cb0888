"""A detector that breaks a promise is caught by the checks that defend it, and by no others."""

from __future__ import annotations

import pytest

from sdgad.checks import CheckFailed, DetectorSubject, check_detector, detector_checks
from sdgad.detectors.base import Detector
from sdgad.detectors.registry import detectors

from . import tiny_detectors as tiny

GOOD: list[type[Detector]] = [tiny.Plain, tiny.Snapshots, tiny.Sketch]

BROKEN: list[tuple[type[Detector], set[str]]] = [
    (tiny.SaysLittle, {"a_score_is_one_finite_float64_inside_0_and_1_per_row"}),
    (tiny.SaysThatItSaysLittle, {"a_score_is_one_finite_float64_inside_0_and_1_per_row"}),
    (
        tiny.RollsDice,
        {
            "the_same_options_and_seed_give_the_same_bits",
            "renaming_ids_changes_no_bit",
            "the_same_event_in_another_unit_of_time",
            "labels_have_a_say_unless_the_tag_says_not",
            "validation_labels_have_no_say_when_training_has_none",
        },
    ),
    (
        tiny.LosesItsWeights,  # what is not read as it was written is not loaded at all
        {
            "save_and_load_keep_every_bit_also_after_an_update",
            "a_snapshot_goes_on_with_the_same_bits",
            "a_model_without_history_begins_with_the_first_event",
            "a_model_without_history_is_as_new_whatever_came_before",
            "a_model_saved_without_history_holds_none_and_still_scores",
            "explanations_survive_the_model_folder",
            "threshold_rules_work_after_load_and_keep_their_promise",
        },
    ),
    (tiny.UsesLabelsInSecret, {"labels_have_a_say_unless_the_tag_says_not"}),
    (tiny.PeeksAtValidationLabels, {"validation_labels_have_no_say_when_training_has_none"}),
    (tiny.UsesNoFeatures, {"features_have_a_say_unless_the_tag_says_not"}),
    (tiny.SaysThatTiesAreVoid, {"who_sees_whom_at_one_time"}),
    (
        tiny.SaysThatItHashes,
        {
            "a_state_in_place_of_a_log_has_a_constant_size",
            "a_late_event_stands_where_it_belongs",
            "events_of_the_history_count_once",
        },
    ),
    (tiny.HidesAnOption, {"options_are_shown"}),
    (tiny.BuildsAnIndex, {"a_state_in_place_of_a_log_has_a_constant_size"}),
    (tiny.KeepsALogOfItsOwn, {"a_state_in_place_of_a_log_has_a_constant_size"}),
    (
        tiny.DeniesItsHashing,
        {
            "a_state_in_place_of_a_log_has_a_constant_size",
            "a_late_event_stands_where_it_belongs",
            "events_of_the_history_count_once",
            "renaming_ids_changes_no_bit",
            "what_an_unseen_node_is_called_changes_no_bit",
        },
    ),
]

WIDELY: list[tuple[type[Detector], str]] = [
    (tiny.PeeksAtTheFuture, "the_future_never_changes_a_past_score"),
    (tiny.MovesOnWhenAsked, "scoring_changes_nothing"),
    (tiny.SeesItsTie, "who_sees_whom_at_one_time"),
    (tiny.SeesItsTie, "scoring_and_updating_in_parts_is_scoring_at_once"),
    (tiny.LeavesTheRange, "a_score_is_one_finite_float64_inside_0_and_1_per_row"),
    (tiny.StateForgets, "a_snapshot_goes_on_with_the_same_bits"),
    (tiny.StateForgets, "save_and_load_keep_every_bit_also_after_an_update"),
    (tiny.StateForgets, "arrays_are_all_that_a_state_holds"),
    (tiny.CannotUndo, "what_begins_can_be_undone"),
    (tiny.CannotUndo, "live_scoring_changes_nothing"),
    (tiny.LetsEventsIn, "scoring_lets_no_event_in"),
    (tiny.CommitsByBatch, "live_scores_are_offline_scores_however_events_arrive"),
    (tiny.SharesItsState, "update_leaves_copies_as_they_are"),
]


@pytest.fixture(autouse=True)
def found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    detectors.names()
    for cls in GOOD:
        monkeypatch.setitem(detectors._classes, cls.name, cls)


def failing(cls: type[Detector]) -> set[str]:
    detectors._classes[cls.name] = cls  # put back by the fixture
    found, subject = set(), DetectorSubject(cls)
    for name, check in detector_checks():
        try:
            check(subject)
        except Exception:
            found.add(name)
    return found


@pytest.mark.parametrize("cls", GOOD)
def test_a_detector_that_keeps_the_contract_passes(cls: type[Detector]) -> None:
    check_detector(cls)


@pytest.mark.parametrize(
    ("cls", "expected"), [pytest.param(cls, names, id=cls.__name__) for cls, names in BROKEN]
)
def test_a_broken_promise_is_found_by_its_checks_alone(cls: type[Detector], expected: set[str]) -> None:
    assert failing(cls) == expected


@pytest.mark.parametrize(
    ("cls", "name"), [pytest.param(cls, name, id=f"{cls.__name__}-{name}") for cls, name in WIDELY]
)
def test_what_breaks_much_is_found_by_the_check_that_defends_it(cls: type[Detector], name: str) -> None:
    with pytest.raises(CheckFailed, match=rf"fails check_{name}\."):
        check_detector(cls, only=[name])
