"""What needs no label overrules what learned from labels, as far as known anomalies say that it can be trusted."""

from __future__ import annotations

import numpy as np
import pytest

from sdgad.detectors.sdgad.evidence.base import Group
from sdgad.detectors.sdgad.evidence.join import joined
from sdgad.detectors.sdgad.evidence.last_word import LastWord
from sdgad.metrics import auroc

GROUPS: dict[str, Group] = {"forest": "density", "contrast": "contrast", "trees": "known", "floods": "floods"}
SAY = {"forest": 0.0, "contrast": 0.0, "trees": 1.0, "floods": 1.0}  # labels alone decided
KNOWN, UNSEEN = slice(0, 60), slice(60, 120)
ANOMALOUS = np.arange(4000) < 60  # of validation


def numbers(seed: int, rarity: float) -> dict[str, np.ndarray]:
    """Nats of 4,000 events: trees know the first sixty, to which the forest gives so many more nats; of the next sixty, which
    trees do not know, it finds all."""
    rng = np.random.default_rng(seed)
    nats = {name: rng.exponential(size=4000) for name in GROUPS if name != "floods"}
    nats["floods"] = np.zeros(4000)
    nats["trees"][KNOWN] += 6
    nats["forest"][KNOWN] += rarity
    return nats


def fitted(rarity: float) -> LastWord:
    found = LastWord.fit(GROUPS, SAY, numbers(0, rarity), ANOMALOUS)
    assert found is not None
    return found


def test_without_anything_that_learned_from_labels_there_is_no_other_word() -> None:
    unlabelled: dict[str, Group] = {name: group for name, group in GROUPS.items() if group != "known"}
    assert LastWord.fit(unlabelled, SAY, numbers(0, 9.0), ANOMALOUS) is None
    blind: dict[str, Group] = {"trees": "known", "floods": "floods"}
    assert LastWord.fit(blind, SAY, numbers(0, 9.0), ANOMALOUS) is None


def test_a_kind_that_labels_do_not_know_is_found_where_known_ones_are_rarities_too() -> None:
    last, nats = fitted(9.0), numbers(1, 9.0)
    nats["forest"][UNSEEN] += 9
    total = joined(nats, SAY)
    label = np.zeros(4000)
    label[UNSEEN] = 1
    others = ANOMALOUS == 0
    assert (auroc(label[others], total[others]) or 0) < 0.6
    assert (auroc(label[others], last(nats, total)[others]) or 0) > 0.95


def test_known_anomalies_that_are_no_rarities_leave_the_word_to_labels() -> None:
    """Rarities are then something else, and there are more of them than anomalies."""
    trusted, doubted = fitted(9.0), fitted(0.0)
    assert trusted.rarer < 1.5
    assert doubted.rarer > 4
    nats = numbers(1, 0.0)
    total = joined(nats, SAY)
    assert np.mean(doubted(nats, total) > doubted.whole(total)) < 0.02


def test_without_a_validation_anomaly_it_is_doubted() -> None:
    found = LastWord.fit(GROUPS, SAY, numbers(0, 9.0), np.zeros(4000, bool))
    assert found is not None
    assert found.rarer == pytest.approx(0.5 - np.log(0.05))


def test_weights_of_every_event_add_its_nats_up_to_what_is_said() -> None:
    last, nats = fitted(9.0), numbers(2, 9.0)
    nats["forest"][UNSEEN] += 9
    said = last(nats, joined(nats, SAY))
    shares = last.shares(nats, SAY)
    np.testing.assert_allclose(sum(shares[name] * nats[name] for name in SAY), said, atol=1e-9)
    assert (shares["trees"][UNSEEN] == 0).mean() > 0.9  # overruled
    assert (shares["forest"][KNOWN] == 0).any()  # of some of these the trees decide


def test_it_comes_back_from_a_file_and_nothing_else_does() -> None:
    last, nats = fitted(9.0), numbers(3, 9.0)
    total = joined(nats, SAY)
    again = LastWord.from_file(last.say, last.arrays())
    np.testing.assert_array_equal(again(nats, total), last(nats, total))
    for wrong in (
        {"rarer": np.array(-1.0)},
        {"other.value": np.zeros(2)},
        {"whole.value": np.full(3, np.nan)},
    ):
        with pytest.raises(ValueError, match=r"array|part|unit"):
            LastWord.from_file(last.say, {**last.arrays(), **wrong})
    with pytest.raises(ValueError, match="the last word of"):
        LastWord.from_file({"forest": -1.0}, last.arrays())
