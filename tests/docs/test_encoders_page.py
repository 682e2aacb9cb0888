"""docs/encoders.md is what the lines of results say, and speaks of every encoder; `make docs` writes it anew."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import sdgad

from .makers import maker
from .markdown import ROOT

MAKER = maker("make_encoders")


def fit(**changes: Any) -> dict[str, Any]:
    """A line as `benchmarks/encoders.py fit` writes it."""
    return {
        "what": "fit", "row": "mooc S1", "detector": "classifier", "encoder": "tcl", "bare": False, "seed": 0, "options": {},
        "auroc": 0.7567, "ap": 0.0789, "f1": 0.1234, "epochs": 8, "best_epoch": 5, "epoch_seconds": 1.23, "parameters": 12_345,
        "in_force": {"graph": True, "device": "cuda"}, "validation": {"auroc": 0.8, "ap": 0.09},
    } | changes  # fmt: skip


def live(**changes: Any) -> dict[str, Any]:
    """A line as `benchmarks/encoders.py live` writes it."""
    return {
        "what": "live", "detector": "classifier", "encoder": "tcl", "microseconds_p50": 2_345,
        "train_microseconds": 400, "state_kib": 1_024, "memory": 0, "hop": 0,
    } | changes  # fmt: skip


def rows_of(text: str, name: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in text.splitlines()
        if line.startswith("|") and f"`{name}`" in line
    ]


def heads(text: str) -> list[list[str]]:
    """The first rows of all tables."""
    lines = text.splitlines()
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line, after in pairwise(lines)
        if after.startswith("| ---")
    ]


def test_the_committed_page_is_what_the_results_make() -> None:
    made = MAKER["page"](MAKER["read"](ROOT / "results" / "encoders.jsonl"))
    committed = (ROOT / "docs" / "encoders.md").read_text("utf-8")
    assert committed == made, "docs/encoders.md is stale: run `make docs`"


def test_every_encoder_of_ours_is_spoken_of() -> None:
    assert set(sdgad.list_encoders()) >= set(MAKER["WORDS"]) >= {"jodie", "dyrep", "tgn", "tgat", "tcl"}
    for name, words in MAKER["WORDS"].items():
        assert (ROOT / "src" / "sdgad" / "encoders" / f"{words.file}.py").is_file(), name


def test_a_fit_is_on_the_page_with_its_figures() -> None:
    seeds = [fit(row="uci S3 clean", seed=seed, auroc=0.7 + seed / 100) for seed in range(3)]
    text = MAKER["page"]([fit(), fit(bare=True, detector="sdgad", auroc=0.5), *seeds, live()])
    _, uci, mooc, cost, validated = rows_of(text, "tcl")
    assert all(len(row) == len(head) for head, row in zip(heads(text), rows_of(text, "tcl"), strict=True))
    assert uci[3:] == ["71.0 ± 1.0 / 7.89 ± 0.00 / 12.3 ± 0.0", "–"]
    assert mooc[1:] == ["–", "50.0 / 7.89 / 12.3", "75.7 / 7.89 / 12.3", "–"]
    assert cost[1:] == ["12,345", "1.2", "–", "400 µs", "–", "2,345 µs", "–", "1,024 KiB"]
    assert validated[1:] == ["–", "80.0 / 9.00", "80.0 / 9.00", "–"]


def test_published_sizes_stand_beside_the_papers_figures_and_apart_from_the_others() -> None:
    text = MAKER["page"]([fit(options={"preset": "paper", "epochs": 30})])
    (found,) = [row for row in rows_of(text, "tcl") if row[0] == "classifier"]
    assert found[3:] == ["75.7 / 7.89 / 12.3", "72.51 / 7.87 / 0", "+3.2"]
    assert "75.7" not in " ".join(
        cell for row in rows_of(text, "tcl") if row is not found for cell in row if row[0] == "`tcl`"
    )
