"""What the API takes as thinking and sampling settings. Each check raises ApiError (400).

Sources: gemini-wire §5.2, recorded-traffic "Error bodies", and the issue threads that are named below.
"""

from sessions_app.emulator.api_errors import ApiError, invalid
from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.decisions import Rule
from sessions_app.emulator.gemini_requests import (
    GenerateRequest,
    GenerationOptions,
    ThinkingConfig,
)

_TEXT = frozenset({"", "MODALITY_UNSPECIFIED", "TEXT"})


def check_settings(request: GenerateRequest, model: Model) -> None:
    check_thinking(request.generation_config.thinking_config, model)
    check_sampling(request.generation_config, model)
    check_modalities(request.generation_config)


def check_thinking(thinking: ThinkingConfig, model: Model) -> None:
    budget = thinking.thinking_budget
    if thinking.thinking_level and budget is not None:
        raise _no_thinking("You can only set only one of thinking budget and thinking level.")
    _check_level(thinking.thinking_level, model)
    if budget is not None and not model.takes_budgets:
        raise _no_thinking("Thinking budget is not supported for this model. Use thinking level instead.")
    if budget == 0 and model.must_think:
        raise _no_thinking("Budget 0 is invalid. This model only works in thinking mode.")
    if budget is not None:
        _check_budget(budget, model.budgets)


def check_sampling(config: GenerationOptions, model: Model) -> None:
    """Ranges, and the number of candidates; Gemini 3 and later answer with one.

    The words are those of `temperature`, `maxOutputTokens` (BerriAI/litellm#10548) and `stopSequences`
    (continuedev/continue#7849); that the others have the same is an assumption. Penalties:
    google-gemini/cookbook#1290 (2026-07-17, every model that was tried; zero passes). Log probabilities:
    googleapis/python-genai#1921, of 2.5 Pro; nothing is known of Gemini 3.
    """
    count, stops = config.candidate_count or 1, len(config.stop_sequences or ())
    if count > 1 and model.generation >= 3:
        message = "Multiple candidates is not enabled for this model"
        raise invalid(message, rule=Rule.SAMPLING_UNSUPPORTED)
    if config.presence_penalty or config.frequency_penalty:
        message = "Penalty is not enabled for this model"
        raise invalid(message, rule=Rule.SAMPLING_UNSUPPORTED)
    if config.response_logprobs and model.generation < 3:
        message = f"Logprobs is not enabled for models/{model.name}"
        raise invalid(message, rule=Rule.SAMPLING_UNSUPPORTED)
    for name, value, least, most, beyond in (
        ("temperature", config.temperature, 0, 2, "2.0001"),
        ("topP", config.top_p, 0, 1, "1.0001"),
        ("maxOutputTokens", config.max_output_tokens, 1, model.output_limit, f"{model.output_limit + 1}"),
        ("stopSequences", stops or None, 1, 5, "6"),
        ("candidateCount", count, 1, 8, "9"),
    ):
        if value is not None and not least <= value <= most:
            raise _out_of_range(name, value, f"{least} (inclusive) to {beyond} (exclusive)")


def check_modalities(config: GenerationOptions) -> None:
    """No model here answers with anything but text. The words are quoted of `IMAGE` alone, of 2.0 Flash."""
    if asked := [name.lower() for name in config.response_modalities if name not in _TEXT]:
        message = f"Model does not support the requested response modalities: {','.join(asked)}"
        raise invalid(message)


def _check_budget(budget: int, known: range) -> None:
    """0 thinks not at all, -1 as the model likes; quoted of 2.5 Pro, Flash and Flash-Lite."""
    if known and budget not in (-1, 0) and budget not in known:
        span = f"between {known[0]} and {known[-1]}"
        raise _no_thinking(f"The thinking budget {budget} is invalid. Please choose a value {span}.")


def _check_level(level: str, model: Model) -> None:
    if level and not model.levels:
        raise _no_thinking("Thinking level is not supported for this model.")
    if level and level != "THINKING_LEVEL_UNSPECIFIED" and level not in model.levels:
        # Recorded of 3.7 Flash in September 2026; an issue quotes it without the second sentence.
        raise _no_thinking(
            f"Thinking level {level} is not supported for this model. Please retry with other thinking level."
        )


def _no_thinking(message: str) -> ApiError:
    return invalid(message, rule=Rule.THINKING_UNSUPPORTED)


def _out_of_range(name: str, value: float, span: str) -> ApiError:
    return invalid(
        f"Unable to submit request because it has a {name} value of {value:.15g} but the supported range is "
        f"from {span}. Update the value and try again.",
        rule=Rule.SAMPLING_UNSUPPORTED,
    )
