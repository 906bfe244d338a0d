"""The models the emulator serves: the project's catalogue as the protocol shows it (gemini-wire §6 to §8)."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from sessions_app.catalogue import CATALOGUE
from sessions_app.catalogue.entries import CatalogueModel

PLAYED_DAY = date(2026, 10, 1)
"""The day of the provider that is played: the recordings are older than the routings of October 2026."""


_BUDGETS = {"-pro": (128, 32_768), "-flash-lite": (512, 24_576), "-flash": (0, 24_576)}
"""Smallest and largest thinking budget of 2.5, by the name (ai.google.dev/gemini-api/docs/thinking)."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the catalogue behind the protocol. A signature is valid only under the model that made
    it (`version`), and has at least `seal_size` bytes inside its envelope."""

    entry: CatalogueModel

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def generation(self) -> float:
        """Decides strictness and envelope of signatures; where they stand is in `answer_form`."""
        return self.entry.generation

    @property
    def implicit_minimum(self) -> int:
        return self.entry.traits.implicit_minimum

    @property
    def explicit_minimum(self) -> int | None:
        """Tokens; None where the model has no explicit caches."""
        return self.entry.traits.explicit_minimum

    @property
    def input_limit(self) -> int:
        return self.entry.traits.input_limit

    @property
    def output_limit(self) -> int:
        return self.entry.traits.output_limit

    @property
    def seal_size(self) -> int:
        return 13 if self.is_lite else 96

    @property
    def version(self) -> str:
        """The name that answers, and that signs."""
        return self.entry.served_by_on(PLAYED_DAY)

    @property
    def must_think(self) -> bool:
        """Pro and its successors cannot be told not to think."""
        return "-pro" in self.version or self.generation >= 4

    @property
    def thinks_unasked(self) -> bool:
        """2.5 Flash-Lite thinks within a budget that is given, and else not at all."""
        return self.generation >= 3 or "flash-lite" not in self.version

    @property
    def levels(self) -> frozenset[str]:
        """Thinking levels it takes; none before Gemini 3."""
        return frozenset(self.entry.traits.levels)

    @property
    def is_lite(self) -> bool:
        """Flash-Lite signs in 54 bytes what it did not think about."""
        return "flash-lite" in self.version and self.generation >= 3

    @property
    def checks_signatures(self) -> bool:
        return self.entry.traits.signatures_required

    @property
    def takes_budgets(self) -> bool:
        return self.generation < 4

    @property
    def budgets(self) -> range:
        """Tokens that a thinking budget may be; empty where no bounds are known."""
        if self.generation >= 3:
            return range(0)
        least, most = _BUDGETS[next(kind for kind in _BUDGETS if kind in self.version)]
        return range(least, most + 1)

    @property
    def methods(self) -> tuple[str, ...]:
        caches = () if self.explicit_minimum is None else ("createCachedContent",)
        return ("generateContent", "countTokens", *caches)

    def resource(self) -> dict[str, Any]:
        return {
            "name": f"models/{self.name}",
            "version": "001",
            "displayName": self.entry.title,
            "description": f"{self.entry.title}, played by the Pipeweb emulator",
            "inputTokenLimit": self.input_limit,
            "outputTokenLimit": self.output_limit,
            "supportedGenerationMethods": list(self.methods),
            "temperature": 1,
            "topP": 0.95,
            "topK": 64,
            "maxTemperature": 2,
            "thinking": True,
        }


MODELS = {name: Model(entry) for name, entry in CATALOGUE.items() if entry.is_emulated}


def find_model(name: str) -> Model | None:
    """By name, with or without `models/` before it."""
    return MODELS.get(name.removeprefix("models/"))
