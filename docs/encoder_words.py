"""What is said of the encoders on docs/encoders.md beside the figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """Of one encoder: what it looks at, when to take it, who published it, and how it works."""

    sees: str
    when: str
    source: str
    how: str
    file: str


START = """\
# Which encoder shall I take?

Take the default, `tcl`, and look at this page when you have a reason. An encoder turns the recent past of an event's two parties
into two vectors, once with the event and once without it; detectors `sdgad` and `classifier` look at them. All nine obey one
contract (`sdgad.checks.check_encoder`), learn with all labels, few or none, score live, and are a name to change:
`--encoder cawn`, `sdgad.SDGAD(encoder="cawn")`.

This page is made from `results/encoders.jsonl` (`make docs`), which `benchmarks/encoders.py` writes. *Bare* is without context
features and habit residuals (`context=False`, and `habits=False` for `sdgad`). With them most of what there is to know of an
event stands beside the encoder, and one that says nothing does well already; bare is where encoders differ.
"""

WORDS = {
    "tcl": Words(
        "last L events of both endpoints: features, context, age",
        "the default: see below",
        "Wang et al. 2021",
        "Each endpoint is a sequence of itself, its L past events and the current one, with an embedding of the place; a "
        "transformer layer attends within each sequence, then across: x_u ← Block(h_u, h_v). z = W x at the place of "
        "the endpoint itself.",
        "tcl",
    ),
    "graphmixer": Words(
        "the same, each endpoint for itself",
        "where the CPU is the limit and endpoints need not be compared",
        "Cong et al. 2023",
        "x ← x + FFN over places, then x ← x + FFN over channels; z = W · mean of the visible events. No attention.",
        "graphmixer",
    ),
    "dygformer": Words(
        "the same, and how often each past partner occurs in either history",
        "where it matters whether two parties have partners in common, and histories are long (patches)",
        "Yu et al. 2023",
        "Channels of features, age and co-occurrence counts; patches of P events of both endpoints make one sequence for a "
        "pre-norm transformer; z = W · mean over an endpoint's patches.",
        "dygformer",
    ),
    "freedyg": Words(
        "the same, and how often each past partner occurs in either history",
        "where habits are periodic: it filters the history by frequency",
        "Tian et al. 2024",
        "x ← x + FFN over places of the filtered F⁻¹(W · F(x)), then an FFN over channels; z = Σ w_i x_i over the "
        "visible events. W is "
        "kept as two tables of real numbers.",
        "freedyg",
    ),
    "cawn": Words(
        "walks into the past, their nodes known only by how often the walks of both endpoints meet them",
        "where it matters who is met again by whom, and an epoch may cost more",
        "Wang et al. 2021 (CAW)",
        "M walks per endpoint, drawn with P ∝ exp(−α · age) by a hash of the event, so that a walk is the same in any "
        "batch, offline and "
        "live, with the event and without it; a node is the shares of the walks that meet it, hop by hop; a recurrent "
        "network reads each "
        "walk, attention mixes them, z = W · mean. The current event is one walk more.",
        "cawn",
    ),
    "tgat": Words(
        "last events of both endpoints, and what their partners had done before",
        "where what partners do tells more than what an endpoint does itself",
        "Xu et al. 2020",
        "Two layers of temporal attention, h = MERGE(LN(Att + [h ; φ(0)]), h); the second attends to partners as they "
        "were at the "
        "time of the event. Only events among the latest `reach` of the stream are seen there.",
        "tgat",
    ),
    "tgn": Words(
        "a memory of every node, and attention over the last L events",
        "where what is older than L events tells",
        "Rossi et al. 2020",
        "m ← GRU(message, m) with message = [m_x ; m_y ; φ(gap) ; features]; z = MERGE(Att(m_x, {m_n, event, φ}), m_x)."
        " Memory is written "
        "every 200 events; with the event it is worked on a copy that nobody keeps.",
        "tgn",
    ),
    "jodie": Words(
        "a memory of every node, and the time since it was written; not the last L events",
        "where the state must be small, or events are very many",
        "Kumar et al. 2019",
        "m ← tanh RNN(message, m); z = m · (1 + W gap), the gap being standardised by training events, for sources and "
        "destinations apart.",
        "jodie",
    ),
    "dyrep": Words(
        "a memory of every node, into which attention over the partner's past is written",
        "where what partners do tells, and is older than L events",
        "Trivedi et al. 2019",
        "As TGN's message, with attention over y's last L events in place of m_y; m ← tanh RNN(message, m); z = m.",
        "dyrep",
    ),
}

PAPER = {
    ("classifier", "tcl"): (72.51, 7.87, 0),
    ("classifier", "dygformer"): (72.63, 6.20, 0),
    ("classifier", "cawn"): (72.63, 7.58, 0),
    ("sdgad", "tcl"): (72.87, 7.89, 7.15),
    ("sdgad", "dygformer"): (73.25, 6.39, 5.86),
    ("sdgad", "cawn"): (73.02, 8.62, 6.74),
}  # MOOC, S1: the paper's table of real anomalies

LESSONS = """\
## Which is the default, and why

`tcl`, by validation events and cost. Under `sdgad` with everything switched on it hardly matters: of encoders that see the
same events, validation finds the same join of evidence, and figures agree to a few tenths of a point. Under `classifier` with
context features `tcl` is ahead or nearly so at the lowest cost but for `graphmixer`, which is ahead of it bare and a good
choice where the CPU is the limit. Memories (`tgn`, `jodie`, `dyrep`) are as good as any bare and reach beyond L events, but
training goes through the stream in order, is not recorded as a CUDA graph, and costs several times as much. Where identities
tell (injected anomalies on UCI, no features at all) `freedyg` and `cawn` are ahead bare.
"""

END = """\
Other encoders are one file: [new-encoder.md](new-encoder.md).

```sh
sdgad list encoders
sdgad fit payments.csv -o model --features amount,currency --encoder graphmixer
```
"""
