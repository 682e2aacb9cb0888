"""Who a node is to two endpoints, by numbers worked out by hand."""

from __future__ import annotations

import torch

from sdgad.encoders.walk_identity import IdentityCode, shares
from sdgad.encoders.walks import Step, Walks

U, V, A, B, NOBODY = 1, 2, 3, 4, -1


def step(*nodes: list[int]) -> Step:
    node = torch.tensor([nodes])
    nothing = torch.zeros(*node.shape, 0)
    return Step(node, node.float(), nothing, nothing, node != NOBODY)


def walks() -> Walks:
    """Four walks from u: A·B twice, A and no further, V·A; from v: U·A, A·B, A·A, A·A. Last, those through the event."""
    first = step([A, A, V, V], [U, A, A, U])
    second = step([B, NOBODY, A, U], [A, B, A, NOBODY])
    return Walks(torch.tensor([[[2.0, 1.0, 1.0], [1.0, 1.0, 2.0]]]), (first, second))


def asked(*nodes: int) -> list[list[list[float]]]:
    """As the own and the other side of u."""
    found: list[list[list[float]]] = shares(torch.tensor([[nodes, nodes]]), torch.tensor([[U, V]]), walks())[
        0, 0
    ].tolist()
    return found


def test_shares_by_hand() -> None:
    of_a, of_b, of_u, of_v, of_nobody = asked(A, B, U, V, 99)
    assert of_a == [[0, 0.75, 0.25], [0, 0.75, 0.75]]
    assert of_b == [[0, 0, 0.5], [0, 0, 0.25]]
    assert of_u == [[1, 0, 0], [0, 0.25, 0]]
    assert of_v == [[0, 0.25, 0], [1, 0, 0]]
    assert of_nobody == [[0, 0, 0], [0, 0, 0]]


def test_the_other_endpoint_sees_the_same_from_its_side() -> None:
    nodes = torch.tensor([[[A, B, U, V], [A, B, U, V]]])
    found = shares(nodes, torch.tensor([[U, V]]), walks())
    assert torch.equal(found[:, 0], found[:, 1].flip(2))
    code = IdentityCode(2, 8)(found)
    assert torch.equal(code[:, 0], code[:, 1])


def test_without_a_past_only_the_endpoints_themselves_are_met() -> None:
    cold = Walks(torch.zeros(1, 2, 3), walks().steps)
    found = shares(torch.tensor([[[A, U], [A, U]]]), torch.tensor([[U, V]]), cold)
    assert found[0, 0].tolist() == [[[0, 0, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]]]
