"""Public datasets by name: what they are, where they are published, how their files become streams."""

from sdgad.events.datasets.dataset import list_datasets
from sdgad.events.datasets.loading import load_dataset

__all__ = ["list_datasets", "load_dataset"]
