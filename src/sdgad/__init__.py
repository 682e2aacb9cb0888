"""sdgad: anomaly detection on streams of interactions.

>>> import sdgad
>>> events = sdgad.read_events("payments.csv", label="is_fraud", features=["amount"])
>>> train, val, test = events.split(train=0.4, val=0.2)
>>> det = sdgad.SDGAD(encoder="tcl", seed=0).fit(train, val=val)
>>> scores = det.decision_function(test)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sdgad.threads import wait_calmly

__version__ = "0.1.0"

wait_calmly()

if TYPE_CHECKING:
    from sdgad import checks
    from sdgad.detectors.base import Detector
    from sdgad.detectors.live import LiveScorer
    from sdgad.detectors.registry import list_detectors, load, make_detector
    from sdgad.detectors.sdgad.detector import SDGAD
    from sdgad.encoders.base import list_encoders
    from sdgad.errors import InputError, ModelFolderError, NotFittedError, SdgadError
    from sdgad.events.datasets.dataset import list_datasets
    from sdgad.events.datasets.loading import load_dataset
    from sdgad.events.injection import inject
    from sdgad.events.read import read_events
    from sdgad.events.simulator import simulate_payments
    from sdgad.events.stream import EventStream
    from sdgad.events.write import write_events
    from sdgad.experiments.protocol import Protocol
    from sdgad.history.index import HistoryIndex
    from sdgad.metrics import compare, evaluate

# Public names and where they live. They load on first use, so that `import sdgad` and `sdgad --help` stay quick.
_HOME = {
    "Detector": "sdgad.detectors.base",
    "EventStream": "sdgad.events.stream",
    "HistoryIndex": "sdgad.history.index",
    "InputError": "sdgad.errors",
    "LiveScorer": "sdgad.detectors.live",
    "ModelFolderError": "sdgad.errors",
    "NotFittedError": "sdgad.errors",
    "Protocol": "sdgad.experiments.protocol",
    "SDGAD": "sdgad.detectors.sdgad.detector",
    "SdgadError": "sdgad.errors",
    "compare": "sdgad.metrics",
    "evaluate": "sdgad.metrics",
    "inject": "sdgad.events.injection",
    "list_datasets": "sdgad.events.datasets.dataset",
    "list_detectors": "sdgad.detectors.registry",
    "list_encoders": "sdgad.encoders.base",
    "load": "sdgad.detectors.registry",
    "load_dataset": "sdgad.events.datasets.loading",
    "make_detector": "sdgad.detectors.registry",
    "read_events": "sdgad.events.read",
    "simulate_payments": "sdgad.events.simulator",
    "write_events": "sdgad.events.write",
}
_ROOMS = {"checks"}  # modules that are public as they are: sdgad.checks.check_encoder(MyEncoder)

__all__ = [
    "Detector", "EventStream", "HistoryIndex", "InputError", "LiveScorer", "ModelFolderError",
    "NotFittedError", "Protocol", "SDGAD", "SdgadError", "checks", "compare", "evaluate", "inject", "list_datasets",
    "list_detectors", "list_encoders", "load", "load_dataset", "make_detector", "read_events",
    "simulate_payments", "write_events",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"sdgad.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'sdgad' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
