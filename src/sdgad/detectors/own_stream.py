"""A queue of work on a GPU for one fit alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

_free: dict[torch.device, list[torch.cuda.Stream]] = {}


@contextmanager
def own_stream(device: torch.device | None) -> Iterator[None]:
    """The default stream of a GPU cannot be recorded, and several fits on streams of their own get on side by side.

    A fit takes over the stream of one that has ended: torch keeps memory apart for every stream that there ever was.
    """
    if device is None or device.type != "cuda":
        yield
        return
    free = _free.setdefault(device, [])
    try:
        stream = free.pop()  # at once, or two threads might take the same
    except IndexError:
        stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    outer = torch.cuda.current_stream(device)
    stream.wait_stream(outer)
    try:
        with torch.cuda.stream(stream):
            yield
    finally:
        outer.wait_stream(stream)
        free.append(stream)
