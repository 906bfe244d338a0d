"""What the API requires of a request. Each check raises ApiError (400).

Sources: gemini-wire §5.2, recorded-traffic "Error bodies", and the issue threads behind them.
"""

from collections.abc import Sequence
from itertools import pairwise

from sessions_app.emulator.api_errors import ApiError, invalid
from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.decisions import Rule
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
_TOOLS_BESIDE_FUNCTIONS = (
    "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with "
    "Function calling."
)
# Of 2.5 Flash: symfony/ai#803 (2025-10-22); with a JSON answer csells/dartantic#96 (2026-01-31).
_TOOLS_EXCLUDE_FUNCTIONS = "Tool use with function calling is unsupported"
_LEVEL_TYPE = "type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel"
_KNOWN_LEVELS = frozenset({"", "THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"})
_MOST_CANDIDATES = 8


def check_request(request: GenerateRequest, model: Model) -> None:
    if not request.contents:
        message = "* GenerateContentRequest.contents: contents is not specified\n"
        raise invalid(message, rule=Rule.CONTENTS_MISSING)
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
            reason = f"Role '{content.role}' is not supported. Please use a valid role: {_KNOWN_ROLES}."
            raise invalid(reason, rule=Rule.ROLE_UNKNOWN)
        if not content.parts:
            raise invalid(f"{where}: contents.parts must not be empty.\n", rule=Rule.PARTS_MISSING)
        for position, part in enumerate(content.parts):
            if not part.kind and part.thought_signature is None:
                reason = "required oneof field 'data' must have one initialized field"
                raise invalid(f"{where}[{position}].data: {reason}\n", rule=Rule.PART_EMPTY)


def check_tools(tools: Sequence[ToolDeclarations]) -> None:
    for index, tool in enumerate(tools):
        if not tool.model_dump(exclude_none=True, exclude_defaults=True):
            where = f"tools[{index}].tool_type"
            message = f"{where}: required one_of 'tool_type' must have one initialized field"
            raise invalid(message, rule=Rule.TOOL_EMPTY)


def check_order(contents: Sequence[Content]) -> None:
    """Every call turn follows a user or answer turn and is answered, whole, by the next content.

    Answers are checked before calls: of calls that a client sent as contents of their own, Google
    says that the answers stand in the wrong place (googleapis/go-genai#692).
    """
    for before, content in pairwise((None, *contents)):
        if content and content.answers:
            _check_answers(content, before)
    for before, content, after in zip((None, *contents), contents, (*contents[1:], None), strict=False):
        if content.calls and (before is None or before.role == "model"):
            raise invalid(_CALL_OUT_OF_PLACE, rule=Rule.CALL_OUT_OF_PLACE)
        if content.calls and (after is None or not after.answers):
            raise invalid(_COUNTS_DIFFER, rule=Rule.CALLS_UNANSWERED)


def _check_answers(content: Content, before: Content | None) -> None:
    if not (before and before.calls):
        raise invalid(_ANSWER_WITHOUT_CALL, rule=Rule.RESPONSE_WITHOUT_CALL)
    if len(content.answers) != len(before.calls):
        raise invalid(_COUNTS_DIFFER, rule=Rule.CALLS_UNANSWERED)


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
        raise _no_thinking("You can only set only one of thinking budget and thinking level.")
    _check_level(thinking.thinking_level.upper(), model)
    if budget is not None and not model.takes_budgets:
        raise _no_thinking("Thinking budget is not supported for this model. Use thinking level instead.")
    if budget == 0 and model.must_think:
        raise _no_thinking("Budget 0 is invalid. This model only works in thinking mode.")


def check_sampling(config: GenerationOptions, model: Model) -> None:
    """Temperature and the number of candidates; Gemini 3 and later answer with one."""
    temperature, count = config.temperature, config.candidate_count or 1
    if temperature is not None and not 0 <= temperature <= 2:
        raise _out_of_range("temperature", temperature, "0 (inclusive) to 2.0001 (exclusive)")
    if count > 1 and model.generation >= 3:
        message = "Multiple candidates is not enabled for this model"
        raise invalid(message, rule=Rule.SAMPLING_UNSUPPORTED)
    if not 1 <= count <= _MOST_CANDIDATES:
        raise _out_of_range("candidateCount", count, "1 (inclusive) to 9 (exclusive)")


def check_functions(request: GenerateRequest, model: Model) -> None:
    """A calling mode needs functions, functions beside the provider's own tools need consent; before
    Gemini 3, functions, the provider's tools and JSON answers exclude each other."""
    declared = any(tool.function_declarations for tool in request.tools)
    own = any(tool.provider_tools for tool in request.tools)
    if declared and own and model.generation < 3:
        raise invalid(_TOOLS_EXCLUDE_FUNCTIONS, rule=Rule.FUNCTIONS_UNSUPPORTED)
    if declared and own and not _shows_invocations(request):
        raise invalid(_TOOLS_BESIDE_FUNCTIONS, rule=Rule.FUNCTIONS_UNSUPPORTED)
    if not declared and _governs_functions(request.tool_config):
        message = "Function calling config is set without function_declarations."
        raise invalid(message, rule=Rule.FUNCTIONS_UNSUPPORTED)
    kind = request.generation_config.response_mime_type
    if (declared or own) and kind == "application/json" and model.generation < 3:
        what = "Function calling" if declared else "Tool use"
        message = f"{what} with a response mime type: '{kind}' is unsupported"
        raise invalid(message, rule=Rule.FUNCTIONS_UNSUPPORTED)


def _shows_invocations(request: GenerateRequest) -> bool:
    return request.tool_config is not None and request.tool_config.include_server_side_tool_invocations


def _governs_functions(config: ToolConfig | None) -> bool:
    """True for a calling mode, unless it is there for the provider's own tools."""
    if config is None or config.include_server_side_tool_invocations:
        return False
    return bool(config.function_calling_config.mode)


def _check_level(level: str, model: Model) -> None:
    if level not in _KNOWN_LEVELS:
        where = "generation_config.thinking_config.thinking_level"
        raise _no_thinking(f"Invalid value at '{where}' ({_LEVEL_TYPE}), \"{level}\"")
    if level and not model.levels:
        raise _no_thinking("Thinking level is not supported for this model.")
    if level and level != "THINKING_LEVEL_UNSPECIFIED" and level not in model.levels:
        raise _no_thinking(f"Thinking level {level} is not supported for this model.")


def _no_thinking(message: str) -> ApiError:
    return invalid(message, rule=Rule.THINKING_UNSUPPORTED)


def _out_of_range(name: str, value: float, span: str) -> ApiError:
    return invalid(
        f"Unable to submit request because it has a {name} value of {value:g} but the supported range is "
        f"from {span}. Update the value and try again.",
        rule=Rule.SAMPLING_UNSUPPORTED,
    )
