"""Writes docs/speed.md from results/speed.jsonl and results/training.jsonl: how fast detectors learn and score.

    make docs

No figure on that page is typed by hand; a test compares it with what this file makes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("speed.md")
RESULTS = Path(__file__).parents[1] / "results"

Line = dict[str, Any]

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
CASE = ("detector", "encoder", "sizes", "width", "history", "batch", "stream", "msg", "options")


def page(speed: Iterable[Line], training: Iterable[Line]) -> str:
    """The whole page, from lines of results."""
    parts = [START, *(tables(speed) or [NOTHING])]
    rows = [epoch_row(line) for line in training]
    if rows:
        parts += [EPOCHS, table(EPOCH_HEAD, rows)]
    return "\n".join([*parts, END])


def read(path: Path) -> Iterator[Line]:
    """The lines of a file of results; none where there is no file."""
    if path.is_file():
        yield from (json.loads(text) for text in path.read_text("utf-8").splitlines() if text.strip())


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


def table(head: Iterable[str], rows: Iterable[list[str]]) -> str:
    names = list(head)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [names, ["---"] * len(names), *rows])


if __name__ == "__main__":
    text = page(read(RESULTS / "speed.jsonl"), read(RESULTS / "training.jsonl"))
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE}: written.")
