"""The rules of generationConfig and toolConfig. Each check raises Refusal (400).

Sources: gemini-wire §5.2, recorded-traffic "Error bodies", and the issue threads behind them.
"""

from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.refusals import invalid
from sessions_app.emulator.settings import GenerationConfig, ThinkingConfig, ToolConfig
from sessions_app.emulator.shapes import GenerateRequest

_LEVEL_TYPE = "type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel"
_KNOWN_LEVELS = frozenset({"", "THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"})
_MOST_CANDIDATES = 8


def check_configuration(request: GenerateRequest, model: Model) -> None:
    check_thinking(request.generation_config.thinking_config, model)
    check_sampling(request.generation_config, model)
    check_functions(request, model)


def check_thinking(thinking: ThinkingConfig, model: Model) -> None:
    budget = thinking.thinking_budget
    if thinking.thinking_level and budget is not None:
        raise invalid("You can only set only one of thinking budget and thinking level.")
    _check_level(thinking.thinking_level.upper(), model)
    if budget is not None and not model.takes_budgets:
        raise invalid("Thinking budget is not supported for this model. Use thinking level instead.")
    if budget == 0 and model.must_think:
        raise invalid("Budget 0 is invalid. This model only works in thinking mode.")


def check_sampling(config: GenerationConfig, model: Model) -> None:
    """Temperature and the number of candidates; Gemini 3 and later answer with one."""
    heat, count = config.temperature, config.candidate_count or 1
    if heat is not None and not 0 <= heat <= 2:
        raise invalid(_out_of_range("temperature", heat, "0 (inclusive) to 2.0001 (exclusive)"))
    if count > 1 and model.generation >= 3:
        raise invalid("Multiple candidates is not enabled for this model")
    if not 1 <= count <= _MOST_CANDIDATES:
        raise invalid(_out_of_range("candidateCount", count, "1 (inclusive) to 9 (exclusive)"))


def check_functions(request: GenerateRequest, model: Model) -> None:
    """A calling mode needs functions; before Gemini 3, functions and JSON answers exclude each other."""
    declared = any(tool.function_declarations for tool in request.tools)
    if not declared and _governs_functions(request.tool_config):
        raise invalid("Function calling config is set without function_declarations.")
    kind = request.generation_config.response_mime_type
    if declared and kind == "application/json" and model.generation < 3:
        raise invalid(f"Function calling with a response mime type: '{kind}' is unsupported")


def _governs_functions(config: ToolConfig | None) -> bool:
    """True for a calling mode, unless it stands there for the provider's own tools."""
    if config is None or config.include_server_side_tool_invocations:
        return False
    return bool(config.function_calling_config.mode)


def _check_level(level: str, model: Model) -> None:
    if level not in _KNOWN_LEVELS:
        where = "generation_config.thinking_config.thinking_level"
        raise invalid(f"Invalid value at '{where}' ({_LEVEL_TYPE}), \"{level}\"")
    if level and not model.levels:
        raise invalid("Thinking level is not supported for this model.")
    if level and level != "THINKING_LEVEL_UNSPECIFIED" and level not in model.levels:
        raise invalid(f"Thinking level {level} is not supported for this model.")


def _out_of_range(name: str, value: float, span: str) -> str:
    return (
        f"Unable to submit request because it has a {name} value of {value:g} but the supported range is "
        f"from {span}. Update the value and try again."
    )
