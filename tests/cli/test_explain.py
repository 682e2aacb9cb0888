"""`sdgad explain`, and why in the answers of `score`, `stream` and `report`: the same words everywhere."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pyarrow.csv as pc
import pytest

from sdgad.cli.explain import first_of
from sdgad.cli.main import run
from sdgad.detectors import load
from sdgad.events.stream import EventStream
from sdgad.events.write import write_events
from sdgad.serving.line_scorer import LineScorer

from .conftest import Command
from .test_bad_input import refused


def test_the_top_events_are_told_with_row_who_when_and_why(
    sdgad: Command, model: Path, files: Path, payments: EventStream
) -> None:
    outcome = sdgad("explain", model, files / "new.csv", "--top", 3)
    assert outcome.code == 0, outcome
    blocks = outcome.out.split("\n\n")
    assert len(blocks) == 4
    detector, test = load(model), payments[450:]
    found = detector.findings(test)
    for block, row in zip(blocks, np.argsort(-found.scores, kind="stable")[:3], strict=False):
        head, score, why = block.splitlines()
        assert head.startswith(f"row {row + 1}: ")
        assert " → " in head
        assert f"score {found.scores[row]:.6g}" in score
        assert why.strip() == str(found.explanations([row])[0])


@pytest.mark.parametrize(
    ("count", "top", "told"),
    [
        (1, 5, "1 event scored, {} anomalous (score ≥ {})."),
        (9, 9, "9 events scored, {} anomalous (score ≥ {})."),
        (9, 1, "9 events scored, {} anomalous (score ≥ {}); above are the top 1."),
    ],
)
def test_the_last_line_counts_events_and_alerts_as_score_does(
    sdgad: Command, model: Path, payments: EventStream, tmp_path: Path, count: int, top: int, told: str
) -> None:
    path, detector, test = tmp_path / "x.csv", load(model), payments[450 : 450 + count]
    write_events(test, path)
    told = told.format(detector.predict(test).sum(), f"{detector.threshold_:.6g}")
    assert sdgad("explain", model, path, "--top", top).out.splitlines()[-1] == f"{path}: {told}"


def test_of_many_kinds_of_evidence_the_first_eight_are_told() -> None:
    kinds = [f"kind {i}" for i in range(12)]
    assert (
        first_of(kinds)
        == "kind 0, kind 1, kind 2, kind 3, kind 4, kind 5, kind 6, kind 7, and 4 that say less"
    )
    assert first_of(kinds[:9]) == ", ".join(kinds[:9])  # of one more there is nothing shorter to say


def test_json_is_one_document_with_evidence_and_residuals(sdgad: Command, model: Path, files: Path) -> None:
    outcome = sdgad("explain", model, files / "new.parquet", "--top", 1000, "--json")
    told = json.loads(outcome.out)
    assert len(told["events"]) == 150
    scores = [event["score"] for event in told["events"]]
    assert scores == sorted(scores, reverse=True)
    first = told["events"][0]
    assert {
        "row",
        "source",
        "destination",
        "time",
        "anomaly",
        "score",
        "p_value",
        "why",
        "evidence",
    } < first.keys()
    assert all({"words", "now", "habit", "p_value", "theme"} < each.keys() for each in first["residuals"])


@pytest.mark.parametrize("top", ["0", "-3", "many"])
def test_an_absurd_number_is_refused(sdgad: Command, model: Path, files: Path, top: str) -> None:
    refused(sdgad("explain", model, files / "new.csv", "--top", top), "--top")


def test_a_missing_file_or_model_is_named(sdgad: Command, model: Path, files: Path) -> None:
    refused(sdgad("explain", model, files / "nothing.csv"), "nothing.csv", "does not exist")
    refused(sdgad("explain", files / "no model", files / "new.csv"), "no model")


def test_score_says_why_of_what_is_anomalous(
    sdgad: Command, model: Path, files: Path, tmp_path: Path
) -> None:
    plain, explained = tmp_path / "plain.csv", tmp_path / "explained.csv"
    assert sdgad("score", model, files / "new.csv", "-o", plain).code == 0
    assert sdgad("score", model, files / "new.csv", "-o", explained, "--explain").code == 0
    without, table = pc.read_csv(plain), pc.read_csv(explained)
    assert table.column_names == [*without.column_names, "why"]
    assert table.drop(["why"]).equals(without)
    for anomaly, why in zip(table["anomaly"].to_pylist(), table["why"].to_pylist(), strict=True):
        assert bool(why) == bool(anomaly)
    again = tmp_path / "again.csv"
    outcome = sdgad("score", model, explained, "-o", again, "--explain")
    assert "column 'why'" in outcome.err
    assert again.read_bytes() == explained.read_bytes()


def test_a_stream_says_why_of_what_is_anomalous(model: Path, files: Path, payments: EventStream) -> None:
    lines = (files / "new.jsonl").read_bytes().splitlines()
    detector = load(model)
    expected = detector.explain(payments[450:])
    for batch in (1, 50):
        plain = LineScorer(detector.live())
        scorer = LineScorer(detector.live(explain=True), explain=True)
        for start in range(0, len(lines), batch):
            part = lines[start : start + batch]
            answers = scorer.answer(part, start + 1)
            for row, (answer, other) in enumerate(
                zip(answers, plain.answer(part, start + 1), strict=True), start
            ):
                why = answer.pop("why", None)
                assert answer == other
                assert why == (str(expected[row]) if answer["anomaly"] else None)


def test_a_stream_explains_on_request_only(model: Path, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for options, explained in (((), False), (("--explain",), True)):
        with (files / "new.jsonl").open() as given:
            monkeypatch.setattr("sys.stdin", given)
            written = io.BytesIO()
            monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written))
            assert run(["stream", str(model), *options]) == 0
        assert (b'"why"' in written.getvalue()) is explained


def test_the_alerts_of_a_report_say_why(sdgad: Command, model: Path, files: Path, tmp_path: Path) -> None:
    assert sdgad("report", model, files / "new.csv", "-o", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text()
    assert page.count('<tr class="note">') + page.count('<tr class="below note">') == 25
    told = json.loads(sdgad("explain", model, files / "new.csv", "--top", 1, "--json").out)
    assert told["events"][0]["why"] in page


def test_a_model_that_reads_a_column_why_cannot_explain_into_it(
    sdgad: Command, files: Path, tmp_path: Path
) -> None:
    past = tmp_path / "past.csv"
    past.write_text((files / "past.csv").read_text().replace(",amount,", ",why,", 1))
    model = tmp_path / "model"
    fitted = sdgad("fit", past, "-o", model, "--detector", "isolation-forest", "--features", "why")
    assert fitted.code == 0, fitted
    assert sdgad("score", model, past, "-o", tmp_path / "scores.csv").code == 0
    refused(sdgad("score", model, past, "-o", tmp_path / "no.csv", "--explain"), "column 'why'")
    assert not (tmp_path / "no.csv").exists()
