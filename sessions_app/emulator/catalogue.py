"""The models the emulator serves, and what is true of each (gemini-wire §6 to §8)."""

from dataclasses import dataclass
from typing import Any

_LIMIT = 1_048_576
_LEVELS = frozenset({"MINIMAL", "LOW", "MEDIUM", "HIGH"})
_SMALL_SEAL = 13


@dataclass(frozen=True, slots=True)
class Model:
    """`generation` decides placement and strictness of signatures; `implicit_minimum` and
    `explicit_minimum` are tokens, None where the model has no explicit caches. `served` is the
    model behind an alias. A signature is valid only under the model that made it, and has at
    least `seal_size` bytes inside its envelope."""

    name: str
    title: str
    generation: float
    implicit_minimum: int = 4_096
    explicit_minimum: int | None = 1_024
    input_limit: int = _LIMIT
    output_limit: int = 65_536
    served: str = ""
    seal_size: int = 96

    @property
    def version(self) -> str:
        """The name that answers, and that signs."""
        return self.served or self.name

    @property
    def must_think(self) -> bool:
        """Pro and its successors cannot be told not to think."""
        return "-pro" in self.version or self.generation >= 4

    @property
    def levels(self) -> frozenset[str]:
        """Thinking levels it takes; none before Gemini 3."""
        if self.generation < 3:
            return frozenset()
        return _LEVELS - {"MINIMAL"} if self.must_think else _LEVELS

    @property
    def always_signs(self) -> bool:
        """Flash-Lite signs what it did not think about, in 54 bytes."""
        return "flash-lite" in self.version and self.generation >= 3

    @property
    def checks_signatures(self) -> bool:
        return self.generation >= 3

    @property
    def names_calls(self) -> bool:
        """Whether a functionCall carries an id."""
        return self.generation >= 3

    @property
    def takes_budgets(self) -> bool:
        return self.generation < 4

    @property
    def methods(self) -> tuple[str, ...]:
        caches = () if self.explicit_minimum is None else ("createCachedContent",)
        return ("generateContent", "countTokens", *caches)

    def offers(self, method: str) -> bool:
        """Whether the method can be called; "" is asking about the model itself."""
        return not method or method in self.methods

    def resource(self) -> dict[str, Any]:
        return {
            "name": f"models/{self.name}",
            "version": "001",
            "displayName": self.title,
            "description": f"{self.title}, played by the Pipeweb emulator",
            "inputTokenLimit": self.input_limit,
            "outputTokenLimit": self.output_limit,
            "supportedGenerationMethods": list(self.methods),
            "temperature": 1,
            "topP": 0.95,
            "topK": 64,
            "maxTemperature": 2,
            "thinking": True,
        }


MODELS = {
    model.name: model
    for model in (
        Model("gemini-3-flash-preview", "Gemini 3 Flash Preview", 3.0),
        Model("gemini-3.1-pro-preview", "Gemini 3.1 Pro Preview", 3.1),
        Model("gemini-3-pro-preview", "Gemini 3 Pro Preview", 3.1, served="gemini-3.1-pro-preview"),
        Model("gemini-3.1-flash-lite", "Gemini 3.1 Flash-Lite", 3.1, seal_size=_SMALL_SEAL),
        Model("gemini-3.5-flash", "Gemini 3.5 Flash", 3.5),
        Model("gemini-3.5-flash-lite", "Gemini 3.5 Flash-Lite", 3.5, seal_size=_SMALL_SEAL),
        Model("gemini-3.6-flash", "Gemini 3.6 Flash", 3.6),
        Model("gemini-3.8-flash", "Gemini 3.8 Flash", 3.8),
        Model("gemini-flash-latest", "Gemini Flash Latest", 3.6, served="gemini-3.6-flash"),
        Model(
            "gemini-flash-lite-latest",
            "Gemini Flash-Lite Latest",
            3.1,
            served="gemini-3.1-flash-lite",
            seal_size=_SMALL_SEAL,
        ),
        Model("gemini-2.5-flash", "Gemini 2.5 Flash", 2.5, implicit_minimum=2_048),
        Model("gemini-2.5-pro", "Gemini 2.5 Pro", 2.5, implicit_minimum=2_048),
        Model("gemini-4-argon", "Gemini 4 Argon", 4.0, explicit_minimum=None),
    )
}


def find_model(name: str) -> Model | None:
    """By name, with or without `models/` before it."""
    return MODELS.get(name.removeprefix("models/"))
