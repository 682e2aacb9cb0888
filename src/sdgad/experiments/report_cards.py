"""The report's head: a handful of figures, each with what it was counted on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sdgad.experiments.markup import as_number, as_percent, as_threshold
from sdgad.experiments.scored import ScoredStream

FEW = 10  # anomalies: with fewer, one more or less moves every figure
COUNTED = 20  # shares of fewer are told as "6 of 6"


def cards(scored: ScoredStream, known: Mapping[str, Any]) -> Iterable[str]:
    """One tile after the other; `known` is what `evaluate` says, empty without labels."""
    alerts, events = scored.alerts, len(scored)
    if known:
        yield from _quality(scored, known)
    partly = f"{scored.labelled:,} with a label" if 0 < scored.labelled < events else ""
    yield _card("events", f"{events:,}", partly)
    if known:
        count, of = int(known.get("anomalies") or 0), int(known.get("events") or 0)
        yield _card("anomalies", f"{count:,}", f"{as_percent(count, of)} of the labelled events")
    yield _card("alerts", f"{alerts:,}", f"{as_percent(alerts, events)} of the events")
    if not known:
        rate = f"{alerts / scored.days:,.1f}" if scored.days >= 1 else "–"
        span = f"over {scored.days:,.1f} days" if scored.days >= 1 else "less than one day"
        yield _card("alerts per day", rate, span)
    f1 = f"F1 {as_number(known['f1'])}" if known.get("f1") is not None else "alert at or above"
    yield _card("threshold", as_threshold(scored.threshold), f1)


def _quality(scored: ScoredStream, known: Mapping[str, Any]) -> Iterable[str]:
    flagged = scored.score >= scored.threshold
    found, false = (int(np.count_nonzero(flagged & (scored.label == value))) for value in (1, 0))
    anomalies = int(np.count_nonzero(scored.label == 1))
    unknown = scored.alerts - found - false
    ranking = ("0.5 is guessing, 1 is perfect", "area under precision-recall")
    if 0 < anomalies < FEW:
        few = f"{anomalies} {'anomalies are' if anomalies > 1 else 'anomaly is'} too few to trust this"
        ranking = (few, few)
    elif scored.labelled < len(scored):
        partly = f"on the {scored.labelled:,} labelled events"
        ranking = (partly, partly)
    yield _card("AUROC", as_number(known.get("auroc")), ranking[0], key=True)
    yield _card("average precision", as_number(known.get("ap")), ranking[1], key=True)
    note = "alerts that are anomalies"
    if unknown:
        note = "alerts with a label"
        if found + false >= COUNTED:
            note = f"of {found + false:,} alerts with a label"
        note += f" ({unknown:,} more {'has' if unknown == 1 else 'have'} none)"
    yield _card("precision", _share(found, found + false), note, key=True)
    yield _card("recall", _share(found, anomalies), "anomalies that are alerts", key=True)


def _share(count: int, of: int) -> str:
    if not of:
        return "–"
    return f"{count} of {of}" if of < COUNTED else as_number(count / of)


def _card(name: str, value: str, note: str, *, key: bool = False) -> str:
    kind = "card key" if key else "card"
    return f'<div class="{kind}"><span>{name}</span><b>{value}</b><i>{note or "&nbsp;"}</i></div>'
