"""Events as rows of a table, for methods that know no graph: context features, then edge features."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sdgad.detectors.pseudo import PseudoEvents
from sdgad.history.index import HistoryIndex
from sdgad.history.window import Window

Table = NDArray[np.float32]


def event_table(index: HistoryIndex, rows: Tensor) -> Table:
    """`[B, C + d]`: the stream's own events, by number."""
    return _joined(index.stored_context(rows), index.msg(rows))


def window_table(window: Window) -> Table:
    """`[B, C + d]`: the events of a Window; their past is in the context features."""
    return _joined(window.context, window.msg)


def pseudo_table(index: HistoryIndex, events: PseudoEvents) -> Table:
    """`[B, C + d]`: events that did not happen."""
    return _joined(index.context(events.query), events.msg)


def _joined(context: Tensor, msg: Tensor) -> Table:
    table: Table = torch.cat([context, msg], 1).cpu().numpy()
    return table
