"""docs/speed.md is what the lines of results say; `make docs` writes it anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .makers import maker
from .markdown import ROOT

MAKER = maker("make_speed")
HERE = {
    "precision": "fp32",
    "scoring_precision": "fp32",
    "threads": 2,
    "torch": "2.13.0",
    "machine": "2-core CPU",
}


def line(**changes: Any) -> dict[str, Any]:
    """A line as `benchmarks/speed.py` writes it."""
    in_force = {
        "graph": True, "precision": "tf32", "scoring_precision": "fp32", "threads": 4, "torch": "2.13.0+cu130",
        "machine": "Card 9",
    }  # fmt: skip
    return {
        "detector": "classifier", "encoder": "tcl", "sizes": "published", "width": 172, "history": 20, "batch": 200,
        "stream": "wikipedia", "msg": 172, "options": {}, "device": "cuda", "train_events": 40_000,
        "test_events": 62_990, "history_events": 94_484, "train": 45_678, "windows": 234_567, "decision_function": 98_765,
        "matmul_share": {"train": 0.0371, "windows": 0.0642, "matmul_tflops": {"tf32": 401.0}, "forward_mflop_per_event": 109.0},
        "ratio": {"train": 6.02, "windows": 9.97, "decision_function": 4.2}, "in_force": in_force,
        "python": "3.12.0", "sdgad": "0.1.0",
    } | changes  # fmt: skip


def rows(text: str) -> list[list[str]]:
    """The cells of all tables, headings left out."""
    cells = [
        [cell.strip() for cell in row.split("|")[1:-1]] for row in text.splitlines() if row.startswith("| ")
    ]
    return [row for row in cells if row[0] not in ("encoder", "stream", "---")]  # fmt: skip


def test_the_committed_page_is_what_the_results_make() -> None:
    results = (ROOT / "results" / f"{name}.jsonl" for name in MAKER["FILES"])
    made = MAKER["page"](*map(MAKER["read"], results))
    committed = (ROOT / "docs" / "speed.md").read_text("utf-8")
    assert committed == made, "docs/speed.md is stale: run `make docs`"


def test_a_measured_line_is_on_the_page_with_its_figures() -> None:
    text = MAKER["page"]([line()], [])
    assert rows(text) == [
        ["tcl", "classifier", "published, width 172, L = 20", "200", "45,678 (6.02 ×)", "234,567 (9.97 ×)",
         "98,765 (4.2 ×)", "3.7% / 6.4%", "graph, trains in tf32, scores in fp32, torch 2.13.0"],
    ]  # fmt: skip
    assert "## GPU: Card 9\n\nStream wikipedia, 172 random features:\n\n| encoder |" in text


def test_what_was_not_measured_is_a_dash() -> None:
    bare = line(
        device="cpu", windows=None, ratio=None, matmul_share=None, in_force=HERE, options={"hidden": 8}, msg=0
    )
    text = MAKER["page"]([bare], [])
    assert rows(text) == [
        ["tcl", "classifier", "published, width 172, L = 20, `hidden=8`", "200", "45,678", "–", "98,765", "–",
         "fp32, 2 threads, torch 2.13.0"],
    ]  # fmt: skip
    assert "## CPU: 2-core CPU\n\nStream wikipedia, its own features:\n" in text


def test_machines_have_tables_of_their_own_and_the_last_line_of_a_case_holds() -> None:
    lines = [line(device="cpu", in_force=HERE), line(train=1), line(encoder="tgat"), line(train=2)]
    text = MAKER["page"](lines, [])
    assert [row[0] for row in rows(text)] == ["tcl", "tgat", "tcl"]
    assert [row[4] for row in rows(text)] == ["2 (6.02 ×)", "45,678 (6.02 ×)", "45,678 (6.02 ×)"]
    assert text.index("## GPU: Card 9") < text.index("## CPU: 2-core CPU")


def test_epochs_are_on_the_page() -> None:
    epoch = {"dataset": "mooc", "events": 164_699, "epoch_seconds": 57.6, "events_per_second": 2_861, "threads": 2,
             "cores": 2, "device": "cpu"}  # fmt: skip
    found = rows(MAKER["page"]([], [epoch]))
    assert found == [["mooc", "164,699", "57.6", "2,861", "2-core CPU, threads: 2"]]


def test_without_results_the_page_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    for name in ("missing.jsonl", "empty.jsonl"):
        text = MAKER["page"](MAKER["read"](tmp_path / name), MAKER["read"](tmp_path / name))
        assert "Nothing has been measured yet" in text
        assert rows(text) == []


def test_lines_are_read_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / "speed.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in (line(), line(batch=2_000))))
    assert list(MAKER["read"](file)) == [line(), line(batch=2_000)]


def test_seeds_together_and_larger_batches_are_on_the_page() -> None:
    together = {
        "dataset": "mooc", "epochs": 6, "one": 10.0, "seeds": 5, "together": 21.0, "ratio": 2.1, "machine": "Card 9",
    }  # fmt: skip
    batch = {"encoder": "tcl", "batch": 2000, "epochs": 2, "machine": "Card 9"}
    fits = [batch | {"val_auroc": 0.7, "val_ap": 0.02}, batch | {"val_auroc": 0.9, "val_ap": 0.04}]
    text = MAKER["page"]([], [], [together], fits)
    assert rows(text) == [
        ["mooc", "6", "10.0", "5", "21.0", "2.1", "Card 9"],
        ["tcl", "2,000", "2", "2", "0.8000 ± 0.1414", "0.0300 ± 0.0141", "Card 9"],
    ]
