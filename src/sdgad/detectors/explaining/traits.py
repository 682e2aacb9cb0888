"""All traits that an event of some table can have."""

from __future__ import annotations

from sdgad.detectors.explaining.columns import SEQUEL, End, TableColumns, feature_theme
from sdgad.detectors.explaining.feature_traits import Amount, Category, Missing
from sdgad.detectors.explaining.habit_traits import (
    Busy,
    BusyStream,
    Gap,
    ManyPartners,
    NewNode,
    NewPair,
    Phase,
    RarePair,
    SoonAfter,
)
from sdgad.detectors.explaining.trait import BOTH, SHORT_OF, Side, Trait
from sdgad.events.features import CategoryEncoding, NumberEncoding
from sdgad.history.habit_words import Ends
from sdgad.history.habits import MEAN_WAIT


def traits_of(columns: TableColumns, ends: Ends) -> list[Trait]:
    """All that can be told of an event of such a table."""
    found: list[Trait] = [
        NewPair(columns, ends, "both", "pair", "new", "new pair"),
        RarePair(columns, ends, "both", "pair", "rare", "pair share of src"),
        BusyStream(columns, ends, "both", "stream", "more", "rate stream, hour against week", "hour"),
    ]
    if columns.shape.sequels:
        found.append(SoonAfter(columns, ends, "source", SEQUEL, "quick", MEAN_WAIT))
    for end in SHORT_OF:
        found += _of_end(columns, ends, end)
    place = 0
    for encoding in columns.features.columns:
        for end in (*SHORT_OF, BOTH):
            found += _of_feature(columns, ends, end, place, encoding)
        place += encoding.width
    return found


def _of_end(columns: TableColumns, ends: Ends, end: End) -> list[Trait]:
    short, pace = SHORT_OF[end], f"{end} pace"
    gap = f"gap {short} against its spacing"
    found: list[Trait] = [
        NewNode(columns, ends, end, f"new {end}", "new", f"new {short}"),
        Gap(columns, ends, end, pace, "quick", gap),
        Gap(columns, ends, end, pace, "silent", gap),
        Busy(columns, ends, end, pace, "quick", f"rate {short}, hour against week", "hour"),
        Busy(columns, ends, end, pace, "quick", f"rate {short}, day against week", "day"),
        ManyPartners(columns, ends, end, f"{end} partners", "more", f"partners per event {short}"),
    ]
    for theme in ("hour", "weekday") if columns.shape.phases else ():
        column = columns.names[columns.surprise(end, columns.level(f"sin {theme}"))]
        found.append(Phase(columns, ends, end, theme, "other", column))
    return found


def _of_feature(
    columns: TableColumns, ends: Ends, end: End, place: int, encoding: NumberEncoding | CategoryEncoding
) -> list[Trait]:
    theme = feature_theme(encoding.name)
    first = columns.feature(place)
    apart = columns.names[columns.deviation(end, first)]
    if isinstance(encoding, CategoryEncoding):
        return [Category(columns, ends, end, theme, "other", apart, place, encoding)]
    number = apart if end == BOTH else columns.names[columns.surprise(end, first)]
    sides: tuple[Side, Side] = ("more", "less")
    found: list[Trait] = [Amount(columns, ends, end, theme, side, number, place, encoding) for side in sides]
    if encoding.flag_missing:
        flag = columns.names[columns.deviation(end, first + 1)]
        found.append(Missing(columns, ends, end, theme, "other", flag, place, encoding))
    return found
