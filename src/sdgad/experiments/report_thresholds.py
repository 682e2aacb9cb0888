"""The report's section on thresholds: the one in use beside others."""

from __future__ import annotations

from sdgad.experiments.markup import Column, as_number, as_share, as_threshold, section, table
from sdgad.experiments.scored import ScoredStream
from sdgad.experiments.threshold_choices import Choice, threshold_choices


def thresholds_section(scored: ScoredStream) -> str:
    """A line per threshold, with the columns that have something to say; nothing where there is no choice."""
    choices = threshold_choices(scored)
    if len(choices) == 1:
        return ""
    columns = [
        Column("flagged", [as_share(choice.share) for choice in choices], "n"),
        Column("threshold", [_threshold(choice) for choice in choices], "n"),
        Column("alerts", [as_number(choice.alerts) for choice in choices], "n"),
    ]
    if any(choice.per_day is not None for choice in choices):
        columns.append(Column("per day", [_per_day(choice.per_day) for choice in choices], "n"))
    if scored.labelled:
        columns += [
            Column("precision", [as_number(choice.precision) for choice in choices], "n"),
            Column("recall", [as_number(choice.recall) for choice in choices], "n"),
            Column("false alarms", [as_number(choice.false_alarms) for choice in choices], "n"),
        ]
    hint = "A higher threshold gives fewer alerts and finds less. The shaded one is in use; "
    hint += "<code>sdgad threshold MODEL VALUE</code> sets another."
    if 0 < scored.labelled < len(scored):
        hint += f" The last three columns know the {scored.labelled:,} events with a label only."
    used = ["used" if choice.used else "" for choice in choices]
    return section("Thresholds", hint, table(columns, classes=used))


def _threshold(choice: Choice) -> str:
    return as_threshold(choice.threshold) if choice.used else repr(choice.threshold)


def _per_day(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:,.1f}" if rate < 100 else f"{rate:,.0f}"
