"""Events beside a model's history in time: most of them older than its end, or all long after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdgad.events.column import shown
from sdgad.events.suspicious import FAR, SHORT
from sdgad.events.times import moment

if TYPE_CHECKING:
    from sdgad.detectors.archive import Archive, Arrivals
    from sdgad.detectors.tally import Tally


def out_of_time_note(past: Archive | Tally, arrivals: Arrivals) -> str | None:
    """What to say where more than half of the events are older than the end of the history and not in it, or where all begin
    further after it than 20 times its span (a span below 30 days counts as 30 days); else None.

    Where late events count as if they happened now, that is said from the first one on.
    """
    if past.span is None or not len(arrivals.t):
        return None
    border, events = past.border, f"{len(arrivals.t):,} events"
    first, end = past.span
    begin = moment(arrivals.t[0], border.clock)
    history = f"the model's history, which ends {moment(end, border.clock)}"
    doubt = f": are unit and dates of column {shown(border.names.time)} right?"
    if (arrivals.t[0].item() - end) * border.clock.seconds > FAR * max(
        (end - first) * border.clock.seconds, SHORT
    ):
        return f"All {events} are of {begin} or later, long after {history}{doubt}"
    late = past.late(arrivals)
    most = 2 * late > len(arrivals.t)
    if not most and not (late and past.late_is_now):
        return None
    now = "; they count as if they happened now" if past.late_is_now else ""
    return f"{late:,} of {events}, which begin {begin}, are older than {history}{now}{doubt if most else '.'}"
