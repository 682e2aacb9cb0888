"""Tags: what the checks, and whoever compares detectors, must know of one that differs from the rest."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tags:
    """Capabilities; the default is a detector that keeps every promise of the contract.

    - `hashes_ids`: ids are hashed, so that renaming them changes scores (as far as they collide in a sketch), and an
      event that is late or delivered twice counts as a new one of now;
    - `ties`: "arrival" where rows of one time always see those that arrived before them, whatever the option says;
    - `two_values`: its scores take a few values only;
    - `uses_labels`: False where labels make no difference to the scores;
    - `uses_features`: False where edge features make none.
    """

    hashes_ids: bool = False
    ties: str | None = None
    two_values: bool = False
    uses_labels: bool = True
    uses_features: bool = True
