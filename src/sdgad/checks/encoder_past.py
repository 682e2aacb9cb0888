"""Checks of encoders: what of the past and of the event may matter, and what has to."""

from __future__ import annotations

from dataclasses import replace

from sdgad.checks.encoder_subject import EncoderSubject, encoded, other_event
from sdgad.checks.saying import close, need, same
from sdgad.checks.windows import Sizes, littered, memory_of_nobody, random_window, renamed
from sdgad.encoders.base import Encoder
from sdgad.history.needs import Needs
from sdgad.history.window import Window

MATTERS = 1e-5  # what a vector has to move by, at least, where something matters


def check_what_lies_in_an_empty_slot_does_not_matter(subject: EncoderSubject) -> None:
    """Empty slots, of the past, of second hops and of past partners' memory, are masked whatever they hold."""
    encoder, window = subject.case(Sizes(filled=0.5))
    for include_event in (True, False):
        close(
            encoded(encoder, littered(window), include_event),
            encoded(encoder, window, include_event),
            "vectors with something in empty slots",
        )


def check_without_the_event_nothing_of_it_matters(subject: EncoderSubject) -> None:
    """The branch without the event knows none of its features, or the residual would leave them out.

    The ids of the two endpoints and the time stay: they say whose past this is, as seen from when.
    """
    encoder, window = subject.case()
    same(
        encoded(encoder, other_event(window), False),
        encoded(encoder, window, False),
        "vectors without the event, for events with other features",
    )


def check_with_the_event_its_features_and_presence_matter(subject: EncoderSubject) -> None:
    """The branch with the event differs by its features, and from the branch without it, for both endpoints."""
    encoder, window = subject.case()
    with_event = encoded(encoder, window, True)
    others = {
        "its edge features": encoded(encoder, other_event(window, context=0.0), True),
        "its context features": encoded(encoder, other_event(window, msg=0.0), True),
        "its presence": encoded(encoder, window, False),
    }
    for what, other in others.items():
        moved = (with_event - other).abs().amax(-1)
        need((moved > MATTERS).all(), f"{what} moved a vector by {float(moved.min()):.1e} only")


def check_the_visible_past_matters(subject: EncoderSubject) -> None:
    """When past events were and what they were like is seen without the event; where the tag `past` is False, nothing is."""
    encoder, window = subject.case(Sizes(filled=1.0))
    for name in ("past_gap", "past_msg", "past_context"):
        changed = replace(window, **{name: getattr(window, name) * 3 + 1})
        _need_matters(encoder, window, changed, name, matters=subject.cls.tags.past)


def check_the_visible_second_hop_matters(subject: EncoderSubject) -> None:
    """Who asks for second hops (`needs.hop`) looks at them; who does not, is not given any."""
    encoder, window = subject.case(Sizes(filled=1.0))
    if not encoder.needs.hop:
        need(window.hop is None, "there is a second hop that nobody needs")
        return
    assert window.hop is not None
    for name in ("gap", "msg", "context"):
        changed = replace(window, hop=replace(window.hop, **{name: getattr(window.hop, name) * 3 + 1}))
        _need_matters(encoder, window, changed, f"hop.{name}", matters=True)


def check_what_it_does_not_ask_for_it_does_not_read(subject: EncoderSubject) -> None:
    """`needs` is complete: whatever else lies in a Window, second hops, memory, time, changes no vector."""
    sizes = Sizes()
    encoder, window = subject.case(sizes)
    needs = encoder.needs
    more = random_window(sizes, Needs(hop=needs.hop or 3, time=True)).to(subject.device)
    filled = replace(
        window,
        time=window.time if needs.stamped else more.time,
        event=window.event if needs.stamped else more.event,
        hop=window.hop if needs.hop else more.hop,
        memory=window.memory if needs.memory else memory_of_nobody(window, Needs(memory=4)),
    )
    same(
        encoded(encoder, filled, True),
        encoded(encoder, window, True),
        "vectors with more fields in the Window",
    )


def check_renaming_the_nodes_changes_nothing(subject: EncoderSubject) -> None:
    """Ids matter only as equal or not: nobody has a vector of his own that a new node would lack."""
    encoder, window = subject.case(Sizes(count=20))
    same(encoded(encoder, renamed(window), True), encoded(encoder, window, True), "vectors of renamed nodes")


def _need_matters(encoder: Encoder, window: Window, changed: Window, what: str, *, matters: bool) -> None:
    moved = (encoded(encoder, changed, False) - encoded(encoder, window, False)).abs().amax(-1)
    if matters:
        need((moved > MATTERS).all(), f"another {what} moved a vector by {float(moved.min()):.1e} only")
    else:
        need((moved == 0).all(), f"another {what} moved a vector, though the tag says that none is seen")
