"""Habit residuals in words, with the numbers: who, how much, how long, when."""

from __future__ import annotations

import math
from dataclasses import dataclass

DEFAULTS = {"src": "source", "dst": "destination"}  # names of columns that say nothing to a person
UNITS = (("day", 86_400.0), ("h", 3600.0), ("min", 60.0))
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ALMOST = 0.99  # of a unit is one
ABOUT_ONE = 1.05  # times, below which a ratio says nothing


@dataclass(frozen=True)
class Ends:
    """What the two ends of an event are called in its file: a payer and a payee."""

    source: str
    destination: str

    @classmethod
    def named(cls, src: str, dst: str) -> Ends:
        """By the names of their columns."""
        return cls(DEFAULTS.get(src, src), DEFAULTS.get(dst, dst))

    def of(self, end: str) -> str:
        """The name of the `source`, of the `destination`, or of `both` where a pair is meant."""
        if end == "both":
            return f"{self.source} with this {self.destination}"
        return self.source if end == "source" else self.destination


def number(value: float) -> str:
    """Three digits, or all of a whole number below 100,000: `3,810`, `0.0124`, `38`."""
    if abs(value) >= 1 and abs(value) < 1e5:
        digits = max(0, 2 - math.floor(math.log10(abs(value))))
        text = f"{value:,.{digits}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{float(f'{value:.3g}'):,g}"


def times(ratio: float) -> str:
    """`4.1 times`, `38 times`; of more than a million no more than that."""
    if ratio > 1e6:
        return "over a million times"
    text = f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:,.0f}"
    return f"{text.removesuffix('.0')} times"


def span(seconds: float) -> str:
    """`40 s`, `3.5 h`, `12 days`."""
    for unit, size in UNITS:
        if seconds >= ALMOST * size:
            count = number(float(f"{seconds / size:.2g}"))
            return f"{count} {unit}" + ("s" if unit == "day" and count != "1" else "")
    return f"{float(f'{seconds:.2g}'):g} s"


def counted(count: float, what: str) -> str:
    """`1 event`, `5.2 events`."""
    text = number(round(count, 1))
    return f"{text} {what}" + ("" if text == "1" else "s")


def hour(of_day: float) -> str:
    """`03:12` of 3.2 hours."""
    minutes = round(of_day * 60) % (24 * 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def weekday(of_week: float) -> str:
    """The day of a number of days since Monday began."""
    return WEEKDAYS[math.floor(of_week) % 7]


def never_met(ends: Ends) -> str:
    return f"{ends.destination} never seen by this {ends.source}"


def rarely_met(ends: Ends, together: float, of: float) -> str:
    return f"{ends.destination} rare for this {ends.source}: {number(round(together))} of its {counted(round(of), 'event')}"


def never_seen(who: str) -> str:
    return f"{who} never seen before"


def quicker(who: str, gap: float, usual: float) -> str:
    ratio = usual / max(gap, 1.0)
    return f"{who} {times(ratio)} quicker than its habit ({span(gap)} after its last event, usually {span(usual)})"


def silent(who: str, gap: float, usual: float) -> str:
    return f"{who} silent for {span(gap)}, {times(gap / max(usual, 1.0))} its habit of {span(usual)}"


def busier(who: str, count: float, usual: float, within: str) -> str:
    """Of the count, this event included, and of what its week leads to expect."""
    said = f"{who} has {counted(count, 'event')} within {within}"
    return (
        f"{said}, usually {number(float(f'{usual:.2g}'))}" if usual >= 0.01 else f"{said}, usually hardly any"
    )


def stream_busier(count: float, usual: float) -> str:
    return f"all together {times(count / max(usual, 1e-9))} busier than usual ({counted(round(count), 'event')} within an hour)"


def many_partners(who: str, partners: float, events: float) -> str:
    return f"{who} has {number(round(partners))} different partners in {counted(round(events), 'event')}"


def went_on(ends: Ends, wait: float) -> str:
    return f"those whom this {ends.source} met lately were seen again {span(wait)} later, on average"


def at_hour(who: str, now: float, usual: float) -> str:
    return f"at {hour(now)}, where this {who} is usually seen around {hour(usual)}"


def on_weekday(who: str, now: float, usual: float) -> str:
    return f"on a {weekday(now)}, where this {who} is usually seen around {weekday(usual)}"


def amount(name: str, who: str, now: float, usual: float) -> str:
    """Ratios of positive numbers, and the numbers themselves; of others the numbers alone."""
    numbers = f"{number(now)} where about {number(usual)} is usual"
    if now > 0 and usual > 0:
        ratio = now / usual
        if ratio >= ABOUT_ONE:
            return f"{name} {times(ratio)} the usual of this {who} ({numbers})"
        if ratio <= 1 / ABOUT_ONE:
            return f"{name} {times(1 / ratio)} below the usual of this {who} ({numbers})"
    return f"{name} {numbers} for this {who}"


def missing(name: str, who: str) -> str:
    return f"no {name}, where this {who} usually has one"


def category(name: str, who: str, now: str, usual: str) -> str:
    if now == usual:
        return f"{name} {now}, which this {who} has most often"
    return f"{name} {now}, where this {who} usually has {usual}"
