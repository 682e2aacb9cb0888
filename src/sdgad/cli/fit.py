"""`sdgad fit`: a model from a file of events."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from sdgad.cli import options
from sdgad.cli.manner import Quiet, Verbose, watched
from sdgad.cli.naming import naming
from sdgad.cli.places import need_place_for_model
from sdgad.cli.printing import counted, duration, print_facts, print_json, threshold_text
from sdgad.cli.settings import gather
from sdgad.cli.validation import doubts, quality_lines, validation_figures
from sdgad.errors import InputError

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector
    from sdgad.events.stream import EventStream

FEW_SHOT = 3  # labelled anomalies, the most that the paper's S2 has


def fit(
    events: options.Events,
    *,
    output: options.ModelOut,
    val: options.Val = None,
    src: options.Src = None,
    dst: options.Dst = None,
    time: options.Time = None,
    label: options.Label = None,
    features: options.Features = None,
    categories: options.Categories = None,
    bipartite: options.Bipartite = None,
    time_unit: options.TimeUnit = None,
    timezone: options.Timezone = None,
    bad_rows: options.SkipBadRows = None,
    detector: options.DetectorName = "sdgad",
    encoder: options.EncoderName = None,
    labels: options.Labels = None,
    k: options.FewShot = None,
    seed: options.Seed = None,
    epochs: options.Epochs = None,
    device: options.Device = None,
    threads: options.Threads = None,  # noqa: ARG001
    config: options.Config = None,
    assignments: options.Set = None,
    json: options.Json = False,
    quiet: Quiet = False,  # noqa: ARG001
    verbose: Verbose = False,  # noqa: ARG001
) -> None:
    """Learn from events and write a model.

    It learns from all labels, a few or none. Columns with common names are found; others are named by
    options. The model keeps the names, so that no later command needs them. Ctrl-C ends the training early
    and keeps the best state so far; a second one, or SIGTERM, ends the command without a model.

    \b
    sdgad fit events.csv -o model
    sdgad fit payments.csv -o model --src payer --dst payee --time when \\
        --label is_fraud --features amount,currency
    sdgad fit payments.csv -o model --features all
    sdgad fit events.parquet -o model --labels few-shot --k 3 --set history=10
    """
    from sdgad.experiments.score_table import need_names_for_scores

    need_place_for_model(output)
    named = {"encoder": encoder, "seed": seed, "epochs": epochs, "device": device}
    model, passes = _make(detector, gather(config, assignments or (), named))
    columns = {
        "src": src,
        "dst": dst,
        "time": time,
        "label": label,
        "features": options.names(features),
        "categories": options.names(categories) or (),
    }
    clock = {
        "time_unit": time_unit,
        "timezone": timezone,
        "bad_rows": model.config.bad_rows if bad_rows is None else bad_rows.value,
    }
    train, held_out = _read(events, val, clock, bipartite=bipartite, **columns)
    need_names_for_scores(train.names, str(events))
    with naming(events):
        supervision = _supervision(labels, train)
        train = train.with_labels(supervision, k=_few(k, supervision), seed=model.config.seed)
    if supervision == "none":
        held_out = held_out.with_labels("none")
    start = perf_counter()
    with naming(events if val is None else f"{events} and {val}"):
        model.fit(train, held_out, epochs=passes, progress=watched())
    seconds = perf_counter() - start
    model.save(output)
    summary = _summary(model, output, supervision, train, seconds)
    if json:
        print_json(summary)
    else:
        print_facts(_facts(summary))


def _make(name: str, settings: dict[str, Any]) -> tuple[Detector, int | None]:
    """The detector, and the epochs to fit it for where these are not among its options."""
    from sdgad.detectors.registry import detectors

    kind = detectors.get(name)
    known = {field.name for field in fields(kind.config_type)}
    if "encoder" in settings and "encoder" not in known:
        raise InputError(f"Option --encoder does not go with --detector {name}, which has no encoder.")
    passes = None if "epochs" in known else settings.pop("epochs", None)
    return kind(**settings), passes


def _read(
    events: Path, val: Path | None, clock: dict[str, Any], *, bipartite: bool | None, **columns: Any
) -> tuple[EventStream, EventStream]:
    """Training and validation events; without a validation file these are the last by time."""
    from sdgad.detectors.task import hold_out
    from sdgad.events.read import read_events
    from sdgad.events.strangers import tell_new_categories, tell_strangers

    with naming(events):
        train = read_events(events, bipartite=bipartite, **clock, **columns)
    if val is None:
        return hold_out(train)
    with naming(val):
        held_out = read_events(
            val,
            columns=train.names,
            bipartite=train.bipartite,
            clock=train.clock,
            history=(train.t[0].item(), train.t[-1].item()),
            **clock,
        )
    tell_strangers(held_out, train.vocabulary.texts, str(val))
    known = {feature.name: feature.categories for feature in train.features if feature.categories}
    tell_new_categories(held_out, known, str(val))
    return train, held_out


def _supervision(
    wanted: options.Supervision | None, train: EventStream
) -> Literal["all", "few-shot", "none"]:
    if wanted is None:
        return "all" if train.has_labels else "none"
    if wanted != "none" and not train.has_labels:
        column = train.names.label
        where = "" if column is None else f" in column {column!r}"
        raise InputError(
            f"No training event has a label{where}, but --labels {wanted} needs some (see --label)."
        )
    return wanted.value


def _few(k: int | None, supervision: str) -> int:
    """Labelled anomalies that few-shot keeps."""
    if k is not None and supervision != "few-shot":
        raise InputError(f"Option --k goes with --labels few-shot, and not with labels {supervision}.")
    return FEW_SHOT if k is None else k


def _summary(
    model: Detector, folder: Path, supervision: str, train: EventStream, seconds: float
) -> dict[str, Any]:
    import numpy as np

    from sdgad.detectors.card import feature_text

    found = validation_figures(model)
    return {
        "model": str(folder),
        "detector": model.name,
        "labels": supervision,
        "features": feature_text(model),
        "train": {
            "events": len(train),
            "labelled": int(np.sum(~np.isnan(train.label))),
            "anomalies": int(np.sum(train.label == 1)),
        },
        "validation": found,
        "threshold": model.threshold_,
        "threshold_rule": model.threshold_rule_,
        "doubts": doubts(model, found),
        "interrupted": model.record_.interrupted,
        "seconds": round(seconds, 3),
    }


def _facts(summary: dict[str, Any]) -> list[tuple[str, str]]:
    train, found = summary["train"], summary["validation"]
    early = ", cut short" if summary["interrupted"] else ""
    following = shlex.join(["sdgad", "score", summary["model"], "new.csv", "-o", "scores.csv"])
    return [
        (
            "fitted",
            f"{summary['detector']}, labels {summary['labels']}, in {duration(summary['seconds'])}{early}",
        ),
        ("features", summary["features"]),
        ("training", counted(train)),
        ("validation", counted(found)),
        *(("", line) for line in quality_lines(found, summary["model"], summary["threshold_rule"])),
        ("threshold", f"{threshold_text(summary['threshold'])} (rule: {summary['threshold_rule']})"),
        ("model", summary["model"]),
        ("next", following),
    ]
