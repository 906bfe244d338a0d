"""What the API requires of a request. Each check raises ApiError (400).

Sources: gemini-wire §5.2, recorded-traffic "Error bodies", and the issue threads behind them.
"""

from collections.abc import Sequence

from sessions_app.emulator.api_errors import invalid
from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.gemini_requests import (
    Content,
    GenerateRequest,
    GenerationOptions,
    ThinkingConfig,
    ToolConfig,
    ToolDeclarations,
)

_ROLES = frozenset({"user", "model", "function", "tool", ""})
_KNOWN_ROLES = "SYSTEM, SYSTEM_1, USER, ASSISTANT, DEVELOPER, CONTEXT, USER_CONTEXT, MODEL, USER"
_COUNTS_DIFFER = (
    "Please ensure that the number of function response parts is equal to the number of function call "
    "parts of the function call turn."
)
_ANSWER_WITHOUT_CALL = (
    "Please ensure that function response turn comes immediately after a function call turn."
)
_CALL_OUT_OF_PLACE = (
    "Please ensure that function call turn comes immediately after a user turn or after a function "
    "response turn."
)
_LEVEL_TYPE = "type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel"
_KNOWN_LEVELS = frozenset({"", "THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"})
_MOST_CANDIDATES = 8


def check_request(request: GenerateRequest, model: Model) -> None:
    if not request.contents:
        raise invalid("* GenerateContentRequest.contents: contents is not specified\n")
    check_parts(request.contents)
    check_tools(request.tools)
    check_order(request.contents if model.generation >= 3 else joined_responses(request.contents))
    check_thinking(request.generation_config.thinking_config, model)
    check_sampling(request.generation_config, model)
    check_functions(request, model)


def check_parts(contents: Sequence[Content], message: str = "GenerateContentRequest") -> None:
    for index, content in enumerate(contents):
        where = f"* {message}.contents[{index}].parts"
        if content.role not in _ROLES:
            raise invalid(f"Role '{content.role}' is not supported. Please use a valid role: {_KNOWN_ROLES}.")
        if not content.parts:
            raise invalid(f"{where}: contents.parts must not be empty.\n")
        for position, part in enumerate(content.parts):
            if not part.kind and part.thought_signature is None:
                raise invalid(
                    f"{where}[{position}].data: required oneof field 'data' must have one initialized field\n"
                )


def check_tools(tools: Sequence[ToolDeclarations]) -> None:
    for index, tool in enumerate(tools):
        if not tool.model_dump(exclude_none=True, exclude_defaults=True):
            where = f"tools[{index}].tool_type"
            raise invalid(f"{where}: required one_of 'tool_type' must have one initialized field")


def check_order(contents: Sequence[Content]) -> None:
    """Every call turn follows a user or answer turn and is answered, whole, by the next content."""
    for index, content in enumerate(contents):
        before = contents[index - 1] if index else None
        after = contents[index + 1] if index + 1 < len(contents) else None
        if content.answers and not (before and before.calls):
            raise invalid(_ANSWER_WITHOUT_CALL)
        if content.calls and (before is None or before.role == "model"):
            raise invalid(_CALL_OUT_OF_PLACE)
        if content.calls and (after is None or len(after.answers) != len(content.calls)):
            raise invalid(_COUNTS_DIFFER)


def joined_responses(contents: Sequence[Content]) -> list[Content]:
    """Contents with adjacent function responses in one: 2.5 accepts them apart (recorded in 2026)."""
    joined: list[Content] = []
    for content in contents:
        if joined and joined[-1].answers and content.answers:
            joined[-1] = joined[-1].model_copy(update={"parts": [*joined[-1].parts, *content.parts]})
        else:
            joined.append(content)
    return joined


def check_thinking(thinking: ThinkingConfig, model: Model) -> None:
    budget = thinking.thinking_budget
    if thinking.thinking_level and budget is not None:
        raise invalid("You can only set only one of thinking budget and thinking level.")
    _check_level(thinking.thinking_level.upper(), model)
    if budget is not None and not model.takes_budgets:
        raise invalid("Thinking budget is not supported for this model. Use thinking level instead.")
    if budget == 0 and model.must_think:
        raise invalid("Budget 0 is invalid. This model only works in thinking mode.")


def check_sampling(config: GenerationOptions, model: Model) -> None:
    """Temperature and the number of candidates; Gemini 3 and later answer with one."""
    temperature, count = config.temperature, config.candidate_count or 1
    if temperature is not None and not 0 <= temperature <= 2:
        raise invalid(_out_of_range("temperature", temperature, "0 (inclusive) to 2.0001 (exclusive)"))
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
    """True for a calling mode, unless it is there for the provider's own tools."""
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
