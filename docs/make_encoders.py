"""Writes docs/encoders.md from results/encoders.jsonl: what each encoder sees, finds and costs.

    make docs

No figure on that page is typed by hand; a test compares it with what this file makes. What an encoder is stands in
`encoder_words.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from encoder_words import END, LESSONS, PAPER, START, WORDS
from page_parts import RESULTS, Line, read, spread, table

PAGE = Path(__file__).with_name("encoders.md")
FILE = "encoders"
CHOSEN_BY = "mooc S1"  # whose validation events the default was chosen by
COLUMNS = (("classifier", True), ("sdgad", True), ("classifier", False), ("sdgad", False))  # detector, bare
METRICS = (("auroc", 1), ("ap", 2), ("f1", 1))  # and digits, in percent

ROWS = {
    "uci S3 clean": "UCI, no labels, injected anomalies without a give-away (S3 clean); mean ± deviation over seeds 0, 1, 2",
    "mooc S1": "MOOC, all labels (S1); seed 0",
}


def page(lines: Iterable[Line]) -> str:
    """The whole page."""
    held = list(lines)
    fits = [line for line in held if line["what"] == "fit"]
    ours = [line for line in fits if line["options"].get("preset") != "paper"]
    parts = [
        START,
        "## What each of them sees\n",
        table(("encoder", "what it looks at", "when to take it"), sight()),
    ]
    for row, words in ROWS.items():
        if rows := figures([line for line in ours if line["row"] == row]):
            head = columns()
            parts += [
                f"## {words}\n",
                "AUROC / AP / F1 at the validated threshold, in percent; `sdgad` by its code before newcomers and strangers "
                "(with `tcl`, the README has it since):\n",
                table(head, rows),
            ]
    if rows := costs(ours, [line for line in held if line["what"] == "live"]):
        head = (
            "encoder", "parameters", "epoch, classifier", "sdgad", "learning, classifier", "sdgad",
            "live, classifier", "sdgad", "state",
        )  # fmt: skip
        parts += [COSTS, table(head, rows)]
    if rows := published([line for line in fits if line["options"].get("preset") == "paper"]):
        head = ("detector", "encoder", "epochs", "AUROC / AP / F1", "the paper's", "AUROC apart")
        parts += [PUBLISHED, table(head, rows)]
    parts += [LESSONS]
    if rows := figures(
        [line for line in ours if line["row"] == CHOSEN_BY and line["validation"]], of_validation
    ):
        parts += ["AUROC / AP of validation events, MOOC S1, in percent:\n", table(columns(), rows)]
    parts += ["## How each of them works\n", *(section(name) for name in WORDS), END]
    return "\n".join(parts)


COSTS = """\
## What they cost

Parameters are those of the encoder with its defaults on MOOC. *Epoch* is seconds for one pass over MOOC's 164,699 training events
on an H200 that up to 14 other fits shared, some runs more than others: an order of magnitude, not a race (events per second of an
H200 for itself stand in [speed.md](speed.md)). *Learning* is time per training event on one CPU thread, *live* the median time
from an event to its answer, one event at a time, on one CPU thread (`benchmarks/encoders.py live`, simulated payments, nothing
beside it). *State* is the size of the live state after 3,500 events of 200 nodes: the last 20 events of everybody, and whatever
else the encoder asks for.
"""

PUBLISHED = """\
## Published sizes, beside the paper's figures

MOOC S1 with `preset="paper"`: published widths, batches of 200 in order of time, no context features; seed 0, in percent.
At most 30 epochs, ended by the printed patience or, for `tcl` and `cawn` under `sdgad`, by an interrupt after 400 s. The epoch
that is kept has the best validation F1 at the boundary, as printed: where scores sit on one side of it, F1 tells little, and an
early epoch is kept (`dygformer`).
"""


def sight() -> list[list[str]]:
    return [[f"`{name}`", words.sees, words.when] for name, words in WORDS.items()]


def columns() -> list[str]:
    return ["encoder", *(f"{detector}{', bare' if bare else ''}" for detector, bare in COLUMNS)]


def figures(lines: Sequence[Line], said: Callable[[Sequence[Line]], str] | None = None) -> list[list[str]]:
    """A row per encoder, a cell per detector with and without context."""
    said = said or of_metrics
    rows = []
    for name in WORDS:
        cells = []
        for detector, bare in COLUMNS:
            held = latest(
                line for line in lines
                if (line["encoder"], line["detector"], line["bare"]) == (name, detector, bare)
            )  # fmt: skip
            cells.append(said(held) + shortened(held[0]) if held else "–")
        if set(cells) != {"–"}:
            rows.append([f"`{name}`", *cells])
    return rows


def latest(lines: Iterable[Line]) -> list[Line]:
    """Of each seed, the last line."""
    return list({line["seed"]: line for line in lines}.values())


def of_metrics(lines: Sequence[Line]) -> str:
    return " / ".join(spread([line[name] for line in lines], digits, 100) for name, digits in METRICS)


def of_validation(lines: Sequence[Line]) -> str:
    return " / ".join(
        spread([line["validation"][name] for line in lines], digits, 100) for name, digits in METRICS[:2]
    )


def shortened(line: Line) -> str:
    """A mark where a fit had to end early."""
    return f" ({line['options']['epochs']} epochs)" if "epochs" in line["options"] else ""


def costs(fits: Sequence[Line], live: Sequence[Line]) -> list[list[str]]:
    rows = []
    for name in WORDS:
        mine = [
            line for line in fits if line["encoder"] == name and line["row"] == "mooc S1" and not line["bare"]
        ]
        answers = {line["detector"]: line for line in live if line["encoder"] == name}
        if not mine or not answers:
            continue
        seconds = {line["detector"]: epoch(line) for line in mine}
        rows.append([
            f"`{name}`", f"{mine[-1]['parameters']:,}", *(seconds.get(each, "–") for each in ("classifier", "sdgad")),
            *(micros(answers.get(each), "train_microseconds") for each in ("classifier", "sdgad")),
            *(micros(answers.get(each), "microseconds_p50") for each in ("classifier", "sdgad")), state(answers),
        ])  # fmt: skip
    return rows


def epoch(line: Line) -> str:
    how = "on one CPU thread" if line["in_force"]["device"] == "cpu" else "no graph"
    return f"{line['epoch_seconds']:.1f}" + ("" if line["in_force"]["graph"] else f" ({how})")


def micros(line: Line | None, name: str) -> str:
    return "–" if line is None else f"{line[name]:,} µs"


def state(answers: dict[str, Any]) -> str:
    line = answers.get("classifier") or next(iter(answers.values()))
    more = [f"{line['memory']} numbers a node"] if line["memory"] else []
    more += [f"second hops of {line['hop']}"] if line["hop"] else []
    return ", ".join([f"{line['state_kib']:,} KiB", *more])


def published(lines: Sequence[Line]) -> list[list[str]]:
    rows = []
    for line in {(line["detector"], line["encoder"], str(line["options"])): line for line in lines}.values():
        theirs = PAPER.get((line["detector"], line["encoder"]))
        changed = ", ".join(
            f"`{key}={value}`" for key, value in line["options"].items() if key not in ("preset", "epochs", "dataset")
        )  # fmt: skip
        rows.append([
            line["detector"] + (f", {changed}" if changed else ""), f"`{line['encoder']}`",
            f"{line['epochs']}, number {line['best_epoch']} kept",
            of_metrics([line]) + (f" ({line['note']})" if "note" in line else ""),
            " / ".join(f"{value:g}" for value in theirs) if theirs else "–",
            f"{100 * line['auroc'] - theirs[0]:+.1f}" if theirs else "–",
        ])  # fmt: skip
    return rows


def section(name: str) -> str:
    words = WORDS[name]
    return f"**`{name}`** ({words.source}; `src/sdgad/encoders/{words.file}.py`). {words.how}\n"


if __name__ == "__main__":
    PAGE.write_text(page(read(RESULTS / f"{FILE}.jsonl")), encoding="utf-8")
    print(f"{PAGE}: written.")
