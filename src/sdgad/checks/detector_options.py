"""Checks of detectors: options, seeds, and the time before a fit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdgad.checks.detector_subject import DetectorSubject, scratch
from sdgad.checks.saying import need, refused, same
from sdgad.detectors.record import Record
from sdgad.errors import InputError, NotFittedError


def check_the_same_options_and_seed_give_the_same_bits(subject: DetectorSubject) -> None:
    """`get_params` is all that makes a detector: one made of them learns the same, under scikit-learn's `clone` too."""
    stream, detector = subject.stream, subject.detector()
    again = subject.cls(**detector.get_params())
    need(again.get_params() == detector.get_params(), "get_params is not what the constructor takes")
    again.fit(stream.train, val=stream.val)
    subject.alike(again.decision_function(stream.test), subject.scores(), "scores of a second fit")
    subject.alike(again.validation_scores_, detector.validation_scores_, "validation scores of a second fit")
    subject.alike(again.threshold_, detector.threshold_, "threshold of a second fit")
    need(isinstance(again.record_, Record), f"record_ is a {type(again.record_).__name__}")
    from sklearn.base import clone

    copied = clone(detector)
    need(copied.get_params() == detector.get_params(), "a clone has other options")
    with refused(NotFittedError, "has not been fitted", "scoring by a clone"):
        copied.decision_function(stream.test)


def check_wrong_options_are_named(subject: DetectorSubject) -> None:
    """An unknown option, or a value of the wrong kind, is refused by a sentence with its name."""
    with refused(InputError, "'colour'", "the option colour='red'"):
        subject.made(colour="red")
    with refused(InputError, "seed='zero'", "the option seed='zero'"):
        subject.made(seed="zero")
    with refused(InputError, "late='never'", "the option late='never'"):
        subject.made().set_params(late="never")


def check_options_are_shown(subject: DetectorSubject) -> None:
    """Every option stands in the docstring with one line on what it does, and in `get_params`."""
    shown = subject.cls.described_options()
    text = subject.cls.__doc__ or ""
    for option in shown:
        need(f"\n{option.name} : " in text, f"help does not show the option {option.name!r}")
        need(option.line, f"the option {option.name!r} says nothing about what it does")
    missing = set(subject.made().get_params()) - {option.name for option in shown}
    need(not missing, f"get_params has {sorted(missing)}, which help does not show")


def check_an_option_that_shapes_the_model_asks_for_a_new_fit(subject: DetectorSubject) -> None:
    """`late` acts at once; another `seed` would be another model."""
    detector, stream = subject.detector(), subject.stream
    detector.set_params(late="drop")
    same(detector.decision_function(stream.test), subject.scores(), "scores after set_params(late=…)")
    detector.set_params(seed=7)
    with refused(NotFittedError, "has not been fitted", "scoring after set_params(seed=…)"):
        detector.decision_function(stream.test)


def check_nothing_works_before_fit(subject: DetectorSubject) -> None:
    """Every verb that needs a fit says so, and leaves no folder behind."""
    unfitted, test = subject.made(), subject.stream.test
    with scratch() as folder:
        acts: tuple[Callable[[], object], ...] = (
            lambda: unfitted.decision_function(test),
            lambda: unfitted.predict(test),
            lambda: unfitted.update(test),
            lambda: unfitted.set_threshold(0.5),
            lambda: unfitted.p_value(np.zeros(1)),
            unfitted.live,
            lambda: unfitted.save(folder / "model"),
        )
        for act in acts:
            with refused(NotFittedError, "detector has not been fitted", "a verb before fit"):
                act()
        need(not (folder / "model").exists(), "a folder was written before fit")


def check_a_fit_that_fails_leaves_no_fitted_detector(subject: DetectorSubject) -> None:
    """A refused call leaves the detector as it was; a fit that failed half-way leaves one that is not fitted."""
    detector, stream = subject.detector(), subject.stream
    with refused(InputError, "epochs=0", "a fit of no epochs"):
        detector.fit(stream.train, stream.val, epochs=0)
    same(detector.decision_function(stream.test), subject.scores(), "scores after a refused fit")
    with refused(InputError, "begin before", "validation events before the training events"):
        detector.fit(stream.val, stream.train)
    with refused(NotFittedError, "has not been fitted", "scoring after a fit that failed"):
        detector.decision_function(stream.test)
