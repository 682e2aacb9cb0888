"""What `fit` may see and how its options meet."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sdgad as library
from sdgad.detectors.baselines.isolation_forest import IsolationForestDetector
from sdgad.events.stream import EventStream
from sdgad.events.write import write_events

from .conftest import Command

FOREST = ("--detector", "isolation-forest")


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What reaches `Detector.fit`."""
    calls: list[dict[str, Any]] = []
    fit = IsolationForestDetector.fit

    def spy(
        self: IsolationForestDetector, train: EventStream, val: EventStream | None = None, **rest: Any
    ) -> Any:
        calls.append({"detector": self, "train": train, "val": val, **rest})
        return fit(self, train, val, **rest)

    monkeypatch.setattr(IsolationForestDetector, "fit", spy)
    return calls


def labels(part: EventStream) -> tuple[int, int]:
    """Known labels and anomalies."""
    return int(np.sum(~np.isnan(part.label))), int(np.sum(part.label == 1))


def test_all_labels_are_used_unless_told_otherwise(
    sdgad: Command, files: Path, tmp_path: Path, seen: list[dict[str, Any]]
) -> None:
    sdgad("fit", files / "past.csv", "-o", tmp_path / "m", *FOREST)
    assert len(seen[0]["train"]) == 360
    assert len(seen[0]["val"]) == 90
    assert labels(seen[0]["train"])[0] == 360
    assert labels(seen[0]["val"])[0] == 90


def test_few_shot_thins_the_training_part_only(
    sdgad: Command, files: Path, tmp_path: Path, seen: list[dict[str, Any]]
) -> None:
    for seed in ("0", "0", "1"):
        sdgad(
            "fit",
            files / "past.csv",
            "-o",
            tmp_path / "m",
            *FOREST,
            "--labels",
            "few-shot",
            "--k",
            "2",
            "--seed",
            seed,
        )
    for call in seen:
        assert labels(call["train"]) == (2, 2)
        assert labels(call["val"])[0] == 90
    chosen = [np.flatnonzero(call["train"].label == 1).tolist() for call in seen]
    assert chosen[0] == chosen[1] != chosen[2]


def test_no_label_is_touched_with_labels_none(
    sdgad: Command, files: Path, tmp_path: Path, seen: list[dict[str, Any]]
) -> None:
    options = ("--labels", "none", "--val", files / "new.csv")
    done = sdgad("fit", files / "past.csv", "-o", tmp_path / "m", "--json", *FOREST, *options)
    assert labels(seen[0]["train"]) == labels(seen[0]["val"]) == (0, 0)
    assert json.loads(done.out)["validation"]["auroc"] is None
    assert len(seen[0]["val"]) == 150


def test_a_file_without_labels_is_fitted_without(
    sdgad: Command, payments: EventStream, tmp_path: Path
) -> None:
    write_events(payments[:100].with_labels("none"), tmp_path / "x.csv")
    done = sdgad("fit", tmp_path / "x.csv", "-o", tmp_path / "m", *FOREST, "--json")
    assert json.loads(done.out)["labels"] == "none"


def test_what_is_given_wins_over_the_config_file(sdgad: Command, files: Path, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("history = 3\nwidth = 8\nseed = 7\nepochs = 9\ngamma = 0.5\n")
    (tmp_path / "c.json").write_text('{"history": 3, "width": 8, "seed": 7, "epochs": 9, "gamma": 0.5}')
    for name in ("c.toml", "c.json"):
        options = (
            "--config",
            tmp_path / name,
            "--set",
            "gamma=0.9",
            "--epochs",
            "1",
            "--encoder",
            "graphmixer",
        )
        done = sdgad("fit", files / "past.csv", "-o", tmp_path / "m", *options)
        assert done.code == 0, done.err
        kept = library.load(tmp_path / "m").get_params()
        assert (kept["history"], kept["seed"], kept["gamma"], kept["epochs"]) == (3, 7, 0.9, 1)
        assert kept["encoder"] == "graphmixer"
        assert kept["encoder_options"] == {"width": 8}


def test_epochs_reach_a_detector_that_has_no_such_option(
    sdgad: Command, files: Path, tmp_path: Path, seen: list[dict[str, Any]]
) -> None:
    assert sdgad("fit", files / "past.csv", "-o", tmp_path / "m", *FOREST, "--epochs", "4").code == 0
    assert seen[0]["epochs"] == 4


def test_bipartite_and_the_clock_are_kept_for_later_commands(sdgad: Command, tmp_path: Path) -> None:
    rows = [f"{i % 4},{i % 3},{60 * i},{i % 2}" for i in range(60)]
    (tmp_path / "x.csv").write_text("\n".join(["src,dst,t,flag", *rows]) + "\n")
    options = ("--bipartite", "--time-unit", "min", "--timezone", "Europe/Berlin")
    sdgad("fit", tmp_path / "x.csv", "-o", tmp_path / "m", *FOREST, *options)
    model = library.load(tmp_path / "m")
    assert model.bipartite
    assert (model.clock.unit, model.clock.timezone) == ("min", "Europe/Berlin")
    assert model.history_size == (60, 7)
    assert sdgad("score", tmp_path / "m", tmp_path / "x.csv", "-o", tmp_path / "s.csv").code == 0
    expected = model.decision_function(
        library.read_events(tmp_path / "x.csv", bipartite=True, time_unit="min", timezone="Europe/Berlin")
    )
    assert [
        float(x) for x in library.events.table.read_table(tmp_path / "s.csv")["score"].to_pylist()
    ] == list(expected)


def test_feature_names_with_commas_can_be_quoted(
    sdgad: Command, tmp_path: Path, seen: list[dict[str, Any]]
) -> None:
    rows = [f"{i % 4},{i % 3},{i},{i},{i}" for i in range(60)]
    (tmp_path / "x.csv").write_text("\n".join(['src,dst,t,"a,b",c', *rows]) + "\n")
    assert sdgad("fit", tmp_path / "x.csv", "-o", tmp_path / "m", *FOREST, "--features", '"a,b", c').code == 0
    assert seen[0]["train"].names.features == ("a,b", "c")


def test_an_older_model_is_replaced_and_a_failed_fit_leaves_it(
    sdgad: Command, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("fit", files / "past.csv", "-o", tmp_path / "m", *FOREST)
    sdgad(*command)
    first = (tmp_path / "m" / "manifest.json").read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as broken:
        broken.setattr("sdgad.detectors.folder.write_arrays", fail)
        full = sdgad(*command, "--seed", "5")
    assert full.code == 2
    assert os.strerror(28) in full.err
    assert (tmp_path / "m" / "manifest.json").read_bytes() == first
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    assert sdgad(*command, "--seed", "5").code == 0
    assert (tmp_path / "m" / "manifest.json").read_bytes() != first


def test_unused_columns_are_said_once_it_worked(sdgad: Command, files: Path, tmp_path: Path) -> None:
    table = library.events.table.read_table(files / "past.csv")
    library.events.write.write_table(table, tmp_path / "x.csv")
    done = sdgad("fit", tmp_path / "x.csv", "-o", tmp_path / "m", *FOREST)
    assert done.code == 0
    assert done.err.count("x.csv: ") == 1
    assert "not used: 'amount', 'channel'" in done.err
