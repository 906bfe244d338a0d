"""What the API requires of a request. Each check raises ApiError (400).

Sources: gemini-wire §5.2, recorded-traffic "Error bodies", and the issue threads behind them.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from sessions_app.emulator.api_errors import RequestFlaw, flawed, invalid
from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.decisions import Rule
from sessions_app.emulator.gemini_requests import Content, GenerateRequest, Part, PromptFields
from sessions_app.emulator.request_flaws import prompt_flaws, request_flaws
from sessions_app.emulator.setting_limits import check_settings
from sessions_app.emulator.tool_declarations import ToolConfig, ToolDeclarations

_NO_CONTENTS = RequestFlaw(
    "GenerateContentRequest.contents", "contents is not specified", Rule.CONTENTS_MISSING
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
# application/cu-seeme in googleapis/python-genai#744, and what is no type at all in charmbracelet/crush#995.
_MEDIA = re.compile(
    r"(?:image|audio|video|text)/\S+|application/(?:pdf|json|xml|rtf)", re.ASCII | re.IGNORECASE
)


def check_request(request: GenerateRequest, model: Model, conversation: Sequence[Content]) -> None:
    """`conversation` begins with what a cache holds: google-adk 2.13 sends the answer to a cached call alone.

    Raises ApiError (400).
    """
    if not request.contents:
        raise flawed([_NO_CONTENTS])
    if flaws := list(request_flaws(request)):
        raise flawed(flaws)
    check_values(request)
    check_order(conversation if model.generation >= 3 else joined_responses(conversation))
    check_settings(request, model)
    check_functions(request, model)


def check_cached(prompt: PromptFields) -> None:
    """Checks what is to be cached. Raises ApiError."""
    if flaws := list(prompt_flaws(prompt, "CreateCachedContentRequest")):
        raise flawed(flaws)
    check_values(prompt)


def check_values(prompt: PromptFields) -> None:
    """Roles, kinds of files and of tools."""
    for content in prompt.contents:
        if content.role not in _ROLES:
            reason = f"Role '{content.role}' is not supported. Please use a valid role: {_KNOWN_ROLES}."
            raise invalid(reason, rule=Rule.ROLE_UNKNOWN)
        for part in content.parts:
            check_media(part)
    check_tools(prompt.tools)


def check_media(part: Part) -> None:
    """Kinds of files that no model reads; an uploaded file may have a type of its own."""
    media = part.inline_data or part.file_data
    named = media.mime_type if media else ""
    if named and not _MEDIA.fullmatch(named.partition(";")[0].strip()):
        raise invalid(f"Unsupported MIME type: {named}", rule=Rule.VALUE_INVALID)


def check_tools(tools: Sequence[ToolDeclarations]) -> None:
    """Each has a kind, and each function is there once (owndev/Open-WebUI-Functions#135, 2026-02-05)."""
    for index, tool in enumerate(tools):
        if not tool.model_dump(exclude_none=True, exclude_defaults=True):
            where = f"tools[{index}].tool_type"
            message = f"{where}: required one_of 'tool_type' must have one initialized field"
            raise invalid(message, rule=Rule.TOOL_EMPTY)
    counts = Counter(function.name for tool in tools for function in tool.function_declarations)
    if twice := next((name for name, count in counts.items() if count > 1), ""):
        raise invalid(f"Duplicate function declaration found: {twice}", rule=Rule.VALUE_INVALID)


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
