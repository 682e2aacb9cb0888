"""Anomalies for streams that have none: made by a recipe, put among the real events, labelled and typed."""

from sdgad.events.injection.inject import PRESETS, inject
from sdgad.events.injection.kinds import KINDS, Kind

__all__ = ["KINDS", "PRESETS", "Kind", "inject"]
