"""What encoders and detectors obey, as code that anybody can run: `check_encoder(MyEncoder)`, `check_detector(MyDetector)`."""

from sdgad.checks.detector import check_detector, detector_checks
from sdgad.checks.detector_subject import DetectorSubject
from sdgad.checks.encoder import check_encoder, encoder_checks
from sdgad.checks.encoder_subject import EncoderSubject
from sdgad.checks.running import CheckFailed

__all__ = [
    "CheckFailed",
    "DetectorSubject",
    "EncoderSubject",
    "check_detector",
    "check_encoder",
    "detector_checks",
    "encoder_checks",
]
