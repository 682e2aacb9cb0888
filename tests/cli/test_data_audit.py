"""`sdgad data audit`: verdicts for people, a document for machines, one sentence for files without labels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sdgad as library
from sdgad.experiments.audit import audit
from sdgad.experiments.cues import CUES

from .conftest import Command


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two injections by the published recipe: S shares source and time with its anchor."""
    events = library.simulate_payments(3000, seed=0)
    events = events.with_columns(label=np.zeros(len(events)), anomaly_type=np.full(len(events), ""))
    paths = [tmp_path_factory.mktemp("seeds") / f"{seed}.parquet" for seed in range(2)]
    for seed, path in enumerate(paths):
        noisy = library.inject(events, {"T": 0.01, "S": 0.01}, seed=seed, preset="paper")
        library.write_events(noisy, path)
    return paths


def test_an_artefact_is_named_in_a_sentence(sdgad: Command, seeds: list[Path]) -> None:
    done = sdgad("data", "audit", seeds[0])
    assert (done.code, done.err) == (0, "")
    verdicts = [line for line in done.out.splitlines() if line.startswith(("S: ", "T: ", "all: "))]
    assert [line[0] for line in verdicts] == ["S", "T", "a"]
    assert "gives it away (AUROC " in verdicts[0]
    assert "60 of them labelled anomalous" in done.out
    assert "Real anomalies may show a cue by nature" in done.out


def test_the_document_is_the_audit_of_all_files_together(sdgad: Command, seeds: list[Path]) -> None:
    done = sdgad("data", "audit", *seeds, "--json")
    assert done.code == 0
    assert json.loads(done.out) == audit([library.read_events(path) for path in seeds]).to_dict()
    assert json.loads(done.out)["anomalies"] == 120


def test_all_cues_are_printed_when_asked_for(sdgad: Command, seeds: list[Path]) -> None:
    short, long = (sdgad("data", "audit", *seeds, *option).out for option in ((), ("--all",)))
    assert len(short.splitlines()) < len(long.splitlines())
    for cue in CUES:
        assert f"T     {cue.name} " in long
    assert "in 2 files" in long


def test_columns_can_be_named(sdgad: Command, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    rows = [f"{i % 7},{i % 5},{60 * (i // 3) + (i % 40 == 0)},{int(i % 40 == 0)},{i % 3}" for i in range(800)]
    path.write_text("\n".join(["who,whom,at,bad,amount", *rows]) + "\n")
    named = ("--src", "who", "--dst", "whom", "--time", "at", "--label", "bad", "--features", "amount")
    done = sdgad("data", "audit", path, *named, "--json")
    assert done.code == 0
    flagged = {row["cue"]: row["flag"] for row in json.loads(done.out)["rows"]}
    assert flagged["roundness of the time"] == "gives it away"
    assert "copied features" in flagged


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["src,dst,t", "1,2,3"], "has no label column (see --label)"),
        (["src,dst,t,label", "1,2,3,"], "has no label in column 'label'"),
        (["src,dst,t,label", "1,2,3,0"], "no event is labelled anomalous"),
        (["src,dst,t,label", "1,2,3,1"], "every event is labelled anomalous"),
        (["src,dst,t,label", "1,2,3,7"], "label '7' is not 0, 1 or empty"),
    ],
)
def test_without_both_classes_there_is_nothing_to_tell_apart(
    sdgad: Command, tmp_path: Path, lines: list[str], complaint: str
) -> None:
    path = tmp_path / "events.csv"
    path.write_text("\n".join(lines) + "\n")
    done = sdgad("data", "audit", path)
    assert (done.code, done.out) == (2, "")
    assert str(path) in done.err
    assert complaint in done.err
    assert len(done.err.splitlines()) == 1


def test_of_several_files_the_bad_one_is_named(sdgad: Command, seeds: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "unlabelled.csv"
    path.write_text("src,dst,t\n1,2,3\n")
    done = sdgad("data", "audit", seeds[0], path)
    assert done.code == 2
    assert done.err.startswith(f"{path} has no label column")
    assert sdgad("data", "audit").code == 2
    assert "does not exist" in sdgad("data", "audit", seeds[0], tmp_path / "nothing.csv").err
