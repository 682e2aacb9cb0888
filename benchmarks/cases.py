"""Cases whose speed is looked at: which detector, with which encoder and sizes, on which stream and machine.

Two things are made up, because speed does not depend on them: features, where the stream has none of the width that is
wanted, and labels. Every 25th event is called anomalous, so that 500 training events have labels enough: with too few,
a detector would learn from pseudo-anomalies as well, and a step would be another one.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from detection import load
from peers import FEATURES, usual_history

import sdgad
from sdgad.configuration import parse_assignment
from sdgad.detectors.device import choose_device
from sdgad.detectors.learned.detector import LearnedDetector
from sdgad.detectors.registry import detectors
from sdgad.encoders.base import encoders
from sdgad.errors import InputError
from sdgad.events.stream import EventStream
from sdgad.history.window import WindowShape

TRAIN_END, TEST_START = 0.4, 0.6  # of the stream
LABELLED = 25  # every which event is called anomalous


@dataclass(frozen=True)
class Case:
    """One detector on one stream."""

    detector: str
    encoder: str
    sizes: str
    history: int
    batch: int
    device: str
    stream: str
    msg: int
    width: int | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def make(self) -> LearnedDetector:
        """The detector, not fitted yet."""
        if not issubclass(detectors.get(self.detector), LearnedDetector):
            raise InputError(f"Detector {self.detector!r} has no encoder and takes no steps.")
        options: dict[str, Any] = {"encoder": self.encoder, "history": self.history, "batch": self.batch}
        if self.sizes == "published":
            options |= {"preset": "paper", "context": False}
        if self.width is not None:
            options["width"] = self.width
        made = sdgad.make_detector(self.detector, device=self.device, **{**options, **self.options})
        assert isinstance(made, LearnedDetector)
        return made


@dataclass(frozen=True)
class Parts:
    """A stream cut for measuring; `between` lies between what is learned from and what is scored."""

    train: EventStream
    val: EventStream
    between: EventStream
    test: EventStream

    @classmethod
    def cut(
        cls, events: EventStream, detector: LearnedDetector, steps: int, val: int, test: int | None
    ) -> Parts:
        """`steps` whole batches that end after 40% of the stream, `val` events behind them, and those from 60% on.

        So training events have as long a history as test events. What came before them would be walked through in every
        epoch by an encoder with memory: there training begins with the stream.
        """
        config = detector.config
        end, start = (int(share * len(events)) for share in (TRAIN_END, TEST_START))
        count = min(steps, end // config.batch) * config.batch
        if not count or start - end < 4:
            raise InputError(
                f"{len(events):,} events are too few: 40% of them shall hold a batch of {config.batch}."
            )
        remembers = config.needs(WindowShape(config.history, 1, 1)).memory > 0
        first = 0 if remembers else end - count
        middle = first + count
        last = min(middle + val, start)
        stop = len(events) if test is None else min(start + test, len(events))
        return cls(events[first:middle], events[middle:last], events[last:start], events[start:stop])


def is_published(detector: LearnedDetector) -> bool:
    """Whether the encoder has its published sizes and sees no context features."""
    config = detector.config
    return not config.context and config.encoder_config() == encoders.get(config.encoder).paper


def make_stream(name: str, limit: int | None, width: int) -> EventStream:
    """The first events of a stream, with `width` random features (0: its own) and made-up labels."""
    simulated = name == "payments" and limit is not None
    events = sdgad.simulate_payments(limit or 0, seed=0) if simulated else load(name)[:limit]
    own = width == 0
    msg = events.msg if own else np.random.default_rng(0).standard_normal((len(events), width), np.float32)
    label = (np.arange(len(events)) % LABELLED == LABELLED - 1).astype(np.float32)
    return EventStream(
        events.src,
        events.dst,
        events.t,
        msg,
        label,
        bipartite=events.bipartite,
        features=events.features if own else None,
        clock=events.clock,
    )


def machine_name(device: torch.device) -> str:
    """The GPU's name, or how many cores the CPU has, and its name where the system tells it."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.is_file() else []
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return f"{os.cpu_count()}-core CPU" + (f" ({name})" if name else "")


# ---------------------------------------------------------------------- the command line
def add_options(parser: argparse.ArgumentParser) -> None:
    """Those that say which cases; what is done with them has options of its own."""
    parser.add_argument("--detector", default="classifier", help="one, or several with commas")
    parser.add_argument("--encoder", default="tcl", help="one, or several with commas")
    parser.add_argument("--sizes", default="published", choices=["published", "default"])
    parser.add_argument("--width", type=int, help="of the encoder, if not that of the sizes")
    parser.add_argument("--history", type=int, help="L; 20, and 32 for dygformer with published sizes")
    parser.add_argument("--batch", default="200", help="one, or several with commas")
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--events", type=int, help="take only so many of the stream")
    parser.add_argument("--stream", default="wikipedia", choices=["wikipedia", "mooc", "payments"])
    parser.add_argument(
        "--msg", type=int, default=FEATURES, help="random features of this width; 0: the stream's own"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="option of the detector"
    )
    parser.add_argument("--threads", type=int, help="of torch")


def cases(given: argparse.Namespace) -> Iterator[Case]:
    """Every detector with every encoder and batch."""
    options = dict(map(parse_assignment, given.set))
    device = choose_device(given.device).type
    chosen = (text.split(",") for text in (given.detector, given.encoder, given.batch))
    where = (device, given.stream, given.msg)
    for detector, encoder, batch in product(*chosen):
        if not batch.isdecimal() or int(batch) < 1:
            raise InputError(f"--batch {given.batch!r} must be a number of events, or several with commas.")
        history = given.history or usual_history(encoder if given.sizes == "published" else "")
        yield Case(detector, encoder, given.sizes, history, int(batch), *where, given.width, options)
