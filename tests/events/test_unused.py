"""Columns that nobody named: a forgotten label is asked about, `features="all"` takes what describes an event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdgad.events.column import Column
from sdgad.events.label_like import is_label_like
from sdgad.events.read import read_events
from sdgad.events.table import read_table
from sdgad.events.unused import OUTPUTS
from sdgad.experiments.score_table import ADDED, WHY

COUNT = 120
RNG = np.random.default_rng(0)
SPARSE = ["1" if i % 40 == 3 else "" for i in range(COUNT)]


def payments(**more: Any) -> dict[str, Any]:
    return {
        "src": [f"a{i}" for i in RNG.integers(0, 9, COUNT)],
        "dst": [f"b{i}" for i in RNG.integers(0, 9, COUNT)],
        "t": np.arange(COUNT) * 60,
        "amount": RNG.normal(size=COUNT).round(2),
        **more,
    }


def written(columns: dict[str, Any], path: Path) -> Path:
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


LABELS = {
    "integers": [int(i % 9 == 0) for i in range(COUNT)],
    "floats with gaps": [1.0 if i % 9 == 0 else np.nan if i % 2 else 0.0 for i in range(COUNT)],
    "booleans": [i % 9 == 0 for i in range(COUNT)],
    "text": ["true" if i % 9 == 0 else "false" for i in range(COUNT)],
    "a few ones": SPARSE,
}
OTHERS = {
    "all 1": [1] * COUNT,
    "all 0": [0] * COUNT,
    "a 2 at the end": [*LABELS["integers"][:-1], 2],
    "nothing": [""] * COUNT,
    "amounts": list(np.arange(COUNT) / 7),
    "words": ["yes", "no"] * (COUNT // 2),
}


@pytest.mark.parametrize("kind", LABELS)
def test_a_forgotten_label_is_asked_about_and_never_suggested_as_a_feature(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    columns = payments(chargeback=LABELS[kind])
    for source in (columns, written(columns, tmp_path / "x.csv")):
        for features, told in ((None, "not used: 'amount'"), (["amount"], None), ("all", None)):
            caplog.clear()
            events = read_events(source, features=features)
            assert not events.has_labels
            assert "chargeback" not in events.names.features
            (asked,) = [line for line in caplog.messages if "looks like a label (0, 1 or empty)" in line]
            assert "'chargeback'" in asked
            assert "name it with label=" in asked
            if told:
                assert [told in line for line in caplog.messages if "not used:" in line] == [True]
                assert not any("chargeback" in line for line in caplog.messages if "not used:" in line)
    caplog.clear()
    assert read_events(written(columns, tmp_path / "x.csv"), label="chargeback").has_labels
    assert "looks like" not in caplog.text


@pytest.mark.parametrize("kind", OTHERS)
def test_what_cannot_be_a_label_is_not_asked_about(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for source in (payments(x=OTHERS[kind]), written(payments(x=OTHERS[kind]), tmp_path / "x.csv")):
        assert not is_label_like(Column.of(read_table(source), "x", "it"))
        read_events(source)
    assert "like a label" not in caplog.text


def test_beside_a_label_flags_are_features_and_second_labels_are_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    columns = payments(label=LABELS["integers"], night=LABELS["booleans"], fraud_confirmed=LABELS["integers"])
    events = read_events(columns, features="all")
    assert events.names.features == ("amount", "night")
    assert "'fraud_confirmed' (looks like a label)" in caplog.text
    caplog.clear()
    read_events(columns)
    (line,) = caplog.messages
    assert "not used: 'amount', 'night';" in line


def test_all_features_are_those_that_describe_an_event_and_it_is_said_which(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    columns = payments(
        kind=[f"k{i % 3}" for i in range(COUNT)],
        payment_id=[f"p{i}" for i in range(COUNT)],
        number=np.arange(COUNT) + 1000,
        opened=np.arange(COUNT).astype("datetime64[D]"),
        score=RNG.random(COUNT),
        anomaly=LABELS["integers"],
        p_value=RNG.random(COUNT),
        void=[None] * COUNT,
        flag=LABELS["integers"],
    )
    assert read_events(columns, features="all").names.features == ("amount", "kind")
    told = "'payment_id' (names a row), 'number' (names a row), 'opened' (of type date32[day]), 'score' (from an earlier score), "
    told += "'anomaly' (from an earlier score), 'p_value' (from an earlier score)"
    assert (
        f"the features are 'amount', 'kind'; left out: {told}, 'void' (empty), 'flag' (looks like a label)."
        in caplog.text
    )
    wanted = read_events(columns, features=["all", "flag"])
    assert wanted.names.features == ("flag", "amount", "kind")
    codes = read_events(columns, features="all", categories="number")
    assert codes.names.categorical == ("number", "kind")
    text = read_events(written(columns, tmp_path / "x.csv"), features="all")
    assert text.names.features == ("amount", "kind")


def test_a_column_that_is_called_like_an_output_is_the_users_own_where_no_score_wrote_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    read_events(payments(anomaly=LABELS["integers"]))
    assert "column 'anomaly' looks like a label" in caplog.text
    assert read_events(payments(score=RNG.random(COUNT)), features="all").names.features == (
        "amount",
        "score",
    )
    caplog.clear()
    read_events(payments(score=RNG.random(COUNT), anomaly=LABELS["integers"], p_value=RNG.random(COUNT)))
    assert "label" not in caplog.text
    assert "'score'" not in caplog.text


def test_a_column_that_is_called_all_is_meant_itself() -> None:
    assert read_events(payments(all=np.arange(COUNT) / 3), features="all").names.features == ("all",)


def test_all_includes_what_convention_takes() -> None:
    columns = payments(msg0=RNG.normal(size=COUNT), msg1=RNG.normal(size=COUNT))
    assert read_events(columns, features="all").names.features == ("msg", "amount")


def test_what_score_writes_is_no_feature() -> None:
    assert (*ADDED, WHY) == OUTPUTS == ("score", "anomaly", "p_value", "why")


@pytest.mark.parametrize("name", ["note", "y", "is_fraud_note"])
def test_a_column_of_mixed_values_that_nobody_asked_for_refuses_no_file(tmp_path: Path, name: str) -> None:
    odd = [1, "a", {"b": [2]}, None, [3]]
    rows = [{"src": f"a{i % 3}", "dst": "b", "t": i, "amount": i / 2, name: odd[i % 5]} for i in range(20)]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for features in (None, ["amount"], "all"):
        events = read_events(path, features=features)
        assert len(events) == 20
        assert name not in events.names.features
