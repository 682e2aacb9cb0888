from collections import defaultdict

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from sdgad.errors import InputError
from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import EventStream

TYPES = {"card-testing", "account-takeover", "dormant-wakes", "mule-ring", "wrong-amount"}
DAY = 86400


@pytest.fixture(scope="module")
def events() -> EventStream:
    return simulate_payments()


def columns(events: EventStream) -> list[np.ndarray]:
    return [events.src, events.dst, events.t, events.msg, events.label, events.anomaly_type]


def incidents(events: EventStream, kind: str, gap: float = 3 * 3600) -> list[np.ndarray]:
    """Rows of each incident of a kind that one account makes."""
    rows = np.flatnonzero(events.anomaly_type == kind)
    rows = rows[np.lexsort((events.t[rows], events.src[rows]))]
    cut = (np.diff(events.src[rows]) != 0) | (np.diff(events.t[rows]) > gap)
    return np.split(rows, np.flatnonzero(cut) + 1)


def past(events: EventStream, row: int) -> np.ndarray:
    """Earlier rows in which the payer of a row took part."""
    payer = events.src[row]
    return np.flatnonzero((events.src[:row] == payer) | (events.dst[:row] == payer))


def test_same_seed_gives_the_same_bytes_and_another_seed_does_not():
    one, two, other = (simulate_payments(3_000, seed=seed) for seed in (7, 7, 8))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(columns(one), columns(two), strict=True))
    assert one.vocabulary.names[0].equals(two.vocabulary.names[0])
    assert not np.array_equal(one.t, other.t)


def test_stream_is_a_wall_clock_from_a_monday_in_2026_with_named_features(events):
    assert events.clock.wall_clock
    assert events.clock.unit == "s"
    assert np.datetime64("2026-01-05") == np.datetime64(int(events.t[0]) // DAY, "D")
    assert 29 * DAY < events.t[-1] - events.t[0] <= 30 * DAY
    assert [f.name for f in events.features] == ["amount", "channel"]
    assert not events.features[0].categorical
    assert set(events.features[1].categories) == {"card", "online", "transfer"}
    assert set(np.unique(events.msg[:, 1])) == {0, 1, 2}
    assert events.msg[:, 0].min() > 0


def test_people_and_shops_share_one_name_space(events):
    names = np.array(events.vocabulary.names[0].to_pylist())
    assert all(name.startswith(("acc-", "shop-")) for name in names)
    assert not events.bipartite
    payee_is_person = np.char.startswith(names[events.dst], "acc-")
    assert np.char.startswith(names[events.src], "acc-").all()
    assert 0.05 < payee_is_person.mean() < 0.5


@pytest.mark.parametrize("seed", range(5))
def test_every_type_occurs_often_in_every_part_and_third(seed):
    kinds = simulate_payments(seed=seed).anomaly_type
    cuts = [np.split(kinds, [12_000, 18_000]), np.array_split(kinds, 3)]
    for part in [part for cut in cuts for part in cut]:
        found, count = np.unique(part[part != ""], return_counts=True)
        assert set(found) == TYPES
        assert count.min() >= 8


@pytest.mark.parametrize("rate", [0.0, 0.005, 0.05])
def test_share_of_anomalies_is_the_rate_and_labels_agree_with_types(rate):
    events = simulate_payments(20_000, anomaly_rate=rate)
    assert len(events) == 20_000
    assert events.label.mean() == pytest.approx(rate, rel=0.05)
    assert np.array_equal(events.label == 1, events.anomaly_type != "")


@pytest.mark.parametrize("num_events", [1, 2, 5, 40, 100, 500])
@pytest.mark.parametrize("rate", [0.0, 0.01, 0.5])
@pytest.mark.parametrize("days", [0.02, 1.0, 30.0])
def test_any_size_gives_exactly_so_many_events_and_no_self_loop(num_events, rate, days):
    events = simulate_payments(num_events, days=days, anomaly_rate=rate, seed=num_events)
    assert len(events) == num_events
    assert (events.src != events.dst).all()
    assert events.t[-1] - 1_767_571_200 <= days * DAY
    assert np.isfinite(events.msg).all()


@pytest.mark.parametrize(
    "options",
    [
        {"num_events": 0},
        {"num_accounts": 3},
        {"days": 0},
        {"days": np.nan},
        {"anomaly_rate": 0.9},
        {"seed": -1},
    ],
)
def test_an_option_out_of_range_is_named(options):
    with pytest.raises(InputError, match=next(iter(options))):
        simulate_payments(**options)


def test_ordinary_traffic_has_rhythm_favourites_tails_and_newcomers(events):
    normal = events.label == 0
    hour = (events.t[normal] / 3600 % 24).astype(int)
    per_hour = np.bincount(hour, minlength=24)
    assert per_hour[2:5].mean() < 0.4 * per_hour[11:15].mean()
    weekend = (events.t[normal] - 1_767_571_200) // DAY % 7 >= 5
    assert weekend.mean() < 2 / 7

    activity = np.sort(np.bincount(events.src))[::-1]
    assert activity[:75].sum() > 0.25 * activity.sum()
    popularity = np.sort(np.bincount(events.dst))[::-1]
    assert popularity[:10].sum() > 0.2 * popularity.sum()

    pair = events.src * events.num_nodes + events.dst
    first = np.zeros(len(events), bool)
    first[np.unique(pair, return_index=True)[1]] = True
    assert 0.03 < first[normal][15_000:].mean() < 0.25  # people mostly return, and sometimes do not
    newcomers = np.unique(events.src, return_index=True)[1]
    assert (newcomers > 15_000).sum() > 40


def test_card_testing_is_a_burst_of_small_amounts_at_shops_mostly_new(events):
    names = events.vocabulary.names[0].to_pylist()
    for rows in incidents(events, "card-testing"):
        assert len(rows) >= 4
        assert np.ptp(events.t[rows]) < 600
        usual = np.median(events.msg[events.src == events.src[rows[0]], 0])
        assert np.median(events.msg[rows, 0]) < 0.5 * usual
        assert all(names[payee].startswith("shop-") for payee in events.dst[rows])
    everything = np.flatnonzero(events.anomaly_type == "card-testing")
    new = [events.dst[row] not in events.dst[past(events, row)] for row in everything]
    assert np.mean(new) > 0.6


def test_takeover_pays_new_recipients_more_than_usual_at_quiet_hours(events):
    rows = np.flatnonzero(events.anomaly_type == "account-takeover")
    angle = events.t * (2 * np.pi / DAY)
    ordinary = events.label == 0
    for row in rows:
        own = ordinary & (events.src == events.src[row])
        assert own[:row].sum() >= 8
        assert events.dst[row] not in events.dst[own]
    closeness = [
        np.cos(angle[row] - angle[ordinary & (events.src == events.src[row])]).mean() for row in rows
    ]
    assert np.mean(closeness) < -0.4
    ratio = [events.msg[row, 0] / np.median(events.msg[events.src == events.src[row], 0]) for row in rows]
    assert np.median(ratio) > 2


def test_dormant_account_was_active_then_silent_for_days_and_pays_a_new_partner(events):
    woken = incidents(events, "dormant-wakes")
    assert len(woken) >= 20
    for rows in woken:
        before = past(events, rows[0])
        assert len(before) >= 1
        assert events.t[rows[0]] - events.t[before[-1]] > 3.5 * DAY
        assert len(set(events.dst[rows])) == 1
        assert events.dst[rows[0]] not in events.dst[before]


def test_mule_ring_passes_similar_sums_around_a_ring_of_strangers(events):
    rows = np.flatnonzero(events.anomaly_type == "mule-ring")
    rings = np.split(rows, np.flatnonzero(np.diff(events.t[rows]) > 3600) + 1)
    assert len(rings) >= 6
    for ring in rings:
        assert set(events.src[ring]) == set(events.dst[ring])
        pairs = zip(events.src[ring], events.dst[ring], strict=True)
        assert not any(((events.src == a) & (events.dst == b) & (events.label == 0)).any() for a, b in pairs)
    clean = [
        r for r in rings if np.array_equal(events.dst[r[:-1]], events.src[r[1:]])
    ]  # none overlap in time
    assert clean
    assert all(np.ptp(np.log(events.msg[ring, 0])) < 0.4 for ring in clean)


def test_wrong_amount_is_far_off_the_habit_of_a_known_pair(events):
    up = 0
    rows = np.flatnonzero(events.anomaly_type == "wrong-amount")
    for row in rows:
        before = (events.src[:row] == events.src[row]) & (events.dst[:row] == events.dst[row])
        assert before.sum() >= 5
        ratio = np.log(events.msg[row, 0] / np.median(events.msg[:row, 0][before]))
        assert abs(ratio) > np.log(5)
        up += ratio > 0
    assert 0.55 < up / len(rows) < 0.95


def surprise(events: EventStream) -> np.ndarray:
    """What anyone would ask of a history: is the amount, the partner, the gap unusual for this account?"""
    log_amount = np.log(events.msg[:, 0])
    seen: dict[int, list[float]] = defaultdict(list)
    times: dict[int, list[float]] = defaultdict(list)
    pairs: set[tuple[int, int]] = set()
    score = np.zeros(len(events))
    for i, (src, dst, t) in enumerate(
        zip(events.src.tolist(), events.dst.tolist(), events.t.tolist(), strict=True)
    ):
        own = seen[src]
        deviation = abs(log_amount[i] - np.mean(own[-20:])) if own else 0.5
        score[i] = deviation + 1.5 * ((src, dst) not in pairs)
        score[i] += 0.5 * bool(times[src] and t - times[src][-1] < 900)
        own.append(log_amount[i])
        times[src].append(t)
        times[dst].append(t)
        pairs.add((src, dst))
    return score


@pytest.mark.parametrize("seed", range(3))
def test_raw_columns_tell_little_and_histories_tell_much(seed):
    events = simulate_payments(seed=seed)
    train, test = slice(0, 12_000), slice(18_000, None)
    raw = np.stack([events.msg[:, 0], events.t / 3600 % 24], 1)
    forest = IsolationForest(n_estimators=200, random_state=0).fit(raw[train])
    blind = roc_auc_score(events.label[test], -forest.score_samples(raw[test]))
    knowing = roc_auc_score(events.label[test], surprise(events)[test])
    assert blind < 0.80
    assert knowing > 0.90
