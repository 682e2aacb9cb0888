"""docs/baselines.md is what the lines of results say, and speaks of every method that is there; `make docs` writes it anew."""

from __future__ import annotations

from typing import Any

import sdgad
from sdgad.events.home_streams import HOME_STREAMS

from .makers import maker
from .markdown import ROOT

MAKER = maker("make_baselines")


def line(**changes: Any) -> dict[str, Any]:
    """A line as `benchmarks/baselines.py` writes it."""
    return {
        "on": "bursts", "method": "midas", "seed": 0, "options": {}, "setting": "S3", "auroc": 0.9, "ap": 0.5, "f1": 0.25,
        "fit_seconds": 1.23, "score_microseconds": 4.6, "machine": "Card 9", "threads": 4,
    } | changes  # fmt: skip


def rows_of(text: str, name: str) -> list[list[str]]:
    cells = [
        [cell.strip() for cell in row.split("|")[1:-1]] for row in text.splitlines() if row.startswith("|")
    ]
    return [row for row in cells if row[0].startswith(f"`{name}`")]


def test_the_committed_page_is_what_the_results_make() -> None:
    results = (ROOT / "results" / f"{name}.jsonl" for name in ("baselines", "within_snapshot", "rows"))
    made = MAKER["page"](*map(MAKER["read"], results))
    committed = (ROOT / "docs" / "baselines.md").read_text("utf-8")
    assert committed == made, "docs/baselines.md is stale: run `make docs`"


def test_every_detector_of_ours_is_spoken_of_and_lives_where_it_is_said_to() -> None:
    ours = [name for name in sdgad.list_detectors() if name in MAKER["WORDS"]]
    assert {"sdgad", "classifier", "boosting", "isolation-forest", "histogram", "midas", "edgebank"} <= set(
        ours
    )
    text = MAKER["page"]([])
    for name, words in MAKER["WORDS"].items():
        assert bool(rows_of(text, name)) == (name in ours)
        assert words.home in ("", *HOME_STREAMS)
        if name in ours:
            place = ROOT / "src" / "sdgad" / "detectors" / words.file
            assert place.with_suffix(".py").is_file() or place.is_dir(), name


def test_the_matrix_is_over_seeds_with_the_home_in_bold_and_the_last_line_of_a_seed_holds() -> None:
    lines = [line(auroc=0.1), line(), line(seed=1, auroc=0.8), line(on="communities", auroc=0.5)]
    found = rows_of(MAKER["page"](lines), "midas")[1]
    assert found == ["`midas`", "50.0", "–", "**85.0 ± 7.1**", "–", "–"]


def test_the_papers_figures_stand_beside_ours_where_it_has_any() -> None:
    lines = [line(on="mooc", method=name, setting="S1") for name in ("classifier", "midas")]
    lines += [line(on="uci:clean", options={"tick": 3600.0})]
    text = MAKER["page"](lines)
    assert rows_of(text, "classifier")[1] == ["`classifier`", "0", "90.0 / 50.00 / 25.0", "72.51 / 7.87 / 0"]
    clean, mooc = [row for row in rows_of(text, "midas") if len(row) in (3, 4) and "/" in row[2]]
    assert clean == ["`midas`, `tick=3600.0`", "0", "90.0 / 50.00 / 25.0"]
    assert mooc[3] == "–"


def test_other_options_have_rows_of_their_own_after_the_defaults_whose_row_they_leave_alone() -> None:
    nearest, paper = {"distance": "nearest"}, {"preset": "paper", "epochs": 3}
    lines = [line(on="mooc", method="sad", options=options, auroc=0.7) for options in (paper, nearest)]
    lines += [line(on="mooc", method="sad"), line(on="mooc", method="sad", options=paper, seed=1, auroc=0.9)]
    lines += [line(on="mooc", method="sad", options=nearest, auroc=0.6)]
    found = rows_of(MAKER["page"](lines), "sad")[1:4]
    assert found == [
        ["`sad`", "0", "90.0 / 50.00 / 25.0", "71.25 / 6.74 / 3.12"],
        ["`sad`, `distance=nearest`", "0", "60.0 / 50.00 / 25.0", "–"],
        ["`sad`, `epochs=3`, `preset=paper`", "0, 1", "80.0 ± 14.1 / 50.00 ± 0.00 / 25.0 ± 0.0", "71.25 / 6.74 / 3.12"],
    ]  # fmt: skip
    assert MAKER["figures"](lines[::-1], ["sad"], "mooc")[1][0] == "`sad`, `distance=nearest`"


def test_matrix_and_costs_are_of_the_defaults_alone() -> None:
    other = [line(on="communities", options={"tick": 60.0}, auroc=0.1, fit_seconds=0.1)]
    assert len(rows_of(MAKER["page"](other), "midas")) == 1
    assert rows_of(MAKER["page"]([line(on="communities"), *other]), "midas")[1:] == [
        ["`midas`", "90.0", "–", "–", "–", "–"],
        ["`midas`", "1.2 s", "5 µs", "–", "–", "Card 9, threads: 4"],
    ]


def both_ways(**changes: Any) -> dict[str, Any]:
    """A line as `benchmarks/within_snapshot.py` writes it."""
    before, within = {"auroc": 0.9, "ap": 0.5}, {"auroc": 0.8, "ap": 0.4}
    return {
        "on": "circles", "method": "taddy", "seed": 0, "options": {}, "before": before, "within": within,
    } | changes  # fmt: skip


def test_what_the_rest_of_a_snapshot_tells_stands_beside_what_we_say_without_it() -> None:
    more = {"auroc": 1.0, "ap": 0.7}
    lines = [
        both_ways(on="uci:clean"),
        both_ways(options={"distance": "nearest"}),
        both_ways(),
        both_ways(seed=1, within=more),
    ]
    found = rows_of(MAKER["page"]([], lines), "taddy")[1:]
    assert found == [
        ["`taddy`", "`circles`", "0, 1", "90.0 ± 0.0 / 50.00 ± 0.00", "90.0 ± 14.1 / 55.00 ± 21.21"],
        ["`taddy`, `distance=nearest`", "`circles`", "0", "90.0 / 50.00", "80.0 / 40.00"],
        ["`taddy`", "`uci:clean`", "0", "90.0 / 50.00", "80.0 / 40.00"],
    ]


def test_where_nobody_has_scored_both_ways_nothing_is_said_of_it() -> None:
    assert MAKER["WITHIN"] not in MAKER["page"]([line()], [])
    assert MAKER["WITHIN"] in MAKER["page"]([line()], [both_ways()])


def test_costs_are_the_least_of_the_seeds_and_name_the_machine() -> None:
    lines = [line(on="communities", fit_seconds=2.0), line(on="communities", seed=1)]
    assert rows_of(MAKER["page"](lines), "midas")[-1] == [
        "`midas`",
        "1.2 s",
        "5 µs",
        "–",
        "–",
        "Card 9, threads: 4",
    ]


def test_runs_of_the_readmes_comparison_stand_here_where_there_are_no_others() -> None:
    run = {
        "row": "mooc S1", "detector": "boosting", "seed": 0, "auroc": 0.81, "ap": 0.1, "f1": 0.17, "options": {},
        "seconds": {"fit": 44.25, "score": 1.9}, "device": "Card 9",
    }  # fmt: skip
    verdict = {"row": "mooc S1", "verdict": "tied"}
    runs = [run, {**run, "seed": 1}, {**run, "row": "darpa S3"}, verdict, {**run, "detector": "midas"}]
    text = MAKER["page"]([line(on="mooc")], (), runs)
    assert rows_of(text, "boosting")[1] == ["`boosting`", "0", "81.0 / 10.00 / 17.0", "–"]
    assert rows_of(text, "boosting")[2][3:5] == ["44.2 s", "–"]
    assert rows_of(text, "midas")[1][2] == "90.0 / 50.00 / 25.0"
