"""How checks are collected, chosen and run, and what is said of one that fails."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
import torch

import sdgad
from sdgad.checks import CheckFailed, check_detector, check_encoder, detector_checks, encoder_checks
from sdgad.checks.running import run_checks
from sdgad.checks.saying import refused
from sdgad.encoders.tcl import TCL
from sdgad.errors import InputError

from .tiny_encoders import LeaksTheEvent

LEAK = "without_the_event_nothing_of_it_matters"


def test_it_is_reached_by_one_name() -> None:
    assert sdgad.checks.check_encoder is check_encoder
    assert sdgad.checks.check_detector is check_detector


@pytest.mark.parametrize("checks", [encoder_checks, detector_checks])
def test_every_check_has_a_name_of_its_own_and_says_what_it_defends(
    checks: Callable[[], list[tuple[str, object]]],
) -> None:
    names = [name for name, _ in checks()]
    assert len(names) == len(set(names)) > 15
    assert all((check.__doc__ or "").strip().partition("\n")[0].endswith((".", ":")) for _, check in checks())


def test_a_failure_names_the_check_what_it_defends_and_what_was_found() -> None:
    with pytest.raises(CheckFailed) as failure:
        check_encoder(LeaksTheEvent, only=[LEAK])
    said = str(failure.value)
    assert f"Encoder 'tiny-plain' fails check_{LEAK}." in said
    assert "The branch without the event knows none of its features" in said
    assert "Found:" in said
    assert "vectors without the event" in said
    assert isinstance(failure.value, AssertionError)


def test_some_checks_may_be_chosen_and_a_wrong_name_is_answered() -> None:
    check_encoder(TCL, only=[f"check_{LEAK}", "both_pairs_the_masks"])
    with pytest.raises(InputError, match=f"did you mean '{LEAK}'"):
        check_encoder(TCL, only=[LEAK[:-1]])


@pytest.mark.parametrize("what", [dict, len, "tcl", None])
def test_what_is_no_class_of_the_kind_is_told_so(what: Any) -> None:
    for check, base in (
        (check_encoder, "sdgad.encoders.base.Encoder"),
        (check_detector, "sdgad.detectors.base.Detector"),
    ):
        with pytest.raises(TypeError) as caught:
            check(what)
        assert str(caught.value) == f"{what!r} is no subclass of {base}."


def test_an_error_of_any_kind_is_a_failure_and_says_its_kind() -> None:
    def check_division(subject: int) -> None:
        """Numbers divide."""
        print(1 / subject)

    with pytest.raises(
        CheckFailed, match=r"0 fails check_division\. Numbers divide\.\nFound: ZeroDivisionError"
    ):
        run_checks(0, [("division", check_division)])


def test_checks_leave_the_randomness_and_the_warnings_of_others_alone() -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    level = logging.getLogger("sdgad").level
    check_encoder(TCL, only=["the_two_branches_share_their_dropout_masks", "gradients_reach_every_parameter"])
    assert torch.equal(torch.rand(3), expected)
    assert logging.getLogger("sdgad").level == level


@pytest.mark.parametrize(
    ("act", "found"),
    [
        (lambda: None, "was taken"),
        (lambda: {}["nothing"], "ended in KeyError"),
        (lambda: int("x"), "does not say"),
    ],
)
def test_what_has_to_be_refused_is_refused_with_the_right_words(
    act: Callable[[], object], found: str
) -> None:
    with pytest.raises(AssertionError, match=found), refused(ValueError, "a clear sentence", "it"):
        act()
