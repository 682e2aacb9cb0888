"""The audit: planted artefacts are found and named, labels without one pass, and intervals are honest."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sdgad
from sdgad.errors import InputError
from sdgad.events.stream import Array, EventStream
from sdgad.experiments.audit import Audit, Finding, audit
from sdgad.experiments.cues import CUES
from sdgad.experiments.placements import clustered_interval, distinct, placements
from sdgad.metrics import auroc

NORMALS, ANOMALIES = 2000, 40
Rows = dict[str, Array]


def base(rng: np.random.Generator, count: int) -> Rows:
    """Rows without any artefact: times on minutes, several rows per time, features that repeat."""
    return {
        "src": rng.integers(0, 30, count),
        "dst": rng.integers(0, 30, count),
        "t": 60 * rng.integers(0, count // 2, count),
        "msg": rng.integers(0, 6, (count, 2)).astype(float),
    }


def planted(change: Callable[[Rows, np.random.Generator], None] | None = None, seed: int = 0) -> EventStream:
    """Anomalies among normals in random order; `change` turns the anomalies' rows into something else."""
    rng = np.random.default_rng(seed)
    rows = base(rng, NORMALS + ANOMALIES)
    which = np.sort(rng.choice(len(rows["t"]), ANOMALIES, replace=False))
    label = np.zeros(len(rows["t"]))
    label[which] = 1
    if change:
        made = {name: column[which].copy() for name, column in rows.items()}
        change(made, rng)
        rows = {name: column.astype(np.result_type(column, made[name])) for name, column in rows.items()}
        for name, column in rows.items():
            column[which] = made[name]
    order = np.argsort(rows["t"], kind="stable")  # as one who sorts his file before he hands it out
    return EventStream(**{name: column[order] for name, column in rows.items()}, label=label[order])


def finding(found: Audit, cue: str, kind: str = "anomaly") -> Finding:
    return next(row for row in found.of(kind) if row.cue == cue)


# ---------------------------------------------------------------------- artefacts
def plain_seconds(rows: Rows, rng: np.random.Generator) -> None:
    rows["t"] = rows["t"] + rng.integers(1, 60, len(rows["t"]))


def fractions(rows: Rows, rng: np.random.Generator) -> None:
    rows["t"] = rows["t"] + rng.random(len(rows["t"]))


def one_crowded_time(rows: Rows, rng: np.random.Generator) -> None:
    rows["t"][:] = rng.choice(rows["t"], 2)[rng.integers(0, 2, len(rows["t"]))]


def strange_ids(rows: Rows, rng: np.random.Generator) -> None:
    rows["src"], rows["dst"] = 100 + rng.permutation(ANOMALIES), 200 + rng.permutation(ANOMALIES)


def strange_values(rows: Rows, rng: np.random.Generator) -> None:
    rows["msg"] = rng.normal(size=rows["msg"].shape)


@pytest.mark.parametrize(
    ("change", "cue", "direction"),
    [
        (plain_seconds, "roundness of the time", "lower"),
        (plain_seconds, "second of the minute", "lower"),
        (plain_seconds, "crowding", "lower"),
        (fractions, "decimals of the time", "higher"),
        (one_crowded_time, "crowding", "higher"),
        (strange_ids, "source never seen", "higher"),
        (strange_ids, "destination never seen", "higher"),
        (strange_values, "values never seen", "higher"),
        (strange_values, "copied features", "lower"),
    ],
)
def test_a_planted_artefact_is_found(
    change: Callable[[Rows, np.random.Generator], None], cue: str, direction: str
) -> None:
    found = finding(audit(planted(change)), cue)
    assert found.flag is not None
    assert found.auroc > 0.75
    assert found.low > 0.5
    assert found.direction == direction


def test_rows_copied_from_an_anchor_are_found() -> None:
    """The published S: source and time of a real event; here with its destination and features, too."""
    events = EventStream(np.arange(500) % 7, 10 + np.arange(500) % 11, np.arange(500), np.arange(500) % 13)
    copied = np.sort(np.random.default_rng(0).choice(500, 20, replace=False))
    rows = np.sort(np.concatenate([np.arange(500), copied]))
    label = np.append(rows[1:] == rows[:-1], False)  # of two, the first is called the copy
    assert events.msg is not None
    twice = EventStream(events.src[rows], events.dst[rows], events.t[rows], events.msg[rows], label)
    found = audit(twice)
    for cue in (
        "same source and time",
        "same destination and time",
        "duplicates",
        "duplicates with features",
    ):
        assert finding(found, cue).flag == "gives it away"
        assert finding(found, cue).direction == "higher"
    for cue in ("place among ties", "place among ties of the source", "place among ties of the destination"):
        assert finding(found, cue).flag == "gives it away"
        assert finding(found, cue).meaning.startswith("anomalies come early")


def test_anomalies_at_the_end_of_the_file_are_found() -> None:
    rng = np.random.default_rng(0)
    rows = base(rng, 1000)
    events = EventStream(
        **{**rows, "t": np.append(np.sort(rows["t"][:-20]), rows["t"][-20:])}, label=np.arange(1000) >= 980
    )
    assert finding(audit(events), "place in the file").flag == "gives it away"


def test_labels_given_at_random_pass() -> None:
    found = audit(planted(seed=seed) for seed in range(10))
    assert found.flagged() == []
    assert found.worst().auroc < 0.6
    assert "no cue" in found.verdict("anomaly")


# ---------------------------------------------------------------------- AUROC
def test_every_auroc_is_that_of_the_rows() -> None:
    events = planted(plain_seconds)
    found = audit(events)
    for cue in CUES:
        area = auroc(events.label, cue.measure(events))
        assert area is not None
        row = finding(found, cue.name)
        assert row.auroc == pytest.approx(max(area, 1 - area), abs=1e-12)
        assert row.direction == ("higher" if area > 0.5 else "lower" if area < 0.5 else "neither")
        assert row.low <= row.auroc <= row.high


def test_pooled_streams_are_ranked_together() -> None:
    streams = [planted(plain_seconds, seed=0), planted(one_crowded_time, seed=1), planted(seed=2)]
    found = audit(streams)
    assert (found.streams, found.anomalies) == (3, 3 * ANOMALIES)
    label = np.concatenate([events.label for events in streams])
    for cue in CUES:
        area = auroc(label, np.concatenate([cue.measure(events) for events in streams]))
        assert area is not None
        assert finding(found, cue.name).auroc == pytest.approx(max(area, 1 - area), abs=1e-12)


def test_a_generator_will_do() -> None:
    assert audit(planted(seed=s) for s in range(2)) == audit([planted(seed=s) for s in range(2)])


def test_types_are_told_apart() -> None:
    events = planted(plain_seconds)
    anomalies = np.flatnonzero(events.label == 1)
    kinds = np.full(len(events), "", "<U5")
    kinds[anomalies[:10]] = "T"
    kinds[anomalies[10:30]] = "burst"
    found = audit(events.with_columns(anomaly_type=kinds))
    assert found.types == ["T", "anomaly", "burst", "all"]
    assert {row.type: row.anomalies for row in found.rows} == {"T": 10, "anomaly": 10, "burst": 20, "all": 40}
    alone = events.label.copy()
    alone[anomalies[10:]] = 0
    others = np.delete(np.arange(len(events)), anomalies[10:])
    crowding = next(cue for cue in CUES if cue.name == "crowding").measure(events)
    area = auroc(events.label[others], crowding[others])
    assert area is not None
    assert finding(found, "crowding", "T").auroc == pytest.approx(1 - area)
    with pytest.raises(InputError, match="'S'; the types are T, anomaly, burst, all"):
        found.worst("S")


def test_the_strongest_cue_comes_first() -> None:
    found = audit(planted(plain_seconds))
    strengths = [row.auroc for row in found.of("anomaly")]
    assert strengths == sorted(strengths, reverse=True)
    assert found.worst() == found.of("anomaly")[0] == found.worst("anomaly")
    assert found.worst().cue in found.verdict("anomaly")


def test_an_audit_is_a_json_document() -> None:
    document = json.loads(json.dumps(audit(planted(one_crowded_time)).to_dict(), allow_nan=False))
    row = next(row for row in document["rows"] if row["cue"] == "crowding")
    assert row["flag"] == "gives it away"
    assert row["meaning"] == "anomalies stand on crowded times"


# ---------------------------------------------------------------------- intervals
def test_copies_of_a_row_are_no_more_evidence_than_the_row() -> None:
    rng = np.random.default_rng(0)
    once = rng.random(20)
    copied, cluster = np.repeat(once, 5), np.repeat(np.arange(20), 5)
    alone = clustered_interval(once, np.arange(20), 1e4)
    together = clustered_interval(copied, cluster, 1e4)
    naive = clustered_interval(copied, np.arange(100), 1e4)
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high))
    assert naive.high - naive.low < 0.6 * (together.high - together.low)


def test_an_interval_holds_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    truth, hits = 0.760, 0  # P(N(1, 1) > N(0, 1))
    for _ in range(300):
        size = rng.integers(1, 6, 25)
        values = np.repeat(rng.normal(size=25) + 1, size)
        placed = placements(values, [distinct(rng.normal(size=2000))])
        hits += truth in clustered_interval(placed, np.repeat(np.arange(25), size), 2000)
    assert 0.9 <= hits / 300 <= 0.99


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_handful_of_anomalies_proves_nothing(count: int) -> None:
    events = planted(strange_ids)
    few = events.label.copy()
    few[np.flatnonzero(few == 1)[count:]] = 0
    found = audit(events.with_columns(label=few))
    assert found.worst().auroc > 0.9
    assert found.flagged() == []
    assert "room for one" in found.verdict("anomaly")


def test_copies_of_an_anomaly_widen_its_interval() -> None:
    events = planted(plain_seconds)
    rows = np.repeat(np.arange(len(events)), np.where(events.label == 1, 5, 1))
    assert events.msg is not None
    columns = (events.src, events.dst, events.t, events.msg, events.label)
    once, copied = audit(events), audit(EventStream(*(column[rows] for column in columns)))
    cue = "roundness of the time"
    assert (finding(once, cue).anomalies, finding(copied, cue).anomalies) == (ANOMALIES, 5 * ANOMALIES)
    assert finding(copied, cue).low == pytest.approx(finding(once, cue).low)


# ---------------------------------------------------------------------- what cannot be audited
def test_both_classes_are_needed() -> None:
    events = planted()
    with pytest.raises(InputError, match="No event is labelled anomalous"):
        audit(events.with_labels("none"))
    with pytest.raises(InputError, match="Every event is labelled anomalous"):
        audit(events.with_columns(label=np.ones(len(events))))
    with pytest.raises(InputError, match="No event"):
        audit([])


def test_events_without_a_label_are_among_the_others() -> None:
    events = planted(plain_seconds)
    unknown = np.where(events.label == 1, 1, np.nan)
    assert audit(events.with_columns(label=unknown)) == audit(events)


def test_streams_with_and_without_features_are_not_pooled() -> None:
    events = planted()
    bare = EventStream(events.src, events.dst, events.t, label=events.label)
    with pytest.raises(InputError, match="some have features"):
        audit([events, bare])


# ---------------------------------------------------------------------- the two leaks of the published recipe
def shared(name: str) -> EventStream:
    folder = Path(os.environ.get("SDGAD_DATA") or Path(__file__).parents[3] / "shared" / "data")
    path = folder / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"{path} is not there; set SDGAD_DATA")
    return sdgad.read_events(path).split()[2]


def among(events: EventStream, src: Array, dst: Array, t: Array, seed: int) -> EventStream:
    """Real rows, and made ones at a random place among those of their time."""
    rng = np.random.default_rng(seed)
    made = np.arange(len(events) + len(t)) >= len(events)
    times = np.concatenate([events.t, t])
    order = np.lexsort([rng.random(len(times)), times])
    columns = (np.concatenate(both)[order] for both in ((events.src, src), (events.dst, dst)))
    return EventStream(*columns, times[order], label=made[order])


def test_on_uci_the_published_s_shares_source_and_time_with_its_anchor() -> None:
    events = shared("uci")
    rng = np.random.default_rng(0)
    anchors = rng.choice(len(events) - 10, 11, replace=False)
    found = audit(among(events, events.src[anchors], events.dst[anchors + 10], events.t[anchors], 0))
    row = finding(found, "same source and time")
    assert (row.auroc > 0.98, row.direction, row.flag) == (True, "higher", "gives it away")


def test_on_enron_the_published_t_stands_alone_on_its_time() -> None:
    events = shared("enron")
    rng = np.random.default_rng(0)
    anchors = rng.choice(len(events), 25, replace=False)
    times = np.floor(rng.uniform(events.t[0], events.t[-1], 25))
    found = audit(among(events, events.src[anchors], events.dst[anchors], times, 0))
    row = finding(found, "crowding")
    assert (row.auroc > 0.94, row.direction, row.flag) == (True, "lower", "gives it away")
    assert finding(found, "roundness of the time").flag is not None
