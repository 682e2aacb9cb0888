"""What the checks try a few times, tried on many streams with one quick detector."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.checks import DetectorSubject
from sdgad.checks.saying import CLOSE
from sdgad.checks.streams import TICK, payments
from sdgad.detectors.registry import detectors

STREAM = payments()
TEST = STREAM.test
FIRST = STREAM.fitted
many = settings(max_examples=200, deadline=None)


@pytest.fixture(scope="module")
def subject() -> DetectorSubject:
    return DetectorSubject(detectors.get("boosting"))


def test_the_future_never_changes_a_past_score(subject: DetectorSubject) -> None:
    detector, base = subject.detector(), subject.scores()

    @many
    @given(cut=st.integers(1, len(TEST) - 1), later=st.integers(0, 40), seed=st.integers(0, 2**16))
    def check(cut: int, later: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        raw = slice(FIRST, FIRST + cut)
        pick = rng.integers(FIRST, len(STREAM.t), later)
        strangers = [f"stranger {i}" if i % 3 == 0 else STREAM.dst[i] for i in pick]
        t = TEST.t[cut - 1] + TICK * np.sort(rng.integers(0, 4, later))  # also at the very same time
        events = STREAM.fresh(
            [*STREAM.src[raw], *STREAM.src[pick]],
            [*STREAM.dst[raw], *strangers],
            np.concatenate([STREAM.t[raw], t]),
            np.concatenate([STREAM.msg[raw], STREAM.msg[rng.permutation(pick)] * [3.0, 1.0]]),
        )
        np.testing.assert_allclose(detector.decision_function(events)[:cut], base[:cut], atol=CLOSE)

    check()


@pytest.mark.parametrize("ties", ["strict", "arrival"])
def test_scoring_and_updating_in_parts_is_scoring_at_once(subject: DetectorSubject, ties: str) -> None:
    start, whole = subject.detector(ties), subject.scores(ties)
    tied = np.flatnonzero(TEST.t[1:] == TEST.t[:-1]) + 1
    assert len(tied) > 20
    inside_a_tie = st.sampled_from(tied.tolist())

    @many
    @given(st.integers(0, len(TEST)), st.integers(0, len(TEST)) | inside_a_tie)
    def check(one: int, other: int) -> None:
        first, second = sorted((one, other))
        moving = copy.copy(start).update(TEST[:first]).update(TEST[first:second])
        np.testing.assert_allclose(moving.decision_function(TEST[second:]), whole[second:], atol=CLOSE)

    check()


def test_what_an_unseen_node_is_called_changes_no_bit(subject: DetectorSubject) -> None:
    detector, base = subject.detector(), subject.scores()
    known = {*STREAM.src[:FIRST], *STREAM.dst[:FIRST]}
    every = {*STREAM.src[FIRST:], *STREAM.dst[FIRST:]}
    unseen = sorted(every - known)
    assert unseen
    names = st.lists(
        st.text(min_size=1).filter(lambda text: text not in known | every),
        min_size=len(unseen),
        max_size=len(unseen),
        unique=True,
    )

    @many
    @given(names)
    def check(new: list[str]) -> None:
        called = dict(zip(unseen, new, strict=True))
        events = STREAM.stream(lambda node: called.get(node, node))[FIRST:]
        np.testing.assert_array_equal(detector.decision_function(events), base)

    check()
