"""From interaction steps to the generate request they stand for.

Steps of the model in a row are one content, and so are function results in a row. The signature of a
thought step goes on the part that follows it, where generateContent has it: on the first call, or on the
text. Summaries are not sent on.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

import orjson

from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.gemini_requests import GenerateRequest
from sessions_app.emulator.interactions_errors import refused, unimplemented, unknown_parameter
from sessions_app.emulator.interactions_requests import (
    InteractionConfig,
    InteractionFormat,
    InteractionRequest,
    InteractionStep,
    InteractionTool,
    StepContent,
    ToolChoice,
)
from sessions_app.emulator.interactions_tools import tool_parts
from sessions_app.emulator.openai_requests import EFFORT_BUDGETS
from sessions_app.emulator.wire_model import JsonObject, validate

_OWN_TOOLS = {
    "google_search": "googleSearch",
    "google_maps": "googleMaps",
    "code_execution": "codeExecution",
    "url_context": "urlContext",
    "file_search": "fileSearch",
    "computer_use": "computerUse",
}
_LATER_FIELDS = frozenset({"defer_loading", "short_description"})
_MODES = frozenset({"auto", "any", "none", "validated"})


def to_generate_request(
    request: InteractionRequest, steps: Sequence[InteractionStep], model: Model
) -> GenerateRequest:
    """`steps` are the whole conversation. Raises ApiError for what the native API would refuse as well."""
    config = request.generation_config
    body: JsonObject = {
        "contents": list(_contents(steps)),
        "generationConfig": _generation_config(request) | {"thinkingConfig": _thinking(config, model)},
        "safetySettings": request.safety_settings,
        "tools": _tools(request.tools),
        "continuationToken": request.continuation_token or None,
    }
    if request.system_instruction:
        body["systemInstruction"] = {"parts": [{"text": request.system_instruction}]}
    if config.tool_choice is not None:
        body["toolConfig"] = {"functionCallingConfig": _calling(config.tool_choice)}
    return validate(GenerateRequest, body)


def _contents(steps: Sequence[InteractionStep]) -> Iterator[JsonObject]:
    names = {step.id: step.name or "" for step in steps if step.type == "function_call" and step.id}
    for (is_from_model, kind), run in groupby(steps, key=_kind):
        if is_from_model:
            yield {"role": "model", "parts": _model_parts(list(run))}
        elif kind == "function_result":
            yield {"role": "user", "parts": [_response(step, names) for step in run]}
        else:
            for step in run:
                yield {"role": "user", "parts": [_content_part(content) for content in step.content or ()]}


def _kind(step: InteractionStep) -> tuple[bool, str]:
    return step.is_from_model, "" if step.is_from_model else step.type


def _model_parts(steps: Sequence[InteractionStep]) -> list[JsonObject]:
    parts: list[JsonObject] = []
    waiting = ""
    for step in steps:
        if step.type == "thought":
            waiting = step.signature or waiting
            continue
        added = _step_parts(step)
        if added and (signature := step.signature or waiting):
            added[0]["thoughtSignature"], waiting = signature, ""
        parts += added
    return parts + ([{"text": "", "thoughtSignature": waiting}] if waiting else [])


def _step_parts(step: InteractionStep) -> list[JsonObject]:
    if step.type == "model_output":
        return [_content_part(content) for content in step.content or ()]
    if step.type == "function_call":
        return [{"functionCall": {"id": step.id, "name": step.name, "args": step.arguments or {}}}]
    return tool_parts(step)


def _content_part(content: StepContent) -> JsonObject:
    if content.type == "text":
        return {"text": content.text or ""}
    if content.uri:
        return {"fileData": {"mimeType": content.media_type, "fileUri": content.uri}}
    return {"inlineData": {"mimeType": content.media_type, "data": content.data or ""}}


def _response(step: InteractionStep, names: dict[str, str]) -> JsonObject:
    """Raises InteractionError (400) for the result of a call that nobody made."""
    if step.call_id not in names:
        raise refused(f"No function call with the id '{step.call_id}' precedes its result.")
    response: JsonObject = {"id": step.call_id, "name": step.name or names[step.call_id or ""]}
    contents = step.result if isinstance(step.result, list) else []
    media = [_content_part(StepContent.model_validate(each)) for each in contents if _is_media(each)]
    value = _object(step.result)
    response["response"] = {"error": value} if step.is_error else value
    return {"functionResponse": response | ({"parts": media} if media else {})}


def _is_media(content: object) -> bool:
    return isinstance(content, dict) and content.get("type") != "text"


def _object(result: object) -> JsonObject:
    """An object as it is, text that holds one as that object, everything else as `{"result": …}`."""
    if isinstance(result, list):
        result = "".join(str(each.get("text", "")) for each in result if isinstance(each, dict))
    value = result
    if isinstance(result, str):
        try:
            value = orjson.loads(result)
        except orjson.JSONDecodeError:
            value = result
    return value if isinstance(value, dict) else {"result": result}


def _tools(tools: Sequence[InteractionTool]) -> list[JsonObject]:
    functions = [_declaration(tool) for tool in tools if tool.type == "function"]
    own = [_own_tool(tool) for tool in tools if tool.type != "function"]
    return ([{"functionDeclarations": functions}] if functions else []) + own


def _declaration(tool: InteractionTool) -> JsonObject:
    if unknown := sorted(set(tool.model_extra or ()) - _LATER_FIELDS):
        raise unknown_parameter(unknown[0], "tools")
    declared: JsonObject = {"name": tool.name, "description": tool.description}
    return declared | ({"parametersJsonSchema": tool.parameters} if tool.parameters else {})


def _own_tool(tool: InteractionTool) -> JsonObject:
    if not (name := _OWN_TOOLS.get(tool.type)):
        raise unimplemented(f"tools of the type '{tool.type}'")
    return {name: tool.model_extra or {}}


def _calling(choice: str | ToolChoice) -> JsonObject:
    mode = choice if isinstance(choice, str) else choice.allowed_tools.mode
    if mode not in _MODES:
        raise refused(f"Invalid value at 'generation_config.tool_choice': '{mode}'.")
    allowed = [] if isinstance(choice, str) else choice.allowed_tools.tools
    return {"mode": mode.upper(), "allowedFunctionNames": allowed}


def _generation_config(request: InteractionRequest) -> JsonObject:
    config, form = request.generation_config, _text_format(request.response_format)
    modalities = request.response_modalities
    return {
        "temperature": config.temperature,
        "topP": config.top_p,
        "maxOutputTokens": config.max_output_tokens,
        "seed": config.seed,
        "stopSequences": config.stop_sequences,
        "speechConfig": config.speech_config,
        "imageConfig": config.image_config,
        "responseModalities": [name.upper() for name in modalities] if modalities else None,
        "responseMimeType": form.mime_type or request.response_mime_type,
        "responseJsonSchema": form.json_schema,
    }


def _text_format(formats: Sequence[InteractionFormat]) -> InteractionFormat:
    for form in formats:
        if form.type != "text":
            raise unimplemented(f"answers of the type '{form.type}'")
    return formats[0] if formats else InteractionFormat()


def _thinking(config: InteractionConfig, model: Model) -> JsonObject:
    """A level is a budget before Gemini 3, by the table of the OpenAI-compatible API."""
    thinking: JsonObject = {"includeThoughts": config.thinking_summaries == "auto"}
    level = config.thinking_level
    if level is None:
        return thinking
    if level in EFFORT_BUDGETS and not model.levels:
        return thinking | {"thinkingBudget": EFFORT_BUDGETS[level]}
    return thinking | {"thinkingLevel": level}
