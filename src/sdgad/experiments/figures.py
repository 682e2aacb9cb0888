"""The report's figures as inline SVG: no pyplot, no global state, the same bytes for the same scores."""

from __future__ import annotations

import importlib
import io
import re
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sdgad.experiments.markup import printable
from sdgad.experiments.scored import Group, ScoredStream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, FAINT, GRID, ALARM = "#1f2937", "#6b7280", "#e5e7eb", "#b91c1c"
STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#9ca3af",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "path.simplify": True,
    "svg.fonttype": "none",  # text stays text: it can be searched, and the reader's fonts know every script
    "text.parse_math": False,  # a "$" in the name of a type is a dollar
    "xtick.color": FAINT,
    "xtick.labelsize": 8.5,
    "ytick.color": FAINT,
    "ytick.labelsize": 8.5,
}
POINTS = 1500  # more background events than this are drawn as a density
MARKS = 2000  # more marks than this are thinned, and drawn as pixels
COARSE = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5)
FINE = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


def can_draw() -> bool:
    """Whether matplotlib (extra `report`) is there."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        return False
    return True


def score_over_time(scored: ScoredStream, crowd: Sequence[Group], marked: Sequence[Group]) -> str:
    """Every event at its time and score: the crowd as a density, the marked groups as points on top."""

    def draw(figure: Figure) -> None:
        from matplotlib.colors import LinearSegmentedColormap, LogNorm

        axes = figure.add_subplot()
        when = _time_axis(axes, scored)
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
        _score_ticks(axes.yaxis, low, high)
        axes.set_ylim(low, high)
        axes.set_ylabel("score (logit scale)")
        axes.axhline(float(logit(scored.threshold)), color=ALARM, lw=1.1, ls=(0, (5, 3)), zorder=4)
        axes.annotate(
            f"threshold\n{scored.threshold:.4g}", (1, float(logit(scored.threshold))), (5, 0), va="center",
            xycoords=("axes fraction", "data"), textcoords="offset points", color=ALARM, fontsize=8.5,
        )  # fmt: skip

    return _svg("time", (9.6, 3.9), draw)


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
        _score_ticks(rows[-1].xaxis, low, high)
        rows[-1].set_xlim(low, high)
        rows[-1].set_xlabel("score (logit scale)")
        rows[0].annotate(
            f"threshold {scored.threshold:.4g}", (float(logit(scored.threshold)), 1), (0, 2), ha="center",
            xycoords=("data", "axes fraction"), textcoords="offset points", color=ALARM, fontsize=8.5,
        )  # fmt: skip

    return _svg("densities", (9.6, 0.75 + max(0.72 * len(groups), 1.8)), draw)


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

    return _svg("precision-recall", (4.9, 3.5), draw)


def logit(score: np.ndarray | float) -> np.ndarray:
    """log(s / (1 − s)), where sdgad's score is spread evenly instead of crowded at its ends."""
    s = np.clip(np.asarray(score, dtype=np.float64), 1e-12, 1 - 1e-12)
    return np.asarray(np.log(s) - np.log1p(-s))


def _score_range(scored: ScoredStream) -> tuple[float, float]:
    """All scores, the threshold and the learned boundary 0.5, with a little air."""
    ends = logit(np.array([scored.score.min(), scored.score.max(), scored.threshold, 0.5]))
    air = 0.04 * float(np.ptp(ends)) + 0.05
    return float(ends.min()) - air, float(ends.max()) + air


def _score_ticks(axis: Any, low: float, high: float) -> None:
    for levels in (COARSE, sorted({*COARSE, *FINE})):
        ticks = sorted({p for level in levels for p in (level, 1 - level) if low <= float(logit(p)) <= high})
        if len(ticks) >= 4:
            break
    else:
        ticks = (1 / (1 + np.exp(-np.linspace(low, high, 7)[1:-1]))).tolist()
    axis.set_ticks([float(logit(p)) for p in ticks], [_level(p) for p in ticks])


def _level(p: float) -> str:
    """0.01 as it is; beyond three decimals 10⁻⁵ and 1−10⁻⁵."""
    rest = min(p, 1 - p)
    if rest > 9e-4:
        return f"{p:.4g}"
    power = f"10⁻{'⁰¹²³⁴⁵⁶⁷⁸⁹'[round(-np.log10(rest)) % 10]}"
    return power if p < 0.5 else f"1−{power}"


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


def _time_axis(axes: Any, scored: ScoredStream) -> np.ndarray:
    """Dates on a wall clock, otherwise time since the first event in the unit that suits its length."""
    dates: Any = importlib.import_module("matplotlib.dates")  # untyped, as far as it is typed at all
    seconds = scored.clock.seconds
    days = np.asarray(scored.t, dtype=np.float64) * (seconds / 86400)
    if scored.clock.wall_clock and days.min() > -700_000 and days.max() < 2_900_000:
        when: np.ndarray = days + float(dates.date2num(np.datetime64(0, "s")))
        locator = dates.AutoDateLocator(tz=scored.zone, minticks=4, maxticks=9)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, tz=scored.zone))
        axes.set_xlabel(f"time ({scored.zone})")
        least = 1 / 24
    else:
        # subtracted before it is scaled: int64 nanoseconds do not fit a float64
        elapsed = np.asarray(scored.t - scored.t.min(), dtype=np.float64) * seconds
        span = float(elapsed.max())
        units = (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))
        name, size = next((unit for unit in units if span >= 2 * unit[1]), units[-1])
        when = elapsed / size
        axes.set_xlabel(f"{name} since the first event")
        least = 1.0 if span == 0 else 0.0
    low, high = float(when.min()), float(when.max())
    air = max(0.01 * (high - low), (least - (high - low)) / 2)
    axes.set_xlim(low - air, high + air)
    return when


def _svg(name: str, size: tuple[float, float], draw: Callable[[Figure], None]) -> str:
    """Draw on a fresh figure and give back its `<svg>` alone, without address, date or unused ids."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        matplotlib.rcdefaults()  # a user's matplotlibrc must not change the report
        settings: Any = matplotlib.rcParams
        settings.update(STYLE | {"svg.hashsalt": f"sdgad-{name}"})
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", dpi=144, transparent=True, metadata={"Date": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(
        r'<svg [^>]*(viewBox="[^"]*")[^>]*>', rf'<svg \1 class="{name}" aria-hidden="true">', svg, count=1
    )
    return re.sub(r'<g id="[^"]*"', "<g", svg)  # every figure counts its groups from 1
