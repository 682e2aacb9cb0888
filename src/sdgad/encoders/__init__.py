"""Window → one vector per endpoint, with the event and without it. One file per encoder."""

from sdgad.encoders.base import Encoder, EncoderConfig, encoders, list_encoders

__all__ = ["Encoder", "EncoderConfig", "encoders", "list_encoders"]
