"""How fast the nearest peer is: DyGLib on Wikipedia, in events per second.

Measured by us on the same kinds of machine with DyGLib's published code in one process: 172 edge features, batches of
200, L = 20 (DyGFormer 32; CAWN 32 walks), its own sizes.
Train is forward, backward and Adam on one pair of vectors per event; score is
forward. An earlier run on an H200 had, in the same order, TCL 8117 / 22651, GraphMixer 9133 / 15768 and DyGFormer
3294 / 4121: a ratio to these is good to about a fifth.
"""

from __future__ import annotations

from typing import NamedTuple

STREAM, FEATURES, BATCH = "wikipedia", 172, 200
HISTORY = {"dygformer": 32, "cawn": 32}
USUAL_HISTORY = 20


class Peer(NamedTuple):
    """Events per second."""

    train: float
    score: float


PEERS: dict[str, dict[str, Peer]] = {
    "H200": {
        "tcl": Peer(7591, 23526),
        "graphmixer": Peer(7497, 15047),
        "dygformer": Peer(3427, 4566),
        "tgat": Peer(2840, 4512),
        "cawn": Peer(2214, 3331),
    },
    "2-core CPU": {
        "tcl": Peer(234, 455),
        "graphmixer": Peer(205, 314),
        "dygformer": Peer(208, 412),
        "tgat": Peer(60, 203),
    },
}


def usual_history(encoder: str) -> int:
    """L, as the peers were run."""
    return HISTORY.get(encoder, USUAL_HISTORY)


def find_peer(
    machine: str, encoder: str, *, stream: str, features: int, batch: int, history: int, published: bool
) -> Peer | None:
    """The peer that was measured under the same settings on this kind of machine, if there is one."""
    same = (stream, features, batch, history) == (STREAM, FEATURES, BATCH, usual_history(encoder))
    words = f" {machine} "  # a GH200 is no H200, and 32 cores are not 2
    kind = next((kind for kind in PEERS if f" {kind} " in words), None)
    return PEERS[kind].get(encoder) if kind and same and published else None
