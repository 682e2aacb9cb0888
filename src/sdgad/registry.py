"""Methods are found by name: a decorator for ours, an entry-point group for third parties."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from sdgad.errors import InputError

T = TypeVar("T")


class Registry(Generic[T]):
    """Names → classes of one kind (`encoder`, `detector`).

    `modules` are imported at the first look-up, so that a registry costs nothing until it is asked; entry points of
    `group` come after them and cannot replace a name that we own.
    """

    def __init__(self, kind: str, group: str, modules: tuple[str, ...] = ()) -> None:
        self.kind = kind
        self.group = group
        self._modules = modules
        self._classes: dict[str, type[T]] = {}
        self._loaded = False

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """Class decorator: `@encoders.register("tcl")`."""

        def keep(cls: type[T]) -> type[T]:
            if self._classes.get(name, cls) is not cls:
                raise ValueError(f"There is already a {self.kind} named {name!r}.")
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
            known = ", ".join(sorted(self._classes))
            raise InputError(f"There is no {self.kind} named {name!r}; there are: {known}.") from None

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        for module in self._modules:
            import_module(module)
        for point in entry_points(group=self.group):
            if point.name not in self._classes:
                self.register(point.name)(point.load())
