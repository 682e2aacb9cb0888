"""EncoderTags: what the checks must know of an encoder that differs from the rest."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EncoderTags:
    """Capabilities; the default is an encoder that keeps every promise of the contract.

    - `steady`: False where `encode` asks the device for numbers, or decides in Python what changes from call to call: then its
      training is not recorded as a CUDA graph.
    - `past`: False where the L past events in a Window are not looked at without the event, since a memory tells of the past.
    """

    past: bool = True
    steady: bool = True
