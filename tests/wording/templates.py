"""The templates of `sessions_app.wording`: every dict in capitals of every module in the package."""

import importlib
import pkgutil
from collections.abc import Iterator
from string import Formatter
from typing import Any, NamedTuple

from sessions_app import wording


class Templates(NamedTuple):
    """One dict; `name` says where it stands."""

    name: str
    texts: dict[str, str]


def all_templates() -> Iterator[Templates]:
    for module in pkgutil.iter_modules(wording.__path__):
        members: dict[str, Any] = vars(importlib.import_module(f"{wording.__name__}.{module.name}"))
        for name, value in members.items():
            if name.isupper() and isinstance(value, dict):
                yield Templates(f"{module.name}.{name}", value)


def mark_of(name: str, key: str) -> str:
    return f"⟦{name}.{key}⟧"


def reworded(name: str, key: str, text: str) -> str:
    """A template with the same figures and nothing else of the text; what is empty stays so."""
    fields = [
        "{" + field + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "") + "}"
        for _, field, spec, conversion in Formatter().parse(text)
        if field is not None
    ]
    return " ".join([mark_of(name, key), *fields]) if text else ""
