"""The report's section on calibration: false alarms that were asked for, and those that came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdgad.calibration.coverage import (
    FEWEST,
    RATES,
    Coverage,
    OperatingPoint,
    bin_coverages,
    operating_points,
    pooled,
    resolvable,
)
from sdgad.calibration.threshold import SECONDS_PER_DAY, ValidationScores
from sdgad.experiments.drawing import can_draw
from sdgad.experiments.figures_over_time import false_alarms_over_time
from sdgad.experiments.markup import (
    Column,
    as_rough_share,
    as_share,
    as_threshold,
    count_of_events,
    escaped,
    figure,
    section,
    table,
)
from sdgad.experiments.scored import ScoredStream
from sdgad.experiments.time_bins import time_bins

BUDGET = "alerts_per_day"


@dataclass(frozen=True)
class Line:
    """One operating point: what the whole stream made of it, and each bin."""

    name: str
    whole: Coverage
    bins: Sequence[Coverage]

    @property
    def ratio(self) -> float:
        """Observed rate against that of validation."""
        return (self.whole.rate or 0.0) / self.whole.point.rate if self.whole.point.rate else np.inf


@dataclass(frozen=True)
class Normals:
    """Events that false alarms are counted among; `certain` where labels say that they are normal."""

    row: np.ndarray
    certain: bool

    @classmethod
    def of(cls, scored: ScoredStream) -> Normals:
        """Labelled normals where they are most of the stream, else all events that are not known anomalies.

        A few labelled normals are no sample: often they are the alerts that somebody looked into.
        """
        normal = scored.label == 0
        certain = 2 * int(normal.sum()) >= len(scored)
        return cls(normal if certain else ~(scored.label == 1), certain)


def calibration_section(scored: ScoredStream, validation: ValidationScores) -> str:
    """Table and figure of the asked rates and of the threshold in use."""
    normals = Normals.of(scored)
    bins = time_bins(scored.t)
    scores = [scored.score[rows][normals.row[rows]] for rows in bins]
    points = [OperatingPoint.at(validation, scored.threshold), *operating_points(validation)]
    lines = []
    for point in points:
        parts = bin_coverages(point, scores)
        name = "in use" if point.asked is None else as_share(point.asked)
        lines.append(Line(name, pooled(parts), parts))
    if not lines[0].whole.normals:
        return section(
            "Calibration", "", "<p>Every event is a known anomaly: none could be a false alarm.</p>"
        )
    content = f"<p>{_verdict(lines, normals)}</p>"
    if len(bins) > 1 and can_draw():
        picture = false_alarms_over_time(scored, bins, [(line.name, line.bins) for line in lines])
        content += figure("Observed rate of false alarms over time", picture)
        content += f'<p class="hint">{_how_to_read_the_figure(len(bins))}</p>'
    content += _table(lines, normals, scored.threshold_rule)
    notes = _notes(scored, validation, normals)
    content += "".join(f'<p class="hint note">{note}</p>' for note in notes)
    return section("Calibration", _hint(normals, validation), content, kind="long")


def _verdict(lines: Sequence[Line], normals: Normals) -> str:
    """First of the threshold that is in use, then of the asked rates."""
    used, *asked = (line.whole for line in lines)
    what, among = (
        ("false alarms", "normal events") if normals.certain else ("alarms", "events not known as anomalies")
    )
    head = {
        "within": f"{what} are within what validation leads to expect",
        "above": f"there are more {what} than validation leads to expect",
        "below": f"there are fewer {what} than validation leads to expect",
    }
    said = [
        f"<b>At your threshold, {head[used.verdict]}:</b> {used.alarms:,} in {used.normals:,} {among} "
        f"({as_rough_share(used.rate)}); validation had {as_rough_share(used.point.rate)}."
    ]
    if asked and all(one.verdict == "within" for one in asked):
        said.append("Rates that other thresholds promise are kept as well.")
    off = [
        f"{as_share(one.point.asked)} asked became {as_share(one.rate)}"
        for one in asked
        if one.verdict != "within"
    ]
    if off:
        said.append(f"Other thresholds changed more than chance explains: {', '.join(off)}.")
    if not normals.certain and any(one.verdict == "above" for one in (used, *asked)):
        said.append("Anomalies that were found are among the alarms and may explain it.")
    if used.verdict == "within" and used.expected < FEWEST:
        said.append(
            f"So few events could hardly show otherwise: {used.expected:.2g} such alarms were expected."
        )
    return " ".join(said)


def _table(lines: Sequence[Line], normals: Normals, rule: str) -> str:
    whole = [line.whole for line in lines]
    asked = ["in use" + (f": {escaped(rule)}" if rule else ""), *(line.name for line in lines[1:])]
    rate = "rate" if normals.certain else "rate, at most"
    columns = [
        Column("asked", asked, "word"),
        Column("threshold", [as_threshold(one.point.threshold) for one in whole], "n"),
        Column("on validation", [f"{one.point.alarms:,} of {one.point.normals:,}" for one in whole], "n"),
        Column("expected here", [_expected(one) for one in whole], "n"),
        Column("observed", [f"{one.alarms:,} of {one.normals:,}" for one in whole], "n"),
        Column(rate, [_observed(one) for one in whole], "n"),
        Column("verdict", [_word(line, normals) for line in lines], "word"),
    ]
    if len(lines[0].bins) > 1:
        off = [sum(part.verdict != "within" for part in line.bins) for line in lines]
        outside = [f"{count} of {len(line.bins)}" for count, line in zip(off, lines, strict=True)]
        columns.append(Column("bins off", outside, "n"))
    used = ["used", *[""] * (len(lines) - 1)]
    return table(columns, classes=used)


def _expected(one: Coverage) -> str:
    low, high = one.to_expect
    return f"{one.expected:,.1f} <small>({low:,}–{high:,})</small>"


def _observed(one: Coverage) -> str:
    low, high = one.interval
    return f"{as_share(one.rate)} <small>({100 * low:.3g}–{100 * high:.3g})</small>"


def _word(line: Line, normals: Normals) -> str:
    verdict = line.whole.verdict
    if verdict == "within":
        return "within"
    times = f" ×{line.ratio:.2g}" if np.isfinite(line.ratio) and line.ratio > 0 else ""
    doubt = ", or anomalies" if verdict == "above" and not normals.certain else ""
    kind = "too-many" if verdict == "above" else "too-few"
    return f'<span class="{kind}">{verdict}{times}</span>{doubt}'


def _hint(normals: Normals, validation: ValidationScores) -> str:
    among = (
        "events labelled normal"
        if normals.certain
        else "all events that are not known anomalies: unknown anomalies are among them, so that the rate is an "
        "upper bound of the rate of false alarms"
    )
    return (
        f"For each asked rate, the threshold that flags so many of the {_validation_normals(validation)}; here the "
        f"alarms are counted among {among}."
    )


def _validation_normals(validation: ValidationScores) -> str:
    kind = "unlabelled" if np.isnan(validation.label).all() else "normal"
    return f"{len(validation.normal_scores):,} {kind} validation events"


def _how_to_read_the_figure(bins: int) -> str:
    return (
        f"Dots: observed in each of {bins} bins of about equally many events, with Wilson's interval. Dashed: on "
        "validation. Grey: where all bins of a panel stay in 95 of 100 streams in which nothing has changed; red dots "
        "are outside."
    )


def _notes(scored: ScoredStream, validation: ValidationScores, normals: Normals) -> list[str]:
    notes = [
        "Expected here, in brackets: the numbers that occur in 95 of 100 cases if normal events are as they were in "
        "validation (Fisher's exact test, which knows that validation is finite too). Events are taken as independent; "
        "where alike events come in bursts, chance reaches further."
    ]
    fine = next((rate for rate in RATES if rate not in resolvable(validation)), None)
    if fine is not None:
        few = fine * len(validation.normal_scores)
        notes.append(
            f"{as_share(fine)} and less is not offered: of {_validation_normals(validation)} "
            f"that would be {few:.2g}, and fewer than {FEWEST} fix no threshold."
        )
    if normals.certain and np.isnan(validation.label).all():
        notes.append(
            "The model was calibrated without labels. Anomalies among its validation events use up part of each asked "
            "rate, so that fewer false alarms than asked are to be expected."
        )
    budget = _budget(scored, validation)
    return [budget, *notes] if budget else notes


def _budget(scored: ScoredStream, validation: ValidationScores) -> str:
    """Alerts per day: asked, on validation, here; for a threshold that was chosen by them."""
    name, _, amount = scored.threshold_rule.partition(" ")
    if name != BUDGET or not scored.days:
        return ""
    days = validation.seconds / SECONDS_PER_DAY
    before = int(np.count_nonzero(validation.score >= scored.threshold)) / days
    here = scored.alerts / scored.days
    return (
        f"<b>Alerts per day:</b> {float(amount):g} asked, {before:.3g} on validation, {here:.3g} here "
        f"({scored.alerts:,} alerts among {count_of_events(len(scored))} in {scored.days:.3g} days)."
    )
