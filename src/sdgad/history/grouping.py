"""Items of a stream sorted by the group that they belong to: half-events by node, events by pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

Array = np.ndarray[Any, Any]
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Grouping:
    """Items sorted by (group, arrival).

    `start[g] : start[g + 1]` is the slice of group g; `event` is the event behind each sorted item;
    `position[i]` is where item i went; `tie[p]` is the first position of p's group and time.
    """

    start: Array
    event: Array
    position: Array
    tie: Array

    @classmethod
    def of(
        cls, group: Array, event: Array, instant: Array, groups: int, device: torch.device = CPU
    ) -> Grouping:
        """Group items, given in order of arrival; `instant[e]` numbers the distinct times of the events.

        They are sorted on `device`: a GPU does in a millisecond what takes a CPU thirty.
        """
        order = in_order(group, device).astype(np.int32)
        here = np.arange(len(order), dtype=np.int32)
        position = np.empty_like(order)
        position[order] = here
        start = np.zeros(groups + 1, np.int64)
        np.cumsum(np.bincount(group, minlength=groups), out=start[1:])
        sorted_event = event[order]
        when = instant[sorted_event]
        fresh = np.ones(len(order), bool)
        fresh[1:] = when[1:] != when[:-1]
        fresh[start[start < len(order)]] = True
        tie = np.maximum.accumulate(np.where(fresh, here, np.int32(0)))
        return cls(start, sorted_event, position, tie)

    def first_unseen(self, *, strict: bool) -> Array:
        """Per item: the first position of its group it must not see: its own, or if strict its time's."""
        return self.tie[self.position] if strict else self.position

    @property
    def group(self) -> Array:
        """The group of each sorted item."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


def in_order(group: Array, device: torch.device) -> Array:
    """Numbers of the items by group, and within it by arrival."""
    if device.type == "cpu":
        return np.argsort(group, kind="stable")
    order: Array = torch.from_numpy(group).to(device).argsort(stable=True).cpu().numpy()
    return order


def numbered(key: Array, device: torch.device) -> tuple[Array, Array]:
    """The distinct keys, sorted, and which of them each one is."""
    if device.type == "cpu":
        keys, rank = np.unique(key, return_inverse=True)
        return keys, rank
    found = torch.unique(torch.from_numpy(key).to(device), return_inverse=True)
    keys, rank = (part.cpu().numpy() for part in found)
    return keys, rank


def running_count(flags: Array) -> Array:
    """count[p] = number of True among the first p flags, so that a slice's count is a difference."""
    total = np.zeros(len(flags) + 1, np.int32)
    np.cumsum(flags, out=total[1:])
    return total
