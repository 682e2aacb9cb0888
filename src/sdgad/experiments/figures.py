"""The report's figures of scores and decisions, as inline SVG: the same bytes for the same scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sdgad.experiments.drawing import ALARM, FAINT, logit, score_ticks, svg, time_axis
from sdgad.experiments.markup import printable
from sdgad.experiments.scored import Group, ScoredStream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 1500  # more background events than this are drawn as a density
MARKS = 2000  # more marks than this are thinned, and drawn as pixels


def score_over_time(scored: ScoredStream, crowd: Sequence[Group], marked: Sequence[Group]) -> str:
    """Every event at its time and score: the crowd as a density, the marked groups as points on top."""

    def draw(figure: Figure) -> None:
        from matplotlib.colors import LinearSegmentedColormap, LogNorm

        axes = figure.add_subplot()
        when = time_axis(axes, scored)
        level = logit(scored.score)
        low, high = _score_range(scored)
        rows = np.concatenate([group.rows for group in crowd]) if crowd else np.empty(0, dtype=np.int64)
        if len(rows) <= POINTS:
            size = 2.6 if len(rows) > 100 else 5
            for group in crowd:
                axes.plot(
                    when[group.rows], level[group.rows], "o", color=group.color, ms=size, mew=0, alpha=0.6
                )
        else:
            x_range = axes.get_xlim()
            counts, _, _ = np.histogram2d(
                when[rows], level[rows], bins=(300, 100), range=(x_range, (low, high))
            )
            axes.imshow(
                np.ma.masked_equal(counts.T, 0),
                extent=(*x_range, low, high),
                origin="lower",
                aspect="auto",
                interpolation="none",
                norm=LogNorm(1, max(float(counts.max()), 10.0)),
                cmap=LinearSegmentedColormap.from_list("slate", ["#d5dde8", "#8496ae", "#26374d"]),
                zorder=1,
            )
            axes.set_xlim(x_range)
        total = sum(len(group.rows) for group in marked)
        size = 4.6 if total <= 500 else 3.2
        for group in marked:
            thin = _thin(group.rows, round(MARKS * len(group.rows) / max(total, MARKS)))
            axes.plot(
                when[thin], level[thin], group.marker, color=group.color, ms=size, mec="white", mew=size / 10,
                alpha=0.9, rasterized=total > MARKS, zorder=3,
            )  # fmt: skip
        score_ticks(axes.yaxis, low, high)
        axes.set_ylim(low, high)
        axes.set_ylabel("score (logit scale)")
        axes.axhline(float(logit(scored.threshold)), color=ALARM, lw=1.1, ls=(0, (5, 3)), zorder=4)
        axes.annotate(
            f"threshold\n{scored.threshold:.4g}", (1, float(logit(scored.threshold))), (5, 0), va="center",
            xycoords=("axes fraction", "data"), textcoords="offset points", color=ALARM, fontsize=8.5,
        )  # fmt: skip

    return svg("time", (9.6, 3.9), draw)


def score_densities(scored: ScoredStream, crowd: Sequence[Group], typed: Sequence[Group]) -> str:
    """One histogram of the scores per group, one below the other; the counts are logarithmic."""
    groups = [*crowd, *typed]

    def draw(figure: Figure) -> None:
        level = logit(scored.score)
        low, high = _score_range(scored)
        edges = np.linspace(low, high, 91)
        rows = figure.subplots(len(groups), 1, sharex=True, squeeze=False)[:, 0]
        for alike, all_axes in ((crowd, rows[: len(crowd)]), (typed, rows[len(crowd) :])):
            counts = [np.histogram(level[group.rows], edges)[0] for group in alike]
            powers = np.arange(np.ceil(np.log10(max(10, *(2 * int(count.max()) for count in counts), 0))) + 1)
            ticks = powers[:: max(1, len(powers) // 2)]
            for axes, group, count in zip(all_axes, alike, counts, strict=True):
                axes.set_yscale("log")
                axes.stairs(count, edges, baseline=0.6, fill=True, color=group.color, alpha=0.28, lw=0)
                axes.stairs(count, edges, baseline=0.6, color=group.color, lw=1.2)
                axes.axvline(float(logit(scored.threshold)), color=ALARM, lw=1.1, ls=(0, (5, 3)))
                axes.set_ylim(0.6, 10.0 ** powers[-1])
                axes.set_yticks(10.0**ticks, [_count(int(10**power)) for power in ticks])
                axes.set_yticks([], minor=True)
                name = f"{_short(group.name)}\n{len(group.rows):,}"
                axes.set_ylabel(name, rotation=0, ha="right", va="center")
                axes.tick_params(axis="x", length=0)
        score_ticks(rows[-1].xaxis, low, high)
        rows[-1].set_xlim(low, high)
        rows[-1].set_xlabel("score (logit scale)")
        rows[0].annotate(
            f"threshold {scored.threshold:.4g}", (float(logit(scored.threshold)), 1), (0, 2), ha="center",
            xycoords=("data", "axes fraction"), textcoords="offset points", color=ALARM, fontsize=8.5,
        )  # fmt: skip

    return svg("densities", (9.6, 0.75 + max(0.72 * len(groups), 1.8)), draw)


def precision_recall(
    precision: np.ndarray, recall: np.ndarray, *, share: float, at: tuple[float, float] | None
) -> str:
    """The curve that average precision sums: at every reached recall the best precision.

    `share` is the precision of guessing, `at` the (recall, precision) of the threshold in use.
    """
    reached, first = np.unique(
        recall, return_index=True
    )  # of equal recalls the first has fewest false alarms
    found = reached > 0
    reached, best = reached[found], precision[first][found]
    keep = np.unique(np.linspace(0, len(reached) - 1, 600).astype(np.int64))
    # from the first anomaly's precision, and at full recall down to where everything is an alert
    x, y = np.r_[0.0, reached[keep], 1.0], np.r_[best[0], best[keep], precision[-1]]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.step(x, y, where="pre", color="#0072b2", lw=1.8)
        axes.fill_between(x, y, step="pre", color="#0072b2", alpha=0.10, lw=0)
        axes.axhline(share, color=FAINT, lw=1, ls=(0, (2, 2)))
        axes.annotate("guessing", (0, share), (4, 3), textcoords="offset points", color=FAINT, fontsize=8)
        if at is not None:
            axes.plot(*at, "o", color=ALARM, ms=7.5, mec="white", mew=1.2, zorder=4, clip_on=False)
        axes.set(xlim=(0, 1.01), ylim=(0, 1.03), xlabel="recall", ylabel="precision")

    return svg("precision-recall", (4.9, 3.5), draw)


def _score_range(scored: ScoredStream) -> tuple[float, float]:
    """All scores, the threshold and the learned boundary, with a little air."""
    learned = [] if scored.boundary is None else [scored.boundary]
    ends = logit(np.array([scored.score.min(), scored.score.max(), scored.threshold, *learned]))
    air = 0.04 * float(np.ptp(ends)) + 0.05
    return float(ends.min()) - air, float(ends.max()) + air


def _count(n: int) -> str:
    for size, unit in ((10**6, "M"), (10**3, "k")):
        if n >= size:
            return f"{n // size}{unit}"
    return str(n)


def _short(name: str) -> str:
    name = printable(" ".join(name.split()))
    return name if len(name) <= 26 else f"{name[:25]}…"


def _thin(rows: np.ndarray, most: int) -> np.ndarray:
    most = max(most, 1)
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))
