"""Writes docs/api.md from the code: public names, and every detector and encoder with all its options.

    make docs

Nothing on that page is typed by hand; a test compares it with what this file makes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from inspect import Parameter, Signature
from pathlib import Path
from types import ModuleType
from typing import Any

import sdgad
from sdgad.configuration import Option, describe_options
from sdgad.detectors.base import Detector
from sdgad.detectors.registry import detectors
from sdgad.encoders.base import encoders
from sdgad.registry import Registry

PAGE = Path(__file__).with_name("api.md")
WIDTH = 100  # a longer signature has a line per argument

START = """\
# Which names and options are there?

All that `import sdgad` gives, and all options of every detector and encoder. This page is made from the code (`make docs`); in
Python, `help` says the same, and completion offers it.
"""

DETECTORS = """\
## Detectors

`sdgad.make_detector` takes the name of a detector and its options; on the command line they go by `--detector` and `--set`. What
a detector with an encoder does not know by name it hands to its encoder. Where there is a column *paper*, it holds what
`preset="paper"` chooses.
"""

ENCODERS = """\
## Encoders

By name, for detectors that take an `encoder`, with its options beside their own. The column *paper* holds the published sizes.
"""

END = """\
The same lists in a terminal, with what you have installed beside ours:

```sh
sdgad list detectors
sdgad list encoders
```
"""


class Written:
    """An annotation that is shown as it was written, without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def page() -> str:
    """The whole page."""
    parts = [START, "## Names\n"]
    parts += [public_name(name) for name in sorted(sdgad.__all__, key=str.lower)]
    parts += [DETECTORS, *(detector(name, kind) for name, kind in ours(detectors))]
    parts += [ENCODERS, *(encoder(name, kind) for name, kind in ours(encoders))]
    return "\n".join([*parts, END])


def ours(registry: Registry[Any]) -> Iterator[tuple[str, Any]]:
    """What this package registers: other packages have pages of their own."""
    for name in registry.names():
        kind = registry.get(name)
        if kind.__module__.startswith("sdgad."):
            yield name, kind


# ---------------------------------------------------------------------- public names
def public_name(name: str) -> str:
    thing = getattr(sdgad, name)
    lines = [f"### sdgad.{name}", ""]
    if inspect.isclass(thing) and issubclass(thing, Detector):
        lines += ["```text", f"sdgad.{name}(**options)", "```", ""]
    elif callable(thing) and not (inspect.isclass(thing) and issubclass(thing, Exception)):
        lines += ["```text", f"sdgad.{name}{signature_text(thing)}", "```", ""]
    lines += [first_paragraph(thing), ""]
    if inspect.isclass(thing):
        lines += methods(thing)
    elif inspect.ismodule(thing):
        lines += contents(thing)
    return "\n".join(lines)


def contents(module: ModuleType) -> list[str]:
    """A table of what a public module holds."""
    rows = []
    for name in module.__all__:
        thing = getattr(module, name)
        call = name if inspect.isclass(thing) else name + short_signature(thing)
        rows.append(f"| `{cell(call)}` | {cell(first_paragraph(thing))} |")
    return ["| | |", "|---|---|", *rows, ""]


def methods(kind: type) -> list[str]:
    """A table of what a class of ours can do; a detector only shows what goes beyond the contract."""
    shared = set(dir(Detector)) if issubclass(kind, Detector) and kind is not Detector else set()
    rows = []
    for name in dir(kind):
        home = next(each for each in kind.__mro__ if name in vars(each))
        if name.startswith("_") or name in shared or not home.__module__.startswith("sdgad."):
            continue
        member = getattr(kind, name)
        if isinstance(member, property):
            rows.append((name, first_paragraph(member)))
        elif inspect.isroutine(member):
            rows.append((name + short_signature(member), first_paragraph(member)))
    if not rows:
        return []
    return ["| | |", "|---|---|", *(f"| `{cell(call)}` | {cell(words)} |" for call, words in rows), ""]


def signature_text(thing: Any) -> str:
    """As the code has it, without quotes around types."""
    signature = inspect.signature(thing)
    parameters = [each.replace(annotation=written(each.annotation)) for each in signature.parameters.values()]
    returns = Signature.empty if inspect.isclass(thing) else written(signature.return_annotation)
    text = str(Signature(parameters, return_annotation=returns))
    if len(text) <= WIDTH:
        return text
    lines = list(map(str, parameters))
    kinds = [each.kind for each in parameters]
    if Parameter.KEYWORD_ONLY in kinds and Parameter.VAR_POSITIONAL not in kinds:
        lines.insert(kinds.index(Parameter.KEYWORD_ONLY), "*")
    arrow = "" if returns is Signature.empty else f" -> {inspect.formatannotation(returns)}"
    return "(\n" + "".join(f"    {line},\n" for line in lines) + f"){arrow}"


def written(annotation: Any) -> Any:
    return Written(annotation) if isinstance(annotation, str) else annotation


def short_signature(thing: Any) -> str:
    """Names and defaults only, for a table."""
    parameters = [
        each.replace(annotation=Parameter.empty)
        for each in inspect.signature(thing).parameters.values()
        if each.name != "self"
    ]
    return str(Signature(parameters))


def first_paragraph(thing: Any) -> str:
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


# ---------------------------------------------------------------------- options
def detector(name: str, kind: type[Detector]) -> str:
    options = kind.described_options()
    published: dict[str, Any] = {}
    if any(option.name == "preset" for option in options):
        published = kind(preset="paper").get_params()
        published.pop("encoder_options", None)  # stand with the encoders
    return f"### {name}\n\n{first_paragraph(kind)}\n\n{table(options, published)}\n"


def encoder(name: str, kind: Any) -> str:
    return f"### {name}\n\n{first_paragraph(kind)}\n\n{table(describe_options(kind.config_type), vars(kind.paper))}\n"


def table(options: list[Option], published: Mapping[str, Any]) -> str:
    """One row per option; a published value stands where it is another than the default."""
    head = ["option", "type", "default", *(["paper"] if published else []), "what it does"]
    rows = [head, ["---"] * len(head)]
    for name, kind, default, line in options:
        row = [f"`{name}`", cell(kind), f"`{cell(repr(default))}`"]
        if published:
            other = published.get(name, default)
            row.append("" if other == default or name == "preset" else f"`{cell(repr(other))}`")
        rows.append([*row, cell(line)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE}: written.")
