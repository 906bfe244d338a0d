"""From a chat completion request to the request Gemini would have got.

System messages become the system instruction, tool messages in a row one content of function
responses, a tool call a functionCall with its signature.
"""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Any

import orjson
from pydantic import ValidationError

from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.openai.shapes import ChatRequest, Message, MessagePart, ToolCall
from sessions_app.emulator.parsing import refusal_of
from sessions_app.emulator.refusals import invalid
from sessions_app.emulator.shapes import GenerateRequest

Wire = dict[str, Any]

_DATA_URL = re.compile(r"data:([\w.+/-]+);base64,(.+)", re.S)
_INSTRUCTIONS = frozenset({"system", "developer"})
_BUDGETS = {"none": 0, "minimal": 1_024, "low": 1_024, "medium": 8_192, "high": 24_576}
_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


def to_generate(asked: ChatRequest, model: Model) -> GenerateRequest:
    """Raises Refusal (400) for arguments that are not JSON and for what the inner request refuses."""
    spoken = [message for message in asked.messages if message.role not in _INSTRUCTIONS]
    system = [{"text": message.text} for message in asked.messages if message.role in _INSTRUCTIONS]
    body: Wire = {
        "contents": list(_contents(spoken)),
        "generationConfig": _config(asked) | {"thinkingConfig": _thinking(asked, model)},
        "cachedContent": asked.extra_body.google.cached_content,
    }
    if system:
        body["systemInstruction"] = {"parts": system}
    if asked.tools:
        body["tools"] = [{"functionDeclarations": _declarations(asked)}]
        body["toolConfig"] = {"functionCallingConfig": _calling(asked)}
    try:
        return GenerateRequest.model_validate(body)
    except ValidationError as error:
        raise refusal_of(error, body) from None


def _contents(messages: list[Message]) -> Iterable[Wire]:
    names = {call.id: call.function.name for message in messages for call in message.tool_calls or ()}
    for is_tool, run in groupby(messages, key=lambda message: message.role == "tool"):
        if is_tool:
            yield {"role": "user", "parts": [_answer(message, names) for message in run]}
        else:
            yield from map(_content, run)


def _content(message: Message) -> Wire:
    if message.role == "user":
        return {"role": "user", "parts": [_part(part) for part in message.content]}
    parts: list[Wire] = [{"text": message.text}] if message.text else []
    parts += [_call(call) for call in message.tool_calls or ()]
    if signature := message.extra_content.google.thought_signature:
        parts = parts or [{"text": ""}]
        parts[0] |= {"thoughtSignature": signature}
    return {"role": "model", "parts": parts}


def _part(part: MessagePart) -> Wire:
    if part.type == "text":
        return {"text": part.text}
    if part.type == "input_audio":
        kind = f"audio/{part.input_audio.get('format', 'wav')}"
        return {"inlineData": {"mimeType": kind, "data": part.input_audio.get("data", "")}}
    url = str(part.image_url.get("url") or part.file.get("file_data") or "")
    if not (match := _DATA_URL.fullmatch(url)):
        raise invalid(f"Invalid content part type: {part.type}")
    return {"inlineData": {"mimeType": match[1], "data": match[2]}}


def _call(call: ToolCall) -> Wire:
    part: Wire = {
        "functionCall": {
            "id": call.id or None,
            "name": call.function.name,
            "args": _object(call.function.arguments or "{}"),
        }
    }
    signature = call.extra_content.google.thought_signature
    return part | ({"thoughtSignature": signature} if signature else {})


def _answer(message: Message, names: dict[str, str]) -> Wire:
    """A result that is no JSON object becomes one."""
    try:
        response = orjson.loads(message.text)
    except orjson.JSONDecodeError:
        response = message.text
    if not isinstance(response, dict):
        response = {"result": response}
    name = message.name or names.get(message.tool_call_id, "")
    return {"functionResponse": {"id": message.tool_call_id or None, "name": name, "response": response}}


def _object(text: str) -> Wire:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise invalid(f"Invalid function call arguments: {text}")
    return value


def _declarations(asked: ChatRequest) -> list[Wire]:
    return [
        {"name": tool.function.name, "description": tool.function.description or ""}
        | ({"parametersJsonSchema": tool.function.parameters} if tool.function.parameters else {})
        for tool in asked.tools
    ]


def _calling(asked: ChatRequest) -> Wire:
    choice = asked.tool_choice
    if choice is None or isinstance(choice, str):
        return {"mode": _MODES.get(choice or "auto", "AUTO")}
    return {"mode": "ANY", "allowedFunctionNames": [choice.function.name]}


def _config(asked: ChatRequest) -> Wire:
    form = asked.response_format
    return {
        "temperature": asked.temperature,
        "topP": asked.top_p,
        "maxOutputTokens": asked.max_completion_tokens or asked.max_tokens,
        "candidateCount": asked.n,
        "stopSequences": asked.stops,
        "seed": asked.seed,
        "responseMimeType": "application/json" if form.type != "text" else None,
        "responseJsonSchema": form.json_schema.get("schema"),
    }


def _thinking(asked: ChatRequest, model: Model) -> Wire:
    """An effort is a level since Gemini 3 and a budget before."""
    effort = asked.reasoning_effort or ""
    level: Wire = {"thinkingLevel": effort} if effort else {}
    if effort in _BUDGETS and (effort == "none" or not model.levels):
        level = {"thinkingBudget": _BUDGETS[effort]}
    return level | asked.extra_body.google.thinking_config
