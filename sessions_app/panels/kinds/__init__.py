"""The panel kinds, one file each. A module here with a `PanelKind` needs no further registration."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from sessions_app.panels.base import PanelKind


def discover() -> tuple[PanelKind[Any], ...]:
    """An instance of every kind of this package, by `position`."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    kinds = (kind() for kind in _subclasses(PanelKind) if kind.__module__.startswith(f"{__name__}."))
    return tuple(sorted(kinds, key=lambda kind: kind.position))


def _subclasses(kind: type[PanelKind[Any]]) -> Iterator[type[PanelKind[Any]]]:
    for each in kind.__subclasses__():
        if "key" in vars(each):
            yield each
        yield from _subclasses(each)
