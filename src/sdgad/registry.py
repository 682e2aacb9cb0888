"""Methods are found by name: a decorator for ours, an entry-point group for third parties."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from sdgad.errors import InputError, UnknownName

T = TypeVar("T")

logger = logging.getLogger("sdgad.registry")


def need_subclass(cls: object, base: type) -> None:
    """An instance, a function or a class of another kind is told so."""
    if not (isinstance(cls, type) and issubclass(cls, base)):
        raise TypeError(f"{cls!r} is no subclass of {base.__module__}.{base.__name__}.")


class Registry(Generic[T]):
    """Names → classes of one kind (`encoder`, `detector`).

    `modules` are imported at the first look-up, so that a registry costs nothing until it is asked; entry points of
    `group` come after them and cannot replace a name that we own. One that cannot be loaded is told and left out. Whatever
    is registered must be a subclass of `base`, where there is one.
    """

    def __init__(
        self, kind: str, group: str, modules: tuple[str, ...] = (), base: type[T] | None = None
    ) -> None:
        self.kind = kind
        self.group = group
        self._modules = modules
        self._base = base
        self._classes: dict[str, type[T]] = {}
        self._broken: dict[str, str] = {}  # plugins, and why they are left out
        self._loaded = self._loading = False
        self._lock = threading.RLock()

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """Class decorator: `@encoders.register("tcl")`."""

        def keep(cls: type[T]) -> type[T]:
            if self._base is not None:
                need_subclass(cls, self._base)
            if self._classes.get(name, cls) is not cls:
                article = "an" if self.kind[0] in "aeiou" else "a"
                raise ValueError(f"There is already {article} {self.kind} named {name!r}.")
            self._classes[name] = cls
            cls.name = name  # type: ignore[attr-defined]
            return cls

        return keep

    def names(self) -> list[str]:
        """All known names, sorted."""
        self._load()
        return sorted(self._classes)

    def get(self, name: str) -> type[T]:
        """The class behind a name; an unknown name is an error that lists the known ones."""
        self._load()
        try:
            return self._classes[name]
        except KeyError:
            if name in self._broken:
                raise InputError(self._broken[name]) from None
            close = get_close_matches(name, self._classes, n=1)
            hint = (
                f"did you mean {close[0]!r}?"
                if close
                else f"one of your own has to be imported, or installed under the entry point {self.group}"
            )
            known = ", ".join(sorted(self._classes))
            raise UnknownName.of(
                f"There is no {self.kind} named {name!r} ({hint}); there are: {known}.",
                missing=f"It needs the {self.kind} {name!r}, which is not installed here; install the package that brings it "
                f"(entry point {self.group}), or import its module before.",
            ) from None

    def _load(self) -> None:
        if self._loaded:
            return
        with (
            self._lock
        ):  # another thread waits until all are there; a module that asks while it is imported does not
            if self._loaded or self._loading:
                return
            self._loading = True
            try:
                for module in self._modules:
                    import_module(module)
                for point in entry_points(group=self.group):
                    if point.name not in self._classes:
                        self._load_point(point)
                self._loaded = True
            finally:
                self._loading = False

    def _load_point(self, point: EntryPoint) -> None:
        """Somebody else's class; whatever is wrong with it must not keep ours from being used."""
        try:
            self.register(point.name)(point.load())
        except Exception as problem:
            sentence = (
                f"The {self.kind} {point.name!r} ({point.value}) cannot be loaded: "
                f"{type(problem).__name__}: {problem}"
            ).rstrip(".")
            self._broken[point.name] = f"{sentence}."
            logger.warning("%s; it is left out.", sentence)
