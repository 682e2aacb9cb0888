"""An encoder that breaks a promise is caught by the check that defends it, and by no other."""

from __future__ import annotations

import pytest

from sdgad.checks import EncoderSubject, check_encoder, encoder_checks
from sdgad.encoders.base import Encoder, encoders

from . import tiny_encoders as tiny

BY_ITSELF = [(name, check) for name, check in encoder_checks() if not name.startswith("at_work")]

BROKEN: list[tuple[type[Encoder], set[str]]] = [
    (
        tiny.LooksAtTheBatch,
        {
            "a_row_does_not_depend_on_the_rest_of_its_batch",
            "a_flag_per_row_is_the_same_as_one_for_all",
            "both_is_encode_with_and_without_the_event",
        },
    ),
    (tiny.LeaksTheEvent, {"without_the_event_nothing_of_it_matters"}),
    (tiny.IgnoresTheEvent, {"with_the_event_its_features_and_presence_matter"}),
    (tiny.ReadsEmptySlots, {"what_lies_in_an_empty_slot_does_not_matter"}),
    (tiny.ReadsIds, {"renaming_the_nodes_changes_nothing"}),
    (tiny.TreatsSidesApart, {"swapping_the_endpoints_swaps_the_vectors"}),
    (tiny.BlindToPastContext, {"the_visible_past_matters"}),
    (tiny.SaysThatItIsBlind, {"the_visible_past_matters"}),
    (tiny.DropsApart, {"the_two_branches_share_their_dropout_masks"}),
    (tiny.HasAnIdleLayer, {"gradients_reach_every_parameter"}),
    (tiny.CountsItsCalls, {"a_state_dict_brings_back_the_same_bits"}),
    (tiny.ForgetsItsUnits, {"a_state_dict_brings_back_the_same_bits"}),
    (tiny.AsksTheHost, {"both_is_one_graph"}),
    (tiny.OverflowsWithoutAPast, {"every_window_gives_finite_vectors_of_the_asked_width"}),
    (tiny.ReadsWhatItDidNotAskFor, {"what_it_does_not_ask_for_it_does_not_read"}),
    (tiny.ForgetsToRead, {"what_was_written_matters", "gradients_reach_every_parameter"}),
    (tiny.WritesOfTheBlock, {"commit_is_a_function_of_each_event", "what_happened_is_written"}),
    (tiny.WritesAtRandom, {"commit_is_a_function_of_each_event"}),
    (tiny.WritesOfTheEventAlone, {"what_happened_is_written"}),
    (tiny.WritesIntoItsWeights, {"a_state_dict_brings_back_the_same_bits"}),
    (tiny.OverflowsAtFirst, {"commit_writes_one_row_per_endpoint"}),
    (tiny.BlindToHopGaps, {"the_visible_second_hop_matters"}),
    (tiny.ReadsEmptyHops, {"what_lies_in_an_empty_slot_does_not_matter"}),
]


@pytest.fixture(autouse=True)
def found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    encoders.names()
    for cls in (tiny.Plain, tiny.Remembering, tiny.SeesTwoHops):
        monkeypatch.setitem(encoders._classes, cls.name, cls)


def failing(cls: type[Encoder]) -> set[str]:
    encoders._classes[cls.name] = cls  # put back by the fixture
    found, subject = set(), EncoderSubject(cls)
    for name, check in BY_ITSELF:
        try:
            check(subject)
        except Exception:
            found.add(name)
    return found


@pytest.mark.parametrize("cls", [tiny.Plain, tiny.Remembering, tiny.SeesTwoHops])
def test_an_encoder_that_keeps_the_contract_passes(cls: type[Encoder]) -> None:
    check_encoder(cls)


@pytest.mark.parametrize(
    ("cls", "expected"), [pytest.param(cls, names, id=cls.__name__) for cls, names in BROKEN]
)
def test_a_broken_promise_is_found_by_its_check(cls: type[Encoder], expected: set[str]) -> None:
    assert failing(cls) == expected
