"""`sdgad report`: one page for any stream, one sentence for any mistake."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

import sdgad as library

from .conftest import Command
from .test_bad_input import BAD_FILES, left_in, refused


def page_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_the_page_shows_what_score_and_evaluate_say(
    sdgad: Command, files: Path, model: Path, tmp_path: Path, suffix: str
) -> None:
    events, out = files / f"new.{suffix}", tmp_path / "report.html"
    done = sdgad("report", model, events, "-o", out)
    assert (done.code, done.err) == (0, "")
    scored = sdgad("score", model, events, "-o", tmp_path / "s.csv")
    assert done.out == scored.out.replace(str(tmp_path / "s.csv"), str(out))
    page = page_of(out)
    assert f"Anomalies in {events.name}" in page
    for heading in ("Score over time", "Calibration", "Drift of scores", "Top alerts", "Recall by type"):
        assert f"<h2>{heading}" in page
    detector = library.load(model)
    stream = library.read_events(events, columns=detector.columns)
    auroc = library.evaluate(stream.label, detector.decision_function(stream))["auroc"]
    assert f"<b>{auroc:.3f}</b>" in page
    assert "boundary learned" not in page  # an isolation forest has none
    assert left_in(tmp_path) == {"report.html", "s.csv"}


def test_the_same_command_gives_the_same_bytes_and_leaves_the_model_alone(
    sdgad: Command, files: Path, model: Path, tmp_path: Path
) -> None:
    before = (model / "manifest.json").read_bytes()
    out = tmp_path / "report.html"
    sdgad("report", model, files / "new.csv", "-o", out)
    first = out.read_bytes()
    sdgad("report", model, files / "new.csv", "-o", out)
    assert out.read_bytes() == first
    assert (model / "manifest.json").read_bytes() == before


def test_a_file_without_labels_claims_nothing_about_being_right(
    sdgad: Command, model: Path, tmp_path: Path
) -> None:
    rows = "".join(f"a{i % 3},b,{1_800_000_000 + i},{i}.5,card\n" for i in range(130))
    (tmp_path / "x.csv").write_text(f"src,dst,t,amount,channel\n{rows}")
    assert sdgad("report", model, tmp_path / "x.csv", "-o", tmp_path / "r.html").code == 0
    page = page_of(tmp_path / "r.html")
    assert "No event carries a label" in page
    assert "AUROC" not in page
    assert "upper bound" in page


def test_missing_features_unseen_categories_and_odd_ids_are_shown_as_they_are(
    sdgad: Command, model: Path, tmp_path: Path
) -> None:
    (tmp_path / "x.csv").write_text(
        "src,dst,t,amount,channel,label\n<b>&,b,1800000000,,pigeon,0\nc,d,1800000001,2.5,,1\n"
    )
    assert sdgad("report", model, tmp_path / "x.csv", "-o", tmp_path / "r.html").code == 0
    page = page_of(tmp_path / "r.html")
    assert "<bdi>&lt;b&gt;&amp;</bdi>" in page
    assert "<bdi>pigeon</bdi>" in page
    assert "<bdi>nan</bdi>" not in page


def test_events_that_the_model_was_fitted_on_are_said_to_be(
    sdgad: Command, files: Path, model: Path, tmp_path: Path
) -> None:
    said = "450 of these 450 events were used to fit this model. Figures on them are too good; "
    said += "use events that came later."
    done = sdgad("report", model, files / "past.csv", "-o", tmp_path / "r.html")
    assert (done.code, done.err) == (0, said + "\n")
    page = page_of(tmp_path / "r.html")
    assert page.index('<section class="notice">') < page.index(said) < page.index("<h2>")
    assert sdgad("evaluate", model, files / "past.csv").err == said + "\n"

    shutil.copytree(
        model, tmp_path / "m"
    )  # a model that has moved on was not fitted on what it has seen since
    sdgad("update", tmp_path / "m", files / "new.csv")
    done = sdgad("report", tmp_path / "m", files / "new.csv", "-o", tmp_path / "r.html")
    assert "history already" in done.err
    assert "used to fit" not in done.err + page_of(tmp_path / "r.html")


def test_rows_that_are_too_late_are_counted_and_left_out(
    sdgad: Command, files: Path, tmp_path: Path, model: Path
) -> None:
    strict = library.load(model).set_params(late="drop")
    strict.save(tmp_path / "strict")
    past, new = (files / f"{part}.csv" for part in ("past", "new"))
    both = past.read_text() + "".join(new.read_text().splitlines(keepends=True)[1:])
    (tmp_path / "both.csv").write_text(both)
    done = sdgad("report", tmp_path / "strict", tmp_path / "both.csv", "-o", tmp_path / "r.html")
    assert done.code == 0
    late = int(re.search(r"both.csv: (\d+) rows are older", done.err).group(1))  # type: ignore[union-attr]
    assert late >= 449
    assert f"{600 - late:,} events scored" in done.out
    assert f"{late:,} rows that are older than the model&#x27;s history" in page_of(tmp_path / "r.html")
    refused(
        sdgad("report", tmp_path / "strict", _first_rows(past, tmp_path), "-o", tmp_path / "q.html"),
        "old.csv",
        "all 20 rows are older",
    )
    assert not (tmp_path / "q.html").exists()


def _first_rows(path: Path, folder: Path) -> Path:
    (folder / "old.csv").write_text("".join(path.read_text().splitlines(keepends=True)[:21]))
    return folder / "old.csv"


def test_an_alert_budget_is_compared_with_what_came(
    sdgad: Command, files: Path, model: Path, tmp_path: Path
) -> None:
    detector = library.load(model).set_threshold("alerts_per_day", 2)
    detector.save(tmp_path / "m")
    sdgad("report", tmp_path / "m", files / "new.csv", "-o", tmp_path / "r.html")
    assert "<b>Alerts per day:</b> 2 asked" in page_of(tmp_path / "r.html")


def test_without_matplotlib_the_page_is_written_and_the_cure_is_named(
    sdgad: Command, files: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = sdgad("report", model, files / "new.csv", "-o", tmp_path / "r.html")
    assert done.code == 0
    assert "pip install 'sdgad[report]'" in done.err
    page = page_of(tmp_path / "r.html")
    assert "<svg" not in page
    assert "<h2>Calibration</h2>" in page
    assert "<h2>Drift of scores</h2>" in page


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_refused_and_leaves_no_page(
    sdgad: Command, model: Path, tmp_path: Path, case: str
) -> None:
    name, content, words = BAD_FILES[case]
    (tmp_path / name).write_bytes(content)
    refused(sdgad("report", model, tmp_path / name, "-o", tmp_path / "r.html"), tmp_path / name, *words)
    assert left_in(tmp_path) == {name}


def test_a_place_that_cannot_hold_a_page_is_refused_before_the_work(
    sdgad: Command, files: Path, tmp_path: Path
) -> None:
    nowhere = tmp_path / "no model"  # it is not even opened
    (tmp_path / "folder.html").mkdir()
    for place, word in (("r.csv", ".html"), ("no/r.html", "does not exist"), ("folder.html", "is a folder")):
        refused(sdgad("report", nowhere, files / "new.csv", "-o", tmp_path / place), word, tmp_path)
    refused(sdgad("report", nowhere, files / "new.csv", "-o", tmp_path / "r.html"), nowhere)
    refused(sdgad("report", nowhere, files / "new.csv"), "--output")
    assert left_in(tmp_path) == {"folder.html"}


def test_a_model_without_its_history_still_reports(
    sdgad: Command, files: Path, model: Path, tmp_path: Path
) -> None:
    library.load(model).save(tmp_path / "bare", history=False)
    assert sdgad("report", tmp_path / "bare", files / "new.csv", "-o", tmp_path / "r.html").code == 0


def test_it_explains_itself_with_an_example(sdgad: Command) -> None:
    assert "\n  sdgad report model new.csv -o report.html" in sdgad("report", "--help").out
    assert "sdgad report model" in sdgad().out
