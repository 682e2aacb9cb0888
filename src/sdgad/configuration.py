"""Typed options: a frozen dataclass is the list of what may be set; anything else is an error."""

from __future__ import annotations

import difflib
import json
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, fields
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints, overload

from sdgad.errors import InputError

C = TypeVar("C")
T = TypeVar("T")
_MISFIT = object()
_WORDS = {"True": True, "False": False, "None": None}


class Option(NamedTuple):
    """What a person reads about one option: `type` in words (`int or None`), `line` says what it does."""

    name: str
    type: str
    default: Any
    line: str


@overload
def option(default: T, line: str) -> T: ...
@overload
def option(*, factory: Callable[[], T], line: str) -> T: ...
def option(default: Any = MISSING, line: str = "", *, factory: Any = MISSING) -> Any:
    """A field of a config: its default (a `factory` where that is mutable) and one line on what it does.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class TreeConfig:
    ...     leaves: int = option(8, "leaves of a tree")
    >>> TreeConfig(leaves=4)
    TreeConfig(leaves=4)
    >>> describe_options(TreeConfig)
    [Option(name='leaves', type='int', default=8, line='leaves of a tree')]
    """
    return field(default=default, default_factory=factory, metadata={"line": line})


def describe_options(config_type: type[Any]) -> list[Option]:
    """All fields of a config in order; one that was not made by `option` has an empty line."""
    hints = get_type_hints(config_type)
    return [
        Option(each.name, type_words(hints[each.name]), _default(each), each.metadata.get("line", ""))
        for each in fields(config_type)
    ]


def type_words(hint: Any) -> str:
    """A type as a person reads it: `int or None`, `'strict' or 'arrival'`."""
    return " or ".join(_words(hint))


def build(config_type: type[C], options: Mapping[str, Any]) -> C:
    """Make a config from options; unknown keys and values of the wrong type are errors that name the key."""
    hints = get_type_hints(config_type)
    known = [f.name for f in fields(config_type)]  # type: ignore[arg-type]
    values = {}
    for key, value in options.items():
        if key not in known:
            raise InputError(unknown_option(key, known))
        values[key] = _fit(value, hints[key])
        if values[key] is _MISFIT:
            raise InputError(f"Option {key}={value!r} should be {_describe(hints[key])}.")
    return config_type(**values)


def unknown_option(key: str, known: list[str]) -> str:
    """One sentence about an unknown key, with the closest known one."""
    close = difflib.get_close_matches(key, known, 1)
    hint = f"did you mean {close[0]!r}?" if close else f"known options: {', '.join(sorted(known))}."
    return f"There is no option {key!r}; {hint}"


def parse_assignment(text: str) -> tuple[str, Any]:
    """`key=value` from a command line; the value is read as JSON where it is JSON, else kept as text."""
    key, sign, value = (part.strip() for part in text.partition("="))
    if not sign or not key:
        raise InputError(f"--set {text!r} is not of the form key=value.")
    if value in _WORDS:
        return key, _WORDS[value]
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _fit(value: Any, hint: Any) -> Any:
    """The value as its type wants it (lists → tuples, whole numbers → floats, numpy → plain), or _MISFIT."""
    for kind in _alternatives(hint):
        fitted = _fit_one(value, kind)
        if fitted is not _MISFIT:
            return fitted
    return _MISFIT


def _fit_one(value: Any, kind: Any) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        fits = any(value == a and type(value) is type(a) for a in inner)  # 1 == True, but was not meant
    elif origin is tuple:
        return _fit_items(value, inner)
    elif kind is float and isinstance(value, Real) and not isinstance(value, bool):
        return _MISFIT if math.isnan(value) else float(value)
    elif kind is int and isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    else:
        fits = kind is Any or (kind not in (int, float) and isinstance(value, origin or kind))
    return value if fits else _MISFIT


def _fit_items(value: Any, inner: tuple[Any, ...]) -> Any:
    if not isinstance(value, list | tuple):
        return _MISFIT
    kinds = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
    if len(kinds) != len(value):
        return _MISFIT
    items = tuple(_fit(item, kind) for item, kind in zip(value, kinds, strict=True))
    return _MISFIT if _MISFIT in items else items


def _default(each: Any) -> Any:
    if each.default_factory is not MISSING:
        return each.default_factory()
    if each.default is MISSING:
        raise TypeError(f"Option {each.name!r} has no default, and every option needs one.")
    return each.default


def _describe(hint: Any) -> str:
    words = _words(hint)
    return words[0] if len(words) == 1 else f"one of {', '.join(words)}"


def _words(hint: Any) -> list[str]:
    """The alternatives of a type, each in a word."""
    words = []
    for kind in _alternatives(hint):
        if get_origin(kind) is Literal:
            words += [repr(a) for a in get_args(kind)]
        elif get_origin(kind) is not None:
            words.append(str(kind).replace("typing.", ""))
        else:
            words.append("None" if kind is type(None) else kind.__name__)
    return words
