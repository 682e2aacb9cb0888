"""`sdgad inject`: anomalies among the events of a file, and one sentence for what cannot be done."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import sdgad as library
from sdgad.cli.inject import RATES
from sdgad.cli.inject import inject as command
from sdgad.events.injection import KINDS
from sdgad.events.stream import EventStream

from .conftest import Command


def rows_of(events: EventStream) -> list[tuple[object, ...]]:
    raw = events.vocabulary.raw
    features = np.zeros((len(events), 0)) if events.msg is None else events.msg
    columns = (
        raw(events.src).to_pylist(),
        raw(events.dst).to_pylist(),
        events.t,
        map(tuple, features.tolist()),
    )
    return list(zip(*columns, strict=True))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Payments that nobody has labelled, under names of their own."""
    events = library.simulate_payments(4000, seed=1)
    path = tmp_path_factory.mktemp("plain") / "plain.csv"
    assert events.msg is not None
    raw = events.vocabulary.raw
    columns = (
        raw(events.src).to_pylist(),
        raw(events.dst).to_pylist(),
        events.t.tolist(),
        events.msg[:, 0].tolist(),
    )
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(("payer", "payee", "when", "amount"))
        out.writerows(zip(*columns, strict=True))
    return path


COLUMNS = ("--src", "payer", "--dst", "payee", "--time", "when", "--features", "amount")


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_real_events_stay_and_anomalies_are_labelled(
    sdgad: Command, plain: Path, tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / f"out.{suffix}"
    done = sdgad("inject", plain, "-o", out, *COLUMNS, "--type", "T=0.005", "--type", "burst=0.01")
    assert (done.code, done.err) == (0, "")
    before = library.read_events(plain, src="payer", dst="payee", time="when", features=["amount"])
    after = library.read_events(out, src="payer", dst="payee", time="when", features=["amount"])
    assert after.anomaly_type is not None
    real = after.anomaly_type == ""
    assert [row for row, kept in zip(rows_of(after), real, strict=True) if kept] == rows_of(before)
    assert {kind: int((after.anomaly_type == kind).sum()) for kind in ("T", "burst")} == {
        "T": 20,
        "burst": 40,
    }
    assert np.array_equal(after.label, np.where(real, 0, 1))
    assert "T       20 rows" in done.out
    assert "4,060, 60 of them injected" in done.out


def test_column_names_are_kept_and_what_comes_next_works(sdgad: Command, plain: Path, tmp_path: Path) -> None:
    for out in (tmp_path / "out.csv", tmp_path / "out.parquet"):
        done = sdgad("inject", plain, "-o", out, *COLUMNS, "--type", "T=0.005")
        assert done.code == 0
        following = re.search(r"^next +(sdgad .*)$", done.out, re.MULTILINE)
        assert following is not None
        words = shlex.split(following[1])
        assert ("--src" in words) == (out.suffix == ".csv")  # Parquet knows what its columns mean
        after = sdgad(*words[1:])
        assert (after.code, after.err) == (0, "")
        assert "20 of them labelled anomalous" in after.out
    with (tmp_path / "out.csv").open() as file:
        assert next(csv.reader(file)) == ["payer", "payee", "when", "label", "amount", "anomaly_type"]


def test_the_command_is_the_function(sdgad: Command, plain: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    options = (
        "--type",
        "T=0.01",
        "--type",
        "S=0.01",
        "--preset",
        "paper",
        "--salience",
        "0.5",
        "--salience",
        "S=0.9",
    )
    assert sdgad("inject", plain, "-o", out, *COLUMNS, *options, "--seed", 3).code == 0
    events = library.read_events(plain, src="payer", dst="payee", time="when", features=["amount"])
    expected = library.inject(
        events, {"T": 0.01, "S": 0.01}, seed=3, preset="paper", salience={"T": 0.5, "S": 0.9}
    )
    found = library.read_events(out)
    assert rows_of(found) == rows_of(expected)
    assert found.anomaly_type is not None
    assert expected.anomaly_type is not None
    assert found.anomaly_type.tolist() == expected.anomaly_type.tolist()


def test_the_seed_decides(sdgad: Command, plain: Path, tmp_path: Path) -> None:
    outs = [tmp_path / f"{name}.csv" for name in ("again", "same", "other")]
    for out, seed in zip(outs, (0, 0, 1), strict=True):
        assert sdgad("inject", plain, "-o", out, *COLUMNS, "--type", "S=0.01", "--seed", seed).code == 0
    again, same, other = (out.read_bytes() for out in outs)
    assert again == same != other


def test_the_default_is_the_paper_s_test_part(sdgad: Command, plain: Path, tmp_path: Path) -> None:
    done = sdgad("inject", plain, "-o", tmp_path / "out.csv", *COLUMNS)
    assert RATES == {"T": 0.0005, "S": 0.0005}
    assert re.search(r"^T +2 rows", done.out, re.MULTILINE)
    assert re.search(r"^S +2 rows", done.out, re.MULTILINE)


def test_salience_0_changes_labels_only(sdgad: Command, plain: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    done = sdgad("inject", plain, "-o", out, *COLUMNS, "--type", "T=0.01", "--salience", "0")
    before = library.read_events(plain, src="payer", dst="payee", time="when", features=["amount"])
    after = library.read_events(out)
    assert rows_of(after) == rows_of(before)
    assert after.label.sum() == 40
    assert "4,000, 0 of them injected" in done.out
    assert "real events with label 1" in done.out


def test_the_help_describes_every_kind(sdgad: Command) -> None:
    printed = " ".join(sdgad("inject", "--help").out.split())
    for name, kind in KINDS.items():
        assert f"{name} {kind.title}" in printed
    assert command.__doc__ is not None


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--type", "X=0.1"], "Option --type: there is no kind 'X'; there are T, C, S,"),
        (["--type", "T"], "Option --type takes a kind and its rate, like T=0.0005, not 'T'."),
        (["--type", "T=much"], "Option --type T=much: 'much' is not a number."),
        (["--type", "T=1.5"], "Option --type T=1.5: a rate lies above 0 and is at most 1."),
        (["--type", "T=0"], "Option --type T=0: a rate lies above 0 and is at most 1."),
        (["--type", "T=nan"], "Option --type T=nan: a rate lies above 0 and is at most 1."),
        (["--type", "T=0.1", "--type", "T=0.2"], "Option --type gives T twice."),
        (["--salience", "2"], "Option --salience 2: a salience lies between 0 and 1."),
        (["--salience", "nan"], "Option --salience nan: a salience lies between 0 and 1."),
        (["--salience", "T=x"], "Option --salience T=x: 'x' is not a number."),
        (["--salience", "C=0.5"], "Option --salience C=0.5: no C is injected (see --type)."),
        (["--salience", "X=0.5"], "Option --salience: there is no kind 'X'"),
        (["--salience", "1", "--salience", "0"], "Option --salience is given twice for all kinds."),
        (["--preset", "dirty"], "'dirty' is not one of 'clean', 'paper'"),
        (["--label", "fraud"], "fraud"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    sdgad: Command, plain: Path, tmp_path: Path, options: list[str], complaint: str
) -> None:
    out = tmp_path / "out.csv"
    done = sdgad("inject", plain, "-o", out, *COLUMNS, *options)
    assert (done.code, done.out) == (2, "")
    assert complaint in done.err
    assert len(done.err.splitlines()) == 1
    assert not out.exists()


def test_features_are_needed_to_change_them(sdgad: Command, plain: Path, tmp_path: Path) -> None:
    bare = COLUMNS[:-2]
    done = sdgad("inject", plain, "-o", tmp_path / "out.csv", *bare, "--type", "C=0.01")
    assert done.code == 2
    assert str(plain) in done.err
    assert list(tmp_path.iterdir()) == []


def test_the_events_themselves_are_not_overwritten(sdgad: Command, plain: Path, tmp_path: Path) -> None:
    before = plain.read_bytes()
    done = sdgad("inject", plain, "-o", plain, *COLUMNS)
    assert done.code == 2
    assert "holds the events themselves" in done.err
    assert plain.read_bytes() == before
    assert sdgad("inject", plain, "-o", tmp_path / "out.txt", *COLUMNS).code == 2
    assert sdgad("inject", plain, "-o", tmp_path / "no" / "out.csv", *COLUMNS).code == 2
