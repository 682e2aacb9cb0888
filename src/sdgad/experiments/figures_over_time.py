"""The report's figures of what changes: false alarms and scores per time bin, beside validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sdgad.calibration.coverage import Coverage
from sdgad.calibration.drift import Drift
from sdgad.experiments.drawing import ALARM, INK, logit, score_ticks, svg, time_axis
from sdgad.experiments.scored import ScoredStream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CALM, BAND = "#0072b2", "#cbd5e1"
QUANTILES = {0.99: "#0b3c63", 0.9: "#0072b2", 0.5: "#6fb3df"}
DASHES = (0, (4, 3))


def false_alarms_over_time(
    scored: ScoredStream, bins: Sequence[slice], panels: Sequence[tuple[str, Sequence[Coverage]]]
) -> str:
    """A panel per operating point: the observed rate of each bin, its interval, and the band to expect."""

    def draw(figure: Figure) -> None:
        all_axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        edges, middle = _spans(time_axis(all_axes[-1], scored), bins)
        for axes, (name, parts) in zip(all_axes, panels, strict=True):
            normals = np.array([max(part.normals, 1) for part in parts])
            rate = np.array([part.alarms for part in parts]) / normals
            interval = np.array([part.interval for part in parts])
            band = np.array([part.to_expect for part in parts]) / normals[:, None]
            axes.stairs(band[:, 1], edges, baseline=band[:, 0], fill=True, color=BAND, alpha=0.75, lw=0)
            axes.axhline(parts[0].point.rate, color=INK, lw=0.9, ls=DASHES)
            seen = np.array([part.normals > 0 for part in parts])
            out = np.array([part.verdict != "within" for part in parts])
            for color, rows in ((CALM, seen & ~out), (ALARM, seen & out)):
                axes.vlines(middle[rows], interval[rows, 0], interval[rows, 1], color=color, lw=1, alpha=0.55)
                axes.plot(middle[rows], rate[rows], "o", color=color, ms=4.2, mec="white", mew=0.5)
            top = _top(float(max(rate.max(), band.max())), float(interval[:, 1].max()))
            axes.set_ylim(-0.04 * top, top)  # room for the dots of bins without an alarm
            axes.yaxis.set_major_locator(_few_ticks())
            axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%")
            axes.set_ylabel(name, rotation=0, ha="right", va="center")
            axes.tick_params(axis="x", length=0)

    return svg("calibration", (9.6, 0.6 + 1.15 * len(panels)), draw)


def scores_over_time(
    scored: ScoredStream, bins: Sequence[slice], drifts: Sequence[Drift], validation: np.ndarray
) -> str:
    """Quantiles of the score per bin beside those of validation, and below them the distance from validation."""

    def draw(figure: Figure) -> None:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2.4, 1))
        edges, middle = _spans(time_axis(lower, scored), bins)
        size = len(scored) // len(bins)
        ends = []
        for q, color in QUANTILES.items():
            level = logit(np.array([np.quantile(scored.score[rows], q) for rows in bins]))
            before = float(logit(float(np.quantile(validation, q))))
            upper.axhspan(*logit(_by_chance(validation, q, size)), color=color, alpha=0.10, lw=0)
            upper.axhline(before, color=color, lw=1.1, ls=DASHES)
            upper.plot(middle, level, "-o", color=color, lw=1.6, ms=3.4)
            upper.annotate(
                f"{100 * q:g}%", (1, float(level[-1])), (4, 0), va="center", color=color, fontsize=8.5,
                xycoords=("axes fraction", "data"), textcoords="offset points",
            )  # fmt: skip
            ends += [before, *level.tolist()]
        air = 0.06 * (max(ends) - min(ends)) + 0.05
        low, high = min(ends) - air, max(ends) + air
        score_ticks(upper.yaxis, low, high)
        upper.set_ylim(low, high)
        upper.set_ylabel("score (logit scale)")
        upper.tick_params(axis="x", length=0)
        distance = np.array([found.distance for found in drifts])
        expected = np.array([found.expected for found in drifts])
        lower.stairs(expected, edges, fill=True, color=BAND, alpha=0.75, lw=0)
        for color, rows in ((CALM, distance <= expected), (ALARM, distance > expected)):
            lower.vlines(middle[rows], 0, distance[rows], color=color, lw=1.4)
            lower.plot(middle[rows], distance[rows], "o", color=color, ms=4.2, mec="white", mew=0.5)
        lower.set_ylim(0, max(1.15 * float(max(distance.max(), expected.max())), 0.02))
        lower.yaxis.set_major_locator(_few_ticks())
        lower.set_ylabel("distance")

    return svg("drift", (9.6, 4.1), draw)


def _by_chance(validation: np.ndarray, q: float, size: int) -> np.ndarray:
    """Where the q-quantile of `size` unchanged scores lies in 95 of 100 cases: at q ± 2 standard errors of its rank."""
    reach = 1.96 * np.sqrt(q * (1 - q) * (1 / size + 1 / len(validation)))
    return np.asarray(np.quantile(validation, np.clip([q - reach, q + reach], 0, 1)))


def _spans(when: np.ndarray, bins: Sequence[slice]) -> tuple[np.ndarray, np.ndarray]:
    """Edges of the bins on the time axis, each at its own first event and the last at the end, and their middles."""
    edges = np.append([when[rows.start] for rows in bins], when[-1])
    return edges, (edges[1:] + edges[:-1]) / 2


def _top(needed: float, interval: float) -> float:
    """Room for rates and band, and for intervals as far as they do not crush the rest."""
    return min(1.08 * max(needed, interval), 1.8 * max(needed, 1e-6))


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=3, min_n_ticks=2)
