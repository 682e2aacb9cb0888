"""Habit residuals: how far an event lies from what its two endpoints usually do.

Levels drift: counts and ages grow for as long as a stream runs, and what comes tomorrow lies beyond all of yesterday.
Differences do not. They are the paper's residual (section "Residual encoding") before any network: the event, minus what was
to be expected of its endpoints. All are computed from a Window alone, so they are the same offline and live.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sdgad.history.context import NAMES, PHASE_NAMES
from sdgad.history.window import Sequels, Window

LEAST_SPREAD = (
    0.2  # of an endpoint's own habit, in the units of context (logarithms) and of encoded edge features
)

_AT = {name: place for place, name in enumerate(NAMES)}
_RATIOS: tuple[tuple[str, str, str], ...] = (
    ("gap src against its last ten", "log gap src", "log gap 10th src"),
    ("gap dst against its last ten", "log gap dst", "log gap 10th dst"),
    ("gap pair against gap src", "log gap pair", "log gap src"),
    ("gap pair against gap dst", "log gap pair", "log gap dst"),
    ("rate src, hour against week", "log rate src hour", "log rate src week"),
    ("rate src, day against week", "log rate src day", "log rate src week"),
    ("rate dst, hour against week", "log rate dst hour", "log rate dst week"),
    ("rate dst, day against week", "log rate dst day", "log rate dst week"),
    ("rate stream, hour against week", "log rate stream hour", "log rate stream week"),
    ("spacing src", "log age src", "log count src"),
    ("spacing dst", "log age dst", "log count dst"),
)  # log-ratios inside the context of the event
_AS_THEY_ARE = (
    "new src", "new dst", "new pair", "partners per event src", "partners per event dst", "pair share of src",
    "pair share of dst",
)  # fmt: skip
MEAN_WAIT = "wait after src, mean"
SEQUELS = ("wait after src, last", MEAN_WAIT, "wait after src, shortest")
CIRCLES = (
    "common partners of src", "common partners of dst", "meetings in the past of src", "meetings in the past of dst",
)  # fmt: skip
RELATIONS = len(_RATIOS) + 2 + len(_AS_THEY_ARE)  # with the gaps against their spacing
_LEFT = torch.tensor([_AT[left] for _, left, _ in _RATIOS])
_RIGHT = torch.tensor([_AT[right] for _, _, right in _RATIOS])
_PLAIN = torch.tensor([_AT[name] for name in _AS_THEY_ARE])
_GAPS = torch.tensor([_AT["log gap src"], _AT["log gap dst"]])
_SPACING = slice(9, 11)  # of the ratios


@dataclass(frozen=True)
class Habits:
    """Four kinds of residuals of B events.

    `relations` are log-ratios inside the context: this gap against the last ten, this hour against the week, the gap against the
    mean spacing; flags of a first time and shares, which are ratios already. `deviations` are every context and edge feature,
    minus its mean over the past events of the source, then of the destination, then (edge features and phases) of the source
    with this very destination; 0 where there are none. `surprises` are those of source and destination over the endpoint's
    own spread √(variance + 0.2²). `circles` say how much the two endpoints share: log(1 + n), with n of the source's past events
    those with a partner of the destination, and of the destination's those with a partner of the source; of either's those with
    the other.
    """

    relations: Tensor  # [B, 20], [B, 0] without context
    deviations: Tensor  # [B, 2 (C + d) + d + phases]
    surprises: Tensor  # [B, 2 (C + d)]
    circles: Tensor  # [B, 4]


def habits(window: Window, phases: int) -> Habits:
    """Those of a Window whose last `phases` context features are phases."""
    now = torch.cat([window.context, window.msg], 1)
    past = torch.cat([window.past_context, window.past_msg], 3)
    mean = _mean(past, window.mask)
    variance = _mean((past - mean[:, :, None]).square(), window.mask)
    apart = _apart(now, mean, window.mask)
    return Habits(
        relations(window.context),
        torch.cat([apart.flatten(1), _habitual(window, phases)[:, 2]], 1),
        (apart / (variance + LEAST_SPREAD**2).sqrt()).flatten(1),
        circles(window),
    )


def relations(context: Tensor) -> Tensor:
    """`[B, 20]` log-ratios, flags and shares; nothing of no context."""
    if not context.shape[1]:
        return context
    left, right, gaps, plain = (places.to(context.device) for places in (_LEFT, _RIGHT, _GAPS, _PLAIN))
    ratio = context.index_select(1, left) - context.index_select(1, right)
    return torch.cat(
        [ratio, context.index_select(1, gaps) - ratio[:, _SPACING], context.index_select(1, plain)], 1
    )


def circles(window: Window) -> Tensor:
    """`[B, 4]`: common partners, seen from the source and from the destination; meetings of the two, likewise."""
    ends, partners, there = window.node, window.past_node, window.mask
    same = (partners[:, 0, :, None] == partners[:, 1, None, :]) & there[:, 0, :, None] & there[:, 1, None, :]
    met = (partners == ends.flip(1)[:, :, None]) & there
    found = torch.stack([same.any(2).sum(1), same.any(1).sum(1), met[:, 0].sum(1), met[:, 1].sum(1)], 1)
    return found.to(window.msg.dtype).log1p()


def went_on(sequels: Sequels) -> Tensor:
    """`[B, 3]`: how soon those whom the source met went on; a page of an encyclopedia is mended sooner than it is written on.

    With w the wait from an event to the next one of its other node, up to now where that has not come: log(1 + w) of the last
    event; the mean and the least of log(1 + w) over the last S. Zeros of a source without a past.
    """
    wait, there = sequels.wait[:, 0].log1p(), sequels.mask[:, 0]
    shortest = wait.masked_fill(~there, torch.inf).amin(1).masked_fill(~there.any(1), 0.0)
    return torch.stack([wait[:, -1], wait.sum(1) / there.sum(1).clamp_min(1), shortest], 1)


def deviations(window: Window, phases: int) -> Tensor:
    """`[B, 3 (d + phases)]`: edge features and phases, minus their past mean for source, destination and pair."""
    return _habitual(window, phases).flatten(1)


def _habitual(window: Window, phases: int) -> Tensor:
    rest = window.context.shape[1] - phases
    now = torch.cat([window.msg, window.context[:, rest:]], 1)
    past = torch.cat([window.past_msg, window.past_context[..., rest:]], 3)
    with_this = window.mask[:, 0] & (window.past_node[:, 0] == window.node[:, 1:])
    seen = torch.cat([window.mask, with_this[:, None]], 1)
    return _apart(now, _mean(torch.cat([past, past[:, :1]], 1), seen), seen)


def _mean(past: Tensor, seen: Tensor) -> Tensor:
    """Of past `[B, N, L, F]` where seen `[B, N, L]`, `[B, N, F]`; 0 where nothing is."""
    count = seen.sum(2, keepdim=True).clamp_min(1)
    return past.masked_fill(~seen[..., None], 0.0).sum(2) / count


def _apart(now: Tensor, mean: Tensor, seen: Tensor) -> Tensor:
    return torch.where(seen.any(2, keepdim=True), now[:, None] - mean, 0.0)


@dataclass(frozen=True)
class HabitNames:
    """What the columns of `Habits` are called."""

    relations: tuple[str, ...]
    deviations: tuple[str, ...]
    surprises: tuple[str, ...]
    circles: tuple[str, ...]
    sequels: tuple[str, ...]

    @classmethod
    def of(cls, context: Sequence[str], features: Sequence[str]) -> HabitNames:
        """For these context features and edge features."""
        ratios = [name for name, _, _ in _RATIOS]
        against_spacing = ["gap src against its spacing", "gap dst against its spacing"]
        phases = [name for name in context if name in PHASE_NAMES]
        columns = [*context, *features]
        ends = [f"{name}, for the {end}" for end in ("source", "destination") for name in columns]
        pair = [f"{name}, for the pair" for name in (*features, *phases)]
        return cls(
            (*ratios, *against_spacing, *_AS_THEY_ARE) if context else (),
            tuple(f"{name}, against habit" for name in (*ends, *pair)),
            tuple(f"{name}, in spreads" for name in ends),
            CIRCLES,
            SEQUELS,
        )
