"""What every figure shares: style, the two axes, and the way to inline SVG without global state."""

from __future__ import annotations

import importlib
import io
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sdgad.experiments.scored import ScoredStream

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
# of years, months, days, hours, minutes and seconds; at the start of the next larger one; and once for the whole axis
DATES = {
    "formats": ["%Y", "%b", "%b %d", "%H:%M", "%H:%M", "%S.%f"],
    "zero_formats": ["", "%Y", "%b %d", "%b %d", "%H:%M", "%H:%M"],
    "offset_formats": ["", "%Y", "%Y", "%Y %b %d", "%Y %b %d", "%Y %b %d, %H:%M"],
}
COARSE = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5)
FINE = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


def can_draw() -> bool:
    """Whether matplotlib (extra `report`) is there."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        return False
    return True


def logit(score: np.ndarray | float) -> np.ndarray:
    """log(s / (1 − s)), where sdgad's score is spread evenly instead of crowded at its ends."""
    s = np.clip(np.asarray(score, dtype=np.float64), 1e-12, 1 - 1e-12)
    return np.asarray(np.log(s) - np.log1p(-s))


def score_ticks(axis: Any, low: float, high: float) -> None:
    for levels in (COARSE, sorted({*COARSE, *FINE})):
        ticks = sorted({p for level in levels for p in (level, 1 - level) if low <= float(logit(p)) <= high})
        if len(ticks) >= 4:
            break
    else:  # a narrow range: plain steps
        from matplotlib.ticker import MaxNLocator

        ends = 1 / (1 + np.exp(-np.array([low, high])))
        ticks = [p for p in MaxNLocator(6).tick_values(*ends) if ends[0] <= p <= ends[1]]
    axis.set_ticks([float(logit(p)) for p in ticks], [_level(p) for p in ticks])


def _level(p: float) -> str:
    """0.01 as it is; beyond three decimals 10⁻⁵ and 1−10⁻⁵."""
    rest = min(p, 1 - p)
    if rest > 9e-4:
        return f"{p:.6g}"
    power = f"10⁻{'⁰¹²³⁴⁵⁶⁷⁸⁹'[round(-np.log10(rest)) % 10]}"
    return power if p < 0.5 else f"1−{power}"


def time_axis(axes: Any, scored: ScoredStream) -> np.ndarray:
    """Dates on a wall clock, otherwise time since the first event in the unit that suits its length."""
    dates: Any = importlib.import_module("matplotlib.dates")  # untyped, as far as it is typed at all
    seconds = scored.clock.seconds
    days = np.asarray(scored.t, dtype=np.float64) * (seconds / 86400)
    if scored.clock.wall_clock and days.min() > -700_000 and days.max() < 2_900_000:
        when: np.ndarray = days + float(dates.date2num(np.datetime64(0, "s")))
        locator = dates.AutoDateLocator(tz=scored.zone, minticks=4, maxticks=9)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, tz=scored.zone, **DATES))
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


def svg(name: str, size: tuple[float, float], draw: Callable[[Figure], None]) -> str:
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
    drawn = buffer.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r"\s*<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(
        r'<svg [^>]*(viewBox="[^"]*")[^>]*>', rf'<svg \1 class="{name}" aria-hidden="true">', drawn, count=1
    )
    return re.sub(r'<g id="[^"]*"', "<g", drawn)  # every figure counts its groups from 1
