"""`sdgad demo`: see it work."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from sdgad.cli.manner import Quiet, Verbose, watched
from sdgad.cli.notes import tell
from sdgad.cli.options import Json, Threads
from sdgad.cli.places import need_place_for_demo
from sdgad.cli.printing import duration, print_json, print_table, threshold_text

METRICS = ("auroc", "ap", "f1", "precision", "recall")


class DemoLabels(StrEnum):
    """With all labels of the training part, or with none."""

    all = "all"
    none = "none"


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write into.")] = Path("demo"),
    labels: Annotated[DemoLabels, typer.Option(help="Labels that training may see.")] = DemoLabels.all,
    events: Annotated[
        int, typer.Option(metavar="N", min=300, help="How many payments to simulate.")
    ] = 30_000,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of everything random.")] = 0,
    threads: Threads = None,  # noqa: ARG001
    json: Json = False,
    quiet: Quiet = False,  # noqa: ARG001
    verbose: Verbose = False,  # noqa: ARG001
) -> None:
    """Simulate payments, find the planted anomalies, write a report.

    DIR gets report.html (open it in a browser), events.parquet, scores.parquet, metrics.json and model/,
    which the other commands understand.

    \b
    sdgad demo --labels none
    """
    from sdgad.experiments.demo import run_demo

    need_place_for_demo(out)
    command = [
        "sdgad",
        "demo",
        "--out",
        str(out),
        "--labels",
        labels,
        "--events",
        str(events),
        "--seed",
        str(seed),
    ]
    result = run_demo(
        out,
        labels="all" if labels is DemoLabels.all else "none",
        num_events=events,
        seed=seed,
        command=shlex.join(command),
        tell=tell,
        progress=watched(),
    )
    if json:
        print_json(result)
    else:
        _print(result, out)


def _print(result: dict[str, Any], out: Path) -> None:
    test = result["test"]
    print(f"{test['events']:,} payments to test on, {test['anomalies']:,} of them anomalous.\n")
    if test["anomalies"]:
        _print_figures(result)
    else:
        print("So there is nothing to be found: try it with more --events.")
    print(f"\nDone in {duration(result['seconds'])}. Look at {out / 'report.html'}; then try:")
    print(f"  {shlex.join(['sdgad', 'evaluate', str(out / 'model'), str(out / 'scores.parquet')])}")


def _print_figures(result: dict[str, Any]) -> None:
    test, half = result["test"], result["test_at_half"]
    rows = [
        [row["detector"], *(row[key] for key in METRICS), f"{row['seconds']:.1f}"]
        for row in result["comparison"]
    ]
    print_table(["detector", "AUROC", "AP", "F1", "precision", "recall", "seconds"], rows)
    _print_decisions({f"at {threshold_text(found['threshold'])}": found for found in (half, test)})


def _print_decisions(found: dict[str, dict[str, Any]]) -> None:
    """Precision and recall at the learned boundary and at the threshold, where that is another."""
    rows = [[key, *(metrics[key] for metrics in found.values())] for key in ("precision", "recall")]
    for name in next(iter(found.values()))["by_type"]:
        rows.append(
            [f"recall of {name}", *(metrics["by_type"][name]["recall"] for metrics in found.values())]
        )
    print(
        "\nsdgad at 0.5, the boundary that it learned"
        + (", and at its threshold:" if len(found) > 1 else ":")
        + "\n"
    )
    print_table(["", *found], rows)
