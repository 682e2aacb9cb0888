"""Every registered detector keeps the contract; a new one is tested by being registered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdgad.checks import DetectorSubject, detector_checks
from sdgad.checks.saying import CLOSE
from sdgad.detectors.registry import detectors, list_detectors
from sdgad.encoders.base import encoders

SUBJECTS: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in list_detectors()]
SUBJECTS += [("sdgad", {"encoder": "tgn", "encoder_options": dict(encoders.get("tgn").check_options)})]


@pytest.fixture(
    scope="module",
    params=SUBJECTS,
    ids=lambda subject: "-".join([subject[0], *filter(None, [subject[1].get("encoder")])]),
)
def subject(request: pytest.FixtureRequest) -> DetectorSubject:
    name, options = request.param
    return DetectorSubject(detectors.get(name), **options)


@pytest.mark.parametrize("check", [pytest.param(check, id=name) for name, check in detector_checks()])
def test_every_detector_keeps_the_contract(subject: DetectorSubject, check: Any) -> None:
    check(subject)


def test_a_small_file_beside_a_long_history_has_the_same_scores(
    subject: DetectorSubject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scored against the kept live buffer, again and after updates, as by an index over everything."""
    monkeypatch.setattr("sdgad.detectors.archive.LARGE", 0)
    monkeypatch.setattr("sdgad.detectors.archive.RUN", 1)
    detector, test, expected = subject.detector(), subject.stream.test, subject.scores()
    for start in range(0, len(test), 90):
        for _ in range(2):
            scores = detector.decision_function(test[start:])
            np.testing.assert_allclose(scores, expected[start:], rtol=0, atol=CLOSE)
        detector.update(test[start : start + 90])
