"""The report's section on drift: how the scores have moved since validation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sdgad.calibration.drift import Drift, bin_drifts, drift
from sdgad.experiments.drawing import can_draw
from sdgad.experiments.figures_over_time import QUANTILES, scores_over_time
from sdgad.experiments.markup import Column, as_score, count_of_events, escaped, figure, section, table
from sdgad.experiments.scored import ScoredStream
from sdgad.experiments.time_bins import time_bins

CLEAR = 0.1  # a gap of a tenth of the events, beyond what is expected, is worth a person's time
RECENT = 0.2
HINT = (
    "Scores of all events, anomalies too, beside those of all validation events. This looks at the bulk of the scores; "
    "for rare high scores see Calibration."
)
HOW_TO_READ = (
    "Above: the scores that 50%, 90% and 99% of the events of a bin stay below; dashed, those of validation, with the "
    "range that chance gives a bin. Below: the largest gap between the cumulative shares of the bin and of validation "
    "(Kolmogorov and Smirnov's distance). Grey needs no explanation: chance reaches it in 5 of 100 unchanged streams, or "
    "stretches of validation are as far from the rest of it."
)


def drift_section(scored: ScoredStream, validation: np.ndarray) -> str:
    """Verdict on the latest events, quantiles over time, distance from validation over time."""
    bins = time_bins(scored.t)
    in_parts = len(bins) > 1
    latest = scored.score[int(len(scored) * (1 - RECENT)) :] if in_parts else scored.score
    who = f"{'the last' if in_parts else 'these'} {count_of_events(len(latest))}"
    drifts = bin_drifts(validation, [scored.score[rows] for rows in bins]) if in_parts else []
    beyond = sum(one.beyond_expected for one in drifts)
    whole = f"{beyond} of all {len(bins)} stretches did not" if beyond else ""
    content = f"<p>{_verdict(drift(validation, latest), who, whole, validation, latest)}</p>"
    if in_parts and can_draw():
        worst = max(range(len(bins)), key=lambda i: drifts[i].distance)
        since = ""
        if beyond:
            moment = escaped(scored.moment(bins[worst].start))
            since = f", the one that begins at {moment} farthest ({drifts[worst].distance:.2g})"
        picture = scores_over_time(scored, bins, drifts, validation)
        content += figure("Quantiles of the score over time, and their distance from validation", picture)
        content += f'<p class="hint">{HOW_TO_READ} {beyond} of {len(bins)} bins are beyond it{since}.</p>'
    content += _table(
        {"validation": validation, "here": scored.score} | ({"last fifth": latest} if in_parts else {})
    )
    return section("Drift of scores", HINT, content)


def _verdict(found: Drift, who: str, whole: str, validation: np.ndarray, latest: np.ndarray) -> str:
    reason = (
        "chance explains" if found.chance >= found.ordinary else "ups and downs within validation explain"
    )
    gap = f"the largest gap between the cumulative shares is {found.distance:.2g}"
    explained = f"{reason} up to {found.expected:.2g}"
    if not found.beyond_expected:
        as_before = f"The scores of {who} are by and large spread as in validation"
        head = f"The last fifth looks like validation; {whole}." if whole else "No drift to be seen."
        return f"<b>{head}</b> {as_before}: {gap}, and {explained}."
    medians = [as_score(float(np.median(scores))) for scores in (latest, validation)]
    share = round(100 * max(found.higher, 1 - found.higher))
    way = "higher" if found.higher > 0.5 else "lower"
    how = f"lie {way} than in validation, in {share} of 100 pairs" if share > 51 else "are spread otherwise"
    moved = f"The scores of {who} {how} (median {medians[0]} after {medians[1]}): {gap}, where {explained}."
    if found.distance - found.expected < CLEAR:
        return (
            f"<b>A slight drift.</b> {moved} So small a shift calls for nothing while the calibration holds."
        )
    return (
        f"<b>The scores have drifted.</b> {moved} If events between the model's past and this stream are missing, give "
        "them to <code>sdgad update</code> first; otherwise fit again on newer events."
    )


def _table(parts: Mapping[str, np.ndarray]) -> str:
    names = ["events", *(f"{100 * q:g}% stay below" for q in sorted(QUANTILES))]
    columns = [Column("", names)]
    for name, scores in parts.items():
        # of nine events, none is the one in ten
        cells = [
            as_score(float(np.quantile(scores, q))) if len(scores) - len(scores) * q >= 1 else "–"
            for q in sorted(QUANTILES)
        ]
        columns.append(Column(name, [f"{len(scores):,}", *cells], "n"))
    return table(columns)
