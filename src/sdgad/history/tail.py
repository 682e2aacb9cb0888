"""Tail: what a live buffer goes on from."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Tail:
    """Where a stored stream stands after some number of events.

    Of N nodes: `count` and the like; of each the last events as in a Window, with times instead of gaps. Of P
    pairs: the smaller and the larger node, their events, those of them from the smaller one, time of the last.
    """

    count: Tensor  # [N]
    as_source: Tensor  # [N]
    as_destination: Tensor  # [N]
    partners: Tensor  # [N]
    first: Tensor  # [N] seconds since the stream began
    rate: Tensor  # [N, 3] just after the last event
    past_node: Tensor  # [N, K]
    past_time: Tensor  # [N, K]
    past_msg: Tensor  # [N, K, d]
    past_context: Tensor  # [N, K, C]
    past_event: Tensor  # [N, K] number in the stream
    pair_nodes: Tensor  # [P, 2]
    pair_count: Tensor  # [P]
    pair_forward: Tensor  # [P]
    pair_last: Tensor  # [P]
    stream_time: Tensor  # []
    stream_rate: Tensor  # [3]


@dataclass(frozen=True)
class SequelLinks:
    """Of the last S events of N nodes: where they stand at their other node, and what came next there; zeros of no event."""

    number: Tensor  # [N, S] which event of its other node each is, from 0
    next: (
        Tensor  # [N, S] float64, when that node's next event came, in seconds; infinity where it has not come
    )
