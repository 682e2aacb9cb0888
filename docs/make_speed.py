"""Writes docs/speed.md from files of results/: how fast detectors learn and score.

    make docs

No figure on that page is typed by hand; a test compares it with what this file makes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from page_parts import RESULTS, Line, read, spread, table

PAGE = Path(__file__).with_name("speed.md")

FILES = ("speed", "training", "together", "batches")

START = """\
# How fast does it learn and score?

Events per second, measured by `benchmarks/speed.py`; this page is made from its lines (`make docs`). Three things are measured:

- **train**: a training step once it runs steadily: the fastest of two epochs after a first one that warms up, without
  validation.
- **windows → scores**: from rows of a built index to scores: gather the past of both endpoints, encode, score. That is what
  the model costs. (An encoder with memory has to go through the stream in order, and has no such figure.)
- **decision_function**: from an `EventStream` to scores, for a detector that carries the history before it: reading, indexing,
  scoring.

The last two are medians of three calls. *Published* sizes are those of the encoder's paper (`preset="paper"`, no context
features), *default* ones those that a detector has if nothing is said. Features are random numbers where a width is named, and
every 25th event is called anomalous: speed does not depend on which.

**× peer** is the ratio to DyGLib's published code under the same settings on the same kind of machine (`benchmarks/peers.py`).
A peer encodes one pair of vectors per event, as `classifier` does; `sdgad` encodes each event twice, with it and without it.
**Matmul share** is the rate of floating-point operations in training / from windows to scores, as a share of what large matrix
products reach on that device in that precision. **In force** is what the fit ran with.
"""

NOTHING = """\
Nothing has been measured yet: there is no line in `results/speed.jsonl`.
"""

EPOCHS = """\
## A whole epoch

`benchmarks/training.py`: one epoch of `sdgad` on the training part (40%) of a stream, without validation.
"""

TOGETHER = """\
## Several seeds at the same time

`benchmarks/together.py`: `run_seeds(…, together=5)` of `sdgad`, fit, scores and figures, beside one seed of as many epochs.
"""

BATCHES = """\
## What larger batches cost

`benchmarks/batches.py`: validation AUROC and AP (mean ± standard deviation over seeds) of `classifier` with published sizes,
after as many epochs, the learning rate growing with the root of the batch.
"""

END = """\
## To measure

`make speed` measures the peers' cases on the machine that it runs on, on a GPU where there is one, and adds them to
`results/speed.jsonl`. Other cases go by options: `python benchmarks/speed.py --detector sdgad --sizes default --batch 256,2000`.
Let nothing else run meanwhile, least of all on a CPU. Where a step spends its time is told by `benchmarks/step_profile.py`, which
takes the same options: launches, synchronisations and copies per step, and the ten costliest kernels (on a CPU: operators).

```sh
make speed
make docs
```
"""

HEAD = (
    "encoder", "detector", "sizes", "batch", "train (× peer)", "windows → scores (× peer)",
    "decision_function (× peer)", "matmul share", "in force",
)  # fmt: skip
EPOCH_HEAD = ("stream", "events", "seconds", "events per second", "device")
TOGETHER_HEAD = ("stream", "epochs", "one, seconds", "seeds", "together, seconds", "ratio", "machine")
BATCHES_HEAD = ("encoder", "batch", "seeds", "epochs", "AUROC", "AP", "machine")
CASE = ("detector", "encoder", "sizes", "width", "history", "batch", "stream", "msg", "options")


def page(
    speed: Iterable[Line],
    training: Iterable[Line],
    together: Iterable[Line] = (),
    batches: Iterable[Line] = (),
) -> str:
    """The whole page, from lines of results."""
    parts = [START, *(tables(speed) or [NOTHING])]
    for words, head, rows in (
        (EPOCHS, EPOCH_HEAD, [epoch_row(line) for line in training]),
        (TOGETHER, TOGETHER_HEAD, [together_row(line) for line in together]),
        (BATCHES, BATCHES_HEAD, batch_rows(batches)),
    ):
        if rows:
            parts += [words, table(head, rows)]
    return "\n".join([*parts, END])


# ---------------------------------------------------------------------- tables
def tables(lines: Iterable[Line]) -> list[str]:
    """A section per machine, GPUs first, and in it a table per stream; of a case that was measured again, the last line."""
    latest = {case_key(line): line for line in lines}
    ordered = sorted(latest.values(), key=order)
    parts = []
    for machine, held in groupby(ordered, section):
        parts.append(f"## {machine}\n")
        for stream, rows in groupby(held, stream_words):
            parts += [f"{stream}:\n", table(HEAD, [row(line) for line in rows])]
    return parts


def case_key(line: Line) -> str:
    """What makes two lines speak of the same case."""
    threads = line["in_force"].get("threads") if line["device"] == "cpu" else None
    return json.dumps([section(line), threads, *(line[name] for name in CASE)])


def order(line: Line) -> tuple[Any, ...]:
    named = (line["stream"], line["msg"], line["sizes"] == "default", line["detector"], line["encoder"])
    return (line["device"] == "cpu", section(line), *named, line["batch"], case_key(line))


def section(line: Line) -> str:
    return f"{'CPU' if line['device'] == 'cpu' else 'GPU'}: {line['in_force']['machine']}"


def stream_words(line: Line) -> str:
    features = f"{line['msg']} random features" if line["msg"] else "its own features"
    return f"Stream {line['stream']}, {features}"


def row(line: Line) -> list[str]:
    ratio, share = line["ratio"] or {}, line["matmul_share"] or {}
    given = [f"`{key}={value}`" for key, value in line["options"].items()]
    sizes = [line["sizes"], f"width {line['width']}", f"L = {line['history']}", *given]
    rates = [rate(line[name], ratio.get(name)) for name in ("train", "windows", "decision_function")]
    shares = " / ".join(percent(share.get(name)) for name in ("train", "windows")) if share else "–"
    named = [line["encoder"], line["detector"], ", ".join(sizes), f"{line['batch']:,}"]
    return [*named, *rates, shares, in_force(line)]


def rate(found: float | None, ratio: float | None) -> str:
    """`12,345 (1.6 ×)`"""
    if found is None:
        return "–"
    return f"{found:,}" if ratio is None else f"{found:,} ({ratio:.3g} ×)"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2g}%"


def in_force(line: Line) -> str:
    """What is known of it: `graph, trains in tf32, scores in fp32, torch 2.13.0`."""
    held = line["in_force"]
    words = [name if held[name] else f"no {name}" for name in ("graph", "compiled") if name in held]
    trained, scored = held["precision"], held["scoring_precision"]
    words.append(trained if trained == scored else f"trains in {trained}, scores in {scored}")
    if line["device"] == "cpu":
        words.append(f"{held['threads']} thread{'s' if held['threads'] > 1 else ''}")
    return ", ".join([*words, f"torch {held['torch'].partition('+')[0]}"])


def epoch_row(line: Line) -> list[str]:
    cpu = line["device"] == "cpu"
    device = f"{line['cores']}-core CPU, threads: {line['threads']}" if cpu else line["device"]
    return [
        line["dataset"],
        f"{line['events']:,}",
        str(line["epoch_seconds"]),
        f"{line['events_per_second']:,}",
        device,
    ]


def together_row(line: Line) -> list[str]:
    names = ("dataset", "epochs", "one", "seeds", "together", "ratio", "machine")
    return [str(line[name]) for name in names]


def batch_rows(lines: Iterable[Line]) -> list[list[str]]:
    """A row per encoder and batch, over its seeds."""

    def case(line: Line) -> tuple[Any, ...]:
        return line["encoder"], line["batch"], line["epochs"], line["machine"]

    rows = []
    for (encoder, batch, epochs, machine), held in groupby(sorted(lines, key=case), case):
        fits = list(held)
        figures = [spread([fit[name] for fit in fits]) for name in ("val_auroc", "val_ap")]
        rows.append([encoder, f"{batch:,}", str(len(fits)), str(epochs), *figures, machine])
    return rows


if __name__ == "__main__":
    text = page(*(read(RESULTS / f"{name}.jsonl") for name in FILES))
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE}: written.")
