"""GeneralDyG, anomaly detection on dynamic graphs by ego-graphs of events (Yang et al., AAAI 2025)."""

from __future__ import annotations

from typing import Any, ClassVar

from sdgad.detectors.baselines.generaldyg.config import GeneralDyGConfig
from sdgad.detectors.baselines.generaldyg.model import GeneralDyGModel
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.learned.odds import OddsDetector
from sdgad.detectors.registry import detectors
from sdgad.history.window import WindowShape


@detectors.register("generaldyg")
class GeneralDyG(OddsDetector):
    """Score = sigmoid(log-odds) of an event's ego-graph, read as a graph of edges by a graph network and a transformer.

    It learns by cross-entropy: on labels, few or many; where there is none, against pseudo-anomalies. An unknown label
    counts as normal.

    What differs from the published code: the ego-graph holds the event and what came strictly before (it was cut from the
    whole graph, future included); of a neighbourhood the most recent events count instead of random ones, of a pair the
    newest, of an ego-graph the newest edges; edges have their features and the time since, instead of random vectors by
    their number; `context` puts context features beside them and the event's own numbers beside the vector
    (`preset="paper"` has the published sizes and none of these); the sigmoid is applied once, not twice; the epoch is
    chosen on validation, not on test events.
    """

    config_type: ClassVar[type[DetectorConfig]] = GeneralDyGConfig
    shorthand_type: ClassVar[type[Any] | None] = None
    config: GeneralDyGConfig
    check_options: ClassVar[dict[str, Any]] = {
        "history": 5,
        "hop": 3,
        "reach": 100,
        "edges": 12,
        "width": 8,
        "time_width": 8,
        "depth": 2,
        "feed": 8,
        "hidden": 16,
        "head": (16,),
        "epochs": 1,
    }
    _model: GeneralDyGModel

    def _make_model(self, shape: WindowShape) -> GeneralDyGModel:
        return GeneralDyGModel(self.config, shape)
