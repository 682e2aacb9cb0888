"""Encoders are found by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from sdgad.encoders import Encoder, EncoderConfig, encoders, list_encoders
from sdgad.encoders.tokens import TokenEncoder
from sdgad.errors import InputError
from sdgad.history.window import Window


def test_the_one_hop_encoders_are_there() -> None:
    assert {"tcl", "graphmixer", "dygformer"} <= set(list_encoders())
    assert all(encoders.get(name).name == name for name in list_encoders())


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"no encoder named 'tlc'.*tcl"):
        encoders.get("tlc")


def encoder_that_returns(result: Callable[[int, int], Any]) -> type[Encoder]:
    class Own(Encoder):
        name = "own"

        def encode(self, window: Window, include_event: bool | Tensor) -> Any:  # noqa: ARG002
            return result(len(window), self.config.width)

    return Own


@pytest.mark.parametrize(
    ("result", "found"),
    [
        (torch.zeros, "returned Tensor"),
        (lambda n, _: (torch.zeros(n, 7), torch.zeros(n, 7)), r"returned \(14, 7\) and \(14, 7\)"),
        (lambda n, w: (torch.zeros(n, w),) * 3, r"\(14, 32\) and \(14, 32\) and"),
        (lambda n, w: (torch.zeros(n // 2, w),) * 2, r"returned \(7, 32\)"),
    ],
)
def test_vectors_of_another_shape_are_refused_with_the_shape_that_is_expected(
    result: Callable[[int, int], Any], found: str, make_window: Callable[..., Window]
) -> None:
    window = make_window(count=7)
    with pytest.raises(InputError, match=rf"'own'.*{found}.*expected is a pair of tensors \(14, 32\)"):
        encoder_that_returns(result)(window.shape, EncoderConfig()).both(window)


def test_a_mix_of_another_width_is_refused_too(make_window: Callable[..., Window]) -> None:
    class Narrow(TokenEncoder):
        name = "narrow"

        def mix(self, tokens: Tensor, visible: Tensor) -> Tensor:  # noqa: ARG002
            return tokens.mean(2)[..., :7]

    window = make_window(count=7)
    with pytest.raises(InputError, match=r"'narrow'.*\(14, 7\).*\(14, 32\)"):
        Narrow(window.shape, EncoderConfig()).both(window)


def test_an_encoder_without_published_sizes_has_its_defaults_for_them() -> None:
    @dataclass(frozen=True)
    class OwnConfig(EncoderConfig):
        walks: int = 3

    assert encoder_that_returns(lambda *_: None).paper == EncoderConfig()
    own = type("Own", (Encoder,), {"config_type": OwnConfig})
    assert own.paper == OwnConfig()  # type: ignore[attr-defined]
    assert encoders.get("tcl").paper != EncoderConfig()


def test_what_is_no_encoder_cannot_be_registered() -> None:
    with pytest.raises(TypeError, match=r"sdgad\.encoders\.base\.Encoder"):
        encoders.register("linear")(nn.Linear)  # type: ignore[arg-type]
    assert "linear" not in list_encoders()
