"""The capabilities of each model, from the catalogue: caches, thinking, signatures, limits."""

from dataclasses import dataclass, fields

from sessions_app import catalogue
from sessions_app.catalogue import CATALOGUE, base_of, traits_of
from sessions_app.catalogue.entries import ModelTraits, Thinking

__all__ = ["Capabilities", "Thinking", "base_of", "capabilities_of", "known_models"]

_TRAITS = tuple(field.name for field in fields(ModelTraits))


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities(ModelTraits):
    """The traits of one model.

    `family` is the model that really serves: signatures and caches are valid within it. `known` is
    false for a model that is not in the catalogue and has the traits of its generation.
    """

    model: str
    family: str
    known: bool

    @property
    def has_explicit_caches(self) -> bool:
        return self.explicit_minimum is not None


def capabilities_of(model: str) -> Capabilities:
    """The capabilities of `model`, named with or without `models/` and a revision (`-001`).

    Its family is that of the model to which the name is routed today.
    """
    base, traits = base_of(model), traits_of(model)
    entry = CATALOGUE.get(base)
    return Capabilities(
        model=model.rpartition("/")[2],
        family=entry.served_by_on(catalogue.today()) if entry else base,
        known=entry is not None,
        **{name: getattr(traits, name) for name in _TRAITS},
    )


def known_models() -> tuple[str, ...]:
    """The names in the catalogue, newest generation first."""
    return tuple(CATALOGUE)
