"""`evaluate` says everything in one dict that JSON can hold, whatever the labels."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.errors import InputError
from sdgad.metrics import auroc, average_precision, confusion, evaluate, precision_at_k

labels = st.sampled_from([0.0, 1.0, np.nan])
rows = st.lists(st.tuples(labels, st.floats(0, 1, width=32), st.sampled_from(["", "T", "S"])), max_size=40)


@settings(max_examples=300, deadline=None)
@given(rows, st.none() | st.floats(0, 1), st.none() | st.integers(1, 50))
def test_the_dict_is_plain_json_without_nan_or_warning(
    drawn: list[tuple[float, float, str]], threshold: float | None, k: int | None
) -> None:
    label = np.array([row[0] for row in drawn], dtype=np.float32)
    score = np.array([row[1] for row in drawn], dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = evaluate(label, score, threshold, k, [row[2] for row in drawn])
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert result["events"] + result["unlabelled"] == len(drawn)
    assert ("note" in result) == (result["auroc"] is None) == (result["ap"] is None)


def test_the_dict_holds_what_the_single_metrics_say() -> None:
    rng = np.random.default_rng(0)
    label = (rng.random(500) < 0.1).astype(float)
    score = np.round(rng.random(500) + 0.3 * label, 2)
    result = evaluate(label, score, 0.7, k=20)
    counts = confusion(label, score, 0.7)
    assert result["auroc"] == auroc(label, score)
    assert result["ap"] == average_precision(label, score)
    assert result["precision_at_k"] == precision_at_k(label, score, 20)
    for key in ("f1", "precision", "recall", "tpr", "fpr", "threshold", "flagged"):
        assert result[key] == getattr(counts, key)
    assert (result["events"], result["anomalies"], result["unlabelled"]) == (500, int(label.sum()), 0)
    assert [row["threshold"] for row in result["threshold_table"]] == [0.01, 0.1, 0.3, 0.5, 0.7]


def test_one_class_is_said_in_a_sentence_and_the_threshold_metrics_stay() -> None:
    normal = evaluate([0, 0, np.nan], [0.1, 0.9, 0.9], 0.5)
    assert normal["note"] == "All 2 labelled events are normal, so AUROC and average precision are undefined."
    assert (normal["fpr"], normal["tpr"], normal["unlabelled"]) == (0.5, None, 1)
    anomalous = evaluate([1, 1], [0.1, 0.9], 0.5)
    assert anomalous["note"].startswith("All 2 labelled events are anomalies")
    assert (anomalous["tpr"], anomalous["fpr"]) == (0.5, None)
    assert evaluate([np.nan], [0.5], 0.5)["note"].startswith("No event has a label")


@settings(max_examples=200, deadline=None)
@given(rows, st.floats(0, 1))
def test_each_type_is_measured_against_all_normals(
    drawn: list[tuple[float, float, str]], threshold: float
) -> None:
    label, score, kind = (np.array([row[i] for row in drawn]) for i in range(3))
    result = evaluate(label, score, threshold, anomaly_type=kind)["by_type"]
    assert set(result) == {name for name, y in zip(kind, label, strict=True) if y == 1 and name}
    for name, found in result.items():
        keep = (label == 0) | ((label == 1) & (kind == name))
        alone = evaluate(label[keep], score[keep], threshold)
        assert (found["anomalies"], found["recall"], found["auroc"]) == (
            alone["anomalies"],
            alone["recall"],
            alone["auroc"],
        )


def test_types_that_are_missing_values_are_no_type() -> None:
    result = evaluate([1, 1, 0], [0.9, 0.8, 0.1], 0.5, anomaly_type=[None, "mule ring", float("nan")])
    assert list(result["by_type"]) == ["mule ring"]


def test_types_of_another_length_are_refused() -> None:
    with pytest.raises(InputError, match="2 labels but 1 anomaly types"):
        evaluate([0, 1], [0.1, 0.9], anomaly_type=["T"])
