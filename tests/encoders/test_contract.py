"""Every registered encoder, ours or another package's, keeps the contract; a new one is tested by being registered."""

from __future__ import annotations

from typing import Any

import pytest

from sdgad.checks import EncoderSubject, encoder_checks
from sdgad.encoders import EncoderConfig, encoders, list_encoders


@pytest.fixture(scope="module", params=list_encoders())
def subject(request: pytest.FixtureRequest) -> EncoderSubject:
    return EncoderSubject(encoders.get(request.param))


@pytest.mark.parametrize("check", [pytest.param(check, id=name) for name, check in encoder_checks()])
def test_every_encoder_keeps_the_contract(subject: EncoderSubject, check: Any) -> None:
    check(subject)


def test_sizes_that_make_no_sense_are_refused() -> None:
    for wrong in ({"width": 0}, {"heads": -1}, {"dropout": 1.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            EncoderConfig(**wrong)  # type: ignore[arg-type]
