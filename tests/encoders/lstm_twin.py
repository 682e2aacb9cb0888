"""The LSTM of torch that a WalkRecurrence stands for."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from sdgad.encoders.walk_recurrence import WalkRecurrence


def lstm_of(recurrence: WalkRecurrence) -> nn.LSTM:
    """With the same weights; what the backward direction does not need is random."""
    given, again, size = recurrence.given, recurrence.again.weight, recurrence.hidden
    lstm = nn.LSTM(given.in_features, size, bidirectional=True, batch_first=True)
    forward = [0, 1, 3, 2]  # blocks of rows of i, f, g, o: torch's order
    with torch.no_grad():
        for value in (lstm.bias_hh_l0, lstm.bias_hh_l0_reverse):
            value.zero_()
        for theirs, ours in (
            (lstm.weight_ih_l0, given.weight),
            (lstm.bias_ih_l0, given.bias),
            (lstm.weight_hh_l0, again),
        ):
            blocks = ours.split(size)
            theirs.copy_(torch.cat([blocks[row] / (2 if row == 3 else 1) for row in forward]))
        for theirs, ours in (
            (lstm.weight_ih_l0_reverse, given.weight),
            (lstm.bias_ih_l0_reverse, given.bias),
        ):
            blocks = ours.split(size)
            for place, row in ((0, 4), (2, 6), (3, 5)):  # i, g, o; f stays as it is
                theirs[place * size : (place + 1) * size] = blocks[row] / (2 if row == 6 else 1)
    return lstm


def at_the_end(lstm: nn.LSTM, walks: Tensor, lengths: Tensor) -> Tensor:
    """Its output at the last position of walks `[N, T, inputs]` of these lengths, `[N, 2 · hidden]`."""
    packed = pack_padded_sequence(walks, lengths, batch_first=True, enforce_sorted=False)
    out, _ = pad_packed_sequence(lstm(packed)[0], batch_first=True)
    last: Tensor = out[torch.arange(len(walks)), lengths - 1]
    return last
