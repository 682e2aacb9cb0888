"""The paper's three settings (section "Settings"): which labels a method may see."""

from __future__ import annotations

from dataclasses import dataclass

from sdgad.events.stream import Supervision


@dataclass(frozen=True)
class Setting:
    """Supervision of the training and of the validation part; of the test part nobody sees a label."""

    title: str
    train: Supervision
    val: Supervision


SETTINGS: dict[str, Setting] = {
    "S1": Setting("all labels of training and validation", "all", "all"),
    "S2": Setting("k anomalies of training, all labels of validation", "few-shot", "all"),
    "S3": Setting("no label", "none", "none"),
}
