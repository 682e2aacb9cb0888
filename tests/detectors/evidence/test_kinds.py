"""Every kind of evidence: what it learns, from what, and that it comes back from its arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.ensemble import IsolationForest

from sdgad.detectors.baselines.isolation_forest import IsolationForestDetector
from sdgad.detectors.event_table import SEQUELS_TOLD, EventTable
from sdgad.detectors.growing import Growth
from sdgad.detectors.row_maker import RowMaker
from sdgad.detectors.sdgad.evidence import likeness
from sdgad.detectors.sdgad.evidence.base import Kind, Lesson, kinds
from sdgad.detectors.sdgad.evidence.ellipse import Ellipse, Ranks
from sdgad.detectors.sdgad.evidence.features import Features
from sdgad.detectors.sdgad.evidence.floods import Floods, poisson_surprise
from sdgad.detectors.sdgad.evidence.forest import SAMPLES, TREES
from sdgad.detectors.sdgad.evidence.labelled_trees import LabelledTrees
from sdgad.detectors.sdgad.evidence.likeness import WIDE, LikeFeatures, LikeHabits, Likeness
from sdgad.detectors.sdgad.evidence.panel import Panel
from sdgad.detectors.task import FitScores, Task
from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import Array, EventStream
from sdgad.history.context import NAMES, PHASE_NAMES, SIDES
from sdgad.history.habits import HabitNames
from sdgad.metrics import auroc

TRAIN, VAL, _ = simulate_payments(4000, anomaly_rate=0.03, seed=1).split()


class Keeper(IsolationForestDetector):
    """Keeps the task that it is given."""

    def _learn(self, task: Task) -> FitScores:
        self.task = task
        return super()._learn(task)


def lesson_of(train: EventStream = TRAIN, val: EventStream = VAL) -> tuple[EventTable, Lesson]:
    keeper = Keeper(device="cpu", trees=1, history=10).fit(train, val=val)
    table, task = EventTable(replace(keeper.window_shape, sequels=SEQUELS_TOLD)), keeper.task
    return table, Lesson(
        task, table.rows(task.index, task.train), table.rows(task.index, task.val), 0, Growth(most=60)
    )


@pytest.fixture(scope="module")
def labelled() -> tuple[EventTable, Lesson]:
    return lesson_of()


def fitted(name: str, given: tuple[EventTable, Lesson]) -> Kind:
    table, lesson = given
    kind = kinds.get(name)(table)
    kind.fit(lesson)
    return kind


@pytest.mark.parametrize("name", kinds.names())
def test_it_finds_planted_anomalies_and_comes_back_from_its_arrays(
    name: str, labelled: tuple[EventTable, Lesson]
) -> None:
    table, lesson = labelled
    kind = fitted(name, labelled)
    found = kind.raw(lesson.val)
    assert found.shape == (len(VAL),)
    assert found.dtype == np.float64
    assert np.isfinite(found).all()
    if name not in (
        "floods",
        "newcomer",
        "sudden",
    ):  # payments have no floods, and old accounts are as often taken over
        one_side = name.startswith("like-") and any(
            side in name for side in ("source", "destination", "pair")
        )
        assert (auroc(VAL.label, found) or 0) > (0.55 if one_side else 0.65)  # which matters differs
    again = kinds.get(name)(table)
    again.load(kind.arrays())
    np.testing.assert_array_equal(again.raw(lesson.val), found)


@pytest.mark.parametrize(
    "name",
    ["forest", "ellipse", "ranks", "features", "contrast", "newcomer", "strangers", "sudden", "floods"],
)
def test_what_needs_no_label_looks_at_none(name: str) -> None:
    bare = fitted(name, lesson_of(TRAIN.with_labels("none")))
    relabelled = lesson_of(TRAIN.with_labels("none"))
    relabelled[1].task.label[relabelled[1].task.val] = 1.0
    np.testing.assert_array_equal(
        fitted(name, relabelled).raw(relabelled[1].val), bare.raw(relabelled[1].val)
    )


def test_known_anomalies_are_learned_where_there_are_some() -> None:
    given = [lesson_of(TRAIN.with_labels(*how)) for how in (("none",), ("few-shot", 3), ("all",))]
    assert [LikeHabits(table).learns(lesson) for table, lesson in given] == [False, True, True]
    assert [LabelledTrees(table).learns(lesson) for table, lesson in given] == [False, False, True]


def test_likeness_by_columns_that_a_stream_does_not_have_learns_nothing(
    labelled: tuple[EventTable, Lesson],
) -> None:
    table, lesson = labelled
    assert LikeFeatures(table).learns(lesson)
    assert not LikeFeatures(EventTable(replace(table.shape, msg=0))).learns(lesson)


def test_a_source_is_as_sudden_as_what_it_did_within_the_week_it_did_within_the_hour(
    labelled: tuple[EventTable, Lesson],
) -> None:
    table, _ = labelled
    rows = np.zeros((3, table.width), np.float32)
    rows[:, NAMES.index("log rate src week")] = np.log1p([9.0, 9.0, 0.0])
    rows[:, NAMES.index("log rate src hour")] = np.log1p([0.0, 9.0, 0.0])
    found = fitted("sudden", labelled).raw(rows)
    np.testing.assert_allclose(found, [-np.log(10), 0.0, 0.0], rtol=1e-6)


def test_of_a_contrast_counts_how_rare_its_odds_are_and_what_they_say(
    labelled: tuple[EventTable, Lesson],
) -> None:
    table, _ = labelled
    contrast = fitted("contrast", labelled)
    odds, surprise = np.array([-40.0, -3.0, 0.0, 3.0, 30.0]), np.array([0.0, 0.5, 1.0, 4.0, 7.0])
    counted = contrast.counted(odds, surprise)
    full = 0.5 * surprise + 0.75 * np.log1p(np.exp(odds + 3))
    said = np.unique(counted / full)
    np.testing.assert_allclose(said, said[0])
    assert 0.5 < said[0] <= 1.0  # payments are told from what did not happen well enough
    assert (np.diff(counted) > 0).all()
    older = kinds.get("contrast")(table)
    older.load({name: array for name, array in contrast.arrays().items() if name != "shares"})
    np.testing.assert_array_equal(older.counted(odds, surprise), surprise)


def test_where_anybody_meets_anybody_at_any_time_a_contrast_does_not_count() -> None:
    rng = np.random.default_rng(0)
    count = len(TRAIN)
    chance = EventStream(
        rng.integers(0, 40, count), rng.integers(40, 80, count), np.sort(rng.uniform(0, 1e6, count))
    )
    train, val, _ = chance.split(train=0.7, val=0.3)
    contrast = fitted("contrast", lesson_of(train, val))
    odds, surprise = np.array([0.0, 5.0]), np.array([1.0, 7.0])
    assert (
        contrast.counted(odds, surprise) < 0.1 * (0.5 * surprise + 0.75 * np.log1p(np.exp(odds + 3)))
    ).all()


def test_a_source_is_as_unfamiliar_as_its_share_of_the_week_is_small_and_a_pair_as_it_met_seldom(
    labelled: tuple[EventTable, Lesson],
) -> None:
    table, _ = labelled
    rows = np.zeros((3, table.width), np.float32)
    rows[:, NAMES.index("log rate stream week")] = np.log1p(999.0)
    rows[:, NAMES.index("log rate src week")] = np.log1p([0.0, 9.0, 99.0])
    rows[:, NAMES.index("log count pair")] = np.log1p([0.0, 1.0, 7.0])
    found = [fitted(name, labelled).raw(rows) for name in ("newcomer", "strangers")]
    np.testing.assert_allclose(found, [np.log([1000, 100, 10]), -np.log([1, 2, 8])], rtol=1e-6)


def test_what_is_unfamiliar_has_two_nats_at_most_and_stays_in_order(
    labelled: tuple[EventTable, Lesson],
) -> None:
    table, lesson = labelled
    panel = Panel.fitted(table, lesson, ["newcomer", "forest"])
    panel.fit_tails(panel.raw(lesson.val))
    far = {"newcomer": np.array([0.0, 5.0, 10.0, 15.0]), "forest": np.array([0.3, 0.5, 0.7, 0.9])}
    nats = panel.nats(far)
    plain = panel.tails["newcomer"](far["newcomer"])
    np.testing.assert_allclose(nats["newcomer"], 2 * (1 - np.exp(-plain / 2)))
    assert (np.diff(nats["newcomer"]) > 0).all()
    assert nats["newcomer"].max() <= 2 < nats["forest"].max()


def test_the_forest_is_that_of_scikit_learn_on_residuals_of_normals(
    labelled: tuple[EventTable, Lesson],
) -> None:
    table, lesson = labelled
    rows = table.residuals(lesson.train)[~lesson.anomalous]
    forest = IsolationForest(n_estimators=TREES, max_samples=min(SAMPLES, len(rows)), random_state=0).fit(
        rows
    )
    found = fitted("forest", labelled).raw(lesson.val)
    np.testing.assert_allclose(found, -forest.score_samples(table.residuals(lesson.val)), rtol=1e-12)


def test_residuals_are_relations_and_deviations(labelled: tuple[EventTable, Lesson]) -> None:
    from sdgad.history.habits import habits

    table, lesson = labelled
    window = lesson.task.index.rows(lesson.task.val[:50], table.shape.history, table.needs)
    found = habits(window, table.shape.phases)
    np.testing.assert_array_equal(
        table.residuals(table.of(window)), torch.cat([found.relations, found.deviations], 1).numpy()
    )


def test_the_ellipse_is_the_mahalanobis_distance(labelled: tuple[EventTable, Lesson]) -> None:
    table, lesson = labelled
    rows = table.residuals(lesson.train)[~lesson.anomalous].astype(np.float64)
    mean, spread = rows.mean(0), rows.std(0)
    spread[spread < 1e-6] = 1
    inside = np.clip((rows - mean) / spread, -20, 20)
    matrix = np.linalg.inv(inside.T @ inside / len(inside) + Ellipse.ridge * np.eye(rows.shape[1]))
    v = np.clip((table.residuals(lesson.val) - mean) / spread, -20, 20)
    kind = fitted("ellipse", labelled)
    assert isinstance(kind, Ellipse)
    np.testing.assert_allclose(kind.raw(lesson.val), np.einsum("ij,jk,ik->i", v, matrix, v), rtol=1e-6)


def test_ranks_are_the_mahalanobis_distance_of_normal_scores_whatever_the_size_of_an_extreme(
    labelled: tuple[EventTable, Lesson],
) -> None:
    table, lesson = labelled
    kind = fitted("ranks", labelled)
    assert isinstance(kind, Ranks)
    rows = kind.columns(lesson.train)[~lesson.anomalous]
    v = (kind.columns(lesson.val) - rows.mean(0)) / rows.std(0)
    matrix = np.linalg.inv(np.corrcoef(rows.T) + Ranks.ridge * np.eye(rows.shape[1]))
    np.testing.assert_allclose(kind.raw(lesson.val), np.einsum("ij,jk,ik->i", v, matrix, v), rtol=1e-6)
    beyond = lesson.val[:1].copy()
    beyond[:, table.shape.context + table.shape.msg] = 1e3
    beyond_far = beyond.copy()
    beyond_far[:, table.shape.context + table.shape.msg] = 1e6
    np.testing.assert_array_equal(kind.raw(beyond), kind.raw(beyond_far))


def test_feature_habits_are_those_that_are_named_after_an_edge_feature(
    labelled: tuple[EventTable, Lesson],
) -> None:
    table, lesson = labelled
    shape = table.shape
    features = [f"feature {i}" for i in range(shape.msg)]
    context = [*NAMES, *PHASE_NAMES][: shape.context]
    assert len(context) == shape.context
    names = HabitNames.of(context, features)
    columns = [*context, *features, *names.relations, *names.deviations, *names.surprises]
    columns += [*names.circles, *names.sequels]
    numbers = np.arange(lesson.val.shape[1], dtype=np.float32)[None]
    assert len(columns) == numbers.shape[1]
    found = [columns[int(place)] for place in table.feature_habits(numbers)[0]]
    wanted = [name for name in (*names.deviations, *names.surprises) if name.startswith("feature ")]
    assert found == wanted
    assert len(found) == 5 * shape.msg


def test_one_feature_far_from_its_habit_is_enough(labelled: tuple[EventTable, Lesson]) -> None:
    table, lesson = labelled
    kind = fitted("features", labelled)
    usual = lesson.val[(lesson.task.val_label != 1).cpu().numpy()]
    place = table.feature_habits(np.arange(usual.shape[1], dtype=np.float32)[None])[0].astype(int)[0]
    odd = usual.copy()
    odd[:, place] = -100.0  # below the habit is as odd as above it
    below = kind.raw(odd)
    assert (below > kind.raw(usual).max()).all()
    odd[:, place] = 200.0
    assert (kind.raw(odd) > below).all()
    other = usual.copy()
    other[:, : table.shape.context] = 1e3  # what is no residual of a feature has no say
    np.testing.assert_array_equal(kind.raw(other), kind.raw(usual))


def test_features_that_a_stream_does_not_have_are_no_evidence(labelled: tuple[EventTable, Lesson]) -> None:
    table, lesson = labelled
    assert Features(table).learns(lesson)
    assert not Features(EventTable(replace(table.shape, msg=0))).learns(lesson)


def test_columns_about_source_destination_and_pair_are_apart_and_leave_out_the_stream(
    labelled: tuple[EventTable, Lesson],
) -> None:
    table, lesson = labelled
    numbers = np.tile(np.arange(lesson.val.shape[1], dtype=np.float32), (1, 1))
    columns = {side: set(table.levels_about(numbers, side)[0].astype(int)) for side in SIDES}
    assert columns["src"] | columns["dst"] | columns["pair"] < set(range(table.shape.context))
    assert sum(map(len, columns.values())) == len(set.union(*columns.values()))
    assert len(columns["src"]) == len(columns["dst"])
    names = {NAMES[place] for place in columns["pair"]}
    assert {"new pair", "pair share of src", "log count other direction"} < names


def likeness_by_hand(kind: Likeness, lesson: Lesson) -> tuple[Array, Array, Array]:
    """Normal scores from the mean of training events on, those of labelled anomalies, and the precision."""
    rows = kind._scores(kind.columns(lesson.train), kind.table.device)
    assert abs(rows.mean(0)).max() < 0.6
    rows = rows - rows.mean(0)
    spread = np.cov(rows.T, bias=True) + LikeHabits.shrink * np.eye(rows.shape[1])
    return rows, rows[lesson.anomalous], np.linalg.inv(spread)


@pytest.mark.parametrize("name", ["like-levels", "like-habits"])
def test_likeness_to_a_few_anomalies_is_that_of_a_mixture_around_each(name: str) -> None:
    given = lesson_of(TRAIN.with_labels("few-shot", k=7, seed=0))
    kind, lesson = fitted(name, given), given[1]
    assert isinstance(kind, Likeness)
    rows, apart, precision = likeness_by_hand(kind, lesson)
    assert len(apart) == 7
    far = np.stack([np.einsum("ij,jk,ik->i", rows - a, precision, rows - a) for a in apart], 1)
    normal = np.einsum("ij,jk,ik->i", rows, precision, rows)
    by_hand = WIDE * np.log(np.exp((normal[:, None] - far) / 2 / WIDE).mean(1))
    np.testing.assert_allclose(kind.raw(lesson.train), by_hand, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["like-levels", "like-habits"])
def test_likeness_to_many_anomalies_is_that_to_their_mean(
    name: str, labelled: tuple[EventTable, Lesson], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likeness, "EACH", int(labelled[1].anomalous.sum()) - 1)
    kind, lesson = fitted(name, labelled), labelled[1]
    assert isinstance(kind, Likeness)
    rows, apart, precision = likeness_by_hand(kind, lesson)
    found = kind.raw(lesson.train)
    np.testing.assert_allclose(found - found.mean(), rows @ precision @ apart.mean(0), rtol=1e-6, atol=1e-8)
    assert kind._direction.shape == (1, rows.shape[1])


def test_what_is_like_one_of_two_sorts_of_anomalies_is_not_lost_in_their_mean() -> None:
    """Two sorts on opposite sides of the normals: their mean is that of the normals."""
    rows = np.random.default_rng(0).normal(size=(400, 2))
    apart = np.array([[3.0, 0.0], [-3.0, 0.0]])
    precision = np.linalg.inv(np.cov(rows.T, bias=True))
    kind = LikeHabits.__new__(LikeHabits)
    kind._direction, kind._offset = apart @ precision, (apart @ precision * apart / 2).sum(1)
    like = kind.like(np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 0.0], [0.0, 3.0]]))
    assert min(like[:2]) > max(like[2:]) + 0.5


def test_a_folder_that_holds_the_mean_of_labelled_anomalies_alone_says_what_it_said(
    labelled: tuple[EventTable, Lesson], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likeness, "EACH", 1)
    table, lesson = labelled
    kind = fitted("like-habits", labelled)
    arrays = kind.arrays()
    old = kinds.get("like-habits")(table)
    old.load({"grid": arrays["grid"], "direction": arrays["direction"][0]})
    np.testing.assert_array_equal(old.raw(lesson.val), kind.raw(lesson.val))
    with pytest.raises(ValueError, match="offset"):
        old.load({**arrays, "offset": arrays["offset"][:0]})


def test_trees_learn_from_labels_and_the_contrast_from_pseudo_anomalies(
    labelled: tuple[EventTable, Lesson],
) -> None:
    table, lesson = labelled
    maker = RowMaker(lesson.task, table, torch.Generator().manual_seed(1))
    made = maker.against_pseudo(lesson.task.val)
    contrast = fitted("contrast", labelled).raw(made.table)
    assert (auroc(made.anomalous.astype(float), contrast) or 0) > 0.8
    label = np.nan_to_num(TRAIN.label)
    assert (auroc(label, fitted("trees", labelled).raw(lesson.train)) or 0) > 0.95


# ---------------------------------------------------------------------- floods
@pytest.mark.parametrize("rate", [0.5, 3.0, 200.0])
def test_the_surprise_of_a_count_is_that_of_the_poisson_law(rate: float) -> None:
    count = np.arange(1.0, 60.0)
    want = -stats.poisson.logsf(count - 1, rate)
    np.testing.assert_allclose(poisson_surprise(count, np.full(len(count), rate)), want, rtol=1e-6, atol=1e-9)


def test_far_out_the_surprise_goes_on_and_rises() -> None:
    count = np.geomspace(1, 1e6, 2000)
    surprise = poisson_surprise(count, np.full(len(count), 0.5))
    assert np.isfinite(surprise).all()
    assert (np.diff(surprise) > 0).all()
    want = -stats.poisson.logpmf(1000, 0.5)  # of which the sum from there on is made
    assert poisson_surprise(np.array([1000.0]), np.array([0.5]))[0] == pytest.approx(want, rel=1e-6)


def test_busy_people_are_no_flood_and_ten_thousand_events_an_hour_are(
    labelled: tuple[EventTable, Lesson],
) -> None:
    table, lesson = labelled
    floods = Floods(table)
    assert not floods.raw(lesson.val).any()
    row = lesson.val[:1].copy()
    row[:, [NAMES.index(f"log rate src {span}") for span in ("hour", "day", "week")]] = np.log1p(10_000)
    assert floods.raw(row)[0] > 100


# ---------------------------------------------------------------------- together
def test_a_panel_asks_every_kind_that_learned_and_comes_back_from_its_arrays() -> None:
    table, lesson = lesson_of(TRAIN.with_labels("few-shot", 3))
    names = ["forest", "like-habits", "trees", "floods"]
    panel = Panel.fitted(table, lesson, names)
    assert list(panel.kinds) == ["forest", "like-habits", "floods"]  # three labels grow no trees
    raw = panel.raw(lesson.val)
    panel.fit_tails(raw)
    assert set(panel.tails) == {"forest", "like-habits"}  # floods are in nats already
    nats = panel.nats(raw)
    again = Panel(table, panel.kinds)
    again.load(panel.arrays())
    for name, value in again.nats(again.raw(lesson.val)).items():
        np.testing.assert_array_equal(value, nats[name])
