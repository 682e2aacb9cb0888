"""Writes docs/baselines.md from results/ (baselines.jsonl, within_snapshot.jsonl): what each method is, sees, finds and costs.

Runs that the comparison of the README made already (rows.jsonl) are taken from there.

    make docs

No figure on that page is typed by hand but the paper's; a test compares it with what this file makes. What a method is stands in
`baseline_words.py`; of methods that are not registered nothing is said.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path

from baseline_words import COSTS, END, GROUNDS, MATRIX, PAPER, START, WITHIN, WORDS
from page_parts import RESULTS, Line, read, spread, table

import sdgad
from sdgad.events.home_streams import HOME_STREAMS

PAGE = Path(__file__).with_name("baselines.md")
FILE, WITHIN_FILE, ROWS_FILE = "baselines", "within_snapshot", "rows"
METRICS = (("auroc", 1), ("ap", 2), ("f1", 1))  # and digits, in percent
COSTED = ("communities", "mooc")
DEFAULTS: Line = {}
COMPARED = {"uci S3 clean": ("uci:clean", 3), "uci S3 paper": ("uci:paper", 3), "mooc S1": ("mooc", 1)}
"""Rows of the comparison, the grounds that they are, and how many seeds of them."""
WAYS = {"before": "state before it (ours)", "within": "all of it (as published)"}


def page(lines: Iterable[Line], within: Iterable[Line] = (), compared: Iterable[Line] = ()) -> str:
    """The whole page."""
    held = list(lines)
    held += of_comparison(compared, {(line["method"], line["on"], line["seed"]) for line in held})
    methods = [name for name in WORDS if name in sdgad.list_detectors()]
    parts = [
        START,
        "## What they are\n",
        table(("method", "what it is", "what it sees", "from"), map(about, methods)),
    ]
    if rows := matrix(held, methods):
        trouble = [
            f"- `{name}` ({stream.setting}): {stream.trouble}" for name, stream in HOME_STREAMS.items()
        ]
        parts += [MATRIX, "\n".join(trouble) + "\n", table(("method", *HOME_STREAMS), rows)]
    for ground, words in GROUNDS.items():
        if rows := figures(held, methods, ground):
            head = ("method", "seeds", "AUROC / AP / F1", *(("the paper's",) if ground in PAPER else ()))
            parts += [f"## {words}\n", "In percent, F1 at the validated threshold:\n", table(head, rows)]
    if rows := both_ways(list(within), methods):
        parts += [WITHIN, table(("method", "on", "seeds", *WAYS.values()), rows)]
    if rows := costs(held, methods):
        head = ("method", "fit, home stream", "per event", "fit, MOOC", "per event", "machine")
        parts += [COSTS, table(head, rows)]
    return "\n".join([*parts, END])


def of_comparison(lines: Iterable[Line], known: Container[tuple[str, str, int]]) -> Iterator[Line]:
    """Runs of the README's comparison as lines of this page, where it has none of its own."""
    for line in lines:
        on, seeds = COMPARED.get(line["row"], ("", 0))
        method = line.get("detector")  # verdicts have none
        if method and line["seed"] < seeds and (method, on, line["seed"]) not in known:
            yield {
                **line, "on": on, "method": method, "machine": line["device"], "threads": line.get("threads", 1),
                "fit_seconds": line["seconds"]["fit"], "score_microseconds": None,
            }  # fmt: skip


def about(name: str) -> list[str]:
    words = WORDS[name]
    return [f"`{name}`", words.what, words.sees, words.source]


def runs(lines: Iterable[Line], method: str, on: str, options: Line = DEFAULTS) -> list[Line]:
    """With these options, of each seed, the last line."""
    wanted = (method, on, options)
    held = {line["seed"]: line for line in lines if (line["method"], line["on"], line["options"]) == wanted}
    return [held[seed] for seed in sorted(held)]


def tried(lines: Iterable[Line], method: str, on: str) -> list[Line]:
    """The options that a method ran with: its defaults first, then the others by what they are called."""
    of_it = (line["options"] for line in lines if (line["method"], line["on"]) == (method, on))
    found = {json.dumps(options, sort_keys=True): options for options in of_it}
    return sorted(found.values(), key=lambda options: (options != DEFAULTS, named(method, options)))


def matrix(lines: Sequence[Line], methods: Iterable[str]) -> list[list[str]]:
    """A row per method, with its defaults, a cell per home stream."""
    rows = []
    for method in methods:
        cells = []
        for stream in HOME_STREAMS:
            found = runs(lines, method, stream)
            cell = spread([line["auroc"] for line in found], 1, 100) if found else "–"
            cells.append(f"**{cell}**" if found and stream == WORDS[method].home else cell)
        if set(cells) != {"–"}:
            rows.append([named(method, DEFAULTS), *cells])
    return rows


def figures(lines: Sequence[Line], methods: Iterable[str], ground: str) -> list[list[str]]:
    """A row per method and its options, with the paper's figures where that has a table."""
    rows = []
    for method in methods:
        for options in tried(lines, method, ground):
            found = runs(lines, method, ground, options)
            ours = " / ".join(spread([line[name] for line in found], digits, 100) for name, digits in METRICS)
            seeds = ", ".join(str(line["seed"]) for line in found)
            paper = [published(ground, method, options)] if ground in PAPER else []
            rows.append([named(method, options), seeds, ours, *paper])
    return rows


def both_ways(lines: Sequence[Line], methods: Iterable[str]) -> list[list[str]]:
    """A row per method, ground and options: AUROC and AP without the rest of an event's snapshot, and with it."""
    rows = []
    for method in methods:
        for ground in (*HOME_STREAMS, *GROUNDS):
            for options in tried(lines, method, ground):
                found = runs(lines, method, ground, options)
                cells = [
                    " / ".join(
                        spread([line[way][name] for line in found], digits, 100)
                        for name, digits in METRICS[:2]
                    )
                    for way in WAYS
                ]
                seeds = ", ".join(str(line["seed"]) for line in found)
                rows.append([named(method, options), f"`{ground}`", seeds, *cells])
    return rows


def published(ground: str, method: str, options: Line) -> str:
    """The paper's figures, which are those of a method as it is or as published, and of no other options."""
    theirs = PAPER[ground].get(method)
    if theirs is None or not (options == DEFAULTS or options.get("preset") == "paper"):
        return "–"
    return " / ".join(f"{value:g}" for value in theirs)


def named(method: str, options: Line) -> str:
    """The method, with the options that it ran with where they are not its defaults."""
    return ", ".join([f"`{method}`", *sorted(f"`{key}={value}`" for key, value in options.items())])


def costs(lines: Sequence[Line], methods: Iterable[str]) -> list[list[str]]:
    """A row per method, with its defaults: seconds of a fit and microseconds of an event, the least of the seeds: others may have
    run beside."""
    rows = []
    for method in methods:
        found = [runs(lines, method, ground) for ground in COSTED]
        cells = []
        for held in found:
            fit = min((line["fit_seconds"] for line in held), default=None)
            event = min(
                (line["score_microseconds"] for line in held if line["score_microseconds"]), default=None
            )
            cells += ["–" if fit is None else f"{fit:,.1f} s", "–" if event is None else f"{event:,.0f} µs"]
        machines = sorted(
            {f"{line['machine']}, threads: {line['threads']}" for held in found for line in held}
        )
        if machines:
            rows.append([f"`{method}`", *cells, "; ".join(machines)])
    return rows


if __name__ == "__main__":
    files = (read(RESULTS / f"{name}.jsonl") for name in (FILE, WITHIN_FILE, ROWS_FILE))
    PAGE.write_text(page(*files), encoding="utf-8")
    print(f"{PAGE}: written.")
