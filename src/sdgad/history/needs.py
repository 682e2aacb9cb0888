"""Needs: what an encoder wants to see in a Window beyond the events and the recent past of their endpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sdgad.errors import InputError

MOST = 2**40  # events, or numbers per node


@dataclass(frozen=True)
class Needs:
    """Declared by an encoder, read by the history: what nobody needs is not computed, kept or copied.

    - `hop`: H > 0 asks for `Window.hop`, the last H events of the other node of each past event: as they were when
      that event happened (`at="event"`), or as they are now (`at="root"`). Only events among the stream's latest
      `reach` are seen there, since a live history has to hold them.
    - `memory`: R > 0 asks for `Window.memory`, R numbers per node that the encoder writes itself (`Encoder.commit`),
      every `commit` events of the stream, moved on to the next change of time; with `neighbours` also those of the
      other nodes of past events.
    - `sequels`: S > 0 asks for `Window.sequels`: when the other node of each of the last S past events went on.
    - `time`: asks for `Window.time` and `Window.event`.
    """

    hop: int = 0
    at: Literal["event", "root"] = "event"
    reach: int = 1 << 16
    memory: int = 0
    neighbours: bool = False
    commit: int = 200
    sequels: int = 0
    time: bool = False

    def __post_init__(self) -> None:
        counts = (self.hop, self.memory, self.sequels, self.reach, self.commit)
        if min(counts) < 0 or min(self.reach, self.commit) < 1 or max(counts) > MOST:
            raise InputError(f"An encoder cannot need this: {self}.")

    @property
    def stamped(self) -> bool:
        """Whether Windows say when and as which event of the stream their events came."""
        return self.time or self.memory > 0


NONE = Needs()
