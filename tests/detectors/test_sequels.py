"""What others do soon after an event tells of it what it does not tell itself: an encyclopedia whose vandals are written over."""

from __future__ import annotations

import numpy as np
import pytest

import sdgad
from sdgad.detectors.base import Detector
from sdgad.events.stream import EventStream
from sdgad.metrics import auroc

MEND_S = 60.0  # until a page that was spoilt is mended
PATROL, EDITORS, VANDALS, PAGES = 5, 60, 20, 300


def encyclopedia(edits: int = 4000, seed: int = 0) -> EventStream:
    """Editors and vandals write alike; what a vandal wrote, somebody on patrol soon mends. The edits of vandals are labelled."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 40 * 86_400, edits))
    user = PATROL + rng.integers(0, EDITORS + VANDALS, edits)
    page = 1000 + rng.integers(0, PAGES, edits)
    spoilt = user >= PATROL + EDITORS
    mended = t[spoilt] + rng.uniform(0.2, 1.0, spoilt.sum()) * MEND_S
    mender = rng.integers(0, PATROL, spoilt.sum())
    return sdgad.read_events(
        {
            "src": np.append(user, mender),
            "dst": np.append(page, page[spoilt]),
            "t": np.append(t, mended),
            "label": np.append(spoilt, np.zeros(spoilt.sum())).astype(float),
        }
    )


TRAIN, VAL, TEST = encyclopedia().split()


def fitted(**options: object) -> Detector:
    return sdgad.make_detector("boosting", device="cpu", seed=0, **options).fit(TRAIN, val=VAL)


@pytest.fixture(scope="module")
def told() -> Detector:
    return fitted()


def test_vandals_are_found_by_what_happens_to_their_pages_and_not_without(told: Detector) -> None:
    without = fitted(sequels=False)
    assert auroc(TEST.label, told.decision_function(TEST)) > 0.95
    assert auroc(TEST.label, without.decision_function(TEST)) < 0.85


def test_an_explanation_says_that_others_were_quick(told: Detector) -> None:
    found = told.findings(TEST)
    vandals = np.flatnonzero((TEST.label == 1) & (found.scores >= told.threshold_))
    first = [explanation.residuals[0] for explanation in found.explanations(vandals)]
    about = [one for one in first if one.theme == "source sequels"]
    assert len(about) >= 0.8 * len(first)
    assert about[0].words.startswith("those whom this source met lately were seen again ")
    assert np.median([one.now for one in about]) < MEND_S
