"""What each model can do: caches, thinking, signatures, limits.

Facts are from gemini-wire §7 and §8 (live probes and documentation up to November 2026). A model that
is not listed takes the facts of its generation by the longest matching prefix, with `known=False`.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

Thinking = Literal["level", "budget", "none"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Facts about one model; counts in tokens.

    `explicit_minimum` is the smallest explicit cache, None where the model has none.
    `implicit_minimum` is the shortest prefix that the provider caches of its own accord.
    `signatures_required`: a function call of the current turn without its signature is refused.
    `family` is the model that really serves: signatures and caches are valid within it.
    """

    model: str
    family: str
    known: bool
    explicit_minimum: int | None
    implicit_minimum: int
    thinking: Thinking
    levels: tuple[str, ...]
    signatures_required: bool
    input_limit: int
    output_limit: int
    sampling: bool

    @property
    def has_explicit_caches(self) -> bool:
        return self.explicit_minimum is not None


MILLION = 1_048_576

_GENERATION_4 = Capabilities(
    model="",
    family="",
    known=False,
    explicit_minimum=None,
    implicit_minimum=4_096,
    thinking="level",
    levels=("LOW", "MEDIUM", "HIGH"),
    signatures_required=True,
    input_limit=MILLION,
    output_limit=65_536,
    sampling=False,
)
_FLASH_3 = replace(
    _GENERATION_4, explicit_minimum=1_024, levels=("MINIMAL", "LOW", "MEDIUM", "HIGH"), sampling=True
)
_PRO_3 = replace(_FLASH_3, levels=("LOW", "MEDIUM", "HIGH"))
# A recording of May 2026 keeps 1,090 tokens on 2.5 Flash, so the explicit minimum is that of 3.
_GENERATION_2_5 = replace(
    _FLASH_3,
    implicit_minimum=2_048,
    thinking="budget",
    levels=(),
    signatures_required=False,
)
_GENERATION_2 = replace(
    _GENERATION_2_5, explicit_minimum=4_096, implicit_minimum=4_096, thinking="none", output_limit=8_192
)
_STRANGER = replace(_GENERATION_2, explicit_minimum=None, input_limit=131_072)

_KNOWN = {
    "gemini-4-argon": _GENERATION_4,
    "gemini-3.8-flash": _FLASH_3,
    "gemini-3.7-flash": _FLASH_3,
    "gemini-3.6-flash": _FLASH_3,
    "gemini-3.5-flash": _FLASH_3,
    "gemini-3.5-flash-lite": _FLASH_3,
    "gemini-3.1-flash-lite": _FLASH_3,
    "gemini-3.1-pro-preview": _PRO_3,
    "gemini-3-pro-preview": _PRO_3,
    "gemini-3-flash-preview": _FLASH_3,
    "gemini-2.5-pro": _GENERATION_2_5,
    "gemini-2.5-flash": _GENERATION_2_5,
    "gemini-2.5-flash-lite": _GENERATION_2_5,
    "gemini-flash-latest": _FLASH_3,
    "gemini-flash-lite-latest": _FLASH_3,
}
_GENERATIONS = {
    "": _STRANGER,
    "gemini-": _GENERATION_4,
    "gemini-1": _GENERATION_2,
    "gemini-2": _GENERATION_2,
    "gemini-2.5": _GENERATION_2_5,
    "gemini-3": _FLASH_3,
}
_SERVED_BY = {
    "gemini-3.7-flash": "gemini-3.8-flash",
    "gemini-3.5-flash": "gemini-3.6-flash",
    "gemini-3-pro-preview": "gemini-3.1-pro-preview",
    "gemini-flash-latest": "gemini-3.6-flash",
    "gemini-flash-lite-latest": "gemini-3.1-flash-lite",
}
"""Where the provider routes a name to another model (gemini-wire §8, recorded-traffic "Usage")."""

_REVISION = re.compile(r"(?<=.)-(\d{3}|preview-\d\d-\d{2,4})$")


def capabilities_of(model: str) -> Capabilities:
    """The facts about `model`, named with or without `models/` and a revision (`-001`)."""
    base = base_of(model)
    facts = _KNOWN.get(base)
    return replace(
        facts or _generation_of(base),
        model=model.rpartition("/")[2],
        family=_SERVED_BY.get(base, base),
        known=facts is not None,
    )


def base_of(model: str) -> str:
    """The name without `models/` and revision: what an answer's `modelVersion` is compared by."""
    return _REVISION.sub("", model.rpartition("/")[2])


def known_models() -> tuple[str, ...]:
    """Every model with facts of its own, newest first."""
    return tuple(_KNOWN)


def _generation_of(base: str) -> Capabilities:
    prefix = max((prefix for prefix in _GENERATIONS if base.startswith(prefix)), key=len)
    return _GENERATIONS[prefix]
