"""Where tensors live."""

from __future__ import annotations

import logging

import torch

from sdgad.errors import InputError

logger = logging.getLogger("sdgad.device")

CACHE = 4 << 20
LAYERS = 40


def choose_device(wanted: str) -> torch.device:
    """`auto` takes the GPU where there is one; `cuda` without one is an error rather than a slow surprise."""
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if wanted.startswith("cuda") and not torch.cuda.is_available():
        raise InputError("device='cuda' was asked for, but torch sees no GPU on this machine.")
    try:
        return torch.device(wanted)
    except RuntimeError:
        raise InputError(f"device={wanted!r} is not one of auto, cpu, cuda.") from None


def usable_device(wanted: str) -> str:
    """The device option of a saved model, or `auto` where it names a GPU that this machine does not have."""
    if wanted.startswith("cuda") and not torch.cuda.is_available():
        logger.warning(
            "The model was fitted with device=%r; there is no GPU here, so it runs on the CPU.", wanted
        )
        return "auto"
    return wanted


def room(device: torch.device) -> int:
    """Bytes that one layer of a network's vectors may take, when it scores.

    On a CPU as many as its cache holds: more is slower. On a GPU as many as memory allows, a network holding some forty such
    layers and the Windows at once, in a tenth of what the card has: several fits may share it. What is free just now has no
    say: the last bits of a score depend on how many events it is computed with.
    """
    if device.type != "cuda":
        return CACHE
    _, has = torch.cuda.mem_get_info(device)
    return int(has) // (10 * LAYERS)
