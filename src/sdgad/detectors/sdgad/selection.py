"""Which epoch of SDGAD to keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sdgad.calibration.score import PrintedScore
from sdgad.detectors.learned.selection import Validation
from sdgad.detectors.sdgad.config import SDGADConfig
from sdgad.detectors.sdgad.model import Evidence, Join, SDGADModel
from sdgad.events.stream import Array
from sdgad.history.window import Window

JOINS = (
    *(Join("odds", weight) for weight in (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)),
    *(Join("density", weight) for weight in (0.0, 1.0)),
)
LABELLED = Join("odds", 1.0)  # while training; the final one is chosen on validation
UNLABELLED = Join("density", 1.0)
EVEN = Join("neither", 1.0)


def unlabelled_join(config: SDGADConfig) -> Join:
    """How the network's two kinds of evidence join where no label says so.

    The density leads, where it sees the event's own numbers. Of Δ alone it ranked anomalies below ordinary events on streams
    where these come in bursts, and the odds against pseudo-anomalies did so elsewhere (results/search/bare.jsonl): there
    neither leads.
    """
    return EVEN if not config.context and config.known and config.pseudo else UNLABELLED


class Selection:
    """Figures of an epoch; the highest `select` wins: by labels, or by pseudo-anomalies and the likelihood of
    validation events."""

    def __init__(
        self, evidence: Callable[[Iterator[Window]], Evidence], model: SDGADModel, validation: Validation
    ) -> None:
        self.evidence = evidence
        self.model = model
        self.validation = validation

    def __call__(self) -> dict[str, float]:
        running = self.model.boundary.normal.clone()  # training goes on with its own estimate
        try:
            return self._figures()
        finally:
            self.model.boundary.normal.copy_(running)

    def _figures(self) -> dict[str, float]:
        validation = self.validation
        validation.begin()
        real = self.evidence(validation.real())
        self.model.fit_units(real)
        anomaly = self._anomaly(real)
        if validation.labelled:
            return validation.by_labels(
                anomaly, _printed(-anomaly) if self.model.config.select == "f1" else None
            )
        value = validation.by_pseudo(anomaly, self._anomaly(self.evidence(validation.made())))
        likelihood = float(real.ell.mean())
        return {"pseudo AUROC": value, "log-likelihood": likelihood, "select": value + 0.01 * likelihood}

    def _anomaly(self, evidence: Evidence) -> Array:
        join = LABELLED if self.validation.labelled else unlabelled_join(self.model.config)
        negative: Array = -self.model.join(evidence, join).cpu().numpy()
        return negative


def _printed(ell: Array) -> Array:
    """Scores as printed, of ℓ of the very events that the highest one is taken from."""
    scores: Array = PrintedScore(highest=max(0.0, float(ell.max())))(ell)
    return scores
