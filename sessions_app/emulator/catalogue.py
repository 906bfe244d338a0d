"""The models the emulator serves, and what is true of each (gemini-wire §6 to §8)."""

from dataclasses import dataclass
from typing import Any

_LIMIT = 1_048_576


@dataclass(frozen=True, slots=True)
class Model:
    """`generation` decides placement and strictness of signatures; `implicit_minimum` and
    `explicit_minimum` are tokens, None where the model has no explicit caches. A signature
    is valid only under the model that made it."""

    name: str
    title: str
    generation: float
    implicit_minimum: int = 4_096
    explicit_minimum: int | None = 1_024
    input_limit: int = _LIMIT
    output_limit: int = 65_536

    @property
    def checks_signatures(self) -> bool:
        return self.generation >= 3

    @property
    def names_calls(self) -> bool:
        """Whether a functionCall carries an id."""
        return self.generation >= 3

    @property
    def takes_levels(self) -> bool:
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
        Model("gemini-3.5-flash", "Gemini 3.5 Flash", 3.5),
        Model("gemini-3.8-flash", "Gemini 3.8 Flash", 3.8),
        Model("gemini-2.5-flash", "Gemini 2.5 Flash", 2.5, implicit_minimum=2_048),
        Model("gemini-2.5-pro", "Gemini 2.5 Pro", 2.5, implicit_minimum=2_048),
        Model("gemini-4-argon", "Gemini 4 Argon", 4.0, explicit_minimum=None),
    )
}


def find_model(name: str) -> Model | None:
    """By name, with or without `models/` before it."""
    return MODELS.get(name.removeprefix("models/"))
