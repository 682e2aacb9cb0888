"""Events → scores: the detector contract, SDGAD, and the methods that it is compared with."""

from sdgad.detectors.base import Detector
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.registry import detectors, list_detectors, load, make_detector
from sdgad.detectors.task import Task

__all__ = ["Detector", "DetectorConfig", "Task", "detectors", "list_detectors", "load", "make_detector"]
