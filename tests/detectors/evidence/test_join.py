"""The say of kinds of evidence: by a rule of how many labels there are, or by enough validation labels."""

from __future__ import annotations

import numpy as np
import pytest

from sdgad.detectors.sdgad.evidence import join
from sdgad.detectors.sdgad.evidence.base import Group
from sdgad.detectors.sdgad.evidence.join import CONTRAST, by_rule, chosen, joined

UNLABELLED: dict[str, Group] = {
    "forest": "density",
    "flow": "density",
    "contrast": "contrast",
    "newcomer": "unfamiliar",
    "strangers": "unfamiliar",
    "sudden": "unfamiliar",
    "floods": "floods",
}
GROUPS: dict[str, Group] = {**UNLABELLED, "like-habits": "like", "odds": "known", "trees": "known"}


def test_without_labels_densities_share_one_say_contrast_has_as_much_and_what_is_unfamiliar_three_quarters_each() -> (
    None
):
    say = by_rule(UNLABELLED, 0)
    assert say == {
        "forest": 0.5, "flow": 0.5, "contrast": CONTRAST, "newcomer": 0.75, "strangers": 0.75, "sudden": 0.75, "floods": 1.0,
    }  # fmt: skip


def test_every_label_more_moves_the_say_from_what_needs_none_to_known_anomalies() -> None:
    known = [by_rule(GROUPS, labels)["trees"] for labels in (1, 2, 3, 10, 20, 10_000)]
    rest = [by_rule(GROUPS, labels)["forest"] for labels in (1, 2, 3, 10, 20, 10_000)]
    assert (np.diff(known) > 0).all()
    assert (np.diff(rest) < 0).all()
    assert known[-1] == pytest.approx(0.5, abs=0.01)  # of two


def test_the_first_labels_speak_through_likeness_alone_and_it_fades_where_something_learned() -> None:
    few: dict[str, Group] = {**UNLABELLED, "like-habits": "like"}
    say = [by_rule(few, labels)["like-habits"] for labels in (1, 3, 19)]
    assert say == pytest.approx([1 / 21, 3 / 23, 19 / 39])
    faded = [by_rule(GROUPS, labels)["like-habits"] for labels in (20, 100, 10_000)]
    assert (np.diff(faded) < 0).all()
    assert faded[-1] < 0.01


def test_floods_are_absolute_and_keep_their_say() -> None:
    assert {by_rule(GROUPS, labels)["floods"] for labels in (0, 3, 1000)} == {1.0}


def numbers(good: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Labels, and evidence of which one kind knows them."""
    rng = np.random.default_rng(0)
    label = (np.arange(1000) % 25 == 0).astype(float)
    nats = {name: rng.exponential(size=1000) for name in GROUPS}
    nats[good] = nats[good] + 5 * label
    return label, nats


@pytest.mark.parametrize("good", ["odds", "trees", "like-habits"])
def test_validation_labels_choose_the_kind_that_knows_them(good: str) -> None:
    label, nats = numbers(good)
    of_use = GROUPS if good != "like-habits" else {**UNLABELLED, good: "like"}  # where nothing learned
    say = chosen(of_use, label, nats)
    assert max(say, key=lambda name: say[name] * (name != "floods")) == good
    anomaly = joined(nats, say)
    assert anomaly[label == 1].min() > np.quantile(anomaly[label == 0], 0.9)


CLOSED: dict[str, Group] = {**GROUPS, "like-a": "like", "like-b": "like", "like-c": "like"}


def with_closed_forms(good: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    label, nats = numbers("odds" if good == "odds" else "flow")
    rng = np.random.default_rng(1)
    nats |= {name: rng.exponential(size=1000) for name in CLOSED if name not in GROUPS}
    if good != "odds":
        nats["flow"] = rng.exponential(size=1000)
        nats[good] = nats[good] + 5 * label
    return label, nats


def test_closed_forms_count_as_one_beside_what_learned() -> None:
    say = chosen(CLOSED, *with_closed_forms("odds"))
    assert sum(say[name] for name, group in CLOSED.items() if group == "like") < say["odds"]


def test_the_closed_form_that_knows_keeps_its_say_where_something_learned_too() -> None:
    """So that the twentieth label, from which on trees and network learn, takes nothing away."""
    say = chosen(CLOSED, *with_closed_forms("like-b"))
    assert max(say, key=lambda name: say[name] * (name != "floods")) == "like-b"
    assert say["like-a"] == say["like-c"] == 0


def test_a_choice_looks_at_all_anomalies_and_at_most_so_many_others(monkeypatch: pytest.MonkeyPatch) -> None:
    label, nats = numbers("trees")
    whole = chosen(GROUPS, label, nats)
    monkeypatch.setattr(join, "NORMALS", 300)
    nats["forest"][np.flatnonzero(label == 0)[1::4]] = np.nan  # of four others the choice looks at the first
    found = chosen(GROUPS, label, nats)
    assert np.isfinite(list(found.values())).all()
    assert found["trees"] == pytest.approx(whole["trees"], abs=0.3)


def test_fewer_than_twenty_anomalies_choose_nothing() -> None:
    label, nats = numbers("odds")
    label[np.flatnonzero(label)[19:]] = 0
    with pytest.raises(ValueError, match="nothing to choose by"):
        chosen(GROUPS, label, nats)


def test_the_sum_does_not_depend_on_the_order_in_which_a_file_names_the_kinds() -> None:
    _, nats = numbers("odds")
    say = by_rule(GROUPS, 5)
    np.testing.assert_array_equal(joined(nats, say), joined(nats, dict(reversed(say.items()))))
