"""Mean ± std over seeds: the sample's, in percent, and never of what is undefined."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from sdgad.errors import InputError
from sdgad.metrics import evaluate
from sdgad.metrics.intervals import auroc_interval
from sdgad.metrics.over_seeds import MeanStd, interval_over_seeds, over_seeds


def scored(seed: int, anomalies: int = 20, lift: float = 1.5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    label = np.zeros(600)
    label[rng.choice(600, anomalies, replace=False)] = 1
    types = np.where(label == 1, rng.choice(["T", "S"], 600), "")
    return label, lift * label + rng.normal(0, 1, 600), types


def results(seeds: int) -> list[dict[str, object]]:
    found = []
    for seed in range(seeds):
        label, score, types = scored(seed)
        found.append(evaluate(label, score, 2.0, anomaly_type=types))
    return found


def test_the_std_is_the_samples() -> None:
    values = [0.8, 0.7, 0.9, 0.75]
    found = MeanStd.of(values)
    assert found is not None
    assert found.mean == pytest.approx(statistics.mean(values))
    assert found.std == pytest.approx(statistics.stdev(values))
    assert found.seeds == 4


def test_one_seed_has_no_std() -> None:
    found = MeanStd.of([0.8036])
    assert found is not None
    assert found.std is None
    assert found.percent() == "80.36"


def test_it_prints_as_tables_do() -> None:
    assert MeanStd(0.80359, 0.0069, 5).percent() == "80.36 ± 0.69"
    assert MeanStd(0.0541, 0.01234, 5).percent(1) == "5.4 ± 1.2"


def test_what_was_never_defined_has_no_mean() -> None:
    assert MeanStd.of([None, None]) is None
    found = MeanStd.of([None, 0.5, 0.7])
    assert found == MeanStd(pytest.approx(0.6), pytest.approx(0.1414, abs=1e-4), 2)


def test_every_metric_and_every_type_gets_its_mean() -> None:
    found = results(4)
    table = over_seeds(found)
    for name in ("auroc", "ap", "f1", "precision", "recall", "fpr"):
        assert table[name].mean == pytest.approx(np.mean([result[name] for result in found]))
        assert table[name].seeds == 4
    assert set(table["by_type"]) == {"S", "T"}
    for name, values in table["by_type"].items():
        expected = [result["by_type"][name]["auroc"] for result in found]
        assert values["auroc"].mean == pytest.approx(np.mean(expected))
        assert values["auroc"].std == pytest.approx(np.std(expected, ddof=1))
    assert "threshold_table" not in table
    assert table["precision_at_k"] is None


def test_a_type_that_some_seeds_lack_counts_in_the_others() -> None:
    with_both, without = results(2)
    del without["by_type"]["S"]  # type: ignore[attr-defined]
    table = over_seeds([without, with_both])
    assert (table["by_type"]["T"]["auroc"].seeds, table["by_type"]["S"]["auroc"].seeds) == (2, 1)


def test_the_interval_of_one_seed_is_near_its_own() -> None:
    label, score, _ = scored(0, anomalies=60)
    ours, own = interval_over_seeds([(label, score)]), auroc_interval(label, score)
    assert ours is not None
    assert own is not None
    assert (ours.low, ours.high) == pytest.approx((own.low, own.high), abs=0.03)


def test_the_interval_of_the_mean_covers_it() -> None:
    truth = float(np.mean([evaluate(*scored(1000 + i)[:2])["auroc"] for i in range(400)]))
    hits = 0
    for i in range(100):
        found = interval_over_seeds([scored(5 * i + j)[:2] for j in range(3)], resamples=100)
        assert found is not None
        hits += truth in found
    assert hits > 90


def test_perfect_scores_are_not_certainty() -> None:
    label = np.zeros(500)
    label[:11] = 1
    found = interval_over_seeds([(label, label)] * 3)
    assert found is not None
    assert found.high == 1
    assert found.low < 0.95
    assert interval_over_seeds([(np.zeros(3), np.ones(3))]) is None


def test_what_cannot_be_used_is_said_in_a_sentence() -> None:
    with pytest.raises(InputError, match="no results"):
        over_seeds([])
    with pytest.raises(InputError, match="no results"):
        interval_over_seeds([])
    with pytest.raises(InputError, match="1 scores but 2 thresholds"):
        interval_over_seeds([([0, 1], [0, 1])], "f1", thresholds=[1, 2])
