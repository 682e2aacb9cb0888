"""One self-contained HTML page on a scored stream: figures, tables, alerts; no script, no link, no date."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import resources
from string import Template
from typing import Any

import numpy as np

from sdgad.atomic import whole_file
from sdgad.calibration.threshold import ValidationScores
from sdgad.experiments import figures
from sdgad.experiments.drawing import can_draw
from sdgad.experiments.markup import (
    Column,
    as_cell,
    as_id,
    as_number,
    as_score,
    as_threshold,
    bar,
    count_of_events,
    dot,
    escaped,
    figure,
    heading,
    is_number,
    legend,
    section,
    table,
)
from sdgad.experiments.report_calibration import calibration_section
from sdgad.experiments.report_cards import cards
from sdgad.experiments.report_drift import drift_section
from sdgad.experiments.report_thresholds import thresholds_section
from sdgad.experiments.scored import STYLES, Group, ScoredStream, anomalies, backgrounds
from sdgad.experiments.time_bins import FEWEST
from sdgad.metrics import precision_recall_curve

__all__ = ["ScoredStream", "write_report"]

TOP = 25
UNBROKEN = 24  # characters
HIGHER_IS_BETTER = ("auroc", "ap", "f1", "precision", "recall", "tpr")


def write_report(
    path: str | os.PathLike[str],
    scored: ScoredStream,
    *,
    title: str,
    facts: Sequence[tuple[str, str]],
    metrics: Mapping[str, Any] | None,
    comparison: Sequence[Mapping[str, Any]] = (),
    validation: ValidationScores | None = None,
    warnings: Sequence[str] = (),
) -> None:
    """Write the page to `path`, whole or not at all; the same input gives the same bytes.

    `metrics` is what `sdgad.metrics.evaluate` returns (None without labels). With `validation`, the scores that
    the threshold comes from, the page says whether false alarms are as rare as asked, and how scores drift.
    `warnings` are sentences that a reader should see first. A fact named "command" becomes the closing line.
    """
    known: Mapping[str, Any] = metrics if metrics is not None and scored.labelled else {}
    crowd, typed = backgrounds(scored), anomalies(scored)
    halves = (_precision_recall(scored, known), _recall_by_type(known, typed))
    columns = "".join(f'<div class="column">{half}</div>' for half in halves if half)
    body = [
        _notices(scored, known, warnings),
        _time(scored, crowd, typed),
        _densities(scored, crowd, typed),
        f'<div class="columns">{columns}</div>' if columns else "",
        thresholds_section(scored),
        _comparison(comparison),
        _since_validation(scored, validation) if validation else "",
        _alerts(scored, typed),
        _facts(facts),
        _reading(scored, dict(facts).get("command")),
    ]
    _write_page(
        path, title, _lead(scored), "\n".join(cards(scored, known)), "\n".join(part for part in body if part)
    )


def write_empty_report(path: str | os.PathLike[str], title: str) -> None:
    """A page that says that there was nothing to score: yesterday's would be taken for today's."""
    _write_page(
        path, title, "no events", "", '<section class="notice"><p>There was no event to score.</p></section>'
    )


def _write_page(path: str | os.PathLike[str], title: str, lead: str, cards: str, body: str) -> None:
    template = resources.files("sdgad.experiments").joinpath("report.html.template")
    page = Template(template.read_text(encoding="utf-8")).substitute(
        title=escaped(title), lead=lead, cards=cards, body=body
    )
    with whole_file(path) as temporary:
        temporary.write_bytes(page.encode())


def _lead(scored: ScoredStream) -> str:
    first, last = (escaped(scored.moment(int(row))) for row in (scored.t.argmin(), scored.t.argmax()))
    unit = "" if scored.clock.wall_clock else f" {scored.clock.unit}"
    span = f"at {first}{unit}" if first == last else f"from {first} to {last}{unit}"
    return f"{count_of_events(len(scored))} {span}"


def _notices(scored: ScoredStream, known: Mapping[str, Any], warnings: Sequence[str]) -> str:
    notes = [f"<b>{escaped(warning)}</b>" for warning in warnings]
    if not scored.labelled:
        notes.append(
            "No event carries a label, so this report shows what the detector finds odd, not how often it is "
            "right: there is no precision-recall curve, no recall and no precision."
        )
    elif np.nanmin(scored.label) == np.nanmax(scored.label):
        note = known.get("note") or "All labelled events are of one class."
        notes.append(f"{escaped(note)} There is no precision-recall curve.")
    if not can_draw():
        notes.append(
            "The figures need matplotlib: <code>pip install 'sdgad[report]'</code>, then write it again."
        )
    return f'<section class="notice">{"".join(f"<p>{note}</p>" for note in notes)}</section>' if notes else ""


def _time(scored: ScoredStream, crowd: Sequence[Group], typed: Sequence[Group]) -> str:
    if not can_draw():
        return ""
    marked = list(typed)
    if not scored.labelled:
        rows = np.flatnonzero(scored.score >= scored.threshold)
        marked = [Group("alerts", rows, *STYLES[0])] if len(rows) else []
    hint = "The darker, the more events; coloured marks are "
    hint += "events at or above the threshold." if not scored.labelled else "labelled anomalies."
    if sum(len(group.rows) for group in crowd) <= figures.POINTS:
        hint = "One mark per event."
    if sum(len(group.rows) for group in marked) > figures.MARKS:
        hint += f" About {figures.MARKS:,} marks are drawn, picked at random."
    return section(
        "Score over time",
        f"{hint} The axis is stretched at both ends, so that 0.99 and 0.999 can be told apart.",
        legend([*crowd, *marked]) + figure("Score over time", figures.score_over_time(scored, crowd, marked)),
    )


def _densities(scored: ScoredStream, crowd: Sequence[Group], typed: Sequence[Group]) -> str:
    if not can_draw():
        return ""
    return section(
        "Score densities" + (" by type" if len(crowd) + len(typed) > 1 else ""),
        "Events per bin of the score; counts grow tenfold per step. Right of the dashed line are the alerts.",
        figure("Histogram of the scores of each group", figures.score_densities(scored, crowd, typed)),
    )


def _precision_recall(scored: ScoredStream, known: Mapping[str, Any]) -> str:
    if not scored.labelled or not can_draw():
        return ""
    curve = precision_recall_curve(scored.label, scored.score)
    if not len(curve.precision):
        return ""
    at = None
    if known.get("recall") is not None and known.get("precision") is not None:
        at = (float(known["recall"]), float(known["precision"]))
    hint = "What each share of found anomalies costs in false alarms."
    hint += f" The red dot is the threshold {as_threshold(scored.threshold)}." if at else ""
    share = float(np.mean(scored.label[np.isfinite(scored.label)]))
    picture = figures.precision_recall(curve.precision, curve.recall, share=share, at=at)
    return section("Precision and recall", hint, figure("Precision-recall curve", picture))


def _recall_by_type(known: Mapping[str, Any], typed: Sequence[Group]) -> str:
    found: Mapping[str, Mapping[str, Any]] = known.get("by_type") or {}
    if not found:
        return ""
    styles = {group.name: group for group in typed}
    names, bars, caught = [], [], []
    for name, result in found.items():
        recall, count = result["recall"] or 0.0, int(result["anomalies"])
        names.append(dot(styles.get(name)) + escaped(name))
        bars.append(bar(recall, styles.get(name)))
        caught.append(f"{round(recall * count):,} of {count:,}")
    columns = [Column("type", names, "word"), Column("", bars), Column("found", caught, "n")]
    for key in ("recall", "auroc"):
        columns.append(Column(heading(key), [as_number(result[key]) for result in found.values()], "n"))
    return section("Recall by type of anomaly", "Anomalies of each type that become alerts.", table(columns))


def _since_validation(scored: ScoredStream, validation: ValidationScores) -> str:
    """Calibration and drift, where there are events enough to judge them."""
    if len(scored) < FEWEST:
        few = f"Too few events ({len(scored)}) to judge calibration or drift."
        return section("Calibration and drift", "", f"<p>{few}</p>")
    return calibration_section(scored, validation) + drift_section(scored, validation.score)


def _comparison(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    return section(
        "Comparison",
        "Detectors on the same events; the best of each column is bold.",
        table([_metric_column(key, rows, best=key in HIGHER_IS_BETTER) for key in rows[0]]),
    )


def _metric_column(key: str, rows: Sequence[Mapping[str, Any]], *, best: bool = False) -> Column:
    values = [row.get(key) for row in rows]
    cells = [as_cell(key, value) for value in values]
    if best:
        highest = max((value for value in values if value is not None), default=None)
        cells = [
            f"<b>{cell}</b>" if value is not None and value == highest else cell
            for cell, value in zip(cells, values, strict=True)
        ]
    return Column(heading(key), cells, "word" if any(isinstance(value, str) for value in values) else "n")


def _alerts(scored: ScoredStream, typed: Sequence[Group]) -> str:
    top = scored.top(TOP)
    rows = top.tolist()
    time = "time" if scored.clock.wall_clock else f"time ({scored.clock.unit})"
    columns = [
        Column("score", [as_score(float(scored.score[row])) for row in rows], "n"),
        Column(time, [escaped(scored.moment(row)) for row in rows], "word"),
        _texts("source", [scored.source[row] for row in rows]),
        _texts("destination", [scored.destination[row] for row in rows]),
    ]
    for name, detail in {**scored.ids, **scored.details}.items():
        columns.append(_texts(escaped(name), [detail[row] for row in rows]))
    hint = "Highest score first."
    if scored.labelled:
        groups = {int(row): group for group in typed for row in top[np.isin(top, group.rows)]}
        columns.append(Column("truth", [_truth(scored, row, groups.get(row)) for row in rows], "word"))
        hint += f" Of these {len(top)}, {int((scored.label[top] == 1).sum())} are labelled as anomalies."
    if scored.p_value is not None:
        columns.append(Column("p-value", [as_number(scored.p_value[row]) for row in rows], "n"))
    if scored.row is not None:
        columns.append(Column("row", [as_number(int(scored.row[row]) + 1) for row in rows], "n"))
        hint += " The row counts the events of the file from 1."
    below = ["below" if scored.score[row] < scored.threshold else "" for row in rows]
    if any(below):
        hint += " Grey rows lie below the threshold and are no alerts."
    name = "Top alerts" if scored.alerts else "Highest scores"
    notes = [] if scored.why is None else [escaped(scored.why[row]) for row in rows]
    if notes:
        hint += " Below each stands what is most unusual about it for its two ends."
    return section(name, hint, table(columns, classes=below, notes=notes), kind="long")


def _texts(name: str, values: Sequence[str]) -> Column:
    """A column of the data: numbers to the right, short texts unbroken, long ones as they fit."""
    kind = "word" if max((len(value) for value in values), default=0) <= UNBROKEN else "long"
    return Column(name, [as_id(value) for value in values], "n" if all(map(is_number, values)) else kind)


def _truth(scored: ScoredStream, row: int, group: Group | None) -> str:
    if group is None:
        return "normal" if scored.label[row] == 0 else "unlabelled"
    name = "" if scored.anomaly_type is None else str(scored.anomaly_type[row] or "")
    return dot(group) + escaped(name or "anomaly")


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    items = "".join(
        f"<dt>{escaped(name)}</dt><dd>{escaped(value)}</dd>" for name, value in facts if name != "command"
    )
    return section("What was scored, and by what", "", f"<dl>{items}</dl>") if items else ""


def _reading(scored: ScoredStream, command: str | None) -> str:
    learned = ""
    if scored.boundary is not None:
        learned = f"; <b>{scored.boundary:g} is the boundary learned in training</b>"
    lines = [
        "Every event is compared with the history of its two endpoints as it stood just before the event. "
        f"The score lies between 0 and 1 and grows with how badly the event fits that history{learned}. It is not a "
        "probability: of the events that score 0.9, nine in ten need not be anomalies.",
        f"An event whose score is at or above the threshold of {as_threshold(scored.threshold)} is an alert. "
        "A lower threshold finds more anomalies and raises more false alarms.",
    ]
    if scored.p_value is not None:
        lines.append(
            "The p-value is the share of normal events, measured on validation data, that score as high or "
            "higher: 0.001 means that about one normal event in a thousand looks as odd."
        )
    if command:
        lines.append(f"This page was made by <code>{escaped(command)}</code>")
    return section("How to read the score", "", "".join(f"<p>{line}</p>" for line in lines))
